package tool

import (
	"context"
	"fmt"
	"strings"

	"waybill/internal/lazy"
	"waybill/mcp/inert"
	"waybill/schema"
)

// This file has the tools about plans and their runs.

// readyItems returns the ready items of a plan, or the plans if none is named.
func (c *call) readyItems() (facts, *schema.Error) {
	if _, named := c.params["plan"]; !named {
		return c.plans()
	}
	return c.set.readiness(c.ctx, c.params)
}

// readiness returns the ready items of a plan, and why the others wait.
func (s *Set) readiness(ctx context.Context, params object) (facts, *schema.Error) {
	var r schema.ReadyItems
	if fault := s.Caller.Call(ctx, "ready_items", params, &r); fault != nil {
		return nil, fault
	}
	titles := s.titles(ctx, params["plan"])
	var f facts
	f.addOpenBoxes(&r)
	f.put("ready", listOf(r.Ready, func(id string) (f facts) {
		f.add("item_id", inert.Line(id))
		f.add("title", titles[id])
		return f
	}))
	f.addUnready(&r)
	return f, nil
}

// titles returns the titles of the items of a plan by their ids. It returns none if the plan cannot be read, because an
// item can be begun without its title.
func (s *Set) titles(ctx context.Context, plan any) map[string]string {
	var p schema.Plan
	_ = s.Caller.Call(ctx, "get_plan", object{"plan": plan}, &p)
	titles := make(map[string]string, len(p.Items))
	for _, item := range p.Items {
		titles[item.ItemID] = inert.Line(item.Title)
	}
	return titles
}

// addOpenBoxes adds the open checkboxes of the plan that are not items.
func (f *facts) addOpenBoxes(r *schema.ReadyItems) {
	f.add("unread", r.Unread)
	var b strings.Builder
	for _, d := range r.OpenBoxes {
		fmt.Fprintf(&b, "%sline %d: %s\n", inert.Cut(d.Source, maxLine), d.Line, inert.Line(d.Message))
	}
	f.add("open_boxes", longText{b.String(), maxText / 2})
}

// addUnready adds the totals of the plan and the reasons why items wait.
func (f *facts) addUnready(r *schema.ReadyItems) {
	f.add("parallel", inert.Lines(r.Parallel))
	f.put("ready_total", r.ReadyTotal)
	f.put("left", r.Left)
	f.put("completed", r.Completed)
	f.addRuns(r.Runs)
	f.add("stale", inert.Cut(r.Stale, maxLine))
	f.add("stale_reason", r.StaleReason)
	f.add("as_of", string(r.AsOf))
	waiting, done := waitingLines(r.Waiting)
	f.put("done", done)
	f.add("waiting", longText{waiting, maxText / 2})
}

// addRuns adds how many items the runs have approved and how many of these are proven, if there are runs.
func (f *facts) addRuns(r *schema.PlanRuns) {
	if r != nil {
		f.add("approved", r.Approved)
		f.put("proven", r.Proven)
		f.add("unapproved", r.Unapproved)
	}
}

// waitingLines returns a line for each waiting item with its reasons, and the number of items that are done.
func waitingLines(all []schema.WaitingItem) (text string, done int) {
	var b strings.Builder
	for _, item := range all {
		var because []string
		for _, h := range item.Because {
			if h.Kind == "done" {
				done++
				because = nil
				break
			}
			because = append(because, strings.TrimSpace(h.Kind+" "+inert.Line(h.ItemID)))
		}
		if because != nil {
			fmt.Fprintf(&b, "%s: %s\n", inert.Line(item.ItemID), strings.Join(because, ", "))
		}
	}
	return b.String(), done
}

// plans lists the plans of the workspace.
func (c *call) plans() (facts, *schema.Error) {
	var r schema.PlanList
	if fault := c.set.Caller.Call(c.ctx, "list_plans", object{}, &r); fault != nil {
		return nil, fault
	}
	return planFacts(&r), nil
}

// planFacts returns the facts of a list of plans.
func planFacts(r *schema.PlanList) (f facts) {
	f.put("plans_total", len(r.Items))
	f.add("plans", listOf(r.Items[:min(len(r.Items), MaxPlans)], planSummary))
	f.addNeutral("problems", r.Problems)
	if len(r.Items) == 0 {
		f.add("do", "There is no plan: write one, such as tasks.md with a checkbox and an id for each task.")
	} else {
		f.add("do", "Call ready_items with the plan of one of these.")
	}
	return f
}

// MaxPlans limits a list of plans, the latest first.
const MaxPlans = 30

func planSummary(p schema.PlanSummary) (f facts) {
	f.add("plan", inert.Cut(p.Plan, maxLine))
	f.put("total", p.Totals.Total)
	f.put("completed", p.Totals.Completed)
	f.add("in_progress", p.Totals.InProgress)
	f.add("blocked", p.Totals.Blocked)
	f.addRuns(p.Runs)
	if p.Error != nil {
		f.add("error", inert.Cut(p.Error.Message, maxLine))
	}
	f.add("stale", inert.Cut(p.Stale, maxLine))
	return f
}

func (c *call) initRun() (facts, *schema.Error) {
	var r schema.InitRunResult
	if fault := c.set.Caller.Call(c.ctx, "init_run", c.params, &r); fault != nil {
		return nil, fault
	}
	var f facts
	f.add("run_id", r.Run.RunID)
	f.put("created", r.Created)
	f.addRun(&r.Run)
	f.addNext(&r.Next)
	f.add("retry_prompt", longText{r.RetryPrompt, maxPage})
	return f, nil
}

// addRun adds the plan, the item and the state of a run.
func (f *facts) addRun(r *schema.Run) {
	f.add("plan", inert.Cut(r.Plan, maxLine))
	f.add("item_id", inert.Cut(r.ItemID, maxLine))
	f.add("state", r.State)
	f.add("reason", inert.Cut(r.Reason, maxShort))
	if len(r.Proof.Required) > 0 {
		f.add("proof", r.Proof.State)
	}
}

// addNext adds the next action and the tools that carry it out.
func (f *facts) addNext(n *schema.Next) {
	f.add("next_action", n.Action)
	f.add("next_role", n.Role)
	f.addNeutral("next_items", n.ItemIDs)
	f.addNeutral("next_checks", n.Checks)
	f.add("do", advice.Get()[n.Action])
}

// advice maps each next action to the tools that carry it out.
var advice = lazy.Value[map[string]string]{Of: func() map[string]string {
	return map[string]string{
		"dispatch_worker":       "Call compile_prompt with role worker, do the work, then ingest_output.",
		"dispatch_reviewer":     "Call compile_prompt with next_role, have a fresh agent review by that prompt, then ingest_output.",
		"dispatch_worker_fixes": "Call compile_prompt with role worker: it names the fixes. Make them, then ingest_output.",
		"retry_worker":          "Call compile_prompt with role worker and have another agent try, then ingest_output.",
		"retry_with_preamble":   "Give retry_prompt to the same agent, then ingest_output.",
		"spawn_fresh_reviewer":  "Call compile_prompt with next_role for a reviewer that has not seen this item, then ingest_output.",
		"run_checks":            "Stop here: no tool runs checks. Tell the person that next_checks have to run, by waybill check with the run_id or by waybill work; their outcome moves the run on.",
		"advance_to_next_item":  "Call init_run with one of next_items.",
		"plan_completed":        "Nothing is left in this plan.",
		"halt_and_escalate":     "Stop work on this item and tell the person why it is blocked.",
	}
}}

func (c *call) compilePrompt() (facts, *schema.Error) {
	var r schema.CompilePromptResult
	if handle := c.args.text("since"); handle != "" {
		c.params["since"] = c.set.pager.CursorOf(handle)
	}
	if fault := c.set.Caller.Call(c.ctx, "compile_prompt", c.params, &r); fault != nil {
		return nil, fault
	}
	var f facts
	f.add("packet_cursor", c.set.pager.Handle(r.Packet.Cursor))
	f.add("packet_mode", r.Packet.Mode)
	f.add("why_full", r.Packet.WhyFull)
	f.put("prompt_tokens", r.PromptTokensAfter)
	f.put("prompt_token_budget", r.PromptTokenBudget)
	addSome(&f, "omitted", r.Omitted, omission)
	f.add("item_changed", inert.Cut(r.ItemChanged, maxShort))
	f.add("ledger_mode", r.LedgerMode)
	f.add("fallback_reason", r.FallbackReason)
	f.add("fallback_detail", inert.Cut(r.FallbackDetail, maxShort))
	f.add("ledger_as_of", string(r.LedgerAsOf))
	f.add("prompt", longText{r.Prompt, maxPage})
	return f, nil
}

func omission(o schema.Omission) (f facts) {
	f.add("what", inert.Cut(o.What, maxLine))
	f.add("why", inert.Cut(o.Why, maxLine))
	return f
}

func (c *call) ingestOutput() (facts, *schema.Error) {
	var r schema.IngestOutputResult
	if fault := c.set.Caller.Call(c.ctx, "ingest_output", c.params, &r); fault != nil {
		return nil, fault
	}
	if r.Task != nil {
		c.set.Leases.drop(r.Task.TaskID, c.args.text("lease_token"))
	}
	var f facts
	f.add("verdict", r.Verdict)
	f.put("applied", r.Applied)
	f.add("already", r.Already)
	f.add("reason", r.Reason)
	if r.Next != nil {
		f.addNext(r.Next)
	}
	f.addJudgement(&r)
	f.add("retry_prompt", longText{r.RetryPrompt, maxPage})
	return f, nil
}

// addJudgement adds the findings about a result and the state of its run and task.
func (f *facts) addJudgement(r *schema.IngestOutputResult) {
	if r.Decision != nil {
		f.add("rule", r.Decision.Rule)
		f.add("rule_count", r.Decision.Count)
		f.add("rule_limit", r.Decision.Limit)
	}
	f.add("run_state", r.Run.State)
	f.add("run_reason", inert.Cut(r.Run.Reason, maxShort))
	addSome(f, "errors", r.Errors, resultError)
	addSome(f, "warnings", r.Warnings, resultWarning)
	if r.TaskLedger != nil {
		f.addNeutral("required_fixes", r.TaskLedger.RequiredFixes)
		f.add("replan_hint", inert.Cut(r.TaskLedger.ReplanHint, maxShort))
	}
	if r.Task != nil {
		f.add("task_id", r.Task.TaskID)
		f.add("task_status", r.Task.Status)
	}
}

func resultError(e schema.ResultError) (f facts) {
	f.add("field", inert.Cut(e.Field, maxLine))
	f.add("expected", inert.Cut(e.Expected, maxLine))
	f.add("found", inert.Cut(e.Found, maxLine))
	f.add("message", inert.Cut(e.Message, maxLine))
	return f
}

func resultWarning(w schema.ResultWarning) (f facts) {
	f.add("line", w.Line)
	f.add("message", inert.Cut(w.Message, maxLine))
	return f
}
