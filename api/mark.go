package api

import (
	"context"

	"waybill/engine"
	"waybill/ledger"
	"waybill/schema"
)

func (s *Service) setItemStatus(ctx context.Context, p *schema.SetItemStatusParams) (*work[schema.SetItemStatusResult], error) {
	status, ok := ledger.ParseStatus(p.Status)
	if !ok {
		return nil, badParam("/status", "pending, in_progress, completed, blocked or skipped", p.Status)
	}
	e, plans, err := s.backend()
	if err != nil {
		return nil, err
	}
	path, fault := plans.Resolve(p.Plan)
	if fault == nil {
		// From here on it is known what the event log says about the plan. What is wrong with it shows
		// when it is written.
		_, _ = e.Plan(ctx, path)
	}
	change := &engine.StatusChange{
		Marking: ledger.Marking{Plan: path, ItemID: p.ItemID, Line: or(p.Line, 0), Status: status}, Hash: p.ExpectedHash,
	}
	w, err := prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.SetItemStatusResult, error) {
		if fault != nil {
			return nil, fault // not before, so that a call which comes again with its key gets its first answer
		}
		set, err := tx.SetItemStatus(change)
		if err != nil {
			return nil, err
		}
		return &schema.SetItemStatusResult{
			Item: wireItem(set.Item), Fingerprint: wireFingerprint(set.Fingerprint), ChangedBytes: set.ChangedBytes, Seq: set.Seq,
		}, nil
	})
	if err != nil {
		return nil, err
	}
	w.failed = func(err error) error { return writtenAllTheSame(change, err) }
	return w, nil
}

// writtenAllTheSame tells the host that the plan has the status although the store did not keep the answer.
func writtenAllTheSame(change *engine.StatusChange, err error) error {
	if !change.Applied() {
		return err
	}
	fault, cause := faultOf(err)
	if cause != nil {
		return err // which goes to the log
	}
	fault.Data.Outcome = schema.OutcomeApplied
	return fault.Hint("the plan file has the status; only the answer was not kept for the idempotency key")
}
