package transfer

import (
	"errors"
	"fmt"

	"waybill/core"
	"waybill/core/task"
)

type attempt struct {
	ID        text         `json:"id"`
	TaskID    text         `json:"task_id"`
	Number    int          `json:"number"`
	Cause     text         `json:"cause"`
	Link      int          `json:"link"`
	Model     model        `json:"model"`
	CreatedAt core.Instant `json:"created_at"`
	Stale     int          `json:"stale,omitempty"`
	Status    text         `json:"status"`
	Worker    text         `json:"worker,omitempty"`
	Session   text         `json:"session,omitempty"`
	StartedAt core.Instant `json:"started_at,omitempty"`
	Token     text         `json:"token,omitempty"`
	Lease     *lease       `json:"lease,omitempty"`
	At        core.Instant `json:"at,omitempty"`
	Failure   *failure     `json:"failure,omitempty"`
	Digest    text         `json:"digest,omitempty"`
}

// lease is what a running attempt is under, but for its token.
type lease struct {
	Epoch     int          `json:"epoch"`
	ExpiresAt core.Instant `json:"expires_at"`
	Length    int64        `json:"length"`
	Spared    bool         `json:"spared,omitempty"`
}

type failure struct {
	Class   text `json:"class,omitempty"`
	Name    text `json:"name,omitempty"`
	HTTP    int  `json:"http,omitempty"`
	Message text `json:"message,omitempty"`
}

func attemptOf(a task.Attempt) *attempt {
	to := &attempt{
		ID: text(a.ID), TaskID: text(a.TaskID), Number: a.Number, Cause: text(a.Cause), Link: a.Link, Model: modelOf(a.Model),
		CreatedAt: a.CreatedAt, Stale: a.Stale, Status: text(a.Status()), Worker: text(a.Worker()), Session: text(a.Session()),
		StartedAt: a.StartedAt(), Token: text(a.Token()),
	}
	switch p := a.Phase.(type) {
	case task.PendingAttempt:
	case task.RunningAttempt:
		to.Lease = &lease{p.Lease.Epoch, p.Lease.ExpiresAt, p.Lease.Length, p.Lease.Spared}
	case task.EndedAttempt:
		to.At, to.Digest = p.At, text(p.Digest)
		if f := p.Failure; f != (task.Failure{}) {
			to.Failure = &failure{text(f.Class), text(f.Name), f.HTTP, text(f.Message)}
		}
	}
	return to
}

func (a *attempt) kind() string { return "attempt" }
func (a *attempt) name() string { return "attempt " + string(a.ID) }
func (a *attempt) key() key     { return key{number: int64(a.Number)} }

func (a *attempt) put(to *filler) error {
	if err := to.ofTask(a.TaskID); err != nil {
		return err
	}
	phase, err := a.phase()
	if err != nil {
		return err
	}
	value := task.Attempt{
		ID: string(a.ID), TaskID: to.task, Number: a.Number, Cause: task.Cause(a.Cause), Link: a.Link, Model: a.Model.value(),
		CreatedAt: a.CreatedAt, Stale: a.Stale, Phase: phase,
	}
	if err := exact(a, attemptOf(value)); err != nil {
		return err
	}
	to.waiting.Current = value
	return to.tx.PutAttempt(value)
}

func (a *attempt) phase() (task.AttemptPhase, error) {
	switch status := task.AttemptStatus(a.Status); status {
	case task.AttemptPending:
		return task.PendingAttempt{}, nil
	case task.AttemptRunning:
		return a.running()
	case task.AttemptCompleted, task.AttemptError, task.AttemptCancelled, task.AttemptInterrupted, task.AttemptLost, task.AttemptAwaiting:
		return a.ended(status), nil
	}
	return nil, fmt.Errorf("%q is no status of an attempt", a.Status)
}

func (a *attempt) running() (task.AttemptPhase, error) {
	if a.Lease == nil {
		return nil, errors.New("it runs without a lease")
	}
	return task.RunningAttempt{
		Worker: string(a.Worker), Session: string(a.Session), StartedAt: a.StartedAt,
		Lease: task.Lease{
			Token: string(a.Token), Epoch: a.Lease.Epoch, ExpiresAt: a.Lease.ExpiresAt, Length: a.Lease.Length, Spared: a.Lease.Spared,
		},
	}, nil
}

func (a *attempt) ended(status task.AttemptStatus) task.AttemptPhase {
	p := task.EndedAttempt{
		Status: status, Worker: string(a.Worker), Session: string(a.Session), StartedAt: a.StartedAt, At: a.At,
		Token: string(a.Token), Digest: string(a.Digest),
	}
	if f := a.Failure; f != nil {
		p.Failure = task.Failure{Class: task.Class(f.Class), Name: string(f.Name), HTTP: f.HTTP, Message: string(f.Message)}
	}
	return p
}
