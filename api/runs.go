package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"waybill/api/entity"
	"waybill/core"
	"waybill/core/audit"
	"waybill/core/run"
	"waybill/core/verdict"
	"waybill/engine"
	"waybill/ledger"
	"waybill/plan"
	"waybill/prompt"
	"waybill/schema"
	"waybill/store"
)

func (s *Service) initRun(ctx context.Context, p *schema.InitRunParams) (*prepared[schema.InitRunResult], error) {
	if p.Policy != nil && len(p.Policy.RequireChecks) > maxChecks {
		return nil, badParam("/policy/require_checks", fmt.Sprintf("at most %d names of checks", maxChecks), p.Policy.RequireChecks)
	}
	progress, reading, fault := s.runStart(ctx, p)
	var d promptInputs
	if fault == nil {
		_, plans, _ := s.backend() // runStart already called it
		d = s.promptInputs(plans, engine.RunView{Run: run.Run{Plan: progress.Plan, ItemID: progress.ItemID}, Progress: progress, Plan: reading})
	}
	var directives plan.Directives
	if progress.CurrentItem != nil {
		directives = progress.CurrentItem.Directives()
	}
	policy := policyOf(withReviewers(p.Policy, directives), s.o.Settings.Policy, s.o.RequireChecks())
	return prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.InitRunResult, error) {
		if fault != nil {
			return nil, fault // not earlier, so that a repeated call with the same key gets its first answer
		}
		run, created, err := tx.StartRun(progress, policy, audit.Start{Commit: p.Commit, Tree: p.Tree}, p.Resume == "new")
		if err != nil {
			return nil, err
		}
		standing, err := tx.Standing(run.ID, reading)
		_, damaged := errors.AsType[*ledger.FactError](err)
		if err != nil && !damaged {
			return nil, err
		}
		retry := "" // Damaged facts are reported by the methods that need them; no key is known without them.
		if !damaged {
			retry = d.retryPrompt(standing)
		}
		seq, err := tx.Seq()
		return &schema.InitRunResult{
			Run: entity.Run(run), Created: created, Directives: wireDirectives(directives),
			NextAction: string(standing.Next.Action), Next: wireNext(standing.Next, standing.Readiness.Ready),
			RetryPrompt: retry, Seq: seq,
		}, err
	})
}

// withReviewers returns the policy of a call with the reviewers that the plan names, unless the call names some.
func withReviewers(w *schema.Policy, directives plan.Directives) *schema.Policy {
	if directives.Review == "" || w != nil && w.Reviewers != nil {
		return w
	}
	var policy schema.Policy
	if w != nil {
		policy = *w
	}
	switch directives.Review {
	case plan.ReviewSpecOnly:
		policy.Reviewers = []string{core.SpecReviewer.String()}
	case plan.ReviewNone:
		policy.Reviewers = []string{}
	case plan.ReviewFull:
		policy.Reviewers = []string{core.SpecReviewer.String(), core.CodeQualityReviewer.String()}
	}
	return &policy
}

// wireDirectives returns nil for an item without directives.
func wireDirectives(d plan.Directives) *schema.Directives {
	if d == (plan.Directives{}) {
		return nil
	}
	return &schema.Directives{Review: string(d.Review), Model: d.Model}
}

// runStart returns the ledger and the reading with which a run starts.
func (s *Service) runStart(ctx context.Context, p *schema.InitRunParams) (ledger.ProgressLedger, *plan.Reading, error) {
	_, plan, err := s.plan(ctx, p.Plan)
	if err != nil {
		return ledger.ProgressLedger{}, nil, err
	}
	if plan.Stale != "" && plan.Stale != engine.StaleSettling {
		return ledger.ProgressLedger{}, nil, plan.Fault // a run must not start from an outdated plan
	}
	progress, err := ledger.Progress(plan.Reading, plan.Path, plan.Path, p.ItemID)
	return progress, plan.Reading, err
}

// roleOf returns the role that a host names. generic reports that it said only "reviewer".
func roleOf(run run.Run, name string) (role core.Role, generic bool, err error) {
	if name == "reviewer" {
		return run.Reviewer(0), true, nil
	}
	role, ok := core.ParseRole(name)
	if !ok {
		return 0, false, badParam("/role", "worker, spec-reviewer, code-quality-reviewer or reviewer", name)
	}
	return role, false, nil
}

// maxNamedItems bounds the ready items that an answer names besides ready_items, and the open boxes that ready_items
// names.
const maxNamedItems = 50

func wireNext(n run.Next, ready []string) schema.Next {
	w := schema.Next{Action: string(n.Action), ItemIDs: []string{}}
	if n.Role != 0 {
		w.Role = n.Role.String()
	}
	if n.Action == run.AdvanceToNextItem {
		w.ItemIDs = append(w.ItemIDs, ready[:min(len(ready), maxNamedItems)]...)
	}
	w.Checks = n.Checks.List()
	return w
}

func (s *Service) readyItems(ctx context.Context, p *schema.ReadyItemsParams) (*schema.ReadyItems, error) {
	e, found, err := s.plan(ctx, p.Plan)
	if err != nil {
		return nil, err
	}
	r, err := e.Readiness(ctx, found)
	if err != nil {
		return nil, err
	}
	age := planAgeOf(found)
	limit := min(or(p.Limit, schema.DefaultPage), len(r.Ready))
	w := &schema.ReadyItems{
		Ready: append([]string{}, r.Ready[:limit]...), ReadyTotal: len(r.Ready), Parallel: parallel(found.Reading.Items(), r.Ready[:limit]),
		Waiting: entity.All(r.Waiting, func(w plan.Waiting) schema.WaitingItem {
			return schema.WaitingItem{ItemID: w.ItemID, Because: entity.All(w.Because, func(h plan.Hold) schema.Hold {
				return schema.Hold{Kind: string(h.Kind), ItemID: h.ItemID}
			})}
		}),
		Left: r.Left, Unread: r.Unread, Stale: found.Stale, StaleReason: found.Reason, StaleSince: age.since, AsOf: age.asOf,
		Runs:      entity.Runs(r.Progress),
		Completed: r.Complete && found.Stale == "", // unknown while the file cannot be read
	}
	if r.Unread > 0 {
		w.OpenBoxes = entity.All(found.Reading.OpenBoxes(maxNamedItems), entity.Diagnostic)
	}
	return w, nil
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
		Run: entity.Run(view.Run), Stale: view.Rebuilt || view.Fallback != "", TaskLedger: entity.TaskLedger(view.Task),
		NextAction: string(standing.Next.Action), Next: wireNext(standing.Next, standing.Readiness.Ready),
	}
	fault := view.Fault
	if fault == nil {
		fault = view.Gone
	}
	if fault != nil {
		w.ProgressLedgerError = planError(fault)
	}
	d := s.promptInputs(plans, view)
	w.RetryPrompt = d.retryPrompt(standing)
	if w.Evidence, err = evidenceOf(ctx, e, plans, view, standing.Next); err != nil {
		return nil, err
	}
	resumption := resumption(view, standing, w.Stale)
	if in, ok := d.input(standing.Next.Role, standing.Run, standing.Rounds(), standing.Ledger); ok {
		resumption.Ask = &in
	}
	w.ResumptionPrompt = prompt.Resumption(resumption)
	return w, nil
}

// parallel returns the ids whose items may be worked on in parallel. items and ids are in plan order.
func parallel(items []plan.Item, ids []string) []string {
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

// latestRun returns the newest run of an item, even if its plan is gone.
func latestRun(ctx context.Context, e *engine.Engine, plans *engine.Plans, plan, itemID string) (run run.Run, err error) {
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
		Message: fmt.Sprintf("item %q of plan %q has no run; start one with init_run", itemID, plan),
	}
}

// pathsOf returns the current or former paths of a plan. unknown is set if the plan was not found.
func pathsOf(plans *engine.Plans, plan string) (paths []string, unknown error) {
	path, unknown := plans.Resolve(plan)
	switch {
	case unknown != nil:
		return plans.Candidates(plan), unknown
	case path == plan: // may be a short name with a dot
		return append([]string{path}, plans.Candidates(plan)...), nil
	}
	return []string{path}, nil
}

// resumption returns the inputs of a resumption prompt.
func resumption(view engine.RunView, standing engine.Standing, stale bool) prompt.ResumptionInput {
	in := prompt.ResumptionInput{
		Progress: view.Progress, Task: view.Task, Unreadable: view.Fallback, Changed: stale, NextAction: standing.Next.Sentence(),
	}
	if s := view.Run.State; s == run.Blocked || s == run.Failed {
		in.Halted, in.Why = string(s), string(view.Run.Halt)
	}
	return in
}

func (s *Service) replan(ctx context.Context, p *schema.ReplanParams) (*prepared[schema.ReplanResult], error) {
	if err := checkPlan(p); err != nil {
		return nil, err
	}
	view, d, fault, err := s.changing(ctx, p.RunID)
	if err != nil {
		return nil, err
	}
	return prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.ReplanResult, error) {
		if fault = cmp.Or(fault, view.Gone); fault != nil { // a missing item cannot be replanned
			return nil, fault
		}
		after, changed, err := tx.Replan(p.RunID, p.Summary, p.PlanItems, view.Progress.CurrentItem, view.Plan)
		if err != nil {
			return nil, err
		}
		w := &schema.ReplanResult{TaskLedger: entity.TaskLedger(after.Ledger), FrontierChanged: changed}
		w.Moved, err = d.moved(tx, after)
		return w, err
	})
}

func (s *Service) unblockRun(ctx context.Context, p *schema.UnblockRunParams) (*prepared[schema.UnblockRunResult], error) {
	if err := within("/reason", len(p.Reason), schema.MaxReplyBytes); err != nil {
		return nil, err
	}
	view, d, fault, err := s.changing(ctx, p.RunID)
	if err != nil {
		return nil, err
	}
	return prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.UnblockRunResult, error) {
		if fault = cmp.Or(fault, view.Gone); fault != nil { // a missing item cannot be continued
			return nil, fault
		}
		after, err := tx.Unblock(p.RunID, p.Reason, view.Plan)
		if err != nil {
			return nil, err
		}
		moved, err := d.moved(tx, after)
		return &schema.UnblockRunResult{Moved: moved}, err
	})
}

// maxPlanItems bounds the steps of a replanned item.
const maxPlanItems = 1000

func checkPlan(p *schema.ReplanParams) error {
	if strings.TrimSpace(p.Summary) == "" {
		return schema.NewError(schema.EmptyContent, "/summary is empty; describe what changes").With("pointer", "/summary")
	}
	if len(p.PlanItems) > maxPlanItems {
		return badParam("/plan_items", fmt.Sprintf("a list of at most %d steps", maxPlanItems), len(p.PlanItems))
	}
	size := 0
	for i, item := range p.PlanItems {
		if strings.TrimSpace(item) == "" {
			return badParam(fmt.Sprintf("/plan_items/%d", i), "a step that is not empty", item)
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
		Issues:  entity.All(r.Issues, func(i verdict.Issue) schema.ReviewIssue { return schema.ReviewIssue(i) }),
		Tests:   entity.All(r.Tests, func(t verdict.Test) schema.ResultTest { return schema.ResultTest(t) }),

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
