package api

import (
	"context"

	"waybill/api/entity"
	"waybill/core"
	"waybill/core/run"
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
	q := store.RunQuery{State: run.State(p.State), Behind: p.Cursor, Limit: limit + 1}
	var paths []string
	var unknown error
	if p.Plan != "" {
		paths, unknown = pathsOf(plans, p.Plan)
	}
	var runs []run.Run
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
	list.Items = entity.All(runs, entity.Run)
	return list, nil
}

// oneRun returns a list with one run.
func oneRun(ctx context.Context, e *engine.Engine, p *schema.ListRunsParams) (*schema.RunList, error) {
	if err := requireAlone("run_id", [2]string{"/plan", p.Plan}, [2]string{"/state", p.State}, [2]string{"/cursor", p.Cursor}); err != nil {
		return nil, err
	}
	var run run.Run
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
	return &schema.RunList{Items: []schema.Run{entity.Run(run)}}, nil
}

// planOfRuns returns the first of the paths that has runs, even if the plan is gone.
func planOfRuns(tx store.RunRecords, paths []string, unknown error) (string, error) {
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

// runsBehind returns a page of runs and refuses an unknown cursor.
func runsBehind(tx store.RunRecords, q store.RunQuery) ([]run.Run, error) {
	runs, err := tx.Runs(q)
	if err != nil || len(runs) > 0 || q.Behind == "" {
		return runs, err
	}
	if _, ok, err := tx.Run(q.Behind); err != nil || ok {
		return nil, err
	}
	return nil, badParam("/cursor", "next_cursor of the previous page", q.Behind)
}
