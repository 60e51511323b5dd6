package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"waybill/schema"
)

// clock is a plan of six items, its requirements, and the script of the agents that work on it.
//
//go:embed clock
var clock embed.FS

// planName is the plan in the workspace.
const planName = "clock/tasks.md"

// maxDispatches limits the agents for one item, so that the demo always ends.
const maxDispatches = 20

// waits are the reasons why items are not ready at the end. All workers on item 4 fail by script.
var waits = map[string]string{"1": "done", "2": "done", "3": "done", "4": "blocked 4", "5": "depends_on 4, blocked 4", "6": "done"}

// plan works on items while one is ready. The host does not read the plan; it follows next_action.
func plan(ctx context.Context, h *host) {
	files, err := fs.Sub(clock, "clock")
	check("open the plan", err)
	check("copy the plan", os.CopyFS(filepath.Join(h.workspace, "clock"), files))
	var r schema.ReadyItems
	seen := map[string]bool{}
	for {
		r = schema.ReadyItems{}
		h.call(ctx, "ready_items", map[string]any{"plan": planName}, &r)
		if len(r.Ready) == 0 {
			break
		}
		item(ctx, h, r.Ready[0], seen)
	}
	for _, action := range []string{"dispatch_reviewer", "retry_with_preamble", "dispatch_worker_fixes", "advance_to_next_item", "halt_and_escalate"} {
		must(seen[action], "no result led to %s", action)
	}
	why := map[string]string{}
	for _, w := range r.Waiting {
		var reasons []string
		for _, reason := range w.Because {
			reasons = append(reasons, strings.TrimSpace(reason.Kind+" "+reason.ItemID))
		}
		why[w.ItemID] = strings.Join(reasons, ", ")
	}
	h.print("  → ready_items\n")
	for _, id := range slices.Sorted(maps.Keys(why)) {
		h.print("  %s  %s\n", id, why[id])
	}
	must(maps.Equal(why, waits), "the items wait because of %v, not %v", why, waits)
	must(r.Left == 2 && !r.Completed, "%d items are left, not 2", r.Left)
}

// item works on one item until it is done or needs a person, and records each next_action in seen.
func item(ctx context.Context, h *host, id string, seen map[string]bool) {
	var run schema.InitRunResult
	h.call(ctx, "init_run", map[string]any{"plan": planName, "item_id": id}, &run)
	next, prompt := run.Next, ""
	for range maxDispatches {
		switch next.Action {
		case "advance_to_next_item", "plan_completed", "halt_and_escalate":
			return
		}
		if prompt == "" {
			var compiled schema.CompilePromptResult
			h.call(ctx, "compile_prompt", map[string]any{"run_id": run.Run.RunID, "role": next.Role}, &compiled)
			prompt = compiled.Prompt
		}
		var result schema.IngestOutputResult
		h.call(ctx, "ingest_output", map[string]any{
			"run_id": run.Run.RunID, "role": next.Role, "output": runAgent(ctx, h, prompt), "prompt": prompt,
		}, &result)
		h.print("  %s  %-22s %-8s → %s\n%s", id, next.Role, result.Verdict, result.NextAction, remarks(result))
		seen[result.NextAction] = true
		next, prompt = *result.Next, result.RetryPrompt
	}
	must(false, "item %s: %d agents brought it to no end", id, maxDispatches)
}

// runAgent runs an agent process with a prompt, and returns its answer.
func runAgent(ctx context.Context, h *host, prompt string) string {
	agent := exec.CommandContext(ctx, h.agent, "--script", filepath.Join(h.workspace, "clock", "agent.script"), "--memory", filepath.Join(h.state, "agents"))
	agent.Stdin = strings.NewReader(prompt)
	output, err := agent.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	check("the agent", err)
	return string(output)
}

// remarks lists the problems of a result, and why the run is blocked.
func remarks(r schema.IngestOutputResult) string {
	var b strings.Builder
	for _, e := range r.Errors {
		fmt.Fprintf(&b, "      invalid: %s\n", e.Message)
	}
	if r.Verdict == "gaps" {
		for _, issue := range r.TaskLedger.ReviewerIssues {
			fmt.Fprintf(&b, "      to fix: %s\n", issue.Message)
		}
	}
	if r.Run.Reason != "" {
		fmt.Fprintf(&b, "      blocked by %s: %d of %d\n", r.Run.Reason, r.Decision.Count, r.Decision.Limit)
	}
	return b.String()
}
