package commit

import (
	"time"

	"waybill/core"
)

// A change with Wait and an empty result is parked outside the queue, without a goroutine. It is queued again when
// its session changes, when another process commits, or when time alone may change its result. At its deadline it
// runs once more and is answered.

// shouldWait reports whether the job waits for a better result. It is called once per run, because the answer of a
// job that does not wait is stored in that run.
func (l *line[T]) shouldWait(j *job[T], result any) bool {
	if j.deadline.IsZero() || !j.Idle(result) {
		return false
	}
	return j.ctx.Err() == nil && time.Now().Before(j.deadline)
}

// park lets the job wait. foreign is the number of foreign signals before the run. If it changed, the run may have missed
// a commit of another process.
func (l *line[T]) park(j *job[T], foreign int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watchLocked(j)
	if l.stopped || l.foreignCount != foreign {
		l.requeueLocked(j)
		return
	}
	wait := time.Until(j.deadline)
	if due := clock(j.Due(j.result)); !due.IsZero() {
		wait = min(wait, due.Sub(l.now()))
	}
	l.waiting[j] = struct{}{}
	j.timer = time.AfterFunc(wait, func() { l.requeue(j) })
}

// requeue puts a waiting job back into the queue, once.
func (l *line[T]) requeue(j *job[T]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, parked := l.waiting[j]; parked {
		l.requeueLocked(j)
	}
}

// requeueLocked ignores the bound of the queue, because the job was accepted before.
func (l *line[T]) requeueLocked(j *job[T]) {
	l.unparkLocked(j)
	if l.stopped {
		j.deadline = time.Time{} // no more changes follow
	}
	l.queue = append(l.queue, j)
	signal(l.wake)
}

func (l *line[T]) unparkLocked(j *job[T]) {
	if _, parked := l.waiting[j]; parked {
		delete(l.waiting, j)
		j.timer.Stop()
	}
}

// wakeWaiting puts the waiting jobs of these sessions back into the queue.
func (l *line[T]) wakeWaiting(sessions []string) {
	if len(sessions) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for j := range l.waiting {
		for _, s := range sessions {
			if j.Session == s {
				l.requeueLocked(j)
				break
			}
		}
	}
}

// foreignSignals returns the number of signals about commits of other processes.
func (l *line[T]) foreignSignals() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.foreignCount
}

// noteForeign puts all waiting jobs back into the queue, because another process may have changed their results.
func (l *line[T]) noteForeign() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.foreignCount++
	for j := range l.waiting {
		l.requeueLocked(j)
	}
}

// stop refuses new changes and has the waiting ones answered with their current results.
func (l *line[T]) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	for j := range l.waiting {
		l.requeueLocked(j)
	}
}

// clock converts an instant; zero stays zero.
func clock(at core.Instant) time.Time {
	if at == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(at))
}
