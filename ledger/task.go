package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// ReviewIssue is one thing a reviewer found.
type ReviewIssue struct {
	// Severity is the reviewer's word: critical, important or minor.
	Severity string
	// File may be empty.
	File string
	// Message says what is wrong, Fix what to do about it.
	Message, Fix string
}

// The assessments of a Review.
const (
	assessedApproved = "approved"
	assessedChanges  = "needs_changes"
	assessedBlocked  = "blocked"
)

// Review is what one reviewer said last. The zero value is that of a reviewer who has not reported.
type Review struct {
	// Assessment is approved, needs_changes or blocked.
	Assessment    string
	Issues        []ReviewIssue
	RequiredFixes []string
	// LostIssues and LostFixes count those that are missing or not whole, for the result held too many.
	LostIssues, LostFixes int
}

// rejects reports whether the reviewer wants something before it approves.
func (r *Review) rejects() bool {
	return r.Assessment != "" && r.Assessment != assessedApproved
}

// Stalled counts outcomes in a row that brought the item no further.
type Stalled struct {
	ConsecutiveNonProgress, Threshold int
	Flagged                           bool
}

// ReviewLoop counts how often in a row a review found the same.
type ReviewLoop struct {
	Count, Threshold int
	// Alternating says that two sets of issues take turns.
	Alternating bool
	Flagged     bool
}

// Origin is the task of the queue and the attempt at it that something was said by, each as far as it is known.
type Origin struct{ TaskID, AttemptID string }

// Origins say whose word a ledger has. That of what nobody has said, or of what nobody was named for, is zero.
type Origins struct {
	Summary Origin
	// Reviews has that of the spec review, and then that of the code quality review.
	Reviews [2]Origin
}

// TaskLedger is what is known about the work on one item in one run.
type TaskLedger struct {
	RunID, ItemID string
	PlanVersion   int
	// PlanSummary says what the newest plan version wants done differently, and PlanItems are its steps.
	PlanSummary string
	PlanItems   []string
	// Summary is what the worker said with its last result, "" if that was not a word.
	Summary string
	// ReviewerAssessment is that of the reviewer who reported last or, if that one approved and the other does
	// not, of the other.
	ReviewerAssessment string
	// Reviews has what the spec reviewer said last, and then what the code quality reviewer did. What they
	// want together is given by ReviewerIssues and RequiredFixes.
	Reviews  [2]Review
	Blockers []string
	// LostBlockers counts those that are missing or not whole, for a result held too many.
	LostBlockers int
	Stalled      Stalled
	ReviewLoop   ReviewLoop
	Rejections   int
	ReplanHint   string
	// FilesChanged are the files that workers changed, in the order in which they were named first.
	FilesChanged []string
	// Attempts counts how often a worker was at it.
	Attempts int
	// ReviewAttempts counts how often the spec reviewer was, and then the code quality reviewer.
	ReviewAttempts [2]int
	// GitRange has the commits of the work as <base>..<head>: what a worker said last that named any.
	GitRange string
	Origins  Origins
}

// NewTaskLedger returns the ledger of a run in which nothing has happened:
// plan version 1, both thresholds 2.
func NewTaskLedger(runID, itemID string) TaskLedger {
	const threshold = 2
	return TaskLedger{
		RunID: runID, ItemID: itemID,
		PlanVersion: 1,
		Stalled:     Stalled{Threshold: threshold},
		ReviewLoop:  ReviewLoop{Threshold: threshold},
	}
}

// ReviewerIssues gives the issues of the reviewers that have not approved, those of the spec reviewer
// first. It is nil if there are none.
func (t TaskLedger) ReviewerIssues() []ReviewIssue { return cloned(t.openIssues()) }

// RequiredFixes gives what the reviewers that have not approved demand, in the same order. It is nil if
// they demand nothing.
func (t TaskLedger) RequiredFixes() []string { return cloned(t.openFixes()) }

// turns gives how often a role was at the item.
func (t *TaskLedger) turns(r Role) int {
	switch r {
	case RoleSpecReviewer:
		return t.ReviewAttempts[0]
	case RoleCodeQualityReviewer:
		return t.ReviewAttempts[1]
	case RoleWorker:
	}
	return t.Attempts
}

// failing reports whether the last attempt did not bring the item further, so that the next one has to
// know how it went.
func (t *TaskLedger) failing() bool {
	return t.Reviews[0].rejects() || t.Reviews[1].rejects() || len(t.Blockers) > 0 || t.Stalled.ConsecutiveNonProgress > 0
}

// openIssues may share its list with a review.
func (t *TaskLedger) openIssues() []ReviewIssue {
	var open []ReviewIssue
	for i := range t.Reviews {
		if r := &t.Reviews[i]; r.rejects() {
			open = joined(open, r.Issues)
		}
	}
	return open
}

// lost counts what is missing, or not whole, of the open issues, fixes and blockers.
func (t *TaskLedger) lost() (issues, fixes, blockers int) {
	for i := range t.Reviews {
		if r := &t.Reviews[i]; r.rejects() {
			issues, fixes = issues+r.LostIssues, fixes+r.LostFixes
		}
	}
	return issues, fixes, t.LostBlockers
}

// openFixes may share its list with a review.
func (t *TaskLedger) openFixes() []string {
	var open []string
	for i := range t.Reviews {
		if r := &t.Reviews[i]; r.rejects() {
			open = joined(open, r.RequiredFixes)
		}
	}
	return open
}

// joined copies nothing unless it has to: mostly one reviewer at most wants something, and this is asked for
// with every prompt.
func joined[T any](list, more []T) []T {
	if len(list) == 0 {
		return slices.Clip(more)
	}
	return append(list, more...)
}

// issueFingerprint is a hash of the open issues and fixes, whatever their order, case and white space, and
// "" if there are none.
func (t *TaskLedger) issueFingerprint() string {
	var open []string
	for _, issue := range t.openIssues() {
		open = append(open, "issue "+issue.File+" "+issue.Message)
	}
	for _, fix := range t.openFixes() {
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

// fold gives a text with one space between its words and none around them.
func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// union gives the texts of both lists in their order, trimmed, each once, and the empty ones left out. It
// is a list of its own, or nil.
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
