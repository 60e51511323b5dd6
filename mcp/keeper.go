package mcp

import (
	"context"
	"sync"
	"time"

	"waybill/schema"
)

const (
	leaseTime = time.Minute
	beatEvery = 20 * time.Second // so that two may fail
	beatAgain = 5 * time.Second  // after one that failed
	idleTime  = time.Hour        // how long a task is kept that no call names
)

// A keeper renews the leases of the tasks that were claimed through this server. A model has no heartbeat, so the
// process has it: when it dies, the leases run out, and somebody else gets the tasks.
type keeper struct {
	caller *caller
	moved  chan struct{} // of size 1: there is something new to wait for

	mu   sync.Mutex // guards held
	held map[string]*hold
}

// A hold is a lease that is renewed.
type hold struct {
	taskID, token string
	due           time.Time // of the next renewal
	until         time.Time // when it is given up
	withdrawn     bool      // whoever gave the task out wants it to end
}

func newKeeper(c *caller) *keeper {
	return &keeper{caller: c, moved: make(chan struct{}, 1), held: map[string]*hold{}}
}

// hold begins to renew a lease.
func (k *keeper) hold(taskID, token string) {
	now := time.Now()
	k.mu.Lock()
	k.held[taskID] = &hold{taskID: taskID, token: token, due: now.Add(beatEvery), until: now.Add(idleTime)}
	k.mu.Unlock()
	select {
	case k.moved <- struct{}{}:
	default:
	}
}

// touch notes that a call has named a task, and reports whether somebody wants the task to end.
func (k *keeper) touch(taskID string) (withdrawn bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	h := k.held[taskID]
	if h == nil {
		return false
	}
	h.until = time.Now().Add(idleTime)
	return h.withdrawn
}

// drop ends the renewals of a lease. A newer lease of the task stays.
func (k *keeper) drop(taskID, token string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if h := k.held[taskID]; h != nil && h.token == token {
		delete(k.held, taskID)
	}
}

// run renews until ctx ends. What is held then runs out.
func (k *keeper) run(ctx context.Context) {
	timer := time.NewTimer(idleTime)
	defer timer.Stop()
	for {
		timer.Reset(k.wait())
		select {
		case <-ctx.Done():
			return
		case <-k.moved:
		case <-timer.C:
			for _, h := range k.due() {
				k.renew(ctx, h)
			}
		}
	}
}

// wait says how long it is until something is due.
func (k *keeper) wait() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	wait := idleTime
	for _, h := range k.held {
		wait = min(wait, time.Until(h.due))
	}
	return max(wait, 0)
}

// due gives what has to be renewed now, and forgets what nobody has named for too long.
func (k *keeper) due() (due []hold) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	for id, h := range k.held {
		switch {
		case h.until.Before(now):
			delete(k.held, id)
		case !h.due.After(now):
			h.due = now.Add(beatAgain)
			due = append(due, *h)
		}
	}
	return due
}

// renew renews a lease, and ends its renewals if it is lost.
func (k *keeper) renew(ctx context.Context, h hold) {
	params := object{"task_id": h.taskID, "lease_token": h.token, "lease_ms": leaseTime.Milliseconds()}
	var r schema.HeartbeatResult
	fault := k.caller.call(ctx, "heartbeat", params, &r)
	switch {
	case ctx.Err() != nil:
	case fault == nil && !r.Applied, fault != nil && fault.Data.Code == schema.TaskGone:
		k.drop(h.taskID, h.token)
	case fault != nil:
		k.caller.log.Warn("a lease could not be renewed", "task", h.taskID, "code", fault.Data.Code, "cause", fault.Message)
	default:
		k.renewed(h, r.CancelRequested)
	}
}

func (k *keeper) renewed(h hold, withdrawn bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now := k.held[h.taskID]; now != nil && now.token == h.token {
		now.due, now.withdrawn = time.Now().Add(beatEvery), withdrawn
	}
}
