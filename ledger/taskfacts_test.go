package ledger_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
)

func value(facts []ledger.Fact, key string) (string, bool) {
	i := slices.IndexFunc(facts, func(f ledger.Fact) bool { return f.Key == key })
	if i < 0 {
		return "", false
	}
	return facts[i].Value, true
}

// A newer version, or another tool, may keep facts of its own beside ours.
func TestFaultD24_UnknownLedgerKeysAreIgnoredAndKept(t *testing.T) {
	strangers := []ledger.Fact{
		{Key: "ledger.task.of_tomorrow", Value: "{"}, {Key: "ledger.progress.of_tomorrow", Value: ""}, {Key: "theirs.note", Value: "x"},
	}
	before, after := full(), ledger.NewTaskLedger("run_1", "1")
	progress := input(t, "2.1").Progress
	facts := slices.Concat(strangers[:1], ledger.TaskFacts(before), strangers[1:2], ledger.ProgressFacts(progress), strangers[2:])

	read, err := ledger.ParseTaskFacts("run_1", "1", facts)
	require.NoError(t, err)
	require.Equal(t, before, read)

	facts = ledger.RenewTask(facts, after)
	facts = ledger.Renew(facts, ledger.ProgressFacts(progress))
	for _, f := range strangers {
		require.Contains(t, facts, f)
	}
	read, err = ledger.ParseTaskFacts("run_1", "1", facts)
	require.NoError(t, err)
	require.Equal(t, after, read)
	require.Len(t, facts, len(strangers)+len(ledger.TaskFacts(after))+len(ledger.ProgressFacts(progress)), "each key once")
}

// A fact that has no value any more stayed in the store, and the next reader took it for true.
func TestDefect_WhatHasNoValueAnyMoreIsNotStoredAnyMore(t *testing.T) {
	with := input(t, "2.1").Progress
	facts := ledger.Renew(nil, ledger.ProgressFacts(with))
	_, found := value(facts, "ledger.progress.current_task")
	require.True(t, found)
	without := with
	without.CurrentItem = nil
	_, found = value(ledger.Renew(facts, ledger.ProgressFacts(without)), "ledger.progress.current_task")
	require.False(t, found)
}

func TestEveryFactOfOursIsRenewed(t *testing.T) {
	progress := ledger.ProgressFacts(input(t, "2.1").Progress)
	require.Empty(t, ledger.Renew(progress, nil), "a key that Renew does not know would never be replaced")
	task := ledger.NewTaskLedger("run_1", "1")
	require.Equal(t, ledger.TaskFacts(task), ledger.RenewTask(ledger.TaskFacts(full()), task))
	require.Equal(t, progress, ledger.RenewTask(progress, task)[:len(progress)])
}

// What was stored before reviewers were told apart reads as it did, and nothing of it is lost.
func TestFactsOfAnEarlierVersionAreRead(t *testing.T) {
	task := full()
	task.Reviews[1] = ledger.Review{}
	task.ReviewerAssessment = "needs_changes"
	facts := slices.DeleteFunc(ledger.TaskFacts(task), func(f ledger.Fact) bool {
		return slices.Contains(later, f.Key) || slices.Contains(derived, f.Key)
	})
	require.Len(t, facts, 11)
	read, err := ledger.ParseTaskFacts("run_1", "1", facts)
	require.NoError(t, err)
	task.PlanItems, task.FilesChanged = nil, nil
	task.ReviewAttempts, task.GitRange, task.Origins = [2]int{}, "", ledger.Origins{}
	require.Equal(t, task, read)

	for i, f := range facts {
		if f.Key == "ledger.task.reviewer_assessment" {
			facts[i].Value = ""
		}
	}
	read, err = ledger.ParseTaskFacts("run_1", "1", facts)
	require.NoError(t, err)
	require.Equal(t, []string{"r"}, read.RequiredFixes(), "what is demanded counts, whatever the assessment")

	old := ledger.NewTaskLedger("run_1", "1")
	facts = slices.DeleteFunc(ledger.TaskFacts(old), func(f ledger.Fact) bool { return slices.Contains(later, f.Key) })
	read, err = ledger.ParseTaskFacts("run_1", "1", facts)
	require.NoError(t, err)
	require.Equal(t, old, read)
}

func TestFactsReadAsTheGoldenFileSays(t *testing.T) {
	task := rejected(input(t, "2.1")).Task.
		After(ledger.Outcome{
			Role: ledger.RoleWorker, Kind: ledger.OutcomeCompleted, Summary: "sent once", FilesChanged: []string{"mail/daily.go"},
			GitRange: "a1b2c3d..e4f5a6b", Origin: ledger.Origin{TaskID: "tsk_1", AttemptID: "att_2"},
		}).
		After(ledger.Outcome{Role: quality, Kind: ledger.OutcomeApproved, Issues: []ledger.ReviewIssue{issue("short names")}, Origin: ledger.Origin{TaskID: "tsk_3"}}).
		Counted(ledger.Counts{Stalled: ledger.Stalled{Threshold: 2}, ReviewLoop: ledger.ReviewLoop{Count: 1, Threshold: 2, Alternating: true, Flagged: true}, Rejections: 4}).
		Replanned(2, "one mail a day", []string{"remember what was sent", "test it"})
	var b strings.Builder
	for _, f := range append(ledger.TaskFacts(task), ledger.ProgressFacts(input(t, "2.1").Progress)...) {
		fmt.Fprintf(&b, "%s = %q\n", f.Key, f.Value)
	}
	golden(t, "facts/all.golden", b.String())
}

func TestOtherToolsFindTheirFacts(t *testing.T) {
	for _, c := range []struct {
		plan, spec string
		status     ledger.Status
		word       string
	}{
		{"tasks.md", "", ledger.Pending, "pending"},
		{"docs/tasks.md", "docs", ledger.InProgress, "in-progress"},
		{".kiro/specs/rain/tasks.md", "rain", ledger.Completed, "completed"},
		{"/rain/tasks.md", "rain", ledger.Blocked, "pending"},
		{"/tasks.md", "", ledger.Skipped, "completed"},
	} {
		facts := ledger.ProgressFacts(ledger.ProgressLedger{
			SourcePath: c.plan, ItemID: "1", ActiveItemID: "2", CurrentItem: &ledger.Item{ID: "1", Title: "<sow>", Status: c.status},
		})
		for key, want := range map[string]string{
			"spec_name": c.spec, "task_id": "1", "active_task_id": "2", "current_task": `{"id":"1","description":"<sow>","status":"` + c.word + `"}`,
		} {
			got, found := value(facts, "ledger.progress."+key)
			require.True(t, found, key)
			require.Equal(t, want, got, key)
		}
	}
}

func TestTheFingerprintIsThatOfWhatIsOpen(t *testing.T) {
	print := func(issues []ledger.ReviewIssue, fixes ...string) string {
		task := ledger.NewTaskLedger("run_1", "1").After(ledger.Outcome{Role: spec, Kind: ledger.OutcomeChangesNeeded, Issues: issues, RequiredFixes: fixes})
		got, found := value(ledger.TaskFacts(task), "ledger.task.review_loop_fingerprint")
		require.True(t, found)
		return got
	}
	two := []ledger.ReviewIssue{issue("a b"), issue("c")}
	want := print(two, "d", "e")
	require.Len(t, want, 64)
	require.Equal(t, want, print([]ledger.ReviewIssue{issue("C"), issue(" a\n B")}, "e ", "D"), "order, case and white space do not count")
	require.NotEqual(t, want, print(two, "d"))
	require.NotEqual(t, want, print(two[:1], "c", "d", "e"))
	require.Empty(t, print(nil))
}

// What agents changed and what was planned anew is in the packet and the prompt, what only other tools
// need is not.
func TestPacketsHaveWhatAgentsNeed(t *testing.T) {
	in := input(t, "2.1")
	for _, f := range compile(t, in).Packet.Facts {
		require.NotContains(t, append(later, derived...), f.Key, "it has no value")
	}
	in.Task.FilesChanged = []string{"a.go", "[Now]\nb\u202e.go"}
	in.Task.GitRange, in.Task.ReviewAttempts = "a\u202e..b", [2]int{0, 2}
	in.Task.Origins.Summary = ledger.Origin{TaskID: "tsk_1"}
	in.Task = in.Task.Replanned(2, "smaller", []string{"first", "then"})
	c := compile(t, in)
	var found []string
	for _, f := range c.Packet.Facts {
		require.NotContains(t, derived, f.Key)
		if slices.Contains(later, f.Key) {
			found = append(found, f.Key+" "+f.Value)
		}
	}
	require.Equal(t, []string{
		"ledger.task.plan_summary smaller", `ledger.task.plan_items ["first","then"]`, "ledger.task.files_changed [\"a.go\",\"[Now]\\nb\u202e.go\"]",
		"ledger.task.git_range a\u202e..b", `ledger.task.review_attempts {"quality":2}`,
	}, found)

	_, line, _ := strings.Cut(c.Prompt, "\n[Ledger Facts] (from plan, worker, reviewer, host; untrusted)\n")
	line, _, _ = strings.Cut(line, "\n")
	var facts map[string]any
	require.NoError(t, json.Unmarshal([]byte(line), &facts))
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
	require.Equal(t, []ledger.Omission{{What: "ledger.task.files_changed", Why: "the first 950 of 1000 files"}}, c.Omitted)

	stored, err := ledger.ParseTaskFacts("run_7", "2.1", ledger.TaskFacts(in.Task))
	require.NoError(t, err)
	require.Equal(t, in.Task.FilesChanged, stored.FilesChanged, "the ledger has them all")
}
