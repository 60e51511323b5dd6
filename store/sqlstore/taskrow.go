package sqlstore

import (
	"waybill/core"
	"waybill/core/task"
)

// The kinds of rows, which go into their sums.
const (
	kindTask       = 't'
	kindSpec       = 'l'
	kindOutput     = 's'
	kindTaskReply  = 'c'
	kindAttempt    = 'A'
	kindReply      = 'R'
	kindDependency = 'd'
	kindBreaker    = 'b'
	kindTaskCounts = 'T'
	kindTally      = 'y'
	kindPrompt     = 'p'
)

var (
	taskNames = []string{
		"position", "id", "run_id", "role", "parent", "max_attempts", "created_at", "updated_at", "waits", "failures",
		"on_model", "replies", "has_output", "has_reply", "status", "not_before", "stopped_at", "reason",
	}
	specNames      = []string{"task", "prompt", "description", "chain", "depends_on", "labels"}
	outputNames    = []string{"task", "output", "question", "offer"}
	taskReplyNames = []string{"task", "reply", "option", "by_time"}

	// taskColumns are all that make a task, with its newest attempt.
	taskColumns = text{Of: func() string {
		return qualified("tasks", taskNames) + ", " + qualified("task_specs", specNames) + ", " +
			qualified("task_outputs", outputNames) + ", " + qualified("task_replies", taskReplyNames) + ", " + qualified("attempts", attemptNames)
	}}
	selectTask = text{Of: func() string {
		return "SELECT " + taskColumns.Get() + " FROM " + taskTable("") + " WHERE tasks.workspace = :w AND tasks.id = ?"
	}}

	insertTask   = text{Of: func() string { return inserting("tasks", taskNames) }}
	insertSpec   = text{Of: func() string { return inserting("task_specs", specNames) }}
	putOutput    = text{Of: func() string { return replacing("task_outputs", 1, outputNames) }}
	putTaskReply = text{Of: func() string { return replacing("task_replies", 1, taskReplyNames) }}
)

const newestAttempt = ` LEFT JOIN attempts ON attempts.task = tasks.position AND attempts.workspace = tasks.workspace
	AND attempts.number = (SELECT max(number) FROM attempts AS a WHERE a.task = tasks.position AND a.workspace = tasks.workspace)`

// taskTable returns the FROM clause for taskColumns. by is the index for the tasks.
func taskTable(by string) string {
	return "tasks" + by + newestAttempt + ` LEFT JOIN task_specs ON task_specs.task = tasks.position AND task_specs.workspace = tasks.workspace
		LEFT JOIN task_outputs ON task_outputs.task = tasks.position AND task_outputs.workspace = tasks.workspace
		LEFT JOIN task_replies ON task_replies.task = tasks.position AND task_replies.workspace = tasks.workspace`
}

func hasOutput(t task.Task) bool {
	return t.Output != "" || t.Question != "" || t.Offer != (task.Offer{})
}

// taskRow returns the values of taskNames.
func taskRow(t task.Task) []any {
	notBefore, stoppedAt, reason := taskPhaseRow(t.Phase)
	return []any{
		t.Position, t.ID, t.Spec.RunID, t.Spec.Role, t.Spec.Parent, int64(t.Spec.MaxAttempts),
		int64(t.CreatedAt), int64(t.UpdatedAt), int64(t.Waits), int64(t.Spent.Failures), int64(t.Spent.OnModel),
		int64(t.Replies), flag(hasOutput(t)), flag(t.Reply != ""), string(t.Status()), notBefore, stoppedAt, reason,
	}
}

// taskPhaseRow returns not_before, stopped_at and reason. Values that a status does not have are 0 or NULL.
func taskPhaseRow(phase task.Phase) (notBefore, stoppedAt, reason any) {
	switch p := phase.(type) {
	case task.Queued:
		return int64(p.NotBefore), nil, nil
	case task.Running:
		if p.CancelAt == 0 {
			return int64(0), nil, orNull(p.CancelReason)
		}
		return int64(0), int64(p.CancelAt), p.CancelReason
	case task.Awaiting:
		return int64(p.DefaultAt), nil, nil
	case task.Complete:
		return int64(0), nil, nil
	case task.Errored:
		return int64(0), nil, string(p.Reason)
	case task.Cancelled:
		return int64(0), int64(p.At), p.Reason
	case task.Blocked:
		return int64(0), int64(p.At), p.Reason
	}
	panic("sqlstore: task without a phase")
}

func specRow(t task.Task) []any {
	l := t.Spec
	return []any{t.Position, l.Prompt, l.Description, l.Chain.String(), l.DependsOn, l.Labels}
}

func outputRow(t task.Task) []any {
	return []any{t.Position, t.Output, t.Question, t.Offer.String()}
}

func taskReplyRow(t task.Task) []any {
	return []any{t.Position, t.Reply, t.Choice.Option, flag(t.Choice.ByTime)}
}

// takeTask takes taskColumns and checks each part against its sum.
func takeTask(r *Row, buf *encoder) (t task.Task, err error) {
	t.Position, _ = r.values[0].(int64)
	t.ID, _ = r.values[1].(string)
	for _, take := range []func(*Row, *encoder, *task.Task) bool{takeTaskRow, takeSpec, takeOutput, takeTaskReply} {
		if !take(r, buf, &t) || r.err != nil {
			return t, Damaged("task " + t.ID)
		}
	}
	if r.values[r.next] != nil { // only within the transaction that creates it, a task has no attempt
		_, t.Current, err = takeAttempt(r, buf, t.ID)
	}
	return t, err
}

func takeTaskRow(r *Row, buf *encoder, t *task.Task) bool {
	if !r.sound(kindTask, len(taskNames), buf) {
		return false
	}
	next := func() int { return int(r.Integer()) }
	_, _ = r.Integer(), r.Text() // position and id
	t.Spec.RunID, t.Spec.Role, t.Spec.Parent, t.Spec.MaxAttempts = r.Text(), r.Text(), r.Text(), next()
	t.CreatedAt, t.UpdatedAt = core.Instant(r.Integer()), core.Instant(r.Integer())
	t.Waits, t.Spent.Failures, t.Spent.OnModel, t.Replies = next(), next(), next(), next()
	outputs, replies := r.Integer() != 0, r.Integer() != 0
	status := task.Status(r.Text())
	t.Phase = taskPhase(status, core.Instant(r.Integer()), core.Instant(r.maybeInteger()), r.maybeText())
	r.take() // the sum
	output, reply := r.values[r.next+len(specNames)+1], r.values[r.next+len(specNames)+len(outputNames)+2]
	return t.Phase != nil && outputs == (output != nil) && replies == (reply != nil)
}

// taskPhase returns the phase, or nil if there is no such status.
func taskPhase(status task.Status, notBefore, stoppedAt core.Instant, reason string) task.Phase {
	switch status {
	case task.StatusQueued:
		return task.Queued{NotBefore: notBefore}
	case task.StatusRunning:
		return task.Running{CancelAt: stoppedAt, CancelReason: reason}
	case task.StatusComplete:
		return task.Complete{}
	case task.StatusAwaiting:
		return task.Awaiting{DefaultAt: notBefore}
	case task.StatusError:
		return task.Errored{Reason: task.ErrorReason(reason)}
	case task.StatusCancelled:
		return task.Cancelled{At: stoppedAt, Reason: reason}
	case task.StatusBlocked:
		return task.Blocked{At: stoppedAt, Reason: reason}
	}
	return nil
}

func takeSpec(r *Row, buf *encoder, t *task.Task) bool {
	if !r.sound(kindSpec, len(specNames), buf) {
		return false
	}
	r.take() // the position
	t.Spec.Prompt, t.Spec.Description = r.Text(), r.Text()
	var err error
	t.Spec.Chain, err = task.ParseChain(r.Text())
	t.Spec.DependsOn, t.Spec.Labels = r.Text(), r.Text()
	r.take() // the sum
	return err == nil
}

func takeOutput(r *Row, buf *encoder, t *task.Task) bool {
	if r.values[r.next] == nil {
		r.next += len(outputNames) + 1
		return true
	}
	if !r.sound(kindOutput, len(outputNames), buf) {
		return false
	}
	r.take() // the position
	t.Output, t.Question = r.Text(), r.Text()
	var err error
	t.Offer, err = task.ParseOffer(r.Text())
	r.take() // the sum
	return err == nil
}

func takeTaskReply(r *Row, buf *encoder, t *task.Task) bool {
	if r.values[r.next] == nil {
		r.next += len(taskReplyNames) + 1
		return true
	}
	if !r.sound(kindTaskReply, len(taskReplyNames), buf) {
		return false
	}
	r.take() // the position
	t.Reply, t.Choice.Option, t.Choice.ByTime = r.Text(), r.Text(), r.Integer() != 0
	r.take() // the sum
	return true
}
