package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// ReviewIssue is one finding of a reviewer.
type ReviewIssue struct {
	// Severity is the reviewer's word: critical, important or minor.
	Severity string
	// File may be empty.
	File string
	// Message describes the problem, Fix the remedy.
	Message, Fix string
}

// The assessments of a Review.
const (
	assessedApproved = "approved"
	assessedChanges  = "needs_changes"
	assessedBlocked  = "blocked"
)

// Review is the last report of one reviewer. The zero value belongs to a reviewer who has not reported.
type Review struct {
	// Assessment is approved, needs_changes or blocked.
	Assessment    string
	Issues        []ReviewIssue
	RequiredFixes []string
	// LostIssues and LostFixes count entries that were dropped or cut because the result held too many.
	LostIssues, LostFixes int
}

// Rejects reports whether the reviewer withholds its approval.
func (r *Review) Rejects() bool {
	return r.Assessment != "" && r.Assessment != assessedApproved
}

// Stalled counts consecutive outcomes without progress.
type Stalled struct {
	ConsecutiveNonProgress, Threshold int
	Flagged                           bool
}

// ReviewLoop counts consecutive reviews with the same findings.
type ReviewLoop struct {
	Count, Threshold int
	// Alternating reports that two sets of issues take turns.
	Alternating bool
	Flagged     bool
}

// Origin names the task and the attempt that produced a text, each as far as it is known.
type Origin struct{ TaskID, AttemptID string }

// Origins says which attempt wrote the texts of a ledger. A text with an unknown author has the zero Origin.
type Origins struct {
	Summary Origin
	// Reviews holds the origin of the spec review, then of the code quality review.
	Reviews [2]Origin
}

// Replan is the newest version of what a run shall do.
type Replan struct {
	PlanVersion int
	// PlanSummary says what this version wants done differently, and PlanItems are its steps.
	PlanSummary string
	PlanItems   []string
}

// TaskLedger records the work on one item in one run.
type TaskLedger struct {
	RunID, ItemID string
	Replan
	// Summary is the summary of the worker's last result, "" if it had none.
	Summary string
	// ReviewerAssessment is the assessment of the reviewer who reported last. If that reviewer approved and the other
	// rejects, it is the other's.
	ReviewerAssessment string
	// Reviews holds the last spec review, the last code quality review, and the demands of failed checks. ReviewerIssues
	// and RequiredFixes combine them.
	Reviews  [3]Review
	Blockers []string
	// LostBlockers counts blockers that were dropped or cut because a result held too many.
	LostBlockers int
	Counts
	ReplanHint string
	// FilesChanged lists the files that workers changed, in the order of their first mention.
	FilesChanged []string
	// Attempts counts the turns of workers.
	Attempts int
	// ReviewAttempts counts the turns of the spec reviewer, then of the code quality reviewer.
	ReviewAttempts [2]int
	// GitRange holds the commits of the work as <base>..<head>, from the last worker that named any.
	GitRange string
	Origins  Origins
}

// NewTaskLedger returns the ledger of a new run: plan version 1, both thresholds 2.
func NewTaskLedger(runID, itemID string) TaskLedger {
	const threshold = 2
	return TaskLedger{
		RunID: runID, ItemID: itemID,
		Replan: Replan{PlanVersion: 1},
		Counts: Counts{Stalled: Stalled{Threshold: threshold}, ReviewLoop: ReviewLoop{Threshold: threshold}},
	}
}

// ReviewerIssues returns the issues of the rejecting reviewers, those of the spec reviewer first. It returns nil if
// there are none.
func (t TaskLedger) ReviewerIssues() []ReviewIssue { return cloned(t.OpenIssues()) }

// RequiredFixes returns the demands of the rejecting reviewers in the same order, and then those of failed checks. It
// returns nil if there are none.
func (t TaskLedger) RequiredFixes() []string { return cloned(t.OpenFixes()) }

// Turns returns how many turns a role has had on the item.
func (t *TaskLedger) Turns(r Role) int {
	switch r {
	case RoleSpecReviewer:
		return t.ReviewAttempts[0]
	case RoleCodeQualityReviewer:
		return t.ReviewAttempts[1]
	case RoleWorker:
	}
	return t.Attempts
}

// Failing reports whether the last attempt made no progress, so that the next prompt has to describe it.
func (t *TaskLedger) Failing() bool {
	rejects := func(r Review) bool { return r.Rejects() }
	return slices.ContainsFunc(t.Reviews[:], rejects) || len(t.Blockers) > 0 || t.Stalled.ConsecutiveNonProgress > 0
}

// OpenIssues is ReviewerIssues without a copy. The caller must not modify the list, which may belong to a review.
func (t *TaskLedger) OpenIssues() []ReviewIssue {
	var open []ReviewIssue
	for i := range t.Reviews {
		if r := &t.Reviews[i]; r.Rejects() {
			open = joined(open, r.Issues)
		}
	}
	return open
}

// Lost counts the open issues, fixes and blockers that were dropped or cut.
func (t *TaskLedger) Lost() (issues, fixes, blockers int) {
	for i := range t.Reviews {
		if r := &t.Reviews[i]; r.Rejects() {
			issues, fixes = issues+r.LostIssues, fixes+r.LostFixes
		}
	}
	return issues, fixes, t.LostBlockers
}

// OpenFixes is RequiredFixes without a copy. The caller must not modify the list, which may belong to a review.
func (t *TaskLedger) OpenFixes() []string {
	var open []string
	for i := range t.Reviews {
		if r := &t.Reviews[i]; r.Rejects() {
			open = joined(open, r.RequiredFixes)
		}
	}
	return open
}

// joined returns both lists as one. It copies only if both have entries. Usually at most one reviewer rejects, so that
// most prompts need no copy.
func joined[T any](list, more []T) []T {
	if len(list) == 0 {
		return slices.Clip(more)
	}
	return append(list, more...)
}

// issueFingerprint returns a hash of the open issues and fixes, "" if there are none. Order, case and white space do
// not count.
func (t *TaskLedger) issueFingerprint() string {
	var open []string
	for _, issue := range t.OpenIssues() {
		open = append(open, "issue "+issue.File+" "+issue.Message)
	}
	for _, fix := range t.OpenFixes() {
		open = append(open, "fix "+fix)
	}
	if open == nil {
		return ""
	}
	for i, text := range open {
		open[i] = strings.ToLower(fold(text))
	}
	slices.Sort(open)
	sum := sha256.Sum256(appendSized(nil, open...))
	return hex.EncodeToString(sum[:])
}

// fold returns a text trimmed, with one space between its words.
func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// union returns the trimmed texts of both lists in order, each once and without empty ones. The list is new, or nil.
func union(list, more []string) []string {
	out := make([]string, 0, len(list)+len(more))
	seen := make(map[string]bool, len(list)+len(more))
	for _, part := range [...][]string{list, more} {
		for _, s := range part {
			if s = strings.TrimSpace(s); s != "" && !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
