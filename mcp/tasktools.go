package mcp

import (
	"slices"
	"strings"

	"waybill/schema"
)

// The tools about tasks.

const (
	maxPage = 24 << 10 // of a long text
	maxSaid = 1 << 10  // of a text of others that is one fact among many
	maxLine = 200      // of one in a list
	maxTold = 10       // elements of a list that is one fact among many
)

func (s *server) createTask(c *call) (facts, *schema.Error) {
	var r schema.TaskResult
	if fault := s.caller.call(c.ctx, "create_task", c.params, &r); fault != nil {
		return nil, fault
	}
	var f facts
	f.add("task_id", r.Task.TaskID)
	f.add("status", r.Task.Status)
	f.add("max_attempts", r.Task.MaxAttempts)
	f.add("waiting_for", listOf(r.Task.WaitingFor, waitingFor))
	return f, nil
}

// claimTask takes a task, and keeps its lease from then on.
func (s *server) claimTask(c *call) (facts, *schema.Error) {
	c.params["lease_ms"] = leaseTime.Milliseconds()
	if _, named := c.params["worker"]; !named {
		c.params["worker"] = c.client()
	}
	var r schema.ClaimTaskResult
	if fault := s.caller.call(c.ctx, "claim_task", c.params, &r); fault != nil {
		return nil, fault
	}
	var f facts
	f.put("claimed", r.Claim != nil)
	if r.Claim == nil {
		f.add("do", "Nothing is ready. Call again with wait_ms up to 25000, or see ready_items.")
		return f, nil
	}
	taskID, token := r.Claim.Task.TaskID, r.Claim.Lease.Token
	s.keeper.hold(taskID, token)
	// The claim is given back then. Should that fail, the lease has to run out, or nobody would get the task.
	turnOf(c.ctx).undelivered(func() { s.keeper.drop(taskID, token) })
	f.add("task_id", taskID)
	f.add("lease_token", token)
	f.claimed(r.Claim)
	return f, nil
}

// claimed tells what there is to do.
func (f *facts) claimed(c *schema.Claim) {
	f.add("attempt_id", c.Attempt.AttemptID)
	f.add("attempt_number", c.Attempt.AttemptNumber)
	f.add("description", said(c.Task.Description, maxSaid))
	f.add("run_id", c.Task.RunID)
	f.add("role", c.Task.Role)
	f.add("model", modelName(c.Attempt.Model))
	f.put("continuation", c.Continuation)
	f.add("do", "Work by the prompt, then call finish_attempt with this task_id and lease_token.")
	f.add("prompt", long{c.Prompt, maxPage})
}

func (s *server) finishAttempt(c *call) (facts, *schema.Error) {
	var r schema.FinishAttemptResult
	if fault := s.caller.call(c.ctx, "finish_attempt", c.params, &r); fault != nil {
		return nil, fault
	}
	s.keeper.drop(r.Task.TaskID, c.args.text("lease_token"))
	var f facts
	f.put("applied", r.Applied)
	if !r.Applied {
		f.add("reason", r.Reason)
		f.add("do", "The attempt is over, or somebody else has the task by now; nothing has changed.")
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

func (s *server) getTask(c *call) (facts, *schema.Error) {
	var r schema.TaskDetail
	if fault := s.caller.call(c.ctx, "get_task", c.params, &r); fault != nil {
		return nil, fault
	}
	var f facts
	f.standing(&r.Task)
	f.history(&r)
	f.add("prompt", long{neutral(r.Task.Prompt), maxSaid})
	f.add("output", long{neutral(r.Task.Output), maxText / 2})
	return f, nil
}

// standing tells how a task stands.
func (f *facts) standing(t *schema.Task) {
	f.add("task_id", t.TaskID)
	f.add("status", t.Status)
	f.add("reason", said(t.Reason, maxSaid))
	f.add("description", said(t.Description, maxLine))
	f.add("run_id", t.RunID)
	f.add("role", t.Role)
	f.add("question", said(t.Question, maxSaid))
	f.add("user_reply", said(t.UserReply, maxSaid))
	if t.Error != nil {
		f.add("error", said(t.Error.Message, maxSaid))
		f.add("error_class", t.Error.Class)
	}
	f.add("waiting_for", listOf(t.WaitingFor, waitingFor))
	f.add("cancel_requested_at", string(t.CancelRequestedAt))
	f.put("failures", t.Failures)
	f.add("max_attempts", t.MaxAttempts)
	f.add("created_at", string(t.CreatedAt))
	f.add("updated_at", string(t.UpdatedAt))
}

// history tells of the newest attempts and replies.
func (f *facts) history(r *schema.TaskDetail) {
	f.put("attempts_total", r.AttemptsTotal)
	f.add("attempts", listOf(newest(r.Attempts), attempt))
	f.put("replies_total", r.RepliesTotal)
	f.add("replies", listOf(newest(r.Replies), replied))
}

// newest gives the last few.
func newest[E any](all []E) []E { return all[max(0, len(all)-maxTold):] }

func attempt(a schema.Attempt) (f facts) {
	f.add("number", a.AttemptNumber)
	f.add("status", a.Status)
	f.add("worker", a.Worker)
	f.add("model", modelName(a.Model))
	f.add("error", said(a.Error, maxLine))
	return f
}

func replied(r schema.Reply) (f facts) {
	f.add("number", r.Number)
	f.add("question", said(r.Question, maxLine))
	f.add("reply", said(r.Reply, maxLine))
	f.add("by", said(r.By, maxLine))
	return f
}

func waitingFor(w schema.WaitingFor) (f facts) {
	f.add("kind", w.Kind)
	f.add("task_id", w.TaskID)
	f.add("status", w.Status)
	f.add("until", string(w.Until))
	return f
}

// modelName gives a model as one word.
func modelName(m *schema.Model) string {
	if m == nil {
		return ""
	}
	name := []string{m.ProviderID, m.ModelID, m.Variant}
	return said(strings.Join(slices.DeleteFunc(name, func(s string) bool { return s == "" }), "/"), maxLine)
}

// client gives the name of the client, as far as it can be one of a worker.
func (c *call) client() string {
	name := ""
	if info := c.req.ClientInfo(); info != nil {
		name = strings.Map(plain, info.Name)
	}
	if name == "" {
		return "mcp"
	}
	return name[:min(len(name), 64)]
}

func plain(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_', r == '-':
		return r
	}
	return '-'
}
