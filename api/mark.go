package api

import (
	"context"

	"waybill/api/entity"
	"waybill/engine"
	"waybill/plan"
	"waybill/schema"
)

func (s *Service) setItemStatus(ctx context.Context, p *schema.SetItemStatusParams) (*prepared[schema.SetItemStatusResult], error) {
	status, ok := plan.ParseStatus(p.Status)
	if !ok {
		return nil, badParam("/status", "pending, in_progress, completed, blocked or skipped", p.Status)
	}
	e, plans, err := s.backend()
	if err != nil {
		return nil, err
	}
	path, fault := plans.Resolve(p.Plan)
	if fault == nil {
		// The reading loads the recorded state of the plan. Its errors are reported by the write.
		_, _ = e.Plan(ctx, path)
	}
	change := &engine.StatusChange{
		Marking: plan.Marking{Plan: path, ItemID: p.ItemID, Line: or(p.Line, 0), Status: status}, Hash: p.ExpectedHash,
	}
	w, err := prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.SetItemStatusResult, error) {
		if fault != nil {
			return nil, fault // not earlier, so that a repeated call with the same key gets its first answer
		}
		set, err := tx.SetItemStatus(change)
		if err != nil {
			return nil, err
		}
		return &schema.SetItemStatusResult{
			Item: entity.Item(set.Item), Fingerprint: entity.Fingerprint(set.Fingerprint), ChangedBytes: set.ChangedBytes, Seq: set.Seq,
		}, nil
	})
	if err != nil {
		return nil, err
	}
	w.failed = func(err error) error { return writtenFault(change, err) }
	return w, nil
}

// writtenFault adds to an error that the plan file was written although the store did not keep the answer.
func writtenFault(change *engine.StatusChange, err error) error {
	if !change.Applied() {
		return err
	}
	fault, cause := faultOf(err)
	if cause != nil {
		return err // a defect is only logged
	}
	fault.Data.Outcome = schema.OutcomeApplied
	return fault.Hint("the plan file has the status; only the answer was not kept for the idempotency key")
}
