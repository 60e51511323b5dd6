package api

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"waybill/api/entity"
	"waybill/core"
	"waybill/core/proof"
	"waybill/engine"
	"waybill/ledger"
	"waybill/schema"
	"waybill/store"
)

// maxChecks bounds the checks that a run requires.
const maxChecks = 32

func (s *Service) reportCheck(ctx context.Context, p *schema.ReportCheckParams) (*prepared[schema.ReportCheckResult], error) {
	c := p.CheckRun
	if err := checkReceipt(&c); err != nil {
		return nil, err
	}
	view, d, fault, err := s.changing(ctx, p.RunID)
	if err != nil {
		return nil, err
	}
	c.Round = new(or(c.Round, view.Run.Proof.Round))
	outcome, _ := proof.ParseOutcome(c.Outcome) // the schema allows only known names
	r := proof.Receipt{Check: c.Check, Round: *c.Round, Outcome: outcome, Before: c.TreeBefore, After: c.TreeAfter}
	return finishing(prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.ReportCheckResult, error) {
		if fault != nil {
			return nil, fault
		}
		after, why, seq, err := tx.TakeReceipt(p.RunID, r, c, ledger.Demand(c.Command, failure(c), c.Output), view.Plan)
		if err != nil {
			return nil, err
		}
		w := &schema.ReportCheckResult{Receipt: entity.Receipt(seq, p.RunID, tx.Now(), c), Decision: entity.Decision(why)}
		w.Moved, err = d.moved(tx, after)
		return w, err
	}))
}

// checkReceipt refuses a receipt that contradicts itself or is too large.
func checkReceipt(c *schema.CheckRun) error {
	failed := or(c.ExitCode, 0) != 0
	switch outcome, _ := proof.ParseOutcome(c.Outcome); {
	case failed && outcome != proof.Red:
		return badParam("/outcome", "red, because exit_code says that the check failed", c.Outcome)
	case outcome == proof.Protected && len(c.Changed) == 0 && c.Check != proof.Facts:
		return badParam("/changed", "the protected files that the work changed", c.Changed)
	}
	size := len(c.Command) + len(c.Reason) + len(c.TreeBefore) + len(c.TreeAfter) + len(c.Runner) + len(c.OutputHash)
	for _, name := range c.Changed {
		size += len(name)
	}
	return cmp.Or(within("/output", len(c.Output), schema.MaxCheckOutput), within("/command and the other texts", size, schema.MaxCheckOutput))
}

// failure returns how a check failed.
func failure(c schema.CheckRun) string {
	if c.Reason == "" && c.ExitCode != nil {
		return fmt.Sprintf("exit status %d", *c.ExitCode)
	}
	return c.Reason
}

func (s *Service) listReceipts(ctx context.Context, p *schema.ListReceiptsParams) (*schema.ReceiptList, error) {
	e, _, err := s.backend()
	if err != nil {
		return nil, err
	}
	after, err := pageAfter(p.Page)
	if err != nil {
		return nil, err
	}
	limit, list := or(p.Limit, schema.DefaultPage), &schema.ReceiptList{}
	err = e.View(ctx, func(tx store.Tx) error {
		if _, ok, err := tx.Run(p.RunID); err != nil || !ok && p.RunID != "" {
			return cmp.Or[error](err, core.Missing("run", p.RunID))
		}
		list.Items, err = receiptsAfter(tx, p.RunID, after, limit+1)
		return err
	})
	if len(list.Items) > limit {
		list.Items = list.Items[:limit]
		list.NextCursor = strings.TrimPrefix(list.Items[limit-1].ReceiptID, entity.ReceiptPrefix)
	}
	return list, err
}

// receiptsAfter returns at most limit receipts of a run, or of all runs for "", behind the event with a number.
func receiptsAfter(tx store.EventLog, runID string, after int64, limit int) ([]schema.Receipt, error) {
	found := []schema.Receipt{}
	events, err := store.EventsAfter(tx, runID, after, limit, []core.EventType{core.ReceiptRecorded})
	for _, ev := range events {
		r, malformed := entity.ReceiptOf(ev)
		found, err = append(found, r), cmp.Or(err, malformed)
	}
	return found, err
}

func (s *Service) getReceipt(ctx context.Context, p *schema.GetReceiptParams) (w *schema.Receipt, err error) {
	e, _, err := s.backend()
	if err != nil {
		return nil, err
	}
	number, _ := strings.CutPrefix(p.ReceiptID, entity.ReceiptPrefix)
	seq, malformed := strconv.ParseInt(number, 10, 64)
	err = e.View(ctx, func(tx store.Tx) error {
		page, err := tx.Events(seq-1, 1, nil)
		if err != nil {
			return err
		}
		if malformed != nil || len(page) == 0 || page[0].Seq != seq || page[0].Type != core.ReceiptRecorded {
			return core.Missing("receipt", p.ReceiptID)
		}
		r, err := entity.ReceiptOf(page[0])
		w = &r
		return err
	})
	return w, err
}

// changing returns what a change of a run needs of its plan. fault refuses the change inside the transaction, so that a
// repeated call with the same key gets its first answer.
func (s *Service) changing(ctx context.Context, id string) (view engine.RunView, d promptInputs, fault, err error) {
	e, plans, err := s.backend()
	if err != nil {
		return view, d, nil, err
	}
	view, fault = e.Look(ctx, id)
	return view, s.promptInputs(plans, view), fault, nil
}

// moved returns the state of a run after a change.
func (d promptInputs) moved(tx *engine.Tx, after engine.Standing) (schema.Moved, error) {
	seq, err := tx.Seq()
	return schema.Moved{
		Run: entity.Run(after.Run), NextAction: string(after.Next.Action), Next: wireNext(after.Next, after.Readiness.Ready),
		RetryPrompt: d.retryPrompt(after), Seq: seq,
	}, err
}
