package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"waybill/schema"
)

const (
	question = "The migration drops the column `due`. Keep its values?"
	answer   = "Keep them, in a table of their own."
)

// task creates one task that changes its model, asks, gets its answer from another process, and completes.
func task(ctx context.Context, h *host) {
	var created schema.TaskResult
	h.call(ctx, "create_task", map[string]any{
		"prompt": "Migrate the loans to the new table.",
		"models": []schema.Model{{ProviderID: "acme", ModelID: "large"}, {ProviderID: "other", ModelID: "small"}},
	}, &created)
	id := created.Task.TaskID
	h.show("create_task", "%s (first acme/large, then other/small)", id)

	r := finish(ctx, h, claim(ctx, h, "ses_large"), map[string]any{
		"status": "error", "error": map[string]any{"message": "429 Too Many Requests", "http_status": 429},
	})
	must(r.Retry != nil && r.Retry.Attempt.AttemptNumber == 2 && r.Task.Status == "QUEUED",
		"the failure of the first model did not lead to the second one")
	r = finish(ctx, h, claim(ctx, h, "ses_small"), map[string]any{
		"status": "awaiting_response", "output": "Two of three steps are done.", "question": question,
	})
	must(r.Task.Status == "AWAITING_RESPONSE" && r.Task.Question == question, "the task is %s and does not ask", r.Task.Status)

	c := answeredFromOutside(ctx, h, id)
	must(c.Task.TaskID == id && c.Attempt.AttemptNumber == 3 && c.Continuation, "the claim is not the continuation of the task")
	must(strings.Contains(c.Prompt, answer), "the prompt of the continuation lacks the answer")
	for line := range strings.Lines(c.Prompt) {
		h.print("      %s\n", strings.TrimRight(line, "\n"))
	}
	bind(ctx, h, c, "ses_more")
	r = finish(ctx, h, c, map[string]any{"status": "completed", "output": "The loans are migrated."})
	must(r.Task.Status == "COMPLETE", "the task is %s", r.Task.Status)

	var timeline schema.Timeline
	h.call(ctx, "get_timeline", map[string]any{"task_id": id}, &timeline)
	h.show("get_timeline", "%d attempts of one task", timeline.Total)
	for line := range strings.Lines(timeline.Text) {
		h.print("      %s\n", strings.TrimRight(line, "\n"))
	}
	must(timeline.Total == 3, "%d attempts, not 3", timeline.Total)
}

// answeredFromOutside starts a claim, replies from another process, and returns the answer of the claim.
func answeredFromOutside(ctx context.Context, h *host, id string) *schema.Claim {
	var r schema.ClaimTaskResult
	claimed := make(chan error, 1) // gets one error: that of the claim
	go func() {                    // ends with the claim
		err := h.conn.Call(ctx, "claim_task", map[string]any{"worker": "demo", "wait_ms": 20_000}, &r)
		if err == nil && r.Claim == nil {
			err = errors.New("the reply of another process woke no claim")
		}
		claimed <- err
	}()
	h.print("  $ waybill task reply %s -m '%s'\n", id, answer)
	out, err := h.command(ctx, "reply", id, "-m", answer).CombinedOutput()
	h.print("  %s\n", strings.TrimRight(string(out), "\n"))
	check("waybill task reply", err)
	replied := time.Now()
	check("claim_task", <-claimed)
	h.show("claim_task (it was waiting)", "attempt %d, %d ms after the reply", r.Claim.Attempt.AttemptNumber, time.Since(replied).Milliseconds())
	return r.Claim
}

// claim takes the next attempt and binds a session to it.
func claim(ctx context.Context, h *host, session string) *schema.Claim {
	var r schema.ClaimTaskResult
	h.call(ctx, "claim_task", map[string]any{"worker": "demo"}, &r)
	must(r.Claim != nil, "no attempt could be claimed")
	m := r.Claim.Attempt.Model
	h.show("claim_task", "attempt %d on %s/%s", r.Claim.Attempt.AttemptNumber, m.ProviderID, m.ModelID)
	bind(ctx, h, r.Claim, session)
	return r.Claim
}

// bind reports the session in which the attempt runs.
func bind(ctx context.Context, h *host, c *schema.Claim, session string) {
	var r schema.AttemptReport
	h.call(ctx, "bind_session", map[string]any{
		"task_id": c.Task.TaskID, "attempt_id": c.Attempt.AttemptID, "lease_token": c.Lease.Token, "session_id": session,
	}, &r)
	must(r.Applied, "the session was not bound: %s", r.Reason)
}

// finish reports the end of the attempt.
func finish(ctx context.Context, h *host, c *schema.Claim, report map[string]any) (r schema.FinishAttemptResult) {
	report["task_id"], report["lease_token"] = c.Task.TaskID, c.Lease.Token
	h.call(ctx, "finish_attempt", report, &r)
	h.show("finish_attempt", "attempt %d is over: %s; the task is %s", c.Attempt.AttemptNumber, report["status"], r.Task.Status)
	must(r.Applied, "the report was not applied: %s", r.Reason)
	return r
}
