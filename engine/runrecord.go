package engine

import (
	"waybill/core"
	"waybill/core/verdict"
	"waybill/ledger"
)

// A RunRecord is the data of the events of runs: where the run is then and, of run.outcome and
// run.replanned, who reported what, the rule that decided, and what has to be done next.
type RunRecord struct {
	Plan     string        `json:"plan"`
	ItemID   string        `json:"item_id"`
	State    core.RunState `json:"state"`
	Halt     core.Halt     `json:"reason,omitempty"`
	Revision int64         `json:"revision"`

	Role        string          `json:"role,omitempty"`
	Verdict     verdict.Verdict `json:"verdict,omitempty"`
	Grammar     verdict.Grammar `json:"grammar,omitempty"`
	TaskID      string          `json:"task_id,omitempty"`
	AttemptID   string          `json:"attempt_id,omitempty"`
	Retry       bool            `json:"retry_context,omitempty"` // the agent was given a retry prompt
	PlanVersion int             `json:"plan_version,omitempty"`  // of run.replanned
	Rule        core.Rule       `json:"rule,omitempty"`
	Count       int             `json:"count,omitempty"`
	Limit       int             `json:"limit,omitempty"`
	NextAction  core.NextAction `json:"next_action,omitempty"`
	NextRole    string          `json:"next_role,omitempty"`
}

// saveRun puts a run and performs the effects. said is what is to be recorded beside where the run is.
func (tx *Tx) saveRun(run core.Run, effects []core.Effect, said RunRecord) error {
	if err := tx.PutRun(run); err != nil {
		return err
	}
	said.Plan, said.ItemID, said.State, said.Halt, said.Revision = run.Plan, run.ItemID, run.State, run.Halt, run.Revision
	for _, effect := range effects {
		var err error
		switch e := effect.(type) {
		case core.Record:
			err = tx.record(e.Type, run.ID, said)
		case core.Decide:
			said.Rule, said.Count, said.Limit = e.Decision.Rule, e.Decision.Count, e.Decision.Limit
			if e.Decision.Role != 0 {
				said.Role = e.Decision.Role.String()
			}
			err = tx.record(e.Type, run.ID, said)
		case core.Post:
			err = tx.postRun(run, e.Kind, said)
		case core.Deliver, core.Keep: // no event of a run has these effects
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// counts gives what the ledger of a run repeats of its counters.
func counts(run core.Run) ledger.Counts {
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
