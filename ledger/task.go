package ledger

// ReviewIssue is one thing a reviewer found.
type ReviewIssue struct {
	// Severity is the reviewer's word: critical, important or minor.
	Severity string
	// File may be empty.
	File string
	// Message says what is wrong, Fix what to do about it.
	Message, Fix string
}

// Stalled counts outcomes in a row that brought the item no further.
type Stalled struct {
	ConsecutiveNonProgress, Threshold int
	Flagged                           bool
}

// ReviewLoop counts how often in a row a review found the same.
type ReviewLoop struct {
	Count, Threshold int
	Flagged          bool
}

// TaskLedger is what is known about the work on one item in one run.
type TaskLedger struct {
	RunID, ItemID      string
	PlanVersion        int
	Summary            string
	ReviewerAssessment string
	ReviewerIssues     []ReviewIssue
	Blockers           []string
	RequiredFixes      []string
	Stalled            Stalled
	ReviewLoop         ReviewLoop
	Rejections         int
	ReplanHint         string
	Attempts           int
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
