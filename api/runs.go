package api

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"waybill/core"
	"waybill/core/verdict"
	"waybill/engine"
	"waybill/ledger"
	"waybill/schema"
	"waybill/store"
)

func (s *Service) initRun(ctx context.Context, p *schema.InitRunParams) (*work[schema.InitRunResult], error) {
	progress, reading, fault := s.departure(ctx, p)
	var d drafts
	if fault == nil {
		_, plans, _ := s.backend() // which has given the reading
		d = s.drafts(plans, engine.RunView{Run: core.Run{Plan: progress.Plan, ItemID: progress.ItemID}, Progress: progress, Plan: reading})
	}
	policy := policyOf(p.Policy, s.o.Settings.Policy)
	return prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.InitRunResult, error) {
		if fault != nil {
			return nil, fault // not before, so that a call which comes again with its key gets its first answer
		}
		run, created, err := tx.StartRun(progress, policy, p.Resume == "new")
		if err != nil {
			return nil, err
		}
		standing, err := tx.Standing(run.ID, reading)
		if _, damaged := errors.AsType[*ledger.FactError](err); err != nil && !damaged {
			return nil, err // of damaged facts is told who asks for them
		}
		seq, err := tx.Seq()
		return &schema.InitRunResult{
			Run: wireRun(run), Created: created,
			NextAction: string(standing.Next.Action), Next: wireNext(standing.Next, standing.Readiness.Ready),
			RetryPrompt: d.retryPrompt(standing), Seq: seq,
		}, err
	})
}

// departure gives what a new run begins with.
func (s *Service) departure(ctx context.Context, p *schema.InitRunParams) (ledger.ProgressLedger, *ledger.Reading, error) {
	_, plan, err := s.plan(ctx, p.Plan)
	if err != nil {
		return ledger.ProgressLedger{}, nil, err
	}
	if plan.Stale != "" && plan.Stale != engine.StaleSettling {
		return ledger.ProgressLedger{}, nil, plan.Fault // a journey does not begin on a map that is known to be wrong
	}
	progress, err := ledger.Progress(plan.Reading, plan.Path, plan.Path, p.ItemID)
	return progress, plan.Reading, err
}

// roleOf gives the role that a host means. generic reports that it said no more than "reviewer".
func roleOf(run core.Run, name string) (role core.Role, generic bool, err error) {
	if name == "reviewer" {
		return run.Reviewer(0), true, nil
	}
	role, ok := core.ParseRole(name)
	if !ok {
		return 0, false, badParam("/role", "worker, spec-reviewer, code-quality-reviewer or reviewer", name)
	}
	return role, false, nil
}

// mostNamed bounds the items that an answer names as those that can be begun; ready_items has all.
const mostNamed = 50

func wireNext(n core.Next, ready []string) schema.Next {
	w := schema.Next{Action: string(n.Action), ItemIDs: []string{}}
	if n.Role != 0 {
		w.Role = n.Role.String()
	}
	if n.Action == core.AdvanceToNextItem {
		w.ItemIDs = append(w.ItemIDs, ready[:min(len(ready), mostNamed)]...)
	}
	return w
}

func (s *Service) readyItems(ctx context.Context, p *schema.ReadyItemsParams) (*schema.ReadyItems, error) {
	e, plan, err := s.plan(ctx, p.Plan)
	if err != nil {
		return nil, err
	}
	r, err := e.Readiness(ctx, plan)
	if err != nil {
		return nil, err
	}
	age := stalenessOf(plan)
	limit := min(or(p.Limit, schema.DefaultPage), len(r.Ready))
	return &schema.ReadyItems{
		Ready: append([]string{}, r.Ready[:limit]...), ReadyTotal: len(r.Ready), Parallel: parallel(plan.Reading.Items(), r.Ready[:limit]),
		Waiting: mapped(r.Waiting, func(w ledger.Waiting) schema.WaitingItem {
			return schema.WaitingItem{ItemID: w.ItemID, Because: mapped(w.Because, func(h ledger.Hold) schema.Hold {
				return schema.Hold{Kind: string(h.Kind), ItemID: h.ItemID}
			})}
		}),
		Left: r.Left, Unread: r.Unread, Stale: plan.Stale, StaleReason: plan.Reason, StaleSince: age.since, AsOf: age.asOf,
		Completed: r.Complete && plan.Stale == "", // of a file that nobody can read, nobody knows whether it is
	}, nil
}

func (s *Service) resumeRun(ctx context.Context, p *schema.ResumeRunParams) (*schema.ResumeRunResult, error) {
	e, plans, err := s.backend()
	if err != nil {
		return nil, err
	}
	run, err := latestRun(ctx, e, plans, p.Plan, p.ItemID)
	if err != nil {
		return nil, err
	}
	view, err := e.Look(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	standing, err := e.Standing(ctx, view)
	if err != nil {
		return nil, err
	}
	w := &schema.ResumeRunResult{
		Run: wireRun(view.Run), Stale: view.Rebuilt || view.Fallback != "", TaskLedger: wireTaskLedger(view.Task),
		NextAction: string(standing.Next.Action), Next: wireNext(standing.Next, standing.Readiness.Ready),
	}
	fault := view.Fault
	if fault == nil {
		fault = view.Gone
	}
	if fault != nil {
		w.ProgressLedgerError = planError(fault)
	}
	d := s.drafts(plans, view)
	w.RetryPrompt = d.retryPrompt(standing)
	if w.Evidence, err = evidenceOf(ctx, e, plans, view, standing.Next); err != nil {
		return nil, err
	}
	w.ResumptionPrompt = ledger.Resumption(resumption(view, standing, w.Stale))
	return w, nil
}

// parallel gives those of some items that the plan allows to be worked on beside others. Both are in the order
// of the plan.
func parallel(items []ledger.Item, ids []string) []string {
	allowed := []string{}
	for _, it := range items {
		if len(ids) == 0 {
			break
		}
		if it.ID != ids[0] {
			continue
		}
		if ids = ids[1:]; it.Parallel {
			allowed = append(allowed, it.ID)
		}
	}
	return allowed
}

// latestRun finds the newest run of an item, also of a plan that is not there any more.
func latestRun(ctx context.Context, e *engine.Engine, plans *engine.Plans, plan, itemID string) (run core.Run, err error) {
	paths, unknown := pathsOf(plans, plan)
	var found bool
	err = e.View(ctx, func(tx store.Tx) (err error) {
		for _, path := range paths {
			if run, found, err = tx.LatestRun(path, itemID); err != nil || found {
				return err
			}
		}
		return nil
	})
	switch {
	case err != nil || found:
		return run, err
	case unknown != nil:
		return run, unknown
	}
	return run, &core.Refusal{
		Kind: core.NotFound, Noun: "run", Subject: plan + " " + itemID,
		Message: fmt.Sprintf("no run of item %q of plan %q was ever started; init_run starts one", itemID, plan),
	}
}

// pathsOf gives the paths at which a plan is or may have been. unknown says that it is nowhere now.
func pathsOf(plans *engine.Plans, plan string) (paths []string, unknown error) {
	path, unknown := plans.Resolve(plan)
	switch {
	case unknown != nil:
		return plans.Candidates(plan), unknown
	case path == plan: // that may be a short name with a dot
		return append([]string{path}, plans.Candidates(plan)...), nil
	}
	return []string{path}, nil
}

// resumption gives what an agent has to know to pick a run up.
func resumption(view engine.RunView, standing engine.Standing, stale bool) ledger.ResumptionInput {
	in := ledger.ResumptionInput{
		Progress: view.Progress, Task: view.Task, Unreadable: view.Fallback, Changed: stale, NextAction: nextSentence(standing.Next),
	}
	if s := view.Run.State; s == core.RunBlocked || s == core.RunFailed {
		in.Halted, in.Why = string(s), string(view.Run.Halt)
	}
	return in
}

// nextSentence says for an agent what has to be done next.
func nextSentence(n core.Next) string {
	switch n.Action {
	case core.DispatchWorker:
		return "do the task"
	case core.DispatchReviewer:
		return fmt.Sprintf("review the work, as the %s", n.Role)
	case core.DispatchFixes:
		return "do what the reviewers ask for"
	case core.RetryWorker:
		return "try the task again, another way if need be"
	case core.RetryWithPreamble:
		return fmt.Sprintf("give the result of the %s once more, in a form that can be read", n.Role)
	case core.SpawnFreshReviewer:
		return fmt.Sprintf("review the work from the start, as the %s", n.Role)
	case core.AdvanceToNextItem:
		return "go on with the next item of the plan; this one is approved"
	case core.PlanCompleted:
		return "nothing; the plan is completed"
	case core.HaltAndEscalate:
		return "stop, and let a person decide"
	}
	panic("api: unknown action " + string(n.Action))
}

func (s *Service) replan(ctx context.Context, p *schema.ReplanParams) (*work[schema.ReplanResult], error) {
	if err := checkPlan(p); err != nil {
		return nil, err
	}
	e, plans, err := s.backend()
	if err != nil {
		return nil, err
	}
	view, fault := e.Look(ctx, p.RunID)
	if fault == nil {
		fault = view.Gone // nobody can do an item that the plan does not have, however it is planned
	}
	d := s.drafts(plans, view)
	return prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.ReplanResult, error) {
		if fault != nil {
			return nil, fault
		}
		after, changed, err := tx.Replan(p.RunID, p.Summary, p.PlanItems, view.Progress.CurrentItem, view.Plan)
		if err != nil {
			return nil, err
		}
		seq, err := tx.Seq()
		return &schema.ReplanResult{
			Run: wireRun(after.Run), TaskLedger: wireTaskLedger(after.Ledger), FrontierChanged: changed,
			NextAction: string(after.Next.Action), Next: wireNext(after.Next, after.Readiness.Ready),
			RetryPrompt: d.retryPrompt(after), Seq: seq,
		}, err
	})
}

// maxPlanItems bounds the steps of one version of a plan.
const maxPlanItems = 1000

func checkPlan(p *schema.ReplanParams) error {
	if strings.TrimSpace(p.Summary) == "" {
		return schema.NewError(schema.EmptyContent, "/summary is empty; say what is to be done differently").With("pointer", "/summary")
	}
	if len(p.PlanItems) > maxPlanItems {
		return badParam("/plan_items", fmt.Sprintf("a list of at most %d steps", maxPlanItems), len(p.PlanItems))
	}
	size := 0
	for i, item := range p.PlanItems {
		if strings.TrimSpace(item) == "" {
			return badParam(fmt.Sprintf("/plan_items/%d", i), "a step that says something", item)
		}
		size += len(item)
	}
	return errors.Join(
		within("/summary", len(p.Summary), schema.MaxReplyBytes), within("/plan_items", size, schema.MaxContentBytes),
	)
}

func wireResult(r verdict.Result) *schema.Result {
	if r.Status == "" {
		return nil
	}
	return &schema.Result{
		Role: r.Role.String(), TaskID: r.TaskID, Status: r.Status, GitRange: r.GitRange, Confidence: r.Confidence,
		Summary: r.Summary,
		Issues:  mapped(r.Issues, func(i verdict.Issue) schema.ReviewIssue { return schema.ReviewIssue(i) }),
		Tests:   mapped(r.Tests, func(t verdict.Test) schema.ResultTest { return schema.ResultTest(t) }),

		FilesChanged: r.FilesChanged, FollowUpActions: r.FollowUps, Strengths: r.Strengths, RequiredFixes: r.RequiredFixes,
	}
}

func wireProblem(p verdict.Problem) schema.ResultError {
	return schema.ResultError{
		Code: string(p.Fault), Field: p.Field, Expected: p.Expected, Found: p.Found, Line: p.Line, Message: p.Message,
	}
}

func wireWarning(w verdict.Warning) schema.ResultWarning {
	return schema.ResultWarning{Code: string(w.Remark), Line: w.Line, Message: w.Message}
}
