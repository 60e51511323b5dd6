package ledger_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/ledger"
	"waybill/plan"
)

func drawStrings(t *rapid.T, name string) []string {
	list := rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, name)
	if len(list) == 0 {
		return nil
	}
	return list
}

func drawItem(t *rapid.T) *plan.Item {
	if rapid.Bool().Draw(t, "no item") {
		return nil
	}
	text := func(name string) string { return rapid.String().Draw(t, name) }
	number := func(name string) int { return rapid.IntRange(0, 1<<30).Draw(t, name) }
	return &plan.Item{
		ID: text("id"),
		Description: plan.Description{
			Title: text("title"), Parallel: rapid.Bool().Draw(t, "parallel"), Prompt: text("prompt"),
			Requirements: drawStrings(t, "requirements"), Files: drawStrings(t, "files"), Details: drawStrings(t, "details"),
			Leverage: text("leverage"), Purpose: text("purpose"), BlockedReason: text("blocked"),
		},
		Status:   plan.Status(rapid.IntRange(int(plan.Pending), int(plan.Skipped)).Draw(t, "status")),
		Optional: rapid.Bool().Draw(t, "optional"), Line: number("line"), Level: number("level"),
		ParentID: text("parent"), DependsOn: drawStrings(t, "depends"), Below: drawStrings(t, "below"),
		DerivedStatus: plan.Status(rapid.IntRange(0, int(plan.Skipped)).Draw(t, "derived")),
		Mark:          plan.Span{Start: number("start"), End: number("end")},
	}
}

func TestProgressFactsReadBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := func(name string) int { return rapid.IntRange(0, 1<<30).Draw(t, name) }
		want := ledger.ProgressLedger{
			Plan: rapid.String().Draw(t, "plan"), ItemID: rapid.String().Draw(t, "item"),
			SourcePath: rapid.String().Draw(t, "path"), ActiveItemID: rapid.String().Draw(t, "active"),
			Fingerprint: plan.Fingerprint{
				MtimeMs: rapid.Int64().Draw(t, "mtime"), Size: rapid.Int64().Draw(t, "size"), Hash: rapid.String().Draw(t, "hash"),
			},
			Totals: plan.Totals{
				Total: number("total"), Completed: number("completed"), InProgress: number("in progress"),
				Pending: number("pending"), Blocked: number("blocked"), Skipped: number("skipped"), Groups: number("groups"),
			},
			CurrentItem: drawItem(t),
		}
		facts := append(ledger.ProgressFacts(want), ledger.Fact{Key: "ledger.progress.of_tomorrow", Value: "{"})
		got, err := ledger.ParseProgressFacts(facts)
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func drawIssues(t *rapid.T) []ledger.ReviewIssue {
	var issues []ledger.ReviewIssue
	for range rapid.IntRange(0, 3).Draw(t, "issues") {
		issues = append(issues, ledger.ReviewIssue{
			Severity: rapid.String().Draw(t, "severity"), File: rapid.String().Draw(t, "file"),
			Message: rapid.String().Draw(t, "message"), Fix: rapid.String().Draw(t, "fix"),
		})
	}
	return issues
}

func drawReview(t *rapid.T) ledger.Review {
	assessment := rapid.SampledFrom([]string{"", "approved", "needs_changes", "blocked"}).Draw(t, "assessment")
	if assessment == "" {
		return ledger.Review{}
	}
	return ledger.Review{Assessment: assessment, Issues: drawIssues(t), RequiredFixes: drawStrings(t, "fixes")}
}

func drawOrigin(t *rapid.T) ledger.Origin {
	id := rapid.SampledFrom([]string{"", "tsk_1", "att_2"})
	return ledger.Origin{TaskID: id.Draw(t, "task"), AttemptID: id.Draw(t, "attempt")}
}

func drawTask(t *rapid.T) ledger.TaskLedger {
	return ledger.TaskLedger{
		RunID: "run_1", ItemID: "2.1",
		Replan: ledger.Replan{
			PlanVersion: rapid.Int().Draw(t, "version"),
			PlanSummary: rapid.String().Draw(t, "plan summary"), PlanItems: drawStrings(t, "plan items"),
		},
		Summary:            rapid.String().Draw(t, "summary"),
		ReviewerAssessment: rapid.String().Draw(t, "assessment"),
		Reviews:            [3]ledger.Review{drawReview(t), drawReview(t), drawReview(t)},
		Blockers:           drawStrings(t, "blockers"), FilesChanged: drawStrings(t, "files"),
		Counts: ledger.Counts{
			Stalled: ledger.Stalled{ConsecutiveNonProgress: rapid.Int().Draw(t, "n"), Threshold: 2, Flagged: rapid.Bool().Draw(t, "flag")},
			ReviewLoop: ledger.ReviewLoop{
				Count: rapid.Int().Draw(t, "c"), Threshold: 3,
				Alternating: rapid.Bool().Draw(t, "turns"), Flagged: rapid.Bool().Draw(t, "loop"),
			},
			Rejections: rapid.Int().Draw(t, "rejections"),
		},
		ReplanHint: rapid.String().Draw(t, "hint"), Attempts: rapid.Int().Draw(t, "attempts"),
		ReviewAttempts: [2]int{rapid.IntRange(0, 3).Draw(t, "spec reviews"), rapid.IntRange(0, 3).Draw(t, "quality reviews")},
		GitRange:       rapid.String().Draw(t, "range"),
		Origins:        ledger.Origins{Summary: drawOrigin(t), Reviews: [2]ledger.Origin{drawOrigin(t), drawOrigin(t)}},
	}
}

func TestTaskFactsReadBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawTask(t)
		facts := append(ledger.TaskFacts(want), ledger.Fact{Key: "ledger.task.of_tomorrow", Value: "{"})
		got, err := ledger.ParseTaskFacts("run_1", "2.1", facts)
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

// derived facts are for other tools and never read back.
var derived = []string{
	"ledger.task.stalled_count", "ledger.task.stalled_threshold", "ledger.task.stalled_flagged",
	"ledger.task.review_loop_same_issue_count", "ledger.task.review_loop_threshold", "ledger.task.review_loop_flagged",
	"ledger.task.review_loop_fingerprint",
	"ledger.progress.active_task_id", "ledger.progress.current_task", "ledger.progress.spec_name", "ledger.progress.task_id",
}

// optional facts are absent while they are empty.
var optional = []string{"ledger.task.review_attempts", "ledger.task.origins"}

// A store that lost or damaged a fact is never taken for an empty ledger.
func TestMissingAndCorruptFactsAreNamed(t *testing.T) {
	task := ledger.NewTaskLedger("run_1", "1")
	task.ReviewAttempts, task.Origins.Summary.TaskID = [2]int{1, 2}, "tsk_1"
	parsers := map[string]struct {
		facts []ledger.Fact
		parse func([]ledger.Fact) error
	}{
		"progress": {
			ledger.ProgressFacts(ledger.ProgressLedger{CurrentItem: &plan.Item{ID: "1", Status: plan.Pending}}),
			func(facts []ledger.Fact) error { _, err := ledger.ParseProgressFacts(facts); return err },
		},
		"task": {
			ledger.TaskFacts(task),
			func(facts []ledger.Fact) error { _, err := ledger.ParseTaskFacts("run_1", "1", facts); return err },
		},
	}
	for name, p := range parsers {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, p.parse(p.facts))
			for i, f := range p.facts {
				require.True(t, strings.HasPrefix(f.Key, "ledger."+name+"."), f.Key)
				without := append(append([]ledger.Fact{}, p.facts[:i]...), p.facts[i+1:]...)
				if slices.Contains(derived, f.Key) || slices.Contains(optional, f.Key) {
					require.NoError(t, p.parse(without), f.Key)
				} else {
					requireFactError(t, p.parse(without), f.Key, "missing")
				}
				if f.Value == "" || slices.Contains(derived, f.Key) {
					continue // free text has no wrong form
				}
				for _, broken := range []string{"", "{", `"x"`, `{"status":"perhaps"}`} {
					damaged := append([]ledger.Fact{}, p.facts...)
					damaged[i].Value = broken
					if err := p.parse(damaged); err != nil {
						requireFactError(t, err, f.Key, "corrupt")
					} else {
						require.True(t, strings.HasPrefix(broken, "{\""), "%s accepts %s", f.Key, broken)
					}
				}
			}
		})
	}
}

func requireFactError(t *testing.T, err error, key, says string) {
	t.Helper()
	var broken *ledger.FactError
	require.True(t, errors.As(err, &broken), "%v", err)
	require.Equal(t, key, broken.Key)
	require.Equal(t, "progress_ledger_incomplete", broken.Code())
	require.ErrorContains(t, err, key)
	require.ErrorContains(t, err, says)
	require.Equal(t, says == "corrupt", errors.Unwrap(err) != nil)
}
