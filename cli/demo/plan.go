package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"waybill/schema"
)

// The third act: a plan is worked through by fake agents, real processes that read a prompt and answer it as
// their script says. The host knows nothing of the plan: it does what next_action says.

// clockPlan is where the plan of the third act is put in the workspace.
const clockPlan = "specs/clock/tasks.md"

// most bounds the dispatches for one item; a host that is sent in circles would go on for ever.
const most = 20

// A crew works through a plan.
type crew struct {
	p              *play
	script, memory string
	seen           []string          // every next_action, in order
	cursors        map[string]string // by run and role, of the packet that its agent got last
}

func (p *play) plan(ctx context.Context) error {
	folder := filepath.Join(p.workspace, filepath.Dir(clockPlan))
	if err := os.CopyFS(folder, p.Clock); err != nil {
		return fmt.Errorf("copy the plan: %w", err)
	}
	c := &crew{p: p, script: filepath.Join(folder, "agent.script"), memory: filepath.Join(p.state, "agents"), cursors: map[string]string{}}
	if err := os.MkdirAll(c.memory, 0o700); err != nil {
		return err
	}
	if err := c.work(ctx); err != nil {
		return err
	}
	return c.verify(ctx)
}

// work takes items as long as some are ready.
func (c *crew) work(ctx context.Context) error {
	for {
		r, err := c.ready(ctx)
		if err != nil || len(r.Ready) == 0 {
			return err
		}
		if err := c.item(ctx, r.Ready[0]); err != nil {
			return fmt.Errorf("item %s: %w", r.Ready[0], err)
		}
	}
}

func (c *crew) ready(ctx context.Context) (schema.ReadyItems, error) {
	var r schema.ReadyItems
	err := c.p.child.conn.Call(ctx, "ready_items", map[string]any{"plan": clockPlan}, &r)
	return r, err
}

// item takes one item to its end, or to where a person has to decide.
func (c *crew) item(ctx context.Context, id string) error {
	var run schema.InitRunResult
	if err := c.p.child.conn.Call(ctx, "init_run", map[string]any{"plan": clockPlan, "item_id": id}, &run); err != nil {
		return err
	}
	next, prompt := run.Next, ""
	for range most {
		switch next.Action {
		case "advance_to_next_item", "plan_completed", "halt_and_escalate":
			return nil
		}
		answer, err := c.dispatch(ctx, run.Run.RunID, next.Role, prompt)
		if err != nil {
			return err
		}
		c.tell(id, next.Role, answer)
		next, prompt = *answer.Next, answer.RetryPrompt
	}
	return fmt.Errorf("%d dispatches brought it to no end", most)
}

// dispatch gives an agent the prompt, or that of its role if there is none, and its answer to waybill.
func (c *crew) dispatch(ctx context.Context, runID, role, prompt string) (answer schema.IngestOutputResult, err error) {
	if prompt == "" {
		if prompt, err = c.compile(ctx, runID, role); err != nil {
			return answer, err
		}
	}
	agent := exec.CommandContext(ctx, c.p.Binary, "fake-agent", "--script", c.script, "--memory", c.memory)
	agent.Stdin = strings.NewReader(prompt)
	output, err := agent.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return answer, fmt.Errorf("the agent: %w: %s", err, exit.Stderr)
	}
	if err != nil {
		return answer, fmt.Errorf("the agent: %w", err)
	}
	err = c.p.child.conn.Call(ctx, "ingest_output", map[string]any{
		"run_id": runID, "role": role, "output": string(output), "prompt": prompt,
	}, &answer)
	return answer, err
}

// compile asks for the prompt of a role, with no more facts than its agent has not been told yet.
func (c *crew) compile(ctx context.Context, runID, role string) (string, error) {
	var compiled schema.CompilePromptResult
	err := c.p.child.conn.Call(ctx, "compile_prompt", map[string]any{
		"run_id": runID, "role": role, "since": c.cursors[runID+role],
	}, &compiled)
	c.cursors[runID+role] = compiled.Packet.Cursor
	return compiled.Prompt, err
}

// saving prints what the packets spared over the plan.
func (c *crew) saving(ctx context.Context) error {
	var t schema.Telemetry
	if err := c.p.child.conn.Call(ctx, "get_telemetry", schema.None{}, &t); err != nil {
		return err
	}
	c.p.Print("  %s get_telemetry\n  %d prompts, %d of them deltas: %d tokens sent, %d with the whole plan and all facts each time; %d %% saved\n",
		c.p.Faint("→"), t.Dispatch.Prompts, t.Packets.Delta, t.Tokens.Sent, t.Tokens.Resend, 100*t.Tokens.Saved/max(1, t.Tokens.Resend))
	return must(t.Tokens.Saved > 0 && t.Packets.Delta > 0, "%d prompts with %d deltas saved %d tokens", t.Dispatch.Prompts, t.Packets.Delta, t.Tokens.Saved)
}

// tell prints what an agent gave and what is to be done then.
func (c *crew) tell(item, role string, a schema.IngestOutputResult) {
	c.seen = append(c.seen, a.NextAction)
	p := c.p
	p.Print("  %s  %-22s %-8s %s %s\n", item, role, a.Verdict, p.Faint("→"), a.NextAction)
	for _, e := range a.Errors {
		p.Print("      %s\n", p.Faint("invalid: "+e.Message))
	}
	if a.Verdict == "gaps" {
		for _, issue := range a.TaskLedger.ReviewerIssues {
			p.Print("      %s\n", p.Faint("to fix: "+issue.Message))
		}
	}
	if a.Run.Reason != "" {
		p.Print("      %s\n", p.Faint(fmt.Sprintf("blocked by %s: %d of %d", a.Run.Reason, a.Decision.Count, a.Decision.Limit)))
	}
}

// verify checks that what the script did wrong was healed, fixed or contained, each in its way.
func (c *crew) verify(ctx context.Context) error {
	for _, action := range []string{"dispatch_reviewer", "retry_with_preamble", "dispatch_worker_fixes", "advance_to_next_item", "halt_and_escalate"} {
		if err := must(slices.Contains(c.seen, action), "no result led to %s", action); err != nil {
			return err
		}
	}
	r, err := c.ready(ctx)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	why := map[string]string{}
	for _, w := range r.Waiting {
		var reasons []string
		for _, h := range w.Because {
			reasons = append(reasons, strings.TrimSpace(h.Kind+" "+h.ItemID))
		}
		why[w.ItemID] = strings.Join(reasons, ", ")
		fmt.Fprintf(&b, "  %s  %s\n", w.ItemID, why[w.ItemID])
	}
	c.p.Print("  %s ready_items\n%s", c.p.Faint("→"), b.String())
	want := map[string]string{
		"1": "done", "2": "done", "3": "done", "4": "blocked 4", "5": "depends_on 4, blocked 4", "6": "done",
	}
	for item, reasons := range want {
		if err := must(why[item] == reasons, "item %s waits because of %q, not %q", item, why[item], reasons); err != nil {
			return err
		}
	}
	if err := must(r.Left == 2 && !r.Completed, "%d items are left, not 2", r.Left); err != nil {
		return err
	}
	return c.saving(ctx)
}
