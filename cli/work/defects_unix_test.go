//go:build unix

package work_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/cli/work"
	"waybill/schema"
)

// What a store does not keep as it is was refused, and the same command ran again and again.
func TestOutputThatAStoreRefuses(t *testing.T) {
	for name, script := range map[string]string{
		"NUL in the output":   `printf 'a\000b'`,
		"NUL in the reason":   `printf 'a\000b' >&2; exit 1`,
		"a very long reason":  `head -c 100000 /dev/zero | tr '\0' x >&2; exit 1`,
		"a very long line":    `printf 'QUESTION: '; head -c 300000 /dev/zero | tr '\0' x; exit 10`,
		"a very long text":    `for i in 1 2 3; do head -c 100000 /dev/zero | tr '\0' x; echo; done; exit 10`,
		"blanks for question": `echo 'QUESTION:  '; exit 10`,
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			id := q.make("Lend it.", 3)
			q.drain(q.shell(script))
			require.Contains(t, []string{"COMPLETE", "ERROR", "AWAITING_RESPONSE"}, q.task(id).Status)
			require.Empty(t, q.all(work.Trouble))
			require.Len(t, q.all(work.Started), 1)
		})
	}
}

// A report that is refused was given up, and the task was RUNNING until its lease ran out.
func TestRefusedReportEndsTheAttempt(t *testing.T) {
	q := newQueue(t)
	id := q.make("Lend it.", 3)
	q.refuse(1, "finish_attempt", schema.NewError(schema.InvalidParams, "output is not to my taste"))
	q.drain(q.shell("echo done"))
	require.Equal(t, "ERROR", q.task(id).Status)
	require.Contains(t, q.task(id).Error.Message, "not to my taste")
}

// A command ran on after its lease had expired during an outage of the store, beside the next worker.
func TestCommandEndsWhenItsLeaseMayHaveRunOut(t *testing.T) {
	q := newQueue(t)
	q.make("Lend it.", 1)
	var away atomic.Bool
	q.before = func(method string, _ any) (bool, error) {
		return method == "heartbeat" && away.Load(), schema.NewError(schema.StoreBusy, "another process holds the store")
	}
	o := q.shell("exec 3>fifo; sleep 1000")
	o.Lease = 3 * time.Second
	q.during(o, func() { away.Store(true) })
	require.Len(t, q.all(work.Lost), 1)
	require.NotEmpty(t, q.all(work.Trouble))
	require.NotContains(t, q.calls, "finish_attempt")
}

// A command ran for an attempt that another worker had taken before.
func TestLostAttemptIsNotBegun(t *testing.T) {
	q := newQueue(t)
	q.make("Lend it.", 1)
	q.before = func(method string, result any) (bool, error) {
		if method != "bind_session" {
			return false, nil
		}
		*result.(*schema.AttemptReport) = schema.AttemptReport{Reason: "stale_attempt"}
		return true, nil
	}
	q.drain(q.shell("touch ran"))
	require.Len(t, q.all(work.Lost), 1)
	require.Empty(t, q.all(work.Started))
	require.NoFileExists(t, filepath.Join(q.root, "ran"))
}

// A claim whose answer was lost was followed by another one, and its task waited for its lease to run out.
func TestClaimThatIsRepeatedIsTheSame(t *testing.T) {
	q := newQueue(t)
	first, second := q.make("Lend it.", 1), q.make("Lend the other.", 1)
	lost := false
	o := q.shell("true")
	o.Call = func(ctx context.Context, method string, params, result any) error {
		err := q.call(ctx, method, params, result)
		if method == "claim_task" && !lost {
			lost = true
			fault := schema.NewError(schema.StoreIO, "the disk did not answer")
			fault.Data.Outcome = schema.OutcomeUnknown
			return fault // although it has taken effect
		}
		return err
	}
	q.drain(o)
	require.Equal(t, []string{"COMPLETE", "COMPLETE"}, []string{q.task(first).Status, q.task(second).Status})
}

// A whole character in the midst of an output that was kept was cut in two.
func TestOutputThatIsKeptIsKeptWhole(t *testing.T) {
	q := newQueue(t)
	id := q.make("Lend it.", 1)
	text := "a" + strings.Repeat("é", 300_000)
	require.NoError(t, os.WriteFile(filepath.Join(q.root, "text"), []byte(text), 0o600))
	q.drain(q.shell("cat text"))
	require.Equal(t, text, q.task(id).Output)
}

// The reason of a failure had the beginning of the standard error in it, glued to its end.
func TestReasonIsTheEndOfTheStandardError(t *testing.T) {
	q := newQueue(t)
	id := q.make("Lend it.", 1)
	q.drain(q.shell(`i=0; while [ $i -lt 2000 ]; do echo "line $i"; i=$((i+1)); done >&2; exit 1`))
	reason := q.task(id).Error.Message
	require.LessOrEqual(t, len(reason), 2048)
	require.Greater(t, len(reason), 2000)
	require.True(t, strings.HasSuffix(reason, "line 1998\nline 1999"))
	require.NotContains(t, reason, "line 51\n")
}

// The conversation that asked was lost when the attempt with the answer failed.
func TestConversationOutlastsAFailure(t *testing.T) {
	q := newQueue(t)
	id := q.make("Lend it.", 3)
	q.drain(q.shell("echo To whom?; exit 10"))
	asked := q.task(id).SessionID
	ask[schema.ReplyResult](q, "reply", schema.ReplyParams{TaskID: id, Reply: "To Ada."})
	q.drain(q.shell(`[ $WAYBILL_ATTEMPT_NUMBER = 2 ] && exit 75; echo "$WAYBILL_SESSION_ID $WAYBILL_CONTINUATION"`))
	require.Equal(t, asked+" 1\n", q.task(id).Output)
}

// A command that works for a command saw what the outer one was told.
func TestCommandIsToldNothingOfAnotherTask(t *testing.T) {
	for _, name := range []string{"WAYBILL_CONTINUATION", "WAYBILL_RUN_ID", "WAYBILL_ROLE", "WAYBILL_MODEL_ID"} {
		t.Setenv(name, "another")
	}
	q := newQueue(t)
	id := q.make("Lend it.", 1)
	q.drain(q.shell("env | grep =another; true"))
	require.Empty(t, q.task(id).Output)
}

// A command that cannot be started was reported as a failure of every task of the queue.
func TestCommandThatCannotBeStartedEndsTheWork(t *testing.T) {
	q := newQueue(t)
	first, second := q.make("Lend it.", 1), q.make("Lend the other.", 1)
	o := q.shell("")
	o.Command = []string{filepath.Join(q.root, "gone")}
	require.ErrorIs(t, work.Tasks(t.Context(), nil, o), os.ErrNotExist)
	require.Equal(t, []string{"ERROR", "interrupted"}, []string{q.task(first).Status, q.task(first).Reason})
	require.Equal(t, "QUEUED", q.task(second).Status)
}

// What a command had left running went on beside those that came after it.
func TestWhatACommandLeavesRunningEndsWithIt(t *testing.T) {
	q := newQueue(t)
	id := q.make("Lend it.", 1)
	q.during(q.shell("exec 3>fifo; sleep 1000 >/dev/null 2>&1 & echo done"), func() {})
	require.Equal(t, "done\n", q.task(id).Output)
}

// A task that was completed without a judged result was followed by new tasks for ever.
func TestTaskWhoseResultIsNotJudgedHaltsItsItem(t *testing.T) {
	q := newPlan(t, "- [ ] 1. First\n")
	o := q.agent("")
	o.Call = func(ctx context.Context, method string, params, result any) error {
		if method == "ingest_output" { // a worker that knows nothing of runs
			p := params.(schema.IngestOutputParams)
			finish := schema.FinishAttemptParams{TaskID: p.TaskID, LeaseToken: p.LeaseToken, Status: "completed"}
			result.(*schema.IngestOutputResult).Applied = true
			return q.call(ctx, "finish_attempt", finish, new(schema.FinishAttemptResult))
		}
		return q.call(ctx, method, params, result)
	}
	require.ErrorIs(t, work.Plan(t.Context(), nil, "tasks.md", o), work.ErrUnfinished)
	require.Len(t, q.all(work.Started), 1)
	require.Contains(t, q.all(work.Halted)[0].Message, "its result was never submitted")
}

// A walk began an item beside one that another process worked on.
func TestWalksKeepTheOrderOfThePlan(t *testing.T) {
	q := newPlan(t, "- [ ] 1. First\n- [ ] 2. Second\n")
	one, other := q.agent("* * * slow 100ms\n"), q.agent("* * * slow 100ms\n")
	for _, o := range []*work.Options{&one, &other} {
		o.Stay = true
		o.Command = append([]string{"sh", "-c", `mkdir busy || touch both; "$0" "$@"; rmdir busy`}, o.Command...)
	}
	other.Worker = "other"
	first, second := q.walking(one), q.walking(other)
	require.NoError(t, <-first)
	require.NoError(t, <-second)
	require.NoFileExists(t, filepath.Join(q.root, "both"))
}

// An item that had waited for an answer went on beside one that the plan does not allow beside others.
func TestAnsweredItemWaitsForItsTurn(t *testing.T) {
	q := newPlan(t, "- [ ] 1. First\n- [ ] 2. Second\n")
	q.pipe("go")
	o := q.agent("1 worker 1 question \"Which font?\"\n")
	o.Stay, o.Parallel = true, 2
	o.Command = append([]string{"sh", "-c", `mkdir busy || touch both
		[ $WAYBILL_ROLE = worker ] && [ -f asked ] && [ ! -f gone ] && { touch gone; read line <go; }
		touch asked; "$0" "$@"; code=$?; rmdir busy; exit $code`}, o.Command...)
	done := q.walking(o)
	asked := q.wait(work.Asked)
	for q.wait(work.Started).ItemID != "2" {
	}
	ask[schema.ReplyResult](q, "reply", schema.ReplyParams{TaskID: asked.TaskID, Reply: "Garamond."})
	q.letGo()
	require.NoError(t, <-done)
	require.NoFileExists(t, filepath.Join(q.root, "both"))
}

// A live run whose plan could not be read was begun again and again.
func TestRunThatCannotBeGoneOnWithIsBegunOnce(t *testing.T) {
	q := newPlan(t, "- [ ] 1. First\n- [ ] 2. Second\n")
	ask[schema.InitRunResult](q, "init_run", schema.InitRunParams{Plan: "tasks.md", ItemID: "2"})
	q.before = func(method string, _ any) (bool, error) {
		return method == "init_run", schema.NewError(schema.InvalidState, "not now")
	}
	require.ErrorIs(t, work.Plan(t.Context(), nil, "tasks.md", q.agent("")), work.ErrUnfinished)
	require.ElementsMatch(t, []string{"1", "2"}, q.items(work.Halted))
}

// A claim that had taken several tries counted as lost before it began.
func TestClaimThatTookLongIsNotLost(t *testing.T) {
	q := newQueue(t)
	id := q.make("Lend it.", 1)
	q.refuse(6, "claim_task", schema.NewError(schema.StoreBusy, "another process holds the store")) // longer than the lease
	o := q.shell("true")
	o.Lease = 3 * time.Second
	q.drain(o)
	require.Equal(t, "COMPLETE", q.task(id).Status)
}

// A command that had ended in time counted as ended, because what it had started held its output.
func TestCommandThatEndedInTime(t *testing.T) {
	q := newQueue(t)
	id := q.make("Lend it.", 1)
	o := q.shell("sleep 1000 & echo done")
	o.Timeout, o.Grace = 3*time.Second, 4*time.Second
	q.drain(o)
	require.Equal(t, "COMPLETE", q.task(id).Status)
}

// A drained walk created a task and did not run it.
func TestWalkThatIsDrainedMakesNoTask(t *testing.T) {
	q := newPlan(t, "- [ ] 1. First\n")
	drain := make(chan struct{})
	q.before = func(method string, _ any) (bool, error) {
		if method == "init_run" {
			close(drain)
		}
		return false, nil
	}
	require.ErrorIs(t, work.Plan(t.Context(), drain, "tasks.md", q.agent("")), work.ErrUnfinished)
	require.Empty(t, ask[schema.TaskList](q, "list_tasks", schema.ListTasksParams{}).Items)
}

// An item that was blocked once was not gone on with, although it had been planned anew.
func TestItemThatIsPlannedAnewIsGoneOnWith(t *testing.T) {
	q := newPlan(t, "- [ ] 1. First\n- [ ] 2. Second\n")
	o := q.agent("1 worker 1 error \"the font is gone\"\n1 worker 2 error \"the font is gone\"\n2 worker 1 question \"Which font?\"\n")
	o.Stay = true
	done := q.walking(o)
	halted, asked := q.wait(work.Halted), q.wait(work.Asked)
	ask[schema.ReplanResult](q, "replan", schema.ReplanParams{RunID: halted.RunID, Summary: "another font", PlanItems: []string{"take Garamond"}})
	require.Equal(t, "1", q.wait(work.Approved).ItemID)
	ask[schema.ReplyResult](q, "reply", schema.ReplyParams{TaskID: asked.TaskID, Reply: "Garamond."})
	require.NoError(t, <-done)
}

// A look at the plan that failed ended the walk, but for what was under way.
func TestWalkOutlivesALookThatFails(t *testing.T) {
	q := newPlan(t, "- [ ] 1. First\n- [ ] 2. Second\n")
	o := q.agent("1 worker 1 question \"Which font?\"\n")
	o.Stay = true
	failed := false
	q.before = func(method string, _ any) (bool, error) {
		if method != "ready_items" || failed || len(q.all(work.Waits)) == 0 {
			return false, nil
		}
		failed = true
		return true, schema.NewError(schema.LedgerMissing, "the plan is not there")
	}
	done := q.walking(o)
	asked := q.wait(work.Asked)
	require.Contains(t, q.wait(work.Trouble).Message, "the plan is not there")
	require.Equal(t, "2", q.wait(work.Approved).ItemID)
	ask[schema.ReplyResult](q, "reply", schema.ReplyParams{TaskID: asked.TaskID, Reply: "Garamond."})
	require.NoError(t, <-done)
}
