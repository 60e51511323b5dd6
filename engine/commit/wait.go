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
func (s *jobs[T]) shouldWait(j *job[T], result any) bool {
	if j.deadline.IsZero() || !j.Idle(result) {
		return false
	}
	return j.ctx.Err() == nil && time.Now().Before(j.deadline)
}

// park lets the job wait. foreign is the number of foreign signals before the run. If it changed, the run may have missed
// a commit of another process.
func (s *jobs[T]) park(j *job[T], foreign int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchLocked(j)
	if s.stopped || s.foreignCount != foreign {
		s.requeueLocked(j)
		return
	}
	wait := time.Until(j.deadline)
	if due := clock(j.Due(j.result)); !due.IsZero() {
		wait = min(wait, due.Sub(s.now()))
	}
	s.waiting[j] = struct{}{}
	j.timer = time.AfterFunc(wait, func() { s.requeue(j) })
}

// requeue puts a waiting job back into the queue, once.
func (s *jobs[T]) requeue(j *job[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, parked := s.waiting[j]; parked {
		s.requeueLocked(j)
	}
}

// requeueLocked ignores the bound of the queue, because the job was accepted before.
func (s *jobs[T]) requeueLocked(j *job[T]) {
	s.unparkLocked(j)
	if s.stopped {
		j.deadline = time.Time{} // no more changes follow
	}
	s.queue = append(s.queue, j)
	signal(s.wake)
}

func (s *jobs[T]) unparkLocked(j *job[T]) {
	if _, parked := s.waiting[j]; parked {
		delete(s.waiting, j)
		j.timer.Stop()
	}
}

// wakeWaiting puts the waiting jobs of these sessions back into the queue.
func (s *jobs[T]) wakeWaiting(sessions []string) {
	if len(sessions) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for j := range s.waiting {
		for _, session := range sessions {
			if j.Session == session {
				s.requeueLocked(j)
				break
			}
		}
	}
}

// foreignSignals returns the number of signals about commits of other processes.
func (s *jobs[T]) foreignSignals() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.foreignCount
}

// noteForeign puts all waiting jobs back into the queue, because another process may have changed their results.
func (s *jobs[T]) noteForeign() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.foreignCount++
	for j := range s.waiting {
		s.requeueLocked(j)
	}
}

// stop refuses new changes and has the waiting ones answered with their current results.
func (s *jobs[T]) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	for j := range s.waiting {
		s.requeueLocked(j)
	}
}

// clock converts an instant; zero stays zero.
func clock(at core.Instant) time.Time {
	if at == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(at))
}
