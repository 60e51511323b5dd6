package engine

import (
	"time"

	"waybill/core"
)

// A waiting change is one whose result has nothing in it yet, and whose caller would rather wait.
// It is parked: it stays out of the queue, holds no place in the order and no goroutine, and goes
// back to the end of the queue when its session changes, when another process changed something, or
// when time alone can have moved something. When its own time is up it is run once more and answered.

// patient reports whether the job is to wait for a better result than this one. It is asked once in
// a run, since a job that does not wait has its answer remembered in that run.
func (e *Engine) patient(j *job, result any) bool {
	if j.deadline.IsZero() || !j.Idle(result) {
		return false
	}
	return j.ctx.Err() == nil && time.Now().Before(j.deadline)
}

// park keeps the job aside. foreign is what foreignSeen was before the job ran: if it has moved on
// since, the job may have missed what another process did.
func (e *Engine) park(j *job, foreign int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watchLocked(j)
	if e.stopped || e.foreign != foreign {
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

// requeue puts a parked job back in the queue; of several calls only the first does.
func (e *Engine) requeue(j *job) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, parked := e.waiting[j]; parked {
		e.requeueLocked(j)
	}
}

// requeueLocked ignores the bound of the queue: the job was let in before.
func (e *Engine) requeueLocked(j *job) {
	e.unparkLocked(j)
	if e.stopped {
		j.deadline = time.Time{} // nothing will come any more
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

// rouse puts the parked jobs of these sessions back in the queue.
func (e *Engine) rouse(sessions []string) {
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

func (e *Engine) foreignSeen() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.foreign
}

// noteForeign puts every parked job back in the queue, since another process may have changed what
// it waits for.
func (e *Engine) noteForeign() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.foreign++
	e.pending = -1
	signal(e.leased)
	for j := range e.waiting {
		e.requeueLocked(j)
	}
}

// stop refuses new changes and lets the parked ones be answered with what there is.
func (e *Engine) stop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stopped = true
	for j := range e.waiting {
		e.requeueLocked(j)
	}
}

// clock converts an instant; never stays the zero time.
func clock(at core.Instant) time.Time {
	if at == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(at))
}
