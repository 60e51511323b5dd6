package api

import (
	"context"

	"waybill/core"
	"waybill/engine"
	"waybill/schema"
	"waybill/store"
)

func (s *Service) listRuns(ctx context.Context, p *schema.ListRunsParams) (*schema.RunList, error) {
	e, plans, err := s.backend()
	if err != nil {
		return nil, err
	}
	if p.RunID != "" {
		return oneRun(ctx, e, p)
	}
	limit := or(p.Limit, schema.DefaultPage)
	q := store.RunQuery{State: core.RunState(p.State), Behind: p.Cursor, Limit: limit + 1}
	var paths []string
	var unknown error
	if p.Plan != "" {
		paths, unknown = pathsOf(plans, p.Plan)
	}
	var runs []core.Run
	err = e.View(ctx, func(tx store.Tx) (err error) {
		if p.Plan != "" {
			if q.Plan, err = planOfRuns(tx, paths, unknown); err != nil {
				return err
			}
		}
		runs, err = runsBehind(tx, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	list := &schema.RunList{}
	if len(runs) > limit {
		runs = runs[:limit]
		list.NextCursor = runs[limit-1].ID
	}
	list.Items = mapped(runs, wireRun)
	return list, nil
}

// oneRun gives a list of one.
func oneRun(ctx context.Context, e *engine.Engine, p *schema.ListRunsParams) (*schema.RunList, error) {
	if err := nothingBeside("run_id", [2]string{"/plan", p.Plan}, [2]string{"/state", p.State}, [2]string{"/cursor", p.Cursor}); err != nil {
		return nil, err
	}
	var run core.Run
	err := e.View(ctx, func(tx store.Tx) error {
		var ok bool
		var err error
		if run, ok, err = tx.Run(p.RunID); err == nil && !ok {
			err = core.Missing("run", p.RunID)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &schema.RunList{Items: []schema.Run{wireRun(run)}}, nil
}

// planOfRuns gives that of the paths under which runs are kept, also of a plan that is not there any more.
func planOfRuns(tx store.Tx, paths []string, unknown error) (string, error) {
	for _, path := range paths {
		if some, err := tx.Runs(store.RunQuery{Plan: path, Limit: 1}); err != nil || len(some) > 0 {
			return path, err
		}
	}
	if unknown != nil {
		return "", unknown
	}
	return paths[0], nil
}

// runsBehind gives a page of runs. A cursor that was never given is refused.
func runsBehind(tx store.Tx, q store.RunQuery) ([]core.Run, error) {
	runs, err := tx.Runs(q)
	if err != nil || len(runs) > 0 || q.Behind == "" {
		return runs, err
	}
	if _, ok, err := tx.Run(q.Behind); err != nil || ok {
		return nil, err
	}
	return nil, badParam("/cursor", "next_cursor of the page before", q.Behind)
}
