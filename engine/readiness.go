package engine

import (
	"context"

	"waybill/core"
	"waybill/ledger"
	"waybill/store"
)

// outlook says what has to be done next, once it is known where the run is.
func outlook(tx store.Tx, s *Standing, plan *ledger.Reading) error {
	view := core.Outlook{Left: 1, UnderWay: 1} // of a plan that cannot be read: something may be left
	if plan != nil {
		_, there := plan.Item(s.Run.ItemID)
		view.Gone = !there
	}
	if s.Run.State != core.RunDone || plan == nil {
		s.Next = s.Run.Next(view)
		return nil
	}
	var err error
	if s.Readiness, err = readiness(tx, plan, s.Run.Plan); err != nil {
		return err
	}
	s.Next = s.Run.Next(core.Outlook{Left: s.Readiness.Left, Ready: len(s.Readiness.Ready), UnderWay: s.Readiness.UnderWay})
	return nil
}

// readiness says which items of a plan can be begun now.
func readiness(tx store.Tx, plan *ledger.Reading, path string) (ledger.Readiness, error) {
	runs, err := tx.LatestRuns(path)
	if err != nil {
		return ledger.Readiness{}, err
	}
	items := plan.Items()
	byItem := make(map[string]ledger.ItemRun, len(runs))
	for id, run := range ofItems(runs, items) {
		byItem[id] = itemRun(run)
	}
	return plan.Ready(items, func(id string) ledger.ItemRun { return byItem[id] }), nil
}

// ofItems gives the runs by their items. A run that is done counts for the item that was approved only, and not
// for another one that has its id now.
func ofItems(runs []core.Run, items []ledger.Item) map[string]core.Run {
	byItem := make(map[string]core.Run, len(runs))
	for _, run := range runs {
		byItem[run.ItemID] = run
	}
	for i := range items {
		run, ok := byItem[items[i].ID]
		if ok && run.State == core.RunDone && !ledger.SameItem(run.Frontier, &items[i]) {
			delete(byItem, items[i].ID)
		}
	}
	return byItem
}

func itemRun(run core.Run) ledger.ItemRun {
	switch run.State {
	case core.RunRunning:
		return ledger.RunLive
	case core.RunBlocked:
		return ledger.RunBlocked
	case core.RunDone:
		return ledger.RunDone
	case core.RunFailed:
		return ledger.NoRun
	}
	panic("engine: run " + run.ID + " is " + string(run.State))
}

// Standing says where the run of a view is, and what has to be done next.
func (e *Engine) Standing(ctx context.Context, v RunView) (Standing, error) {
	s := Standing{Run: v.Run, Ledger: v.Task}
	err := e.View(ctx, func(tx store.Tx) error {
		facts, err := tx.Facts(v.Run.ID)
		if err != nil {
			return err
		}
		s.Unread = recalled(loaded(facts)).unread
		return outlook(tx, &s, v.Plan)
	})
	return s, err
}

// Output gives the text of a file in which an agent left its result. An error is a *planfile.Error.
func (e *Engine) Output(path string) (string, error) { return e.o.Outputs.Read(path) }

// Readiness says which items of a plan can be begun now.
func (e *Engine) Readiness(ctx context.Context, plan Plan) (r ledger.Readiness, err error) {
	err = e.View(ctx, func(tx store.Tx) error {
		r, err = readiness(tx, plan.Reading, plan.Path)
		return err
	})
	return r, err
}
