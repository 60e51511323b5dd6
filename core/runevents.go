package core

// A RunEvent is something that happens to a run. TakeResult, LoseWorker and Replan are the only events.
type RunEvent interface{ runEvent() }

// TakeResult is a judged result of an agent.
type TakeResult struct {
	At   Instant
	Role Role
	// Generic says that the host said no more than "reviewer". If the first review of a run is such a one,
	// and its policy names no reviewers, it has one reviewer, who is meant by each of them. Otherwise Role
	// is the reviewer that the result itself names, or 0 if it names none.
	Generic bool
	Said    Said
	// Issues is a digest of the set of issues in a review: equal sets have equal digests.
	Issues string
	// Frontier is a digest of what the plan wants done now, or "". A run that is done keeps it: that is the
	// item as it was approved.
	Frontier string
}

// LoseWorker says that an attempt of a worker ended without a result. If no worker's turn is then, it was
// a straggler, and changes nothing.
type LoseWorker struct {
	At Instant
	// Requeued says that its task goes on with another attempt: nobody has to ask for another worker.
	Requeued bool
}

// Replan records a new version of the plan.
type Replan struct {
	At       Instant
	Frontier string // a digest of what is to be done next
}

func (TakeResult) runEvent() {}
func (LoseWorker) runEvent() {}
func (Replan) runEvent()     {}

// Said is what a result says about the work.
type Said uint8

// What a result can say.
const (
	SaidPass    Said = iota + 1 // done, or approved
	SaidGaps                    // a worker cannot go on; a reviewer wants changes
	SaidError                   // a worker failed; a reviewer cannot judge
	SaidInvalid                 // nobody can know
)

// A Rule names the law by which a run goes on.
type Rule string

// The rules.
const (
	RuleSubmitted   Rule = "work_is_reviewed"
	RuleStalled     Rule = "outcomes_without_progress"
	RuleFailures    Rule = "worker_failures"
	RuleInvalid     Rule = "invalid_results"
	RuleApproval    Rule = "approvals"
	RuleRejections  Rule = "review_rejections"
	RuleReviewLoop  Rule = "identical_review_issues"
	RuleAlternation Rule = "alternating_review_issues"
	RuleGaveUp      Rule = "reviewer_gave_up"
	RuleReplanned   Rule = "new_plan_clears_the_way"
	RuleSamePlan    Rule = "same_plan_clears_nothing"
)

// A Decision is why a run goes on as it does: the rule, how often what it counts has happened, and at
// which number it does something else. Both are zero for a rule that counts nothing.
type Decision struct {
	Rule         Rule
	Role         Role
	Count, Limit int
}

// Decide records the decision with the event of the given type.
type Decide struct {
	Type     EventType
	Decision Decision
}

func (Decide) effect() {}
