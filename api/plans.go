package api

import (
	"context"
	"errors"
	"fmt"

	"waybill/api/entity"
	"waybill/core"
	"waybill/engine"
	"waybill/ledger"
	"waybill/plan"
	"waybill/plan/read"
	"waybill/schema"
	"waybill/store"
)

func (s *Service) listPlans(ctx context.Context, _ *schema.None) (*schema.PlanList, error) {
	e, plans, err := s.backend()
	if err != nil {
		return nil, err
	}
	found, err := plans.Survey()
	if err != nil && len(found.Paths) == 0 {
		return nil, err
	}
	w := &schema.PlanList{
		Items: make([]schema.PlanSummary, len(found.Paths)), Problems: sentences(err),
		Others: entity.All(found.Others, func(o engine.Other) schema.OtherFile {
			return schema.OtherFile{Path: o.Path, Why: *planError(o.Why)}
		}),
	}
	read := make([]engine.Plan, len(found.Paths))
	for i, path := range found.Paths {
		plan, err := e.Plan(ctx, path)
		read[i], w.Items[i] = plan, summary(path, plan, err)
	}
	progress, err := e.Progress(ctx, read...)
	if err != nil {
		w.Problems = append(w.Problems, "the runs of the plans cannot be read: "+planError(err).Message)
		return w, nil
	}
	for i := range progress {
		w.Items[i].Runs = entity.Runs(progress[i])
	}
	return w, nil
}

// summary returns the list entry of a plan; an unreadable plan has the reason.
func summary(path string, plan engine.Plan, err error) schema.PlanSummary {
	w := schema.PlanSummary{Plan: path, Path: path}
	if err == nil {
		err = plan.Fault
	}
	if plan.Reading != nil {
		w.Dialect, w.Totals = plan.Reading.Dialect, entity.Totals(plan.Reading.Totals)
		w.Fingerprint, w.DiagnosticsCount = entity.Fingerprint(plan.Reading.Fingerprint), len(plan.Reading.Diagnostics)
		for _, e := range plan.Reading.Evidence[:min(1, len(plan.Reading.Evidence))] {
			w.DialectReason = e.Signal
		}
	}
	if err != nil {
		age := planAgeOf(plan)
		w.Error, w.Stale, w.StaleReason, w.StaleSince, w.AsOf = planError(err), plan.Stale, plan.Reason, age.since, age.asOf
	}
	return w
}

// plan resolves and reads a plan.
func (s *Service) plan(ctx context.Context, name string) (*engine.Engine, engine.Plan, error) {
	e, plans, err := s.backend()
	if err != nil {
		return nil, engine.Plan{}, err
	}
	path, err := plans.Resolve(name)
	if err != nil {
		return nil, engine.Plan{}, err
	}
	plan, err := e.Plan(ctx, path)
	return e, plan, err
}

func (s *Service) getPlan(ctx context.Context, p *schema.GetPlanParams) (*schema.Plan, error) {
	e, found, err := s.plan(ctx, p.Plan)
	if err != nil {
		return nil, err
	}
	r, age := found.Reading, planAgeOf(found)
	w := &schema.Plan{
		Plan: found.Path, Path: found.Path, Dialect: r.Dialect, Fingerprint: entity.Fingerprint(r.Fingerprint),
		Totals: entity.Totals(r.Totals), Items: entity.All(r.Items(), entity.Item), Diagnostics: entity.All(r.Diagnostics, entity.Diagnostic),
		Evidence: entity.All(r.Evidence, func(e plan.Evidence) schema.DialectSign { return schema.DialectSign(e) }),
		Marks:    wireMarks(read.Meanings(r)), Stale: found.Stale, StaleReason: found.Reason, StaleSince: age.since, AsOf: age.asOf,
	}
	progress, err := e.Progress(ctx, found)
	if err != nil {
		w.RunsError = planError(err) // the plan is readable even if the store is not
		return w, nil
	}
	w.Runs = entity.Runs(progress[0])
	return w, nil
}

// wireMarks returns nil for no marks.
func wireMarks(meanings map[string]plan.Status) map[string]string {
	if meanings == nil {
		return nil
	}
	marks := make(map[string]string, len(meanings))
	for mark, status := range meanings {
		marks[mark] = status.String()
	}
	return marks
}

func (s *Service) getLedger(ctx context.Context, p *schema.GetLedgerParams) (*schema.Ledger, error) {
	e, _, err := s.backend()
	if err != nil {
		return nil, err
	}
	view, err := e.Look(ctx, p.RunID)
	if err != nil {
		return nil, err
	}
	age := viewAgeOf(view)
	w := &schema.Ledger{
		Etag: etag(view), LedgerMode: ledgerMode(view), FallbackReason: view.Fallback, FallbackDetail: fallbackDetail(view),
		FallbackSince: age.since, LedgerAsOf: age.asOf,
	}
	if p.IfNoneMatch == w.Etag {
		w.NotModified = true
		return w, nil
	}
	if p.Kind != "progress" {
		w.TaskLedger = entity.TaskLedger(view.Task)
	}
	if p.Kind != "task" {
		w.ProgressLedger = entity.ProgressLedger(view.Progress)
	}
	return w, nil
}

// etag identifies a version of a run's ledgers. The revision alone is not enough, because the plan can change while
// the store accepts no writes.
func etag(v engine.RunView) string {
	return fmt.Sprintf("%s:%d:%.12s", v.Run.ID, v.Run.Revision, v.Progress.Fingerprint.Hash)
}

func (s *Service) getSnapshot(ctx context.Context, p *schema.RunParams) (*schema.Snapshot, error) {
	e, _, err := s.backend()
	if err != nil {
		return nil, err
	}
	// Look updates the facts. Damaged facts are returned as they are.
	_, err = e.Look(ctx, p.RunID)
	if _, damaged := errors.AsType[*ledger.FactError](err); err != nil && !damaged {
		return nil, err
	}
	var w *schema.Snapshot
	err = e.View(ctx, func(tx store.Tx) error {
		run, ok, err := tx.Run(p.RunID)
		if err != nil {
			return err
		}
		if !ok {
			return core.Missing("run", p.RunID)
		}
		facts, err := tx.Facts(p.RunID)
		w = &schema.Snapshot{
			RunID: run.ID, Revision: run.Revision, Status: string(run.State), UpdatedAt: entity.Time(run.UpdatedAt),
			Facts: entity.All(facts, func(f store.Fact) schema.Fact { return schema.Fact{K: f.Key, V: f.Value} }),
		}
		return err
	})
	return w, err
}
