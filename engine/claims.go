package engine

import (
	"waybill/core"
	"waybill/core/task"
	"waybill/engine/taskview"
	"waybill/store"
)

// A Claim selects the tasks that a worker takes.
type Claim struct {
	Worker string
	RunID  string // "" for any
	Role   string // "" for any
	Length int64  // of the lease, in microseconds
}

// A Claimed is the result of a claim.
type Claimed struct {
	Task   task.Task // the zero Task if there was none
	Lease  task.Lease
	Prompt string
	// Due is when a task may become ready without further events, or zero.
	Due core.Instant
}

// Empty reports whether no task was ready.
func (c Claimed) Empty() bool { return c.Task.ID == "" }

// ClaimTask hands the oldest ready task to a worker. Expired leases are ended first, so that their tasks are ready
// too.
func (tx *Tx) ClaimTask(c Claim) (Claimed, error) {
	if _, err := tx.expireLeases(); err != nil {
		return Claimed{}, err
	}
	if _, err := takeDefaults(tx, tx.now); err != nil {
		return Claimed{}, err
	}
	held, err := tx.openModels()
	if err != nil {
		return Claimed{}, err
	}
	ready, err := tx.Tasks(store.TaskQuery{
		ReadyAt: tx.now, RunID: c.RunID, Role: c.Role, Except: held.keys, Limit: 1,
	})
	if err != nil {
		return Claimed{}, err
	}
	if len(ready) == 0 {
		return tx.nextTask(held.until)
	}
	t, err := tx.stepTask(ready[0], task.Claim{
		At: tx.now, Worker: c.Worker, Token: tx.engine.o.NewID("lease_"), Length: c.Length,
	})
	if err != nil {
		return Claimed{}, err
	}
	if err := tx.admitAttempt(t.Current); err != nil {
		return Claimed{}, err
	}
	tx.leased = true
	claimed := Claimed{Task: t, Lease: t.Current.Phase.(task.RunningAttempt).Lease}
	claimed.Prompt, err = taskview.Prompt(tx, t)
	return claimed, err
}

// ReturnClaim undoes a claim whose answer did not reach the worker. It costs the task no attempt.
func (tx *Tx) ReturnClaim(c Claimed) error {
	t, err := tx.task(c.Task.ID)
	if err != nil {
		return err
	}
	_, err = tx.stepTask(t, task.Return{At: tx.now, Token: c.Lease.Token})
	return err
}

// nextTask returns when the next task may become ready. breakers is when the first open breaker allows a trial.
func (tx *Tx) nextTask(breakers core.Instant) (Claimed, error) {
	due := breakers
	ready, err := tx.NextReady(tx.now)
	if err != nil {
		return Claimed{}, err
	}
	if ready != 0 && (due == 0 || ready < due) {
		due = ready
	}
	return Claimed{Due: due}, nil
}

// openModels are the models whose circuit breaker is open.
type openModels struct {
	keys  []string
	until core.Instant // when the first breaker allows a trial, or zero
}

func (tx *Tx) openModels() (openModels, error) {
	var h openModels
	breakers, err := tx.OpenedBreakers()
	for _, b := range breakers {
		if !b.Open(tx.now) {
			continue
		}
		h.keys = append(h.keys, b.Key)
		if halfOpen := b.HalfOpenAt(tx.now); h.until == 0 || halfOpen < h.until {
			h.until = halfOpen
		}
	}
	return h, err
}

// admitAttempt records in the breaker of a model that an attempt uses it. An open breaker is skipped, because the host
// chose the model against it: its trial runs already or is not due.
func (tx *Tx) admitAttempt(a task.Attempt) error {
	b, ok, err := tx.Breaker(a.Model.Key())
	if err != nil || !ok || b.Open(tx.now) {
		return err
	}
	if next := b.Admit(a.ID, tx.now); next != b {
		return tx.PutBreaker(next)
	}
	return nil
}
