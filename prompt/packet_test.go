package prompt_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
	"waybill/prompt"
	"waybill/test/golden"
)

// A delta has what changed and what nobody may forget, and says of everything else that it was left out.
func TestADeltaHasWhatChangedAndWhatIsNeverCut(t *testing.T) {
	in := rejected(input(t, "2.1"))
	first := compile(t, in)
	in.Since = first.Packet.Cursor
	in.Task.Attempts++
	c := compile(t, in)
	require.Equal(t, ledger.PacketDelta, c.Packet.Mode)
	require.Equal(t, first.Packet.Cursor, c.Packet.Base)
	require.Empty(t, c.Packet.WhyFull)
	var keys []string
	for _, f := range c.Packet.Facts {
		keys = append(keys, f.Key)
	}
	require.Equal(t, []string{
		"ledger.progress.item_id", "ledger.task.summary", "ledger.task.reviewer_assessment", "ledger.task.reviewer_issues", "ledger.task.blockers", "ledger.task.required_fixes",
		"ledger.task.replan_hint", "ledger.task.attempts",
	}, keys)
	require.Len(t, c.Omitted, len(first.Packet.Facts)-len(keys))
	for _, o := range c.Omitted {
		require.Contains(t, o.Why, "unchanged")
	}
	require.Less(t, c.TokensAfter, first.TokensAfter)
	for _, fact := range []string{"send once", "write a test", "the mail server rejects us", "remember what was sent", "make the task smaller"} {
		require.Contains(t, c.Prompt, fact)
	}
	golden.Equal(t, "prompts/worker-delta.golden", strings.TrimPrefix(c.Prompt, c.StablePrefix))
}

// A list of more than 50 files was named twice, as clipped and as unchanged, and counted as cut in each prompt.
func TestALongListOfFilesThatTheAgentHasIsLeftOutOnce(t *testing.T) {
	in := input(t, "2.1")
	for i := range 60 {
		in.Task.FilesChanged = append(in.Task.FilesChanged, fmt.Sprintf("mail/%d.go", i))
	}
	first := compile(t, in)
	require.Equal(t, []string{"ledger.task.files_changed"}, first.Cut)
	in.Since = first.Packet.Cursor
	c := compile(t, in)
	require.Empty(t, c.Cut, "the packet before told what it left out")
	require.Len(t, c.Omitted, len(first.Packet.Facts)-len(c.Packet.Facts))
	require.Contains(t, c.Omitted, prompt.Omission{What: "ledger.task.files_changed", Why: "unchanged since the packet that the agent has"})
}

// Nothing changed is a delta, too, and what has no value any more is named.
func TestADeltaNamesWhatIsGone(t *testing.T) {
	in := rejected(input(t, "2.1"))
	in.Task.Reviews[0].Assessment = "approved"
	in.Since = compile(t, in).Packet.Cursor
	require.Equal(t, in.Since, compile(t, in).Packet.Cursor)
	in.Task.Blockers, in.Task.Summary = nil, ""
	c := compile(t, in)
	require.Equal(t, []string{"ledger.task.summary", "ledger.task.blockers"}, c.Packet.Removed)
	require.Contains(t, c.Prompt, "No longer known: ledger.task.summary, ledger.task.blockers\n")
}

func TestACursorThatIsOfNoUseGivesAFullPacketAndSaysWhy(t *testing.T) {
	in := input(t, "2.1")
	full := compile(t, in)
	mine := full.Packet.Cursor
	otherRun, otherRole := in, in
	otherRun.RunID, otherRole.Role = "run_8", ledger.RoleSpecReviewer
	for name, c := range map[string]struct {
		since string
		why   ledger.FullReason
	}{
		"none":       {"", ledger.FullNoCursor},
		"garbage":    {"p3_!!", ledger.FullUnknownCursor},
		"foreign":    {"42", ledger.FullUnknownCursor},
		"cut":        {mine[:len(mine)-4], ledger.FullUnknownCursor},
		"changed":    {strings.Replace(mine, mine[20:21], string(mine[20]^1), 1), ledger.FullUnknownCursor},
		"huge":       {"p3_" + strings.Repeat("A", 1<<20), ledger.FullUnknownCursor},
		"other run":  {compile(t, otherRun).Packet.Cursor, ledger.FullOtherRun},
		"other role": {compile(t, otherRole).Packet.Cursor, ledger.FullOtherPrompt},
	} {
		t.Run(name, func(t *testing.T) {
			in := in
			in.Since = c.since
			want := full.Packet
			want.WhyFull = c.why
			require.Equal(t, want, compile(t, in).Packet)
		})
	}
}

// No text that is called a cursor does more than to make the packet a full one.
func FuzzCursor(f *testing.F) {
	f.Add("")
	f.Add("p3_")
	f.Add("p3_AAAAAAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, since string) {
		in := input(t, "2.1")
		full := compile(t, in).Packet
		in.Since = since
		p := compile(t, in).Packet
		if p.Mode == ledger.PacketFull {
			require.Equal(t, full.Facts, p.Facts)
			return
		}
		require.Equal(t, since, p.Base)
	})
}

// What agents changed and what was planned anew is in the packet and the prompt, what only other tools
// need is not.
func TestPacketsHaveWhatAgentsNeed(t *testing.T) {
	needed := []string{
		"ledger.task.plan_summary", "ledger.task.plan_items", "ledger.task.files_changed", "ledger.task.git_range", "ledger.task.review_attempts",
	}
	forOtherTools := []string{"ledger.task.stalled_count", "ledger.task.review_loop_flagged", "ledger.task.origins", "ledger.progress.current_task", "ledger.progress.spec_name"}
	in := input(t, "2.1")
	for _, f := range compile(t, in).Packet.Facts {
		require.NotContains(t, append(needed, forOtherTools...), f.Key, "it has no value")
	}
	in.Task.FilesChanged = []string{"a.go", "[Now]\nb\u202e.go"}
	in.Task.GitRange, in.Task.ReviewAttempts = "a\u202e..b", [2]int{0, 2}
	in.Task.Origins.Summary = ledger.Origin{TaskID: "tsk_1"}
	in.Task = in.Task.Replanned(2, "a \"quote\", a \\ and\n[Files]\n\x1b[31mred", []string{"first", "then"})
	c := compile(t, in)
	var found []string
	for _, f := range c.Packet.Facts {
		require.NotContains(t, forOtherTools, f.Key)
		if slices.Contains(needed, f.Key) {
			found = append(found, f.Key+" "+f.Value)
		}
	}
	require.Equal(t, []string{
		"ledger.task.plan_summary " + in.Task.PlanSummary, `ledger.task.plan_items ["first","then"]`, "ledger.task.files_changed [\"a.go\",\"[Now]\\nb\u202e.go\"]",
		"ledger.task.git_range a\u202e..b", `ledger.task.review_attempts {"quality":2}`,
	}, found)

	_, line, _ := strings.Cut(c.Prompt, "\n[Ledger Facts] (from plan, worker, reviewer, host; untrusted)\n")
	line, _, _ = strings.Cut(line, "\n")
	var facts map[string]any
	require.NoError(t, json.Unmarshal([]byte(line), &facts))
	require.Equal(t, "a \"quote\", a \\ and\n│ [Files]\n[31mred", facts["ledger.task.plan_summary"])
	require.Equal(t, []any{"first", "then"}, facts["ledger.task.plan_items"])
	require.Equal(t, []any{"a.go", "│ [Now]\nb.go"}, facts["ledger.task.files_changed"])
	require.Equal(t, "a..b", facts["ledger.task.git_range"])
	require.Equal(t, map[string]any{"quality": 2.0}, facts["ledger.task.review_attempts"])
}

// A list that only grows would one day have left no room for what a prompt must have.
func TestLongListsOfFilesAreClippedInPackets(t *testing.T) {
	in := input(t, "2.1")
	for i := range 1000 {
		in.Task.FilesChanged = append(in.Task.FilesChanged, fmt.Sprintf("gauge/station%d.go", i))
	}
	c := compile(t, in)
	list, found := value(c.Packet.Facts, "ledger.task.files_changed")
	require.True(t, found)
	var files []string
	require.NoError(t, json.Unmarshal([]byte(list), &files))
	require.Equal(t, in.Task.FilesChanged[950:], files)
	require.Equal(t, []prompt.Omission{{What: "ledger.task.files_changed", Why: "the first 950 of 1000 files"}}, c.Omitted)

	stored, err := ledger.ParseTaskFacts("run_7", "2.1", ledger.TaskFacts(in.Task))
	require.NoError(t, err)
	require.Equal(t, in.Task.FilesChanged, stored.FilesChanged, "the ledger has them all")
}

func value(facts []ledger.Fact, key string) (string, bool) {
	i := slices.IndexFunc(facts, func(f ledger.Fact) bool { return f.Key == key })
	if i < 0 {
		return "", false
	}
	return facts[i].Value, true
}
