package ledger_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
	"waybill/plan"
	"waybill/test/golden"
)

func value(facts []ledger.Fact, key string) (string, bool) {
	i := slices.IndexFunc(facts, func(f ledger.Fact) bool { return f.Key == key })
	if i < 0 {
		return "", false
	}
	return facts[i].Value, true
}

// progress returns the facts about one item of a short plan.
func progress(t *testing.T) ledger.ProgressLedger {
	t.Helper()
	p, err := ledger.Progress(parse(t, "- [x] 1. Base\n- [-] 2. Daily mail\n  - keep the old address\n  - Files: mail/daily.go\n  - _Depends: 1_\n"),
		"rain", "plans/rain/tasks.md", "2")
	require.NoError(t, err)
	return p
}

// A newer version, or another tool, may keep facts of its own beside ours.
func TestFaultD24_UnknownLedgerKeysAreIgnoredAndKept(t *testing.T) {
	strangers := []ledger.Fact{
		{Key: "ledger.task.of_tomorrow", Value: "{"}, {Key: "ledger.progress.of_tomorrow", Value: ""}, {Key: "theirs.note", Value: "x"},
	}
	before, after := full(), ledger.NewTaskLedger("run_1", "1")
	about := progress(t)
	facts := slices.Concat(strangers[:1], ledger.TaskFacts(before), strangers[1:2], ledger.ProgressFacts(about), strangers[2:])

	read, err := ledger.ParseTaskFacts("run_1", "1", facts)
	require.NoError(t, err)
	require.Equal(t, before, read)

	facts = ledger.RenewTask(facts, after)
	facts = ledger.Renew(facts, ledger.ProgressFacts(about))
	for _, f := range strangers {
		require.Contains(t, facts, f)
	}
	read, err = ledger.ParseTaskFacts("run_1", "1", facts)
	require.NoError(t, err)
	require.Equal(t, after, read)
	require.Len(t, facts, len(strangers)+len(ledger.TaskFacts(after))+len(ledger.ProgressFacts(about)), "each key once")
}

// A fact that has no value any more stayed in the store, and the next reader took it for true.
func TestDefect_WhatHasNoValueAnyMoreIsNotStoredAnyMore(t *testing.T) {
	with := progress(t)
	facts := ledger.Renew(nil, ledger.ProgressFacts(with))
	_, found := value(facts, "ledger.progress.current_task")
	require.True(t, found)
	without := with
	without.CurrentItem = nil
	_, found = value(ledger.Renew(facts, ledger.ProgressFacts(without)), "ledger.progress.current_task")
	require.False(t, found)
}

func TestEveryFactOfOursIsRenewed(t *testing.T) {
	about := ledger.ProgressFacts(progress(t))
	require.Empty(t, ledger.Renew(about, nil), "a key that Renew does not know would never be replaced")
	task := ledger.NewTaskLedger("run_1", "1")
	require.Equal(t, ledger.TaskFacts(task), ledger.RenewTask(ledger.TaskFacts(full()), task))
	require.Equal(t, about, ledger.RenewTask(about, task)[:len(about)])
}

func TestFactsReadAsTheGoldenFileSays(t *testing.T) {
	task := ledger.NewTaskLedger("run_7", "2.1").
		After(ledger.Outcome{
			Role: spec, Kind: ledger.OutcomeChangesNeeded, RequiredFixes: []string{"send once", "write a test"},
			Issues: []ledger.ReviewIssue{{Severity: "critical", File: "mail/daily.go", Message: "sent twice", Fix: "remember what was sent"}},
		}).
		After(ledger.Outcome{
			Role: ledger.RoleWorker, Kind: ledger.OutcomeCompleted, Summary: "sent once", FilesChanged: []string{"mail/daily.go"},
			GitRange: "a1b2c3d..e4f5a6b", Origin: ledger.Origin{TaskID: "tsk_1", AttemptID: "att_2"},
		}).
		After(ledger.Outcome{Role: quality, Kind: ledger.OutcomeApproved, Issues: []ledger.ReviewIssue{issue("short names")}, Origin: ledger.Origin{TaskID: "tsk_3"}}).
		Counted(ledger.Counts{Stalled: ledger.Stalled{Threshold: 2}, ReviewLoop: ledger.ReviewLoop{Count: 1, Threshold: 2, Alternating: true, Flagged: true}, Rejections: 4}).
		Replanned(2, "one mail a day", []string{"remember what was sent", "test it"})
	var b strings.Builder
	for _, f := range append(ledger.TaskFacts(task), ledger.ProgressFacts(progress(t))...) {
		fmt.Fprintf(&b, "%s = %q\n", f.Key, f.Value)
	}
	golden.Equal(t, "facts/all.golden", b.String())
}

func TestOtherToolsFindTheirFacts(t *testing.T) {
	for _, c := range []struct {
		plan, spec string
		status     plan.Status
		word       string
	}{
		{"tasks.md", "", plan.Pending, "pending"},
		{"docs/tasks.md", "docs", plan.InProgress, "in-progress"},
		{".kiro/specs/rain/tasks.md", "rain", plan.Completed, "completed"},
		{"/rain/tasks.md", "rain", plan.Blocked, "pending"},
		{"/tasks.md", "", plan.Skipped, "completed"},
	} {
		facts := ledger.ProgressFacts(ledger.ProgressLedger{
			SourcePath: c.plan, ItemID: "1", ActiveItemID: "2", CurrentItem: &plan.Item{ID: "1", Description: plan.Description{Title: "<sow>"}, Status: c.status},
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
