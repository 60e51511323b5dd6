package ledger_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/ledger"
	"waybill/test/golden"
)

const (
	spec    = ledger.RoleSpecReviewer
	quality = ledger.RoleCodeQualityReviewer
)

var roles = []ledger.Role{ledger.RoleWorker, spec, quality}

func issue(message string) ledger.ReviewIssue {
	return ledger.ReviewIssue{Severity: "minor", Message: message}
}

// story tells what a ledger says after each of some outcomes.
func story(outcomes ...ledger.Outcome) string {
	var b strings.Builder
	task := ledger.NewTaskLedger("run_1", "2.1")
	for _, o := range outcomes {
		task = task.After(o)
		fmt.Fprintf(&b, "role %d %s\n  attempts %d, summary %q, assessment %q\n", o.Role, o.Kind, task.Attempts, task.Summary, task.ReviewerAssessment)
		for _, list := range []struct {
			name    string
			entries []string
		}{
			{"blockers", task.Blockers}, {"files", task.FilesChanged}, {"fixes", task.RequiredFixes()},
		} {
			if list.entries != nil {
				fmt.Fprintf(&b, "  %s %q\n", list.name, list.entries)
			}
		}
		for _, i := range task.ReviewerIssues() {
			fmt.Fprintf(&b, "  issue %s\n", i.Message)
		}
	}
	return b.String()
}

func TestOutcomesReadAsTheGoldenFileSays(t *testing.T) {
	completed := ledger.Outcome{
		Role: ledger.RoleWorker, Kind: ledger.OutcomeCompleted, Summary: " done \n", FilesChanged: []string{"a.go", " b.go ", "", "a.go"},
	}
	golden.Equal(t, "outcomes/two-reviewers.golden", story(
		ledger.Outcome{Role: ledger.RoleWorker, Kind: ledger.OutcomeStuck, Summary: "no permit", FollowUps: []string{" get one", "get one", ""}, Issues: []ledger.ReviewIssue{issue("not used")}},
		ledger.Outcome{Role: ledger.RoleWorker, Kind: ledger.OutcomeFailed, FollowUps: []string{" "}, Issues: []ledger.ReviewIssue{issue("it rains")}},
		ledger.Outcome{Role: ledger.RoleWorker, Kind: ledger.OutcomeCrashed, Summary: "not heard", FollowUps: []string{"not heard"}},
		ledger.Outcome{Role: ledger.RoleWorker, Kind: ledger.OutcomeUnusable},
		completed,
		ledger.Outcome{Role: quality, Kind: ledger.OutcomeChangesNeeded, Issues: []ledger.ReviewIssue{issue("too long")}, RequiredFixes: []string{"shorten it"}},
		ledger.Outcome{Role: spec, Kind: ledger.OutcomeGaveUp, Issues: []ledger.ReviewIssue{issue("which hand?")}, RequiredFixes: []string{"say which hand"}},
		ledger.Outcome{Role: spec, Kind: ledger.OutcomeUnusable, Issues: []ledger.ReviewIssue{issue("not heard")}},
		ledger.Outcome{Role: spec, Kind: ledger.OutcomeApproved, Issues: []ledger.ReviewIssue{issue("a remark")}, RequiredFixes: []string{"not heard"}},
		ledger.Outcome{Role: ledger.RoleWorker, Kind: ledger.OutcomeCompleted, Summary: "shorter", FilesChanged: []string{"c.go", "a.go"}},
		ledger.Outcome{Role: quality, Kind: ledger.OutcomeCrashed},
		ledger.Outcome{Role: quality, Kind: ledger.OutcomeGaveUp, Issues: []ledger.ReviewIssue{issue("no compiler")}},
		ledger.Outcome{Role: quality, Kind: ledger.OutcomeApproved},
	))
}

// What one reviewer demanded was forgotten when the other approved.
func TestDefect_TheApprovalOfOneReviewerLeavesWhatTheOtherDemands(t *testing.T) {
	task := ledger.NewTaskLedger("run_1", "1").
		After(ledger.Outcome{Role: ledger.RoleWorker, Kind: ledger.OutcomeStuck, FollowUps: []string{"b"}}).
		After(ledger.Outcome{Role: spec, Kind: ledger.OutcomeChangesNeeded, Issues: []ledger.ReviewIssue{issue("i")}, RequiredFixes: []string{"f"}}).
		After(ledger.Outcome{Role: quality, Kind: ledger.OutcomeApproved})
	require.Equal(t, []ledger.ReviewIssue{issue("i")}, task.ReviewerIssues())
	require.Equal(t, []string{"f"}, task.RequiredFixes())
	require.Equal(t, []string{"b"}, task.Blockers)
	require.Equal(t, "needs_changes", task.ReviewerAssessment, "what counts is what is open")

	task = task.After(ledger.Outcome{Role: spec, Kind: ledger.OutcomeApproved})
	require.Empty(t, task.ReviewerIssues())
	require.Empty(t, task.RequiredFixes())
	require.Empty(t, task.Blockers)
	require.Equal(t, "approved", task.ReviewerAssessment)
}

func TestTheLedgerKnowsWhoseWordItHas(t *testing.T) {
	say := func(role ledger.Role, kind ledger.OutcomeKind, summary, attempt string) ledger.Outcome {
		return ledger.Outcome{Role: role, Kind: kind, Summary: summary, Origin: ledger.Origin{TaskID: "tsk_1", AttemptID: attempt}}
	}
	by := func(attempt string) ledger.Origin { return ledger.Origin{TaskID: "tsk_1", AttemptID: attempt} }
	task := ledger.NewTaskLedger("run_1", "1")
	for _, c := range []struct {
		outcome       ledger.Outcome
		summary       ledger.Origin
		spec, quality ledger.Origin
	}{
		{say(ledger.RoleWorker, ledger.OutcomeStuck, " \n", "1"), ledger.Origin{}, ledger.Origin{}, ledger.Origin{}},
		{say(ledger.RoleWorker, ledger.OutcomeFailed, "no", "2"), by("2"), ledger.Origin{}, ledger.Origin{}},
		{say(ledger.RoleWorker, ledger.OutcomeStuck, "", "3"), ledger.Origin{}, ledger.Origin{}, ledger.Origin{}},
		{say(ledger.RoleWorker, ledger.OutcomeFailed, "again", "2"), by("2"), ledger.Origin{}, ledger.Origin{}},
		{say(ledger.RoleWorker, ledger.OutcomeCrashed, "x", "4"), by("2"), ledger.Origin{}, ledger.Origin{}},
		{say(ledger.RoleWorker, ledger.OutcomeCompleted, "yes", "5"), by("5"), ledger.Origin{}, ledger.Origin{}},
		{say(spec, ledger.OutcomeChangesNeeded, "", "6"), by("5"), by("6"), ledger.Origin{}},
		{say(quality, ledger.OutcomeGaveUp, "", "7"), by("5"), by("6"), by("7")},
		{say(spec, ledger.OutcomeUnusable, "", "8"), by("5"), by("6"), by("7")},
		{say(spec, ledger.OutcomeApproved, "", ""), by("5"), by(""), by("7")},
		{say(ledger.RoleWorker, ledger.OutcomeCompleted, "", "9"), ledger.Origin{}, by(""), by("7")},
	} {
		task = task.After(c.outcome)
		require.Equal(t, ledger.Origins{Summary: c.summary, Reviews: [2]ledger.Origin{c.spec, c.quality}}, task.Origins, "%+v", c.outcome)
	}
}

func drawOutcome(t *rapid.T) ledger.Outcome {
	texts := func(name string) []string {
		return rapid.SliceOfN(rapid.SampledFrom([]string{"a", " a ", "b", "", "c\n"}), 0, 4).Draw(t, name)
	}
	o := ledger.Outcome{
		Role: rapid.SampledFrom(roles).Draw(t, "role"), Summary: rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "summary"),
		Issues: drawIssues(t), RequiredFixes: texts("fixes"), FollowUps: texts("follow-ups"), FilesChanged: texts("files"),
		GitRange: rapid.SampledFrom([]string{"", "a..b", "b..c"}).Draw(t, "range"), Origin: drawOrigin(t),
	}
	kinds := []ledger.OutcomeKind{ledger.OutcomeApproved, ledger.OutcomeChangesNeeded, ledger.OutcomeGaveUp}
	if o.Role == ledger.RoleWorker {
		kinds = []ledger.OutcomeKind{ledger.OutcomeCompleted, ledger.OutcomeStuck, ledger.OutcomeFailed}
	}
	o.Kind = rapid.SampledFrom(append(kinds, ledger.OutcomeCrashed, ledger.OutcomeUnusable)).Draw(t, "kind")
	return o
}

// An outcome counts the attempts of its role only, and leaves what other roles have said. A review was once told of a
// second attempt after its first one, because only the turns of workers were counted.
func TestLawsOfOutcomes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		task := ledger.NewTaskLedger("run_1", "1")
		attempts, reviews, commits := 0, [2]int{}, ""
		for range rapid.IntRange(1, 12).Draw(t, "outcomes") {
			o, before := drawOutcome(t), task
			task = task.After(o)
			for _, list := range [][]string{task.Blockers, task.FilesChanged, task.Reviews[0].RequiredFixes, task.Reviews[1].RequiredFixes} {
				requireClean(t, list)
			}
			switch o.Role {
			case ledger.RoleWorker:
				attempts++
				if o.Kind != ledger.OutcomeCrashed && o.Kind != ledger.OutcomeUnusable {
					commits = cmp.Or(o.GitRange, commits)
				}
				require.Equal(t, before.Reviews, task.Reviews, "the reviewers have to look first")
			case spec:
				reviews[0]++
				require.Equal(t, before.Reviews[1], task.Reviews[1])
			case quality:
				reviews[1]++
				require.Equal(t, before.Reviews[0], task.Reviews[0])
			}
			require.Equal(t, attempts, task.Attempts)
			require.Equal(t, reviews, task.ReviewAttempts)
			require.Equal(t, commits, task.GitRange, "those that a worker named last")
			require.Equal(t, 1, task.PlanVersion, "an outcome is no plan")
			require.True(t, slices.Equal(before.FilesChanged, task.FilesChanged[:len(before.FilesChanged)]), "a file is forgotten")
			read, err := ledger.ParseTaskFacts("run_1", "1", ledger.TaskFacts(task))
			require.NoError(t, err)
			require.Equal(t, task, read)
		}
	})
}

func requireClean(t require.TestingT, list []string) {
	seen := map[string]bool{}
	for _, s := range list {
		require.NotEmpty(t, s)
		require.Equal(t, strings.TrimSpace(s), s)
		require.False(t, seen[s], "%q twice", s)
		seen[s] = true
	}
}

// full returns a ledger in which every list has room to write into.
func full() ledger.TaskLedger {
	texts := func(s string) []string { return append(make([]string, 0, 8), s) }
	task := ledger.NewTaskLedger("run_1", "1")
	task.Blockers, task.FilesChanged, task.PlanItems = texts("b"), texts("f"), texts("p")
	for i := range 2 {
		task.Reviews[i] = ledger.Review{
			Assessment: "needs_changes", Issues: append(make([]ledger.ReviewIssue, 0, 8), issue("i")), RequiredFixes: texts("r"), LostIssues: 1, LostFixes: 2,
		}
	}
	task.ReviewAttempts, task.GitRange, task.LostBlockers = [2]int{1, 1}, "a..b", 3
	task.Origins.Summary = ledger.Origin{TaskID: "tsk_1", AttemptID: "att_1"}
	return task
}

// smear writes over everything that lies in or behind the lists of a ledger.
func smear(task ledger.TaskLedger) {
	lists := [][]string{task.Blockers, task.FilesChanged, task.PlanItems, task.RequiredFixes()}
	for _, r := range task.Reviews {
		lists = append(lists, r.RequiredFixes)
		for i := range r.Issues[:cap(r.Issues)] {
			r.Issues[:cap(r.Issues)][i].Message = "smeared"
		}
	}
	for i := range task.ReviewerIssues() {
		task.ReviewerIssues()[i].Message = "smeared"
	}
	for _, list := range lists {
		for i := range list[:cap(list)] {
			list[:cap(list)][i] = "smeared"
		}
	}
}

func TestLedgersShareNoLists(t *testing.T) {
	outcome := func(role ledger.Role, kind ledger.OutcomeKind) ledger.Outcome {
		texts := []string{"x", "y"}
		return ledger.Outcome{Role: role, Kind: kind, Issues: []ledger.ReviewIssue{issue("z")}, RequiredFixes: texts, FollowUps: texts, FilesChanged: texts}
	}
	changes := map[string]func(ledger.TaskLedger) ledger.TaskLedger{
		"counted":   func(t ledger.TaskLedger) ledger.TaskLedger { return t.Counted(ledger.Counts{}) },
		"replanned": func(t ledger.TaskLedger) ledger.TaskLedger { return t.Replanned(2, "s", nil) },
	}
	for _, role := range roles {
		for kind := ledger.OutcomeCompleted; kind <= ledger.OutcomeUnusable; kind++ {
			if !panics(role, kind) {
				changes[fmt.Sprint(role, kind)] = func(t ledger.TaskLedger) ledger.TaskLedger { return t.After(outcome(role, kind)) }
			}
		}
	}
	require.Len(t, changes, 2+5+5+5)
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			before := full()
			smear(change(before))
			require.Equal(t, full(), before, "the ledger before is as it was")
			before = full()
			after := change(before)
			want := change(full())
			smear(before)
			require.Equal(t, want, after, "the ledger after knows nothing of the one before")
		})
	}
	task := full()
	require.Len(t, task.RequiredFixes(), 2)
	require.Len(t, task.ReviewerIssues(), 2)
	require.Empty(t, task.Reviews[0].RequiredFixes[:2][1], "nothing is written behind a list either")
	require.Empty(t, task.Reviews[0].Issues[:2][1])
	given := outcome(spec, ledger.OutcomeGaveUp)
	smear(full().After(given))
	require.Equal(t, outcome(spec, ledger.OutcomeGaveUp), given)
}

func panics(role ledger.Role, kind ledger.OutcomeKind) (did bool) {
	defer func() { did = recover() != nil }()
	ledger.TaskLedger{}.After(ledger.Outcome{Role: role, Kind: kind})
	return false
}

func TestOutcomesThatNobodyCanReportPanic(t *testing.T) {
	worker := []ledger.OutcomeKind{ledger.OutcomeCompleted, ledger.OutcomeStuck, ledger.OutcomeFailed}
	reviewer := []ledger.OutcomeKind{ledger.OutcomeApproved, ledger.OutcomeChangesNeeded, ledger.OutcomeGaveUp}
	names := map[string]bool{}
	for kind := range ledger.OutcomeKind(12) {
		real := kind.String() != ""
		names[kind.String()] = true
		require.Equal(t, !real || slices.Contains(reviewer, kind), panics(ledger.RoleWorker, kind), kind)
		for _, role := range []ledger.Role{spec, quality} {
			require.Equal(t, !real || slices.Contains(worker, kind), panics(role, kind), kind)
		}
		require.True(t, panics(0, kind))
		require.True(t, panics(9, kind))
	}
	require.Len(t, names, 9, "eight kinds with a name each, and none")
}

func TestSummariesAreClipped(t *testing.T) {
	after := func(summary string) string {
		return ledger.NewTaskLedger("r", "1").After(ledger.Outcome{Role: ledger.RoleWorker, Kind: ledger.OutcomeCompleted, Summary: summary}).Summary
	}
	const limit = 2000
	require.Equal(t, strings.Repeat("ü", limit), after(strings.Repeat("ü", limit)))
	clipped := after(strings.Repeat("ü", limit+1))
	require.Equal(t, strings.Repeat("ü", limit-1)+"…", clipped)
	require.True(t, utf8.ValidString(clipped))
	require.Equal(t, "x", after(" \n"+"x"+strings.Repeat(" ", 3*limit)))
}

func TestFailedChecksAreDemandedUntilTheyPassOrTheWorkIsHandedInAgain(t *testing.T) {
	task := ledger.NewTaskLedger("run_1", "1").Checked("lint", "unused variable").Checked("test", "2 of 7 failed")
	require.True(t, task.Failing())
	require.Equal(t, []string{`Make check "lint" pass: unused variable`, `Make check "test" pass: 2 of 7 failed`}, task.RequiredFixes())
	task = task.Checked("test", "1 of 7 failed")
	require.Equal(t, []string{`Make check "lint" pass: unused variable`, `Make check "test" pass: 1 of 7 failed`}, task.RequiredFixes())
	read, err := ledger.ParseTaskFacts("run_1", "1", ledger.TaskFacts(task))
	require.NoError(t, err)
	require.Equal(t, task, read)
	green := task.Checked("lint", "").Checked("test", "")
	require.False(t, green.Failing())
	require.Empty(t, green.RequiredFixes())
	stuck := task.After(ledger.Outcome{Role: ledger.RoleWorker, Kind: ledger.OutcomeStuck})
	require.Len(t, stuck.RequiredFixes(), 2)
	require.Empty(t, task.After(ledger.Outcome{Role: ledger.RoleWorker, Kind: ledger.OutcomeCompleted}).RequiredFixes())
}
