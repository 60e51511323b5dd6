package run

import (
	"waybill/core"
	"waybill/core/proof"
)

// An Event is something that happens to a run. TakeResult, TakeReceipt, LoseWorker, Replan and
// Unblock are the only events.
type Event interface{ event() }

// TakeResult is a judged result of an agent.
type TakeResult struct {
	At   core.Instant
	Role core.Role
	// Generic says that the host named no more than "reviewer". If the first review is generic and the policy names no
	// reviewers, the run has one reviewer. Otherwise Role is the reviewer that the result itself names, or 0.
	Generic bool
	Said    Said
	// Issues is a digest of the set of issues in a review.
	Issues string
	// Frontier is a digest of the plan's next items, or "". A run that is done keeps it.
	Frontier string
	// Tree is the tree of the present files, or "" if unknown. At the last approval an unknown tree makes the receipts
	// stale.
	Tree string
}

// TakeReceipt is a receipt of a check. A receipt that says nothing about the last submission changes nothing.
type TakeReceipt struct {
	At       core.Instant
	Receipt  proof.Receipt
	Frontier string // as in TakeResult
}

// LoseWorker says that an attempt of a worker ended without a result. It changes nothing outside a worker's turn.
type LoseWorker struct {
	At core.Instant
	// Requeued says that the task continues with another attempt, so that no other worker is needed.
	Requeued bool
}

// Replan records a new version of the plan.
type Replan struct {
	At       core.Instant
	Frontier string // digest of the next items
}

// Unblock says that a person solved the problem that blocked the run.
type Unblock struct{ At core.Instant }

func (TakeResult) event()  {}
func (TakeReceipt) event() {}
func (LoseWorker) event()  {}
func (Replan) event()      {}
func (Unblock) event()     {}

// Said is the statement of a result about the work.
type Said uint8

// The statements of a result.
const (
	SaidPass    Said = iota + 1 // done, or approved
	SaidGaps                    // a worker cannot continue; a reviewer wants changes
	SaidError                   // a worker failed; a reviewer cannot judge
	SaidInvalid                 // unknown
)

// A Rule names the law that decided a step.
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
	RuleUnblocked   Rule = "person_unblocks"
	RuleChecked     Rule = "required_checks"
	RuleCheckFailed Rule = "check_failures"
)

// A Decision is the reason for a step of a run: the rule, its count, and the limit at which the rule acts. Count and
// Limit are zero for a rule without a counter.
type Decision struct {
	Rule         Rule
	Role         core.Role
	Count, Limit int
}

// Decide records the decision with the event of the given type.
type Decide struct {
	Type     core.EventType
	Decision Decision
}

// Effect marks Decide as an effect.
func (Decide) Effect() {}
