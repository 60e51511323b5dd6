package mcp

import (
	"context"
	"sync"
	"time"

	"waybill/schema"
)

const (
	leaseTime         = time.Minute
	renewEvery        = 20 * time.Second // two renewals may fail before the lease ends
	retryRenewalAfter = 5 * time.Second  // after a failed renewal
	maxIdleTime       = time.Hour        // a lease ends this long after the last call that names its task
)

// A leaseRenewer renews the leases of tasks that were claimed through this server, because a model cannot send
// heartbeats. When the process dies, the leases expire and other workers can claim the tasks.
type leaseRenewer struct {
	caller *caller
	added  chan struct{} // of size 1: a lease was added

	mu     sync.Mutex // guards leases
	leases map[string]*lease
}

// A lease is the lease of a claimed task.
type lease struct {
	taskID, token string
	due           time.Time // when the next renewal is due
	idleAt        time.Time // when its renewals end unless a call names the task
	withdrawn     bool      // the host has asked to cancel the task
}

func newLeaseRenewer(c *caller) *leaseRenewer {
	return &leaseRenewer{caller: c, added: make(chan struct{}, 1), leases: map[string]*lease{}}
}

// add starts the renewals of a lease.
func (r *leaseRenewer) add(taskID, token string) {
	now := time.Now()
	r.mu.Lock()
	r.leases[taskID] = &lease{taskID: taskID, token: token, due: now.Add(renewEvery), idleAt: now.Add(maxIdleTime)}
	r.mu.Unlock()
	select {
	case r.added <- struct{}{}:
	default:
	}
}

// touch records that a call names a task, and reports whether the host has asked to cancel the task.
func (r *leaseRenewer) touch(taskID string) (withdrawn bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.leases[taskID]
	if l == nil {
		return false
	}
	l.idleAt = time.Now().Add(maxIdleTime)
	return l.withdrawn
}

// drop ends the renewals of a lease. A newer lease of the task stays.
func (r *leaseRenewer) drop(taskID, token string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.leases[taskID]; l != nil && l.token == token {
		delete(r.leases, taskID)
	}
}

// run renews the leases until ctx ends. They expire after that.
func (r *leaseRenewer) run(ctx context.Context) {
	timer := time.NewTimer(maxIdleTime)
	defer timer.Stop()
	for {
		timer.Reset(r.untilDue())
		select {
		case <-ctx.Done():
			return
		case <-r.added:
		case <-timer.C:
			for _, l := range r.due() {
				r.renew(ctx, l)
			}
		}
	}
}

// untilDue returns how long it takes until the next renewal is due.
func (r *leaseRenewer) untilDue() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := maxIdleTime
	for _, l := range r.leases {
		d = min(d, time.Until(l.due))
	}
	return max(d, 0)
}

// due returns the leases to renew now, and drops those that no call has named for maxIdleTime.
func (r *leaseRenewer) due() (due []lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for id, l := range r.leases {
		switch {
		case l.idleAt.Before(now):
			delete(r.leases, id)
		case !l.due.After(now):
			l.due = now.Add(retryRenewalAfter)
			due = append(due, *l)
		}
	}
	return due
}

// renew renews a lease. It ends the renewals if the lease is lost.
func (r *leaseRenewer) renew(ctx context.Context, l lease) {
	params := object{"task_id": l.taskID, "lease_token": l.token, "lease_ms": leaseTime.Milliseconds()}
	var result schema.HeartbeatResult
	fault := r.caller.call(ctx, "heartbeat", params, &result)
	switch {
	case ctx.Err() != nil:
	case fault == nil && !result.Applied, fault != nil && fault.Data.Code == schema.TaskGone:
		r.drop(l.taskID, l.token)
	case fault != nil:
		r.caller.log.Warn("a lease could not be renewed", "task", l.taskID, "code", fault.Data.Code, "cause", fault.Message)
	default:
		r.recordRenewal(l, result.CancelRequested)
	}
}

func (r *leaseRenewer) recordRenewal(l lease, withdrawn bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := r.leases[l.taskID]; now != nil && now.token == l.token {
		now.due, now.withdrawn = time.Now().Add(renewEvery), withdrawn
	}
}
