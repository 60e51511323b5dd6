package commit

import (
	"slices"
	"sync"
	"time"
)

// jobs are the submitted changes in their order, and those that wait.
type jobs[T Tx] struct {
	now  func() time.Time
	wake chan struct{} // size 1, never closed: something was queued

	mu           sync.Mutex // guards the fields below
	queue        []*job[T]
	stopped      bool
	waiting      map[*job[T]]struct{} // see wait.go
	foreignCount int                  // counts the signals about commits of other processes
}

func (s *jobs[T]) enqueue(j *job[T]) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopped:
		return ErrStopped
	case len(s.queue) >= maxQueued:
		return ErrOverloaded
	}
	s.queue = append(s.queue, j)
	s.watchLocked(j)
	signal(s.wake)
	return nil
}

// take removes the next group from the queue and returns it.
func (s *jobs[T]) take() []*job[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(len(s.queue), maxGroup)
	if i := slices.IndexFunc(s.queue[:n], func(j *job[T]) bool { return j.Alone }); i >= 0 {
		n = max(i, 1) // the changes before it, or it alone
	}
	group := slices.Clone(s.queue[:n])
	s.queue = slices.Delete(s.queue, 0, n)
	return group
}

// putBack puts a group back at the head of the queue.
func (s *jobs[T]) putBack(group []*job[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(group, s.queue...)
}
