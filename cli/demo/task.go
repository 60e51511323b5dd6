package demo

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"waybill/schema"
)

// What the second act is about.
const (
	question = "The migration drops the column `due`. Keep its values?"
	answer   = "Keep them, in a table of their own."
)

// A hand is a worker's hold on a task.
type hand struct {
	p *play
	schema.Claim
}

// task lets a task change its model, ask, be answered by another process, and complete, as the same task.
func (p *play) task(ctx context.Context) error {
	var created schema.TaskResult
	if err := p.call(ctx, "create_task", map[string]any{
		"prompt": "Migrate the loans to the new table.",
		"models": []schema.Model{{ProviderID: "acme", ModelID: "large"}, {ProviderID: "other", ModelID: "small"}},
	}, &created, func() string { return created.Task.TaskID + " (first acme/large, then other/small)" }); err != nil {
		return err
	}
	id := created.Task.TaskID
	for _, act := range []func(ctx context.Context, id string) error{p.firstModelFails, p.secondModelAsks, p.answeredFromOutside, p.timeline} {
		if err := act(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

func (p *play) firstModelFails(ctx context.Context, id string) error {
	h, err := p.claim(ctx, id, 1, "acme/large", "ses_large")
	if err != nil {
		return err
	}
	r, err := h.finish(ctx, map[string]any{
		"status": "error", "error": map[string]any{"message": "429 Too Many Requests", "http_status": 429},
	})
	if err != nil {
		return err
	}
	return must(r.Retry != nil && r.Retry.Class == "provider" && r.Retry.Attempt.AttemptNumber == 2 && r.Task.Status == "QUEUED",
		"the failure of the first model did not lead to the second one")
}

func (p *play) secondModelAsks(ctx context.Context, id string) error {
	h, err := p.claim(ctx, id, 2, "other/small", "ses_small")
	if err != nil {
		return err
	}
	r, err := h.finish(ctx, map[string]any{"status": "awaiting_response", "output": "Two of three steps are done.", "question": question})
	if err != nil {
		return err
	}
	return must(r.Task.Status == "AWAITING_RESPONSE" && r.Task.Question == question, "the task is %s and does not ask", r.Task.Status)
}

// answeredFromOutside waits for the task as a worker does, while another process answers it.
func (p *play) answeredFromOutside(ctx context.Context, id string) error {
	claims := make(chan error, 1) // gets what became of the waiting claim, and no more
	h := &hand{p: p}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // a claim that nothing will answer any more is not waited for
	go func() {    // ends with the claim
		var r schema.ClaimTaskResult
		err := p.child.conn.Call(ctx, "claim_task", map[string]any{"worker": "demo", "wait_ms": 20_000}, &r)
		if err == nil && r.Claim == nil {
			err = fmt.Errorf("the reply of another process woke nobody")
		}
		if err == nil {
			h.Claim = *r.Claim
		}
		claims <- err
	}()
	if err := p.replyOutside(ctx, id); err != nil {
		return err
	}
	answered := time.Now()
	if err := <-claims; err != nil {
		return err
	}
	p.Print("  %s claim_task (it was waiting)\n  %s attempt %d, %d ms after the reply\n",
		p.Faint("→"), p.Faint("←"), h.Attempt.AttemptNumber, time.Since(answered).Milliseconds())
	for line := range strings.Lines(h.Prompt) {
		p.Print("      %s\n", p.Faint(strings.TrimRight(line, "\n")))
	}
	return h.goOn(ctx, id)
}

// goOn checks that the hand holds the continuation of the task, and completes it.
func (h *hand) goOn(ctx context.Context, id string) error {
	if err := must(h.Task.TaskID == id && h.Attempt.AttemptNumber == 3 && h.Continuation && h.Lease.Epoch == 3,
		"what was claimed is not the continuation of the task"); err != nil {
		return err
	}
	for _, part := range []string{"[Previous Output]", "[User Reply]", answer, "[Continue Task]"} {
		if err := must(strings.Contains(h.Prompt, part), "the prompt of the continuation lacks %q", part); err != nil {
			return err
		}
	}
	if err := h.bind(ctx, "ses_more"); err != nil {
		return err
	}
	r, err := h.finish(ctx, map[string]any{"status": "completed", "output": "The loans are migrated."})
	if err != nil {
		return err
	}
	return must(r.Task.Status == "COMPLETE", "the task is %s", r.Task.Status)
}

// replyOutside runs `waybill reply` as a person in another terminal would.
func (p *play) replyOutside(ctx context.Context, id string) error {
	cmd := exec.CommandContext(ctx, p.Binary, "reply", id, "--workspace", p.workspace, "--config", "", "-m", answer)
	cmd.Env = append(slices.Clone(p.Env), "XDG_STATE_HOME="+p.state, "WAYBILL_WORKSPACE=")
	p.Print("  $ waybill reply %s -m '%s'\n", id, answer)
	out, err := cmd.CombinedOutput()
	p.Print("  %s\n", strings.TrimRight(string(out), "\n"))
	if err != nil {
		return fmt.Errorf("waybill reply: %w", err)
	}
	return nil
}

// timeline shows the attempts, and checks that they are those of one task that went as it was played.
func (p *play) timeline(ctx context.Context, id string) error {
	var r schema.Timeline
	if err := p.call(ctx, "get_timeline", map[string]any{"task_id": id}, &r, func() string {
		return fmt.Sprintf("%d attempts of one task", r.Total)
	}); err != nil {
		return err
	}
	for line := range strings.Lines(r.Text) {
		p.Print("      %s\n", strings.TrimRight(line, "\n"))
	}
	want := []string{"error", "awaiting_response", "completed"}
	if err := must(len(r.Attempts) == len(want), "%d attempts, not %d", len(r.Attempts), len(want)); err != nil {
		return err
	}
	for i, a := range r.Attempts {
		if err := must(a.Status == want[i] && a.AttemptNumber == i+1 && a.TaskID == id, "attempt %d is %s", a.AttemptNumber, a.Status); err != nil {
			return err
		}
	}
	return nil
}

// claim takes the task for the attempt with that number on that model, and binds a session to it.
func (p *play) claim(ctx context.Context, id string, number int, model, session string) (*hand, error) {
	var r schema.ClaimTaskResult
	if err := p.call(ctx, "claim_task", map[string]any{"worker": "demo"}, &r, func() string {
		if r.Claim == nil {
			return "nothing"
		}
		return fmt.Sprintf("attempt %d on %s, lease until %s", r.Claim.Attempt.AttemptNumber, named(r.Claim.Attempt.Model), r.Claim.Lease.ExpiresAt)
	}); err != nil {
		return nil, err
	}
	if err := must(r.Claim != nil && r.Claim.Task.TaskID == id && r.Claim.Attempt.AttemptNumber == number &&
		named(r.Claim.Attempt.Model) == model, "attempt %d on %s could not be claimed", number, model); err != nil {
		return nil, err
	}
	h := &hand{p, *r.Claim}
	return h, h.bind(ctx, session)
}

// bind says in which session the attempt runs.
func (h *hand) bind(ctx context.Context, session string) error {
	var r schema.AttemptReport
	if err := h.p.call(ctx, "bind_session", map[string]any{
		"task_id": h.Task.TaskID, "attempt_id": h.Attempt.AttemptID, "lease_token": h.Lease.Token, "session_id": session,
	}, &r, func() string { return fmt.Sprintf("attempt %d runs in session %s", h.Attempt.AttemptNumber, session) }); err != nil {
		return err
	}
	return must(r.Applied, "the session was not bound: %s", r.Reason)
}

// finish reports how the attempt ended.
func (h *hand) finish(ctx context.Context, report map[string]any) (schema.FinishAttemptResult, error) {
	report["task_id"], report["lease_token"] = h.Task.TaskID, h.Lease.Token
	var r schema.FinishAttemptResult
	err := h.p.call(ctx, "finish_attempt", report, &r, func() string {
		text := fmt.Sprintf("attempt %d is over: %s; the task is %s", h.Attempt.AttemptNumber, report["status"], r.Task.Status)
		if r.Retry != nil {
			text += fmt.Sprintf(", attempt %d on %s", r.Retry.Attempt.AttemptNumber, named(r.Retry.Model))
		}
		return text
	})
	if err != nil {
		return r, err
	}
	return r, must(r.Applied, "the report was not applied: %s", r.Reason)
}

func named(m *schema.Model) string {
	if m == nil {
		return "no model"
	}
	return m.ProviderID + "/" + m.ModelID
}
