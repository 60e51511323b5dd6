package engine

import (
	"context"

	"waybill/core/proof"
	"waybill/core/run"
	"waybill/ledger"
	"waybill/plan"
	"waybill/plan/graph"
	"waybill/store"
)

// outlook sets the next step of a run.
func outlook(tx store.RunRecords, s *Standing, plan *plan.Reading) error {
	view := run.Outlook{Left: 1, UnderWay: 1} // an unreadable plan may have items left
	if plan != nil {
		_, there := plan.Item(s.Run.ItemID)
		view.Gone = !there
	}
	if s.Run.State != run.Done || plan == nil {
		s.Next = s.Run.Next(view)
		return nil
	}
	var err error
	s.Readiness, s.Progress, err = readiness(tx, plan, s.Run.Plan)
	s.Next = s.Run.Next(run.Outlook{Left: s.Readiness.Left, Ready: len(s.Readiness.Ready), UnderWay: s.Readiness.UnderWay})
	return err
}

// readiness returns which items of a plan can be started now, and its progress.
func readiness(tx store.RunRecords, p *plan.Reading, path string) (plan.Readiness, plan.PlanProgress, error) {
	runs, err := tx.LatestRuns(path)
	items := p.Items()
	states := itemRuns(runs, items)
	return graph.ReadyIn(p, items, states), p.PlanProgress(states), err
}

// itemRuns returns a function from an item to the state of its newest run.
func itemRuns(runs []run.Run, items []plan.Item) func(itemID string) plan.ItemRun {
	byItem := make(map[string]plan.ItemRun, len(runs))
	for id, run := range ofItems(runs, items) {
		byItem[id] = itemRun(run)
	}
	return func(id string) plan.ItemRun { return byItem[id] }
}

// Progress returns the progress of each plan in one transaction. A plan without a reading has the zero value.
func (e *Engine) Progress(ctx context.Context, plans ...Plan) (all []plan.PlanProgress, err error) {
	err = e.View(ctx, func(tx store.Tx) error {
		all = make([]plan.PlanProgress, len(plans))
		for i, plan := range plans {
			if plan.Reading == nil {
				continue
			}
			runs, err := tx.LatestRuns(plan.Path)
			if err != nil {
				return err
			}
			done := make(map[string]bool, len(runs)) // only a finished run is compared with its item
			for _, r := range runs {
				done[r.ItemID] = r.State == run.Done
			}
			all[i] = plan.Reading.PlanProgress(itemRuns(runs, plan.Reading.ItemsNamed(done)))
		}
		return nil
	})
	return all, err
}

// ofItems maps item ids to runs. A finished run counts only if its item is still the approved one, because another
// item may have the same id now.
func ofItems(runs []run.Run, items []plan.Item) map[string]run.Run {
	byItem := make(map[string]run.Run, len(runs))
	for _, run := range runs {
		byItem[run.ItemID] = run
	}
	for i := range items {
		r, ok := byItem[items[i].ID]
		if ok && r.State == run.Done && !ledger.SameItem(r.Frontier, &items[i]) {
			delete(byItem, items[i].ID)
		}
	}
	return byItem
}

func itemRun(r run.Run) plan.ItemRun {
	switch r.State {
	case run.Running:
		return plan.RunLive
	case run.Blocked:
		return plan.RunBlocked
	case run.Done:
		if r.Proof.State() == proof.Proven {
			return plan.RunProven
		}
		return plan.RunDone
	case run.Failed:
		return plan.NoRun
	}
	panic("engine: run " + r.ID + " is " + string(r.State))
}

// Standing returns the state of a view's run and its next step.
func (e *Engine) Standing(ctx context.Context, v RunView) (Standing, error) {
	s := Standing{Run: v.Run, Ledger: v.Task}
	err := e.View(ctx, func(tx store.Tx) error {
		facts, err := tx.Facts(v.Run.ID)
		if err != nil {
			return err
		}
		if s.memory, err = parseMemory(facts); err != nil {
			return err
		}
		s.Unread = s.memory.unread
		return outlook(tx, &s, v.Plan)
	})
	return s, err
}

// Output returns the text of a result file. An error is a *planfile.Error.
func (e *Engine) Output(path string) (string, error) { return e.o.Outputs.Read(path) }

// Readiness returns which items of a plan can be started now.
func (e *Engine) Readiness(ctx context.Context, plan Plan) (r plan.Readiness, err error) {
	err = e.View(ctx, func(tx store.Tx) error {
		r, _, err = readiness(tx, plan.Reading, plan.Path)
		return err
	})
	return r, err
}
