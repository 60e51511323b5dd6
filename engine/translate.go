package engine

import (
	"waybill/core"
	"waybill/core/run"
	"waybill/core/verdict"
	"waybill/ledger"
)

// saidOf translates a verdict for core/run.
func saidOf(v verdict.Verdict) run.Said {
	switch v {
	case verdict.Pass:
		return run.SaidPass
	case verdict.Gaps:
		return run.SaidGaps
	case verdict.Error:
		return run.SaidError
	case verdict.Invalid:
		return run.SaidInvalid
	}
	panic("engine: unknown verdict " + string(v))
}

// outcomeOf translates a result for the ledger.
func outcomeOf(role core.Role, j verdict.Judgement) ledger.Outcome {
	r := j.Result
	o := ledger.Outcome{
		Role: PromptRole(role), Kind: kindOf(role, j.Verdict), Summary: firstOf(r.Summary, r.Body),
		RequiredFixes: r.RequiredFixes, FollowUps: r.FollowUps, FilesChanged: r.FilesChanged, GitRange: r.Range(),
		Lost: ledger.Lost(j.Lost),
	}
	for _, issue := range r.Issues {
		o.Issues = append(o.Issues, ledger.ReviewIssue(issue))
	}
	return o
}

func kindOf(role core.Role, v verdict.Verdict) ledger.OutcomeKind {
	switch v {
	case verdict.Pass:
		if role.Reviewer() {
			return ledger.OutcomeApproved
		}
		return ledger.OutcomeCompleted
	case verdict.Gaps:
		if role.Reviewer() {
			return ledger.OutcomeChangesNeeded
		}
		return ledger.OutcomeStuck
	case verdict.Error:
		if role.Reviewer() {
			return ledger.OutcomeGaveUp
		}
		return ledger.OutcomeFailed
	case verdict.Invalid:
		return ledger.OutcomeUnusable
	}
	panic("engine: unknown verdict " + string(v))
}

// PromptRole translates a role for prompts.
func PromptRole(r core.Role) ledger.Role {
	switch r {
	case core.Worker:
		return ledger.RoleWorker
	case core.SpecReviewer:
		return ledger.RoleSpecReviewer
	case core.CodeQualityReviewer:
		return ledger.RoleCodeQualityReviewer
	}
	panic("engine: unknown " + r.String())
}
