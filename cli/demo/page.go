package demo

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"waybill/schema"
)

// openQuestions are what the agents of the last act want to know of the person at the page, by what they were told
// to do.
var openQuestions = []struct{ prompt, question string }{
	{"Print the timetable of the ferry.", "The boats go an hour later on Sundays. **One** table for the week, or one for each kind of day?"},
	{"Send the reminders for what is overdue.", "Some readers have no address. Leave them out, or list them for the front desk?"},
}

// show leaves the page open on what was played, until ctx ends. There is a host behind it: whoever answers a
// question there sees its task go on.
func (p *play) show(ctx context.Context) error {
	// An interrupt ends the page and not the host, which is to leave politely.
	next, err := spawn(context.WithoutCancel(ctx), p.Options, p.workspace, p.state, "--http")
	if err != nil {
		return err
	}
	p.child = next
	defer p.child.end(context.WithoutCancel(ctx))
	for _, q := range openQuestions {
		if err := p.ask(ctx, q.prompt, q.question); err != nil {
			return unlessOver(ctx, err)
		}
	}
	if err := p.open(ctx); err != nil {
		return unlessOver(ctx, err)
	}
	p.Print("  That address lets one tab in, within a minute. This gives another one:\n  %s\n", p.another(runtime.GOOS))
	p.Print("  Answer there, and the task goes on here. Ctrl-C ends it and removes what was played.\n")
	return unlessOver(ctx, p.goOnWithAnswers(ctx))
}

// unlessOver passes an error on, but for that of who was interrupted.
func unlessOver(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// ask has a task ask a question.
func (p *play) ask(ctx context.Context, prompt, question string) error {
	var created schema.TaskResult
	if err := p.child.conn.Call(ctx, "create_task", map[string]any{"prompt": prompt}, &created); err != nil {
		return fmt.Errorf("create_task: %w", err)
	}
	var claimed schema.ClaimTaskResult
	if err := p.child.conn.Call(ctx, "claim_task", map[string]any{"worker": "demo"}, &claimed); err != nil {
		return fmt.Errorf("claim_task: %w", err)
	}
	if err := must(claimed.Claim != nil && claimed.Claim.Task.TaskID == created.Task.TaskID, "the task could not be claimed"); err != nil {
		return err
	}
	h := &hand{p, *claimed.Claim}
	_, err := h.finish(ctx, map[string]any{"status": "awaiting_response", "question": question})
	return err
}

// uiArgs are what the command for the page is given.
func (p *play) uiArgs() []string {
	args := []string{"ui", "--config=", "--workspace", p.workspace}
	if p.NoBrowser {
		args = append(args, "--no-browser")
	}
	return args
}

// another gives what a person types in another terminal, be it on Windows in PowerShell, to be let in once more: where
// the demo keeps its state is no place that waybill would look.
func (p *play) another(system string) string {
	quote, escaped, line := "'", `'\''`, "XDG_STATE_HOME=%s %s"
	if system == "windows" {
		escaped, line = "''", "$env:XDG_STATE_HOME = %s; & %s"
	}
	quoted := func(word string) string { return quote + strings.ReplaceAll(word, quote, escaped) + quote }
	line = fmt.Sprintf(line, quoted(p.state), quoted(p.Binary))
	for _, arg := range p.uiArgs() {
		if arg == p.workspace {
			arg = quoted(arg)
		}
		line += " " + arg
	}
	return line
}

// open prints the address of the page, and opens a browser with it unless none is wanted.
func (p *play) open(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, p.Binary, p.uiArgs()...)
	cmd.Env = append(slices.Clone(p.Env), "XDG_STATE_HOME="+p.state, "WAYBILL_WORKSPACE=")
	out, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		p.Print("  %s\n", strings.TrimRight(line, "\n"))
	}
	if err != nil {
		return fmt.Errorf("waybill ui: %w", err)
	}
	return nil
}

// goOnWithAnswers does what a host does all day: it claims what there is to do. That is what was answered, and what
// a person wants to be tried again.
func (p *play) goOnWithAnswers(ctx context.Context) error {
	for {
		var r schema.ClaimTaskResult
		if err := p.child.conn.Call(ctx, "claim_task", map[string]any{"worker": "demo", "wait_ms": 20_000}, &r); err != nil {
			return fmt.Errorf("claim_task: %w", err)
		}
		if r.Claim == nil {
			continue
		}
		h := &hand{p, *r.Claim}
		if _, err := h.finish(ctx, map[string]any{"status": "completed", "output": outcome(r.Claim)}); err != nil {
			return err
		}
	}
}

// outcome gives what the agent says in the end.
func outcome(c *schema.Claim) string {
	if !c.Continuation {
		return "Done."
	}
	return "Done, as you said:\n\n" + c.Task.UserReply
}
