//go:build unix

package work_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/cli/work"
	"waybill/schema"
)

const plan = `# Plan

- [ ] 1. First
- [ ] 2. Second
  - _Depends: 1_
- [ ] 3. Third
`

// items returns the items of the events of a kind, in their order.
func (q *queue) items(kind string) (items []string) {
	for _, e := range q.all(kind) {
		items = append(items, e.ItemID)
	}
	return items
}

func TestPlanIsWalkedToItsEnd(t *testing.T) {
	q := newPlan(t, plan)
	o := q.agent(`1 worker 1 garbage
2 code-quality-reviewer 1 gaps "the names say nothing"
`)
	o.Tick = work.TickClaimed
	require.NoError(t, work.Plan(t.Context(), nil, "tasks.md", o))
	require.Equal(t, []string{"1", "2", "3"}, q.items(work.Approved))
	require.Equal(t, "the plan is completed: 0 proven, 3 only said", q.all(work.Ended)[0].Message)
	text, err := os.ReadFile(filepath.Join(q.root, "tasks.md"))
	require.NoError(t, err)
	require.NotContains(t, string(text), "[ ]")
	var first []string
	for _, e := range q.all(work.Completed) {
		if e.ItemID == "1" {
			first = append(first, e.Role+" "+e.Verdict+" "+e.Next)
		}
	}
	require.Equal(t, []string{
		"worker invalid retry_with_preamble", "worker pass dispatch_reviewer",
		"spec-reviewer pass dispatch_reviewer", "code-quality-reviewer pass advance_to_next_item",
	}, first)
	require.Empty(t, ask[schema.NoticeList](q, "list_notices", schema.ListNoticesParams{SessionID: q.all(work.Begun)[0].RunID}).Items, "who walks the plan is who is told")
}

// What cannot go on holds back what depends on it, and nothing else.
func TestBlockedItemHoldsBackWhatDependsOnIt(t *testing.T) {
	q := newPlan(t, plan)
	require.ErrorIs(t, work.Plan(t.Context(), nil, "tasks.md", q.agent("1 worker * error \"the font is gone\"\n")), work.ErrUnfinished)
	require.Equal(t, []string{"1"}, q.items(work.Halted))
	require.Equal(t, []string{"3"}, q.items(work.Approved))
	require.Equal(t, []string{"1", "3"}, q.items(work.Begun))
	require.NotEmpty(t, ask[schema.NoticeList](q, "list_notices", schema.ListNoticesParams{}).Items, "a person has to see it")
}

// A reviewer that fails without a result is not asked again and again.
func TestReviewerThatCrashesHaltsItsItem(t *testing.T) {
	q := newPlan(t, "- [ ] 1. First\n")
	require.ErrorIs(t, work.Plan(t.Context(), nil, "tasks.md", q.agent("1 spec-reviewer * crash\n")), work.ErrUnfinished)
	require.Equal(t, []string{"1"}, q.items(work.Halted))
	require.Len(t, q.all(work.Failed), 1)

	// Whoever walks the plan once more has it tried once more, also with other models.
	o := q.agent("")
	o.Models = []schema.Model{{ProviderID: "acme", ModelID: "large"}}
	require.NoError(t, work.Plan(t.Context(), nil, "tasks.md", o))
	require.Equal(t, []string{"1"}, q.items(work.Approved))
}

// A worker that crashes is made up for by another one, as the policy of the run says.
func TestWorkerThatCrashesIsMadeUpFor(t *testing.T) {
	q := newPlan(t, "- [ ] 1. First\n")
	require.NoError(t, work.Plan(t.Context(), nil, "tasks.md", q.agent("1 worker 1 crash\n")))
	require.Equal(t, []string{"1"}, q.items(work.Approved))
}

// While one item waits for a person, others are worked on; with the answer it goes on.
func TestItemThatWaitsForAPersonHoldsUpNobody(t *testing.T) {
	q := newPlan(t, "- [ ] 1. First\n- [ ] 2. Second\n")
	o := q.agent("1 worker 1 question \"Which font?\"\n")
	o.Stay = true
	done := q.walking(o)
	asked := q.wait(work.Asked)
	require.Equal(t, "1", asked.ItemID)
	require.Equal(t, "2", q.wait(work.Approved).ItemID)
	ask[schema.ReplyResult](q, "reply", schema.ReplyParams{TaskID: asked.TaskID, Reply: "Garamond."})
	require.NoError(t, <-done)
	require.Equal(t, []string{"2", "1"}, q.items(work.Approved))
	require.Len(t, q.all(work.Asked), 1)
}

// An agent that cannot choose its exit status asks in its last line. A good result before that line moves nothing: who asks
// has not finished. The worker is told how to ask, behind the stable prefix, and once.
func TestQuestionAtStatusZeroParksTheItem(t *testing.T) {
	q := newPlan(t, "- [ ] 1. First\n")
	o := q.shell(`cat >"prompt$WAYBILL_ATTEMPT_NUMBER"; printf 'role: worker\ntask_id: 1\nstatus: pass\n\nQUESTION: Which font?\n'`)
	require.ErrorIs(t, work.Plan(t.Context(), nil, "tasks.md", o), work.ErrUnfinished)
	require.Empty(t, q.all(work.Completed))
	asked := q.all(work.Asked)[0]
	require.Equal(t, "Which font?", q.task(asked.TaskID).Question)
	c := ask[schema.CompilePromptResult](q, "compile_prompt", schema.CompilePromptParams{RunID: asked.RunID, Role: "worker"})
	prompt, err := os.ReadFile(filepath.Join(q.root, "prompt1"))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(prompt), c.StablePrefix))
	const how = "give no result, but put the question in the last line of your output, behind QUESTION: at its beginning, or exit with status 10.\n"
	require.True(t, strings.HasSuffix(string(prompt), how), string(prompt))

	ask[schema.ReplyResult](q, "reply", schema.ReplyParams{TaskID: asked.TaskID, Reply: "Garamond."})
	o.Command[2] = `cat >"prompt$WAYBILL_ROLE$WAYBILL_CONTINUATION"; echo garbage`
	require.ErrorIs(t, work.Plan(t.Context(), nil, "tasks.md", o), work.ErrUnfinished)
	for _, name := range []string{"promptworker1", "promptworker"} { // the continuation, and the retry behind it
		prompt, err = os.ReadFile(filepath.Join(q.root, name))
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(prompt), how), name)
	}
}

// Without Stay the walk ends where only a person can help, and another one goes on from there.
func TestWalkGoesOnWhereAnotherOneEnded(t *testing.T) {
	q := newPlan(t, "- [ ] 1. First\n")
	o := q.agent("1 worker 1 question \"Which font?\"\n")
	require.ErrorIs(t, work.Plan(t.Context(), nil, "tasks.md", o), work.ErrUnfinished)
	require.Len(t, q.all(work.Waits), 1)
	ask[schema.ReplyResult](q, "reply", schema.ReplyParams{TaskID: q.all(work.Asked)[0].TaskID, Reply: "Garamond."})
	require.NoError(t, work.Plan(t.Context(), nil, "tasks.md", o))
	require.Equal(t, []string{"1"}, q.items(work.Approved))
	require.Len(t, q.all(work.Started), 4, "the worker asked, and went on; the reviewers looked at it once each")
}

// Of several who walk the same plan at the same time, one does each step. Once the maker of a task with other models
// took the clash for the next step, and the step was done twice.
func TestTwoWalksDoNothingTwice(t *testing.T) {
	q := newPlan(t, "- [ ] T001 [P] First\n- [ ] T002 [P] Second\n- [ ] T003 [P] Third\n")
	one, other := q.agent(""), q.agent("")
	one.Parallel, other.Parallel, other.Worker = 2, 2, "other"
	one.Stay, other.Stay = true, true
	one.Models = []schema.Model{{ProviderID: "acme", ModelID: "large"}}
	first, second := q.walking(one), q.walking(other)
	require.NoError(t, <-first)
	require.NoError(t, <-second)
	require.Empty(t, q.all(work.Halted))
	var steps []string
	for _, e := range q.all(work.Started) {
		steps = append(steps, e.ItemID+" "+e.Role)
	}
	slices.Sort(steps)
	require.Equal(t, []string{
		"T001 code-quality-reviewer", "T001 spec-reviewer", "T001 worker", "T002 code-quality-reviewer", "T002 spec-reviewer", "T002 worker",
		"T003 code-quality-reviewer", "T003 spec-reviewer", "T003 worker",
	}, steps)
}

// A walk ended with "1 left, 0 of them can be begun", and did not say that what is left is no item.
func TestWalkThatIsLeftWithABoxSaysSo(t *testing.T) {
	q := newPlan(t, "- [ ] 1. First\n- [x] 2. Second\n- [x] 3. Third\n\n- [ ] ask the baker\n")
	require.ErrorIs(t, work.Plan(t.Context(), nil, "tasks.md", q.agent("")), work.ErrUnfinished)
	require.Equal(t, "1 left, 0 of them can be begun; boxes that are no items: 1 (waybill plan shows them); 0 proven, 1 only said", q.all(work.Ended)[0].Message)
}

// An agent ticks the boxes of others. The walk does not count that as its own.
func TestItemsThatAnAgentClosesAreTold(t *testing.T) {
	q := newPlan(t, "- [ ] 1. First\n- [ ] 2. Second\n  - [ ] 2.1. Part\n- [ ] 3. Third\n- [x] 4. By hand\n")
	o := q.claims(`sed -i.old 's/\[ \]/[x]/' tasks.md; rm tasks.md.old`, ":")
	require.NoError(t, work.Plan(t.Context(), nil, "tasks.md", o))
	require.Equal(t, []string{"1"}, q.items(work.Approved))
	require.Equal(t, "the plan is completed: 0 proven, 1 only said, and closed in the file by others: 2.1, 3", q.all(work.Ended)[0].Message)
}

// Who is stopped in the midst of a plan leaves it so that another one can go on.
func TestWalkThatIsStoppedCanBeGoneOnWith(t *testing.T) {
	q := newPlan(t, "- [ ] 1. First\n- [ ] 2. Second\n")
	o := q.shell("exec 3>fifo; sleep 1000")
	require.ErrorIs(t, q.begin(o, q.walking, func() { q.stop() }), work.ErrUnfinished)
	require.Len(t, q.all(work.Interrupted), 1)
	require.Equal(t, "2 left, 1 of them can be begun; 0 proven, 0 only said", q.all(work.Ended)[0].Message)
	require.NoError(t, work.Plan(t.Context(), nil, "tasks.md", q.agent("")))
	require.Equal(t, []string{"1", "2"}, q.items(work.Approved))
}

// Who drains in the midst of a plan lets the command come to its end, and begins nothing more.
func TestWalkDrains(t *testing.T) {
	q := newPlan(t, "- [ ] 1. First\n")
	o := q.shell("exec 3>fifo; read line <go; printf 'role: worker\\ntask_id: 1\\nstatus: pass\\n'")
	require.ErrorIs(t, q.begin(o, q.walking, func() {
		close(q.drained)
		q.letGo()
	}), work.ErrUnfinished)
	require.Len(t, q.all(work.Started), 1)
	require.Len(t, q.all(work.Completed), 1)
}

func TestPlanThatIsNotThere(t *testing.T) {
	q := newQueue(t)
	err := work.Plan(t.Context(), nil, "tasks.md", q.agent(""))
	fault, ok := errors.AsType[*schema.Error](err)
	require.True(t, ok, err)
	require.Equal(t, schema.LedgerMissing, fault.Data.Code)
}

// The chain of models goes with the tasks, and each command is told which one it is to use.
func TestCommandsAreToldTheirModel(t *testing.T) {
	q := newPlan(t, "- [ ] 1. First\n")
	o := q.shell(`echo "$WAYBILL_PROVIDER_ID/$WAYBILL_MODEL_ID:$WAYBILL_MODEL_VARIANT $WAYBILL_ROLE" >>models; echo "429 Too Many Requests" >&2; exit 1`)
	o.Models = []schema.Model{{ProviderID: "acme", ModelID: "large", Variant: "high"}, {ProviderID: "other", ModelID: "small"}}
	require.ErrorIs(t, work.Plan(t.Context(), nil, "tasks.md", o), work.ErrUnfinished)
	text, err := os.ReadFile(filepath.Join(q.root, "models"))
	require.NoError(t, err)
	require.Equal(t, "acme/large:high worker\nother/small: worker\n", string(text))
	require.Equal(t, []string{"1"}, q.items(work.Halted))
}
