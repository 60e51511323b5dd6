package engine

import (
	"time"

	"waybill/core"
)

// A change with Wait and an empty result is parked outside the queue, without a goroutine. It is queued again when
// its session changes, when another process commits, or when time alone may change its result. At its deadline it
// runs once more and is answered.

// shouldWait reports whether the job waits for a better result. It is called once per run, because the answer of a
// job that does not wait is stored in that run.
func (e *Engine) shouldWait(j *job, result any) bool {
	if j.deadline.IsZero() || !j.Idle(result) {
		return false
	}
	return j.ctx.Err() == nil && time.Now().Before(j.deadline)
}

// park lets the job wait. foreign is the number of foreign signals before the run. If it changed, the run may have missed
// a commit of another process.
func (e *Engine) park(j *job, foreign int) {
	e.attend()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watchLocked(j)
	if e.stopped || e.foreignCount != foreign {
		e.requeueLocked(j)
		return
	}
	wait := time.Until(j.deadline)
	if due := clock(j.Due(j.result)); !due.IsZero() {
		wait = min(wait, due.Sub(e.o.Now()))
	}
	e.waiting[j] = struct{}{}
	j.timer = time.AfterFunc(wait, func() { e.requeue(j) })
}

// requeue puts a waiting job back into the queue, once.
func (e *Engine) requeue(j *job) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, parked := e.waiting[j]; parked {
		e.requeueLocked(j)
	}
}

// requeueLocked ignores the bound of the queue, because the job was accepted before.
func (e *Engine) requeueLocked(j *job) {
	e.unparkLocked(j)
	if e.stopped {
		j.deadline = time.Time{} // no more changes follow
	}
	e.queue = append(e.queue, j)
	signal(e.wake)
}

func (e *Engine) unparkLocked(j *job) {
	if _, parked := e.waiting[j]; parked {
		delete(e.waiting, j)
		j.timer.Stop()
	}
}

// wakeWaiting puts the waiting jobs of these sessions back into the queue.
func (e *Engine) wakeWaiting(sessions []string) {
	if len(sessions) == 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for j := range e.waiting {
		for _, s := range sessions {
			if j.Session == s {
				e.requeueLocked(j)
				break
			}
		}
	}
}

// foreignSignals returns the number of signals about commits of other processes.
func (e *Engine) foreignSignals() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.foreignCount
}

// noteForeign puts all waiting jobs back into the queue, because another process may have changed their results.
func (e *Engine) noteForeign() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.foreignCount++
	e.pending = -1
	signal(e.leased)
	for j := range e.waiting {
		e.requeueLocked(j)
	}
}

// stop refuses new changes and has the waiting ones answered with their current results.
func (e *Engine) stop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stopped = true
	for j := range e.waiting {
		e.requeueLocked(j)
	}
}

// clock converts an instant; zero stays zero.
func clock(at core.Instant) time.Time {
	if at == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(at))
}
