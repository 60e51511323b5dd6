package transfer

import (
	"fmt"

	"waybill/core"
	"waybill/core/task"
	"waybill/store"
)

type taskRecord struct {
	ID           text         `json:"id"`
	Position     int64        `json:"position"`
	CreatedAt    core.Instant `json:"created_at"`
	UpdatedAt    core.Instant `json:"updated_at"`
	Prompt       text         `json:"prompt"`
	Description  text         `json:"description,omitempty"`
	RunID        text         `json:"run_id,omitempty"`
	Role         text         `json:"role,omitempty"`
	Parent       text         `json:"parent,omitempty"`
	Models       []model      `json:"models,omitempty"`
	MaxAttempts  int          `json:"max_attempts"`
	DependsOn    text         `json:"depends_on,omitempty"`
	Labels       text         `json:"labels,omitempty"`
	Waits        int          `json:"waits,omitempty"`
	Failures     int          `json:"failures,omitempty"`
	OnModel      int          `json:"on_model,omitempty"`
	Output       text         `json:"output,omitempty"`
	Question     text         `json:"question,omitempty"`
	Offer        text         `json:"offer,omitempty"`
	Reply        text         `json:"reply,omitempty"`
	Option       text         `json:"option,omitempty"`
	ByTime       bool         `json:"by_time,omitempty"`
	Replies      int          `json:"replies,omitempty"`
	Status       text         `json:"status"`
	NotBefore    core.Instant `json:"not_before,omitempty"`
	DefaultAt    core.Instant `json:"default_at,omitempty"`
	CancelAt     core.Instant `json:"cancel_at,omitempty"`
	CancelReason text         `json:"cancel_reason,omitempty"`
	At           core.Instant `json:"at,omitempty"`
	Reason       text         `json:"reason,omitempty"`
}

type model struct {
	Provider text `json:"provider,omitempty"`
	ID       text `json:"id,omitempty"`
	Variant  text `json:"variant,omitempty"`
}

func modelOf(m task.Model) model { return model{text(m.Provider), text(m.ID), text(m.Variant)} }

func (m model) value() task.Model {
	return task.Model{Provider: string(m.Provider), ID: string(m.ID), Variant: string(m.Variant)}
}

func taskOf(t task.Task) *taskRecord {
	l := t.Spec
	to := &taskRecord{
		ID: text(t.ID), Position: t.Position, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt,
		Prompt: text(l.Prompt), Description: text(l.Description), RunID: text(l.RunID), Role: text(l.Role), Parent: text(l.Parent),
		MaxAttempts: l.MaxAttempts, DependsOn: text(l.DependsOn), Labels: text(l.Labels),
		Waits: t.Waits, Failures: t.Spent.Failures, OnModel: t.Spent.OnModel,
		Output: text(t.Output), Question: text(t.Question), Offer: text(t.Offer.String()),
		Reply: text(t.Reply), Option: text(t.Choice.Option), ByTime: t.Choice.ByTime, Replies: t.Replies, Status: text(t.Status()),
	}
	for _, m := range l.Chain.Models() {
		to.Models = append(to.Models, modelOf(m))
	}
	switch p := t.Phase.(type) {
	case task.Queued:
		to.NotBefore = p.NotBefore
	case task.Running:
		to.CancelAt, to.CancelReason = p.CancelAt, text(p.CancelReason)
	case task.Awaiting:
		to.DefaultAt = p.DefaultAt
	case task.Complete:
	case task.Errored:
		to.Reason = text(p.Reason)
	case task.Cancelled:
		to.At, to.Reason = p.At, text(p.Reason)
	case task.Blocked:
		to.At, to.Reason = p.At, text(p.Reason)
	}
	return to
}

func (t *taskRecord) kind() string { return "task" }
func (t *taskRecord) name() string { return "task " + string(t.ID) }
func (t *taskRecord) key() key     { return key{number: t.Position} }

func (t *taskRecord) put(to *filler) error {
	phase, err := t.phase()
	if err != nil {
		return err
	}
	launch, err := t.launch()
	if err != nil {
		return err
	}
	offer, err := task.ParseOffer(string(t.Offer))
	if err != nil {
		return err
	}
	value := task.Task{
		ID: string(t.ID), Position: t.Position, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt, Spec: launch,
		Waits: t.Waits, Spent: task.Spent{Failures: t.Failures, OnModel: t.OnModel},
		Output: string(t.Output), Question: string(t.Question), Offer: offer,
		Reply: string(t.Reply), Choice: task.Choice{Option: string(t.Option), ByTime: t.ByTime}, Replies: t.Replies, Phase: phase,
	}
	if err := exact(t, taskOf(value)); err != nil {
		return err
	}
	to.task, to.waiting = value.ID, value
	return to.tx.PutTask(value)
}

func (t *taskRecord) launch() (task.Spec, error) {
	models := make([]task.Model, 0, len(t.Models))
	for _, m := range t.Models {
		models = append(models, m.value())
	}
	chain, err := task.NewChain(models)
	return task.Spec{
		Prompt: string(t.Prompt), Description: string(t.Description), RunID: string(t.RunID), Role: string(t.Role),
		Parent: string(t.Parent), Chain: chain, MaxAttempts: t.MaxAttempts, DependsOn: string(t.DependsOn), Labels: string(t.Labels),
	}, err
}

func (t *taskRecord) phase() (task.Phase, error) {
	switch task.Status(t.Status) {
	case task.StatusQueued:
		return task.Queued{NotBefore: t.NotBefore}, nil
	case task.StatusRunning:
		return task.Running{CancelAt: t.CancelAt, CancelReason: string(t.CancelReason)}, nil
	case task.StatusComplete:
		return task.Complete{}, nil
	case task.StatusAwaiting:
		return task.Awaiting{DefaultAt: t.DefaultAt}, nil
	case task.StatusError:
		return task.Errored{Reason: task.ErrorReason(t.Reason)}, nil
	case task.StatusCancelled:
		return task.Cancelled{At: t.At, Reason: string(t.Reason)}, nil
	case task.StatusBlocked:
		return task.Blocked{At: t.At, Reason: string(t.Reason)}, nil
	}
	return nil, fmt.Errorf("%q is no status of a task", t.Status)
}

type reply struct {
	TaskID    text         `json:"task_id"`
	Number    int          `json:"number"`
	AttemptID text         `json:"attempt_id"`
	Question  text         `json:"question,omitempty"`
	Text      text         `json:"text"`
	Option    text         `json:"option,omitempty"`
	ByTime    bool         `json:"by_time,omitempty"`
	By        text         `json:"by,omitempty"`
	At        core.Instant `json:"at"`
}

func replyOf(r store.Reply) *reply {
	return &reply{text(r.TaskID), r.Number, text(r.AttemptID), text(r.Question), text(r.Text), text(r.Option), r.ByTime, text(r.By), r.At}
}

func (r *reply) kind() string { return "reply" }
func (r *reply) name() string { return fmt.Sprintf("reply %d to task %s", r.Number, r.TaskID) }
func (r *reply) key() key     { return key{number: int64(r.Number)} }

func (r *reply) put(to *filler) error {
	if err := to.ofTask(r.TaskID); err != nil {
		return err
	}
	return to.tx.AddReply(store.Reply{
		TaskID: to.task, Number: r.Number, AttemptID: string(r.AttemptID), Question: string(r.Question), Text: string(r.Text),
		Option: string(r.Option), ByTime: r.ByTime, By: string(r.By), At: r.At,
	})
}

type dependency struct {
	On   text `json:"on"`
	Task text `json:"task"`
}

func (d *dependency) kind() string { return "dependency" }
func (d *dependency) name() string {
	return "dependency of task " + string(d.Task) + " on " + string(d.On)
}

// key is that of the waiting task alone: the task that it waits for is in the order of the tasks.
func (d *dependency) key() key { return key{} }

func (d *dependency) put(to *filler) error {
	before := to.tx.Writes()
	if err := to.tx.AddDependency(string(d.Task), string(d.On)); err != nil {
		return err
	}
	if to.tx.Writes() == before {
		return orTwice(nil)
	}
	return nil
}
