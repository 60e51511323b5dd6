package mcp

import (
	"context"
	"fmt"
	"strings"

	"waybill/schema"
)

// The tools about plans and their runs.

// readyItems tells what can be begun, or which plans there are.
func (s *server) readyItems(c *call) (facts, *schema.Error) {
	if _, named := c.params["plan"]; !named {
		return s.plans(c)
	}
	return s.readiness(c.ctx, c.params)
}

// readiness tells what can be begun in a plan, and why the rest cannot.
func (s *server) readiness(ctx context.Context, params object) (facts, *schema.Error) {
	var r schema.ReadyItems
	if fault := s.caller.call(ctx, "ready_items", params, &r); fault != nil {
		return nil, fault
	}
	titles := s.titles(ctx, params["plan"])
	var f facts
	f.put("ready", listOf(r.Ready, func(id string) (f facts) {
		f.add("item_id", folded(id))
		f.add("title", titles[id])
		return f
	}))
	f.unready(&r)
	return f, nil
}

// titles gives the titles of the items of a plan by their ids, and none if the plan cannot be read just now: whoever
// can begin an item can do so without its title.
func (s *server) titles(ctx context.Context, plan any) map[string]string {
	var p schema.Plan
	_ = s.caller.call(ctx, "get_plan", object{"plan": plan}, &p)
	titles := make(map[string]string, len(p.Items))
	for _, item := range p.Items {
		titles[item.ItemID] = folded(item.Title)
	}
	return titles
}

// unready tells what else there is to say about what can be begun.
func (f *facts) unready(r *schema.ReadyItems) {
	f.add("parallel", folds(r.Parallel))
	f.put("ready_total", r.ReadyTotal)
	f.put("left", r.Left)
	f.add("unread", r.Unread)
	f.put("completed", r.Completed)
	f.add("stale", said(r.Stale, maxLine))
	f.add("stale_reason", r.StaleReason)
	f.add("as_of", string(r.AsOf))
	waiting, done := holds(r.Waiting)
	f.put("done", done)
	f.add("waiting", long{waiting, maxText / 2})
}

// holds says of each item that waits why it does, a line each, and counts those that are done.
func holds(all []schema.WaitingItem) (text string, done int) {
	var b strings.Builder
	for _, item := range all {
		var because []string
		for _, h := range item.Because {
			if h.Kind == "done" {
				done++
				because = nil
				break
			}
			because = append(because, strings.TrimSpace(h.Kind+" "+folded(h.ItemID)))
		}
		if because != nil {
			fmt.Fprintf(&b, "%s: %s\n", folded(item.ItemID), strings.Join(because, ", "))
		}
	}
	return b.String(), done
}

// plans lists the plans of the workspace.
func (s *server) plans(c *call) (facts, *schema.Error) {
	var r schema.PlanList
	if fault := s.caller.call(c.ctx, "list_plans", object{}, &r); fault != nil {
		return nil, fault
	}
	return planFacts(&r), nil
}

// planFacts tells which plans there are.
func planFacts(r *schema.PlanList) (f facts) {
	f.put("plans_total", len(r.Items))
	f.add("plans", listOf(r.Items[:min(len(r.Items), maxPlans)], planSummary))
	f.words("problems", r.Problems)
	if len(r.Items) == 0 {
		f.add("do", "There is no plan: write one, such as tasks.md with a checkbox and an id for each task.")
	} else {
		f.add("do", "Call ready_items with the plan of one of these.")
	}
	return f
}

// maxPlans bounds a list of plans, the latest first.
const maxPlans = 30

func planSummary(p schema.PlanSummary) (f facts) {
	f.add("plan", said(p.Plan, maxLine))
	f.put("total", p.Totals.Total)
	f.put("completed", p.Totals.Completed)
	f.add("in_progress", p.Totals.InProgress)
	f.add("blocked", p.Totals.Blocked)
	if p.Error != nil {
		f.add("error", said(p.Error.Message, maxLine))
	}
	f.add("stale", said(p.Stale, maxLine))
	return f
}

func (s *server) initRun(c *call) (facts, *schema.Error) {
	var r schema.InitRunResult
	if fault := s.caller.call(c.ctx, "init_run", c.params, &r); fault != nil {
		return nil, fault
	}
	var f facts
	f.add("run_id", r.Run.RunID)
	f.put("created", r.Created)
	f.run(&r.Run)
	f.next(&r.Next)
	f.add("retry_prompt", long{r.RetryPrompt, maxPage})
	return f, nil
}

// run tells how a run stands.
func (f *facts) run(r *schema.Run) {
	f.add("plan", said(r.Plan, maxLine))
	f.add("item_id", said(r.ItemID, maxLine))
	f.add("state", r.State)
	f.add("reason", said(r.Reason, maxSaid))
}

// next tells what has to be done, and with which tools.
func (f *facts) next(n *schema.Next) {
	f.add("next_action", n.Action)
	f.add("next_role", n.Role)
	f.words("next_items", n.ItemIDs)
	f.add("do", advice[n.Action])
}

// advice says with which tools an action is taken.
var advice = map[string]string{
	"dispatch_worker":       "Call compile_prompt with role worker, do the work, then ingest_output.",
	"dispatch_reviewer":     "Call compile_prompt with next_role, have a fresh agent review by that prompt, then ingest_output.",
	"dispatch_worker_fixes": "Call compile_prompt with role worker: it names the fixes. Make them, then ingest_output.",
	"retry_worker":          "Call compile_prompt with role worker and have another agent try, then ingest_output.",
	"retry_with_preamble":   "Give retry_prompt to the same agent, then ingest_output.",
	"spawn_fresh_reviewer":  "Call compile_prompt with next_role for a reviewer that has not seen this item, then ingest_output.",
	"advance_to_next_item":  "Call init_run with one of next_items.",
	"plan_completed":        "Nothing is left in this plan.",
	"halt_and_escalate":     "Stop work on this item and tell the person why it is blocked.",
}

func (s *server) compilePrompt(c *call) (facts, *schema.Error) {
	var r schema.CompilePromptResult
	if handle := c.args.text("since"); handle != "" {
		c.params["since"] = s.shelf.behind(handle)
	}
	if fault := s.caller.call(c.ctx, "compile_prompt", c.params, &r); fault != nil {
		return nil, fault
	}
	var f facts
	f.add("packet_cursor", s.shelf.handle(r.Packet.Cursor))
	f.add("packet_mode", r.Packet.Mode)
	f.add("why_full", r.Packet.WhyFull)
	f.put("prompt_tokens", r.PromptTokensAfter)
	f.put("prompt_token_budget", r.PromptTokenBudget)
	some(&f, "omitted", r.Omitted, omission)
	f.add("item_changed", said(r.ItemChanged, maxSaid))
	f.add("ledger_mode", r.LedgerMode)
	f.add("fallback_reason", r.FallbackReason)
	f.add("fallback_detail", said(r.FallbackDetail, maxSaid))
	f.add("ledger_as_of", string(r.LedgerAsOf))
	f.add("prompt", long{r.Prompt, maxPage})
	return f, nil
}

func omission(o schema.Omission) (f facts) {
	f.add("what", said(o.What, maxLine))
	f.add("why", said(o.Why, maxLine))
	return f
}

func (s *server) ingestOutput(c *call) (facts, *schema.Error) {
	var r schema.IngestOutputResult
	if fault := s.caller.call(c.ctx, "ingest_output", c.params, &r); fault != nil {
		return nil, fault
	}
	if r.Task != nil {
		s.keeper.drop(r.Task.TaskID, c.args.text("lease_token"))
	}
	var f facts
	f.add("verdict", r.Verdict)
	f.put("applied", r.Applied)
	f.add("already", r.Already)
	f.add("reason", r.Reason)
	if r.Next != nil {
		f.next(r.Next)
	}
	f.judged(&r)
	f.add("retry_prompt", long{r.RetryPrompt, maxPage})
	return f, nil
}

// judged tells what was found in a result.
func (f *facts) judged(r *schema.IngestOutputResult) {
	if r.Decision != nil {
		f.add("rule", r.Decision.Rule)
		f.add("rule_count", r.Decision.Count)
		f.add("rule_limit", r.Decision.Limit)
	}
	f.add("run_state", r.Run.State)
	f.add("run_reason", said(r.Run.Reason, maxSaid))
	some(f, "errors", r.Errors, resultError)
	some(f, "warnings", r.Warnings, resultWarning)
	if r.TaskLedger != nil {
		f.words("required_fixes", r.TaskLedger.RequiredFixes)
		f.add("replan_hint", said(r.TaskLedger.ReplanHint, maxSaid))
	}
	if r.Task != nil {
		f.add("task_id", r.Task.TaskID)
		f.add("task_status", r.Task.Status)
	}
}

func resultError(e schema.ResultError) (f facts) {
	f.add("field", said(e.Field, maxLine))
	f.add("expected", said(e.Expected, maxLine))
	f.add("found", said(e.Found, maxLine))
	f.add("message", said(e.Message, maxLine))
	return f
}

func resultWarning(w schema.ResultWarning) (f facts) {
	f.add("line", w.Line)
	f.add("message", said(w.Message, maxLine))
	return f
}
