package tool

import (
	"slices"
	"strings"

	"waybill/mcp/inert"
	"waybill/schema"
)

// This file has the tools about tasks.

const (
	maxPage   = 24 << 10      // bytes of a long text in one answer
	maxShort  = 1 << 10       // bytes of an untrusted text that is one fact among many
	maxLine   = inert.MaxLine // bytes of an untrusted text in a list
	maxListed = 10            // elements of a list that is one fact among many
)

func (c *call) createTask() (facts, *schema.Error) {
	var r schema.TaskResult
	if fault := c.set.Caller.Call(c.ctx, "create_task", c.params, &r); fault != nil {
		return nil, fault
	}
	var f facts
	f.add("task_id", r.Task.TaskID)
	f.add("status", r.Task.Status)
	f.add("max_attempts", r.Task.MaxAttempts)
	f.add("waiting_for", listOf(r.Task.WaitingFor, waitingFor))
	return f, nil
}

// claimTask claims a task and starts the renewals of its lease.
func (c *call) claimTask() (facts, *schema.Error) {
	c.params["lease_ms"] = leaseTime.Milliseconds()
	if _, named := c.params["worker"]; !named {
		c.params["worker"] = c.client.nameOf()
	}
	var r schema.ClaimTaskResult
	if fault := c.set.Caller.Call(c.ctx, "claim_task", c.params, &r); fault != nil {
		return nil, fault
	}
	var f facts
	f.put("claimed", r.Claim != nil)
	if r.Claim == nil {
		f.add("do", "Nothing is ready. Call again with wait_ms up to 25000, or see ready_items.")
		return f, nil
	}
	taskID, token := r.Claim.Task.TaskID, r.Claim.Lease.Token
	c.set.Leases.add(taskID, token)
	// An undelivered claim is returned. If that fails, the lease must expire, or no worker would get the task.
	turn := turnOf(c.ctx)
	turn.undelivered(func() { c.set.Leases.drop(taskID, token) })
	turn.delivered(func() { c.set.Leases.markDelivered(taskID, token) })
	f.add("task_id", taskID)
	f.add("lease_token", token)
	f.addClaim(r.Claim)
	return f, nil
}

// addClaim adds the task and prompt of a claim.
func (f *facts) addClaim(c *schema.Claim) {
	f.add("attempt_id", c.Attempt.AttemptID)
	f.add("attempt_number", c.Attempt.AttemptNumber)
	f.add("description", inert.Cut(c.Task.Description, maxShort))
	f.add("run_id", c.Task.RunID)
	f.add("role", c.Task.Role)
	f.add("model", modelName(c.Attempt.Model))
	f.put("continuation", c.Continuation)
	f.add("do", "Work by the prompt, then call finish_attempt with this task_id and lease_token.")
	f.add("prompt", longText{c.Prompt, maxPage})
}

func (c *call) finishAttempt() (facts, *schema.Error) {
	var r schema.FinishAttemptResult
	if fault := c.set.Caller.Call(c.ctx, "finish_attempt", c.params, &r); fault != nil {
		return nil, fault
	}
	c.set.Leases.drop(r.Task.TaskID, c.args.text("lease_token"))
	var f facts
	f.put("applied", r.Applied)
	if !r.Applied {
		f.add("reason", r.Reason)
		f.add("do", "The attempt is over, or another worker has the task; nothing has changed.")
	}
	f.add("task_id", r.Task.TaskID)
	f.add("status", r.Task.Status)
	if r.Retry != nil {
		f.add("retry_attempt_number", r.Retry.Attempt.AttemptNumber)
		f.add("retry_model", modelName(r.Retry.Model))
		f.add("not_before", string(r.Task.NotBefore))
	}
	return f, nil
}

func (c *call) getTask() (facts, *schema.Error) {
	var r schema.TaskDetail
	if fault := c.set.Caller.Call(c.ctx, "get_task", c.params, &r); fault != nil {
		return nil, fault
	}
	var f facts
	f.addTask(&r.Task)
	f.addHistory(&r)
	f.add("prompt", longText{inert.Text(r.Task.Prompt), maxShort})
	f.add("output", longText{inert.Text(r.Task.Output), maxText / 2})
	return f, nil
}

// addTask adds the state of a task.
func (f *facts) addTask(t *schema.Task) {
	f.add("task_id", t.TaskID)
	f.add("status", t.Status)
	f.add("reason", inert.Cut(t.Reason, maxShort))
	f.add("description", inert.Cut(t.Description, maxLine))
	f.add("run_id", t.RunID)
	f.add("role", t.Role)
	f.add("question", inert.Cut(t.Question, maxShort))
	f.addOptions(t.Offered)
	f.add("user_reply", inert.Cut(t.UserReply, maxShort))
	if t.Error != nil {
		f.add("error", inert.Cut(t.Error.Message, maxShort))
		f.add("error_class", t.Error.Class)
	}
	f.add("waiting_for", listOf(t.WaitingFor, waitingFor))
	f.add("cancel_requested_at", string(t.CancelRequestedAt))
	f.put("failures", t.Failures)
	f.add("max_attempts", t.MaxAttempts)
	f.add("created_at", string(t.CreatedAt))
	f.add("updated_at", string(t.UpdatedAt))
}

// addHistory adds the newest attempts and replies.
func (f *facts) addHistory(r *schema.TaskDetail) {
	f.put("attempts_total", r.AttemptsTotal)
	f.add("attempts", listOf(newest(r.Attempts), attempt))
	f.put("replies_total", r.RepliesTotal)
	f.add("replies", listOf(newest(r.Replies), replyFacts))
}

// newest returns the last maxListed elements.
func newest[E any](all []E) []E { return all[max(0, len(all)-maxListed):] }

func attempt(a schema.Attempt) (f facts) {
	f.add("number", a.AttemptNumber)
	f.add("status", a.Status)
	f.add("worker", a.Worker)
	f.add("model", modelName(a.Model))
	f.add("error", inert.Cut(a.Error, maxLine))
	return f
}

func replyFacts(r schema.Reply) (f facts) {
	f.add("number", r.Number)
	f.add("question", inert.Cut(r.Question, maxLine))
	f.add("reply", inert.Cut(r.Reply, maxLine))
	f.add("by", inert.Cut(r.By, maxLine))
	return f
}

func waitingFor(w schema.WaitingFor) (f facts) {
	f.add("kind", w.Kind)
	f.add("task_id", w.TaskID)
	f.add("status", w.Status)
	f.add("until", string(w.Until))
	return f
}

// modelName returns a model as one word.
func modelName(m *schema.Model) string {
	if m == nil {
		return ""
	}
	name := []string{m.ProviderID, m.ModelID, m.Variant}
	return inert.Cut(strings.Join(slices.DeleteFunc(name, func(s string) bool { return s == "" }), "/"), maxLine)
}
