package tool

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"waybill/schema"
)

const (
	leaseTime         = time.Minute
	renewEvery        = 20 * time.Second // two renewals may fail before the lease ends
	retryRenewalAfter = 5 * time.Second  // after a failed renewal
	maxIdleTime       = time.Hour        // a lease ends this long after the last call that names its task
	maxSilence        = 15 * time.Minute // and this long after the last request of the host
)

// A Leases renews the leases of tasks that were claimed through this server, because a model cannot send
// heartbeats. When the process dies, the leases expire and other workers can claim the tasks. They expire too when the host
// is silent: some hosts leave a daemon behind that keeps the connection when their user has quit.
type Leases struct {
	caller  *Caller
	changed func()        // called when held has changed
	added   chan struct{} // of size 1: a lease was added

	mu      sync.Mutex // guards the fields below
	leases  map[string]*lease
	open    int       // requests of the host that are being served
	heardAt time.Time // when the last one began or ended
}

// A lease is the lease of a claimed task.
type lease struct {
	taskID, token string
	due           time.Time // when the next renewal is due
	idleAt        time.Time // when its renewals end unless a call names the task
	withdrawn     bool      // the host has asked to cancel the task
	delivered     bool      // the host has the token
}

// A HeldLease is what the next process needs to renew a lease. The clock of the lease goes on: an agent that has gone must
// not keep a task because processes die.
type HeldLease struct {
	TaskID  string    `json:"task_id"`
	Token   string    `json:"token"`
	IdleAt  time.Time `json:"idle_at"`
	HeardAt time.Time `json:"heard_at"` // of the host, when the process wrote this
}

func newLeases(c *Caller, changed func()) *Leases {
	return &Leases{caller: c, changed: changed, added: make(chan struct{}, 1), leases: map[string]*lease{}}
}

// add starts the renewals of a lease.
func (r *Leases) add(taskID, token string) {
	now := time.Now()
	r.keep(lease{taskID: taskID, token: token, due: now.Add(renewEvery), idleAt: now.Add(maxIdleTime)}, now)
}

// markDelivered records that the host has the token of a lease.
func (r *Leases) markDelivered(taskID, token string) {
	r.mu.Lock()
	l := r.leases[taskID]
	mine := l != nil && l.token == token
	if mine {
		l.delivered = true
	}
	r.mu.Unlock()
	if mine {
		r.changed()
	}
}

// Inherit continues the renewals of a lease at once, because nothing has renewed it since the last process died.
func (r *Leases) Inherit(l HeldLease) {
	r.keep(lease{taskID: l.TaskID, token: l.Token, due: time.Now(), idleAt: l.IdleAt, delivered: true}, l.HeardAt)
}

func (r *Leases) keep(l lease, heardAt time.Time) {
	r.mu.Lock()
	if heardAt.After(r.heardAt) {
		r.heardAt = heardAt
	}
	r.leases[l.taskID] = &l
	r.mu.Unlock()
	select {
	case r.added <- struct{}{}:
	default:
	}
}

// Count counts the requests that are being served. Each is a sign of life of the host.
func (r *Leases) Count(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open += n
	r.heardAt = time.Now()
}

// touch records that a call names a task, and reports whether the host has asked to cancel the task.
func (r *Leases) touch(taskID string) (withdrawn bool) {
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
func (r *Leases) drop(taskID, token string) {
	r.mu.Lock()
	l := r.leases[taskID]
	mine := l != nil && l.token == token
	if mine {
		delete(r.leases, taskID)
	}
	r.mu.Unlock()
	if mine {
		r.changed()
	}
}

// Held returns the leases for the next process. It leaves out those whose token the host does not have: if this process
// dies, the host is told that the outcome of its claim is unknown, and the lease must expire.
func (r *Leases) Held() []HeldLease {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open > 0 {
		r.heardAt = time.Now() // the host waits for an answer
	}
	all := []HeldLease{}
	for _, id := range slices.Sorted(maps.Keys(r.leases)) {
		if l := r.leases[id]; l.delivered {
			all = append(all, HeldLease{TaskID: id, Token: l.token, IdleAt: l.idleAt, HeardAt: r.heardAt})
		}
	}
	return all
}

// Run renews the leases until ctx ends. They expire after that.
func (r *Leases) Run(ctx context.Context) {
	timer := time.NewTimer(maxIdleTime)
	defer timer.Stop()
	for {
		timer.Reset(r.untilDue())
		select {
		case <-ctx.Done():
			return
		case <-r.added:
		case <-timer.C:
			due, dropped := r.due()
			for _, l := range due {
				r.renew(ctx, l)
			}
			if dropped || len(due) > 0 {
				r.changed() // with every renewal, so that the next process knows when the host was last heard
			}
		}
	}
}

// untilDue returns how long it takes until the next renewal is due.
func (r *Leases) untilDue() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := maxIdleTime
	for _, l := range r.leases {
		d = min(d, time.Until(l.due))
	}
	return max(d, 0)
}

// due returns the leases to renew now. It drops those that no call has named for maxIdleTime, or all if the host is silent,
// and reports whether there were any.
func (r *Leases) due() (due []lease, dropped bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	silent := r.open == 0 && now.Sub(r.heardAt) >= maxSilence
	for id, l := range r.leases {
		switch {
		case silent || l.idleAt.Before(now):
			delete(r.leases, id)
			dropped = true
		case !l.due.After(now):
			l.due = now.Add(retryRenewalAfter)
			due = append(due, *l)
		}
	}
	return due, dropped
}

// renew renews a lease. It ends the renewals if the lease is lost.
func (r *Leases) renew(ctx context.Context, l lease) {
	params := object{"task_id": l.taskID, "lease_token": l.token, "lease_ms": leaseTime.Milliseconds()}
	var result schema.HeartbeatResult
	fault := r.caller.Call(ctx, "heartbeat", params, &result)
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

func (r *Leases) recordRenewal(l lease, withdrawn bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := r.leases[l.taskID]; now != nil && now.token == l.token {
		now.due, now.withdrawn = time.Now().Add(renewEvery), withdrawn
	}
}
