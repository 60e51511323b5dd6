package engine

import (
	"waybill/core"
	"waybill/core/audit"
	"waybill/core/instruction"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/core/verdict"
	"waybill/ledger"
)

// A RunRecord is the data of run events: the state of the run. For run.outcome, run.replanned, run.unblocked and
// proof.changed it also holds the report, the rule that decided, and the next step.
type RunRecord struct {
	Plan     string    `json:"plan"`
	ItemID   string    `json:"item_id"`
	State    run.State `json:"state"`
	Halt     run.Halt  `json:"reason,omitempty"`
	Revision int64     `json:"revision"`

	Role        string          `json:"role,omitempty"`
	Verdict     verdict.Verdict `json:"verdict,omitempty"`
	Grammar     verdict.Grammar `json:"grammar,omitempty"`
	TaskID      string          `json:"task_id,omitempty"`
	AttemptID   string          `json:"attempt_id,omitempty"`
	Retry       bool            `json:"retry_context,omitempty"` // the agent had a retry prompt
	Check       string          `json:"check,omitempty"`         // of proof.changed
	Proof       string          `json:"proof,omitempty"`         // with required checks: how much is proven
	Start       audit.Start     `json:"start,omitzero"`          // of run.started
	Said        audit.Said      `json:"said,omitzero"`           // of run.outcome with the verdict pass
	PlanVersion int             `json:"plan_version,omitempty"`  // of run.replanned
	Why         string          `json:"why,omitempty"`           // of run.unblocked: the reason of the person
	Rule        run.Rule        `json:"rule,omitempty"`
	Count       int             `json:"count,omitempty"`
	Limit       int             `json:"limit,omitempty"`
	NextAction  run.NextAction  `json:"next_action,omitempty"`
	NextRole    string          `json:"next_role,omitempty"`
}

// saveRun stores a run and performs its effects. data is recorded with the state of the run.
func (tx *Tx) saveRun(r run.Run, effects []core.Effect, data RunRecord) error {
	if err := tx.PutRun(r); err != nil {
		return err
	}
	if r.Proof.Required != "" {
		data.Proof = r.Proof.State().String()
	}
	data.Plan, data.ItemID, data.State, data.Halt, data.Revision = r.Plan, r.ItemID, r.State, r.Halt, r.Revision
	for _, effect := range effects {
		var err error
		switch e := effect.(type) {
		case core.Record:
			err = tx.record(e.Type, r.ID, data)
		case run.Decide:
			data.Rule, data.Count, data.Limit = e.Decision.Rule, e.Decision.Count, e.Decision.Limit
			if e.Decision.Role != 0 {
				data.Role = e.Decision.Role.String()
			}
			err = tx.record(e.Type, r.ID, data)
		case core.Post:
			err = tx.postRun(r, e.Kind, data)
		case core.Withdraw:
			err = tx.dropNotices(r.ID, e.Kind)
		case instruction.Deliver, task.Keep: // no event of a run has these effects
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// counts returns the counters of a run that its ledger repeats.
func counts(run run.Run) ledger.Counts {
	p, n := run.Policy, run.Counters
	return ledger.Counts{
		Stalled: ledger.Stalled{ConsecutiveNonProgress: n.Stalled, Threshold: p.StalledThreshold, Flagged: run.Stalling()},
		ReviewLoop: ledger.ReviewLoop{
			Count: n.ReviewLoop, Threshold: p.ReviewLoopThreshold, Alternating: run.Alternating(),
			Flagged: run.Looping() || run.Alternating(),
		},
		Rejections: n.ReviewRejections,
	}
}
