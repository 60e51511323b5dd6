package record

import (
	"fmt"

	"waybill/core"
	"waybill/core/task"
	"waybill/store"
)

// Tasks describes the tasks: in an export with their specs, which rows keep apart. A spec never changes and may be long,
// and what changes often is short.
var Tasks = Kind[task.Task]{
	Table: "tasks", KeyColumns: 1, mark: 't',
	Label: func(t *task.Task) string { return "task " + t.ID },
	fields: func(f *Fields, t *task.Task) {
		number(f, "position", &t.Position)
		text(f, "id", &t.ID)
		text(f, "run_id", &t.Spec.RunID)
		text(f, "role", &t.Spec.Role)
		text(f, "parent", &t.Spec.Parent)
		number(f, "max_attempts", &t.Spec.MaxAttempts)
		number(f, "created_at", &t.CreatedAt)
		number(f, "updated_at", &t.UpdatedAt)
		number(f, "waits", &t.Waits)
		number(f, "failures", &t.Spent.Failures)
		number(f, "on_model", &t.Spent.OnModel)
		number(f, "replies", &t.Replies)
		describeTaskPhase(f, &t.Phase)
		textIf(f, t.Output != "", "output", &t.Output)
		textIf(f, t.Question != "", "question", &t.Question)
		coded(f, "offer", &t.Offer, task.Offer.String, task.ParseOffer)
		textIf(f, t.Reply != "", "reply", &t.Reply)
		textIf(f, t.Choice.Option != "", "option", &t.Choice.Option)
		flag(f, "by_time", &t.Choice.ByTime)
		if f.export {
			describeSpec(f, t)
		}
	},
}

// Specs describes the specs of the tasks.
var Specs = Kind[task.Task]{
	Table: "task_specs", KeyColumns: 1, mark: 'l', Label: Tasks.Label,
	fields: func(f *Fields, t *task.Task) {
		number(f, "task", &t.Position)
		describeSpec(f, t)
	},
}

func describeSpec(f *Fields, t *task.Task) {
	text(f, "prompt", &t.Spec.Prompt)
	text(f, "description", &t.Spec.Description)
	coded(f, "chain", &t.Spec.Chain, task.Chain.String, task.ParseChain)
	text(f, "depends_on", &t.Spec.DependsOn)
	text(f, "labels", &t.Spec.Labels)
}

// A taskPhase has the facts of all phases of a task. Not every phase has a time of its stop and a reason.
type taskPhase struct {
	status           task.Status
	due, stoppedAt   core.Instant
	reason           string
	stopped, because bool
}

func describeTaskPhase(f *Fields, phase *task.Phase) {
	var p taskPhase
	if f.mode == reading {
		p = taskPhaseOf(*phase)
	}
	text(f, "status", &p.status)
	number(f, "not_before", &p.due)
	numberIf(f, p.stopped, "stopped_at", &p.stoppedAt)
	textIf(f, p.because, "reason", &p.reason)
	if f.mode == setting {
		if *phase = p.phase(); *phase == nil {
			f.fail("%q is no status of a task", p.status)
		}
	}
}

func taskPhaseOf(phase task.Phase) taskPhase {
	to := taskPhase{status: phase.Status()}
	switch p := phase.(type) {
	case task.Queued:
		to.due = p.NotBefore
	case task.Running:
		to.stoppedAt, to.reason = p.CancelAt, p.CancelReason
		to.stopped = p.CancelAt != 0
		to.because = to.stopped || p.CancelReason != ""
	case task.Awaiting:
		to.due = p.DefaultAt
	case task.Complete:
	case task.Errored:
		to.reason, to.because = string(p.Reason), true
	case task.Cancelled:
		to.stoppedAt, to.reason, to.stopped, to.because = p.At, p.Reason, true, true
	case task.Blocked:
		to.stoppedAt, to.reason, to.stopped, to.because = p.At, p.Reason, true, true
	}
	return to
}

// phase returns the phase, or nil if there is no such status.
func (p taskPhase) phase() task.Phase {
	switch p.status {
	case task.StatusQueued:
		return task.Queued{NotBefore: p.due}
	case task.StatusRunning:
		return task.Running{CancelAt: p.stoppedAt, CancelReason: p.reason}
	case task.StatusComplete:
		return task.Complete{}
	case task.StatusAwaiting:
		return task.Awaiting{DefaultAt: p.due}
	case task.StatusError:
		return task.Errored{Reason: task.ErrorReason(p.reason)}
	case task.StatusCancelled:
		return task.Cancelled{At: p.stoppedAt, Reason: p.reason}
	case task.StatusBlocked:
		return task.Blocked{At: p.stoppedAt, Reason: p.reason}
	}
	return nil
}

// An Attempt is an attempt of the task at a position.
type Attempt struct {
	Position int64
	task.Attempt
}

// Attempts describes the attempts.
var Attempts = Kind[Attempt]{
	Table: "attempts", KeyColumns: 2, mark: 'A',
	Label: func(a *Attempt) string { return "attempt " + a.ID },
	fields: func(f *Fields, a *Attempt) {
		ofTask(f, &a.Position, &a.TaskID)
		number(f, "number", &a.Number)
		text(f, "id", &a.ID)
		text(f, "cause", &a.Cause)
		number(f, "link", &a.Link)
		text(f, "provider", &a.Model.Provider)
		text(f, "model", &a.Model.ID)
		text(f, "variant", &a.Model.Variant)
		if !f.export { // queries compare it
			key := a.Model.Key()
			text(f, "model_key", &key)
			if f.mode == setting && key != a.Model.Key() {
				f.fail("%q is not the key of the model", key)
			}
		}
		number(f, "created_at", &a.CreatedAt)
		number(f, "stale", &a.Stale)
		describeAttemptPhase(f, &a.Phase)
	},
}

// ofTask is the task that a record belongs to: by its position in a row, and by its id in an export.
func ofTask(f *Fields, position *int64, id *string) {
	if f.export {
		text(f, "task_id", id)
	} else {
		number(f, "task", position)
	}
}

func describeAttemptPhase(f *Fields, phase *task.AttemptPhase) {
	var end task.EndedAttempt // with the facts that an attempt under way has, too
	var lease task.Lease
	var runs, ended bool
	if f.mode == reading {
		end.Status = task.Attempt{Phase: *phase}.Status()
		switch p := (*phase).(type) {
		case task.PendingAttempt:
		case task.RunningAttempt:
			runs, lease = true, p.Lease
			end.Worker, end.Session, end.Token, end.StartedAt = p.Worker, p.Session, p.Lease.Token, p.StartedAt
		case task.EndedAttempt:
			ended, end = true, p
		}
	}
	text(f, "status", &end.Status)
	text(f, "worker", &end.Worker)
	textIf(f, end.Session != "", "session", &end.Session)
	textIf(f, end.Token != "", "token", &end.Token)
	numberIf(f, runs || end.Token != "" || end.StartedAt != 0, "started_at", &end.StartedAt)
	numberIf(f, runs, "epoch", &lease.Epoch)
	numberIf(f, runs, "expires_at", &lease.ExpiresAt)
	numberIf(f, runs, "length", &lease.Length)
	var spared uint8
	if lease.Spared {
		spared = 1
	}
	flagIf(f, runs, "spared", &lease.Spared, spared)
	numberIf(f, ended, "ended_at", &end.At)
	text(f, "class", &end.Failure.Class)
	text(f, "name", &end.Failure.Name)
	number(f, "http", &end.Failure.HTTP)
	text(f, "message", &end.Failure.Message)
	text(f, "digest", &end.Digest)
	if f.mode == setting {
		lease.Token = end.Token
		*phase = attemptPhase(f, end, lease)
	}
}

func attemptPhase(f *Fields, end task.EndedAttempt, lease task.Lease) task.AttemptPhase {
	switch end.Status {
	case task.AttemptPending:
		return task.PendingAttempt{}
	case task.AttemptRunning:
		return task.RunningAttempt{Worker: end.Worker, Session: end.Session, StartedAt: end.StartedAt, Lease: lease}
	case task.AttemptCompleted, task.AttemptError, task.AttemptCancelled, task.AttemptInterrupted, task.AttemptLost,
		task.AttemptAwaiting:
		return end
	}
	f.fail("%q is no status of an attempt", end.Status)
	return nil
}

// A Reply is a reply to the task at a position.
type Reply struct {
	Position int64
	store.Reply
}

// Replies describes the replies to tasks.
var Replies = Kind[Reply]{
	Table: "replies", KeyColumns: 2, mark: 'R',
	Label: func(r *Reply) string { return fmt.Sprintf("reply %d to task %s", r.Number, r.TaskID) },
	fields: func(f *Fields, r *Reply) {
		ofTask(f, &r.Position, &r.TaskID)
		number(f, "number", &r.Number)
		text(f, "attempt_id", &r.AttemptID)
		text(f, "question", &r.Question)
		text(f, "text", &r.Text)
		text(f, "option", &r.Option)
		flag(f, "by_time", &r.ByTime)
		text(f, "by", &r.By)
		number(f, "at", &r.At)
	},
}

// A Dependency says that a task waits for another one.
type Dependency struct{ On, Task string }

// Dependencies describes which task waits for which.
var Dependencies = Kind[Dependency]{
	Table: "dependencies", KeyColumns: 2, mark: 'd',
	Label: func(d *Dependency) string { return "the dependency of task " + d.Task + " on " + d.On },
	fields: func(f *Fields, d *Dependency) {
		text(f, "depends_on", &d.On)
		text(f, "task", &d.Task)
	},
}

// Breakers describes the breakers of the models.
var Breakers = Kind[task.Breaker]{
	Table: "breakers", KeyColumns: 1, mark: 'b',
	Label: func(b *task.Breaker) string { return "the breaker of model " + b.Key },
	fields: func(f *Fields, b *task.Breaker) {
		text(f, "key", &b.Key)
		number(f, "failures", &b.Failures)
		number(f, "opened", &b.Opened)
		number(f, "until", &b.Until)
		text(f, "probe", &b.Probe)
		number(f, "probed_at", &b.ProbedAt)
	},
}
