package commit

import (
	"slices"
	"sync"
	"time"
)

// A line has the jobs in the order of their submission, and those that wait.
type line[T Tx] struct {
	now  func() time.Time
	wake chan struct{} // size 1, never closed: something was queued

	mu           sync.Mutex // guards the fields below
	queue        []*job[T]
	stopped      bool
	waiting      map[*job[T]]struct{} // see wait.go
	foreignCount int                  // counts the signals about commits of other processes
}

func (l *line[T]) enqueue(j *job[T]) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.stopped:
		return ErrStopped
	case len(l.queue) >= maxQueued:
		return ErrOverloaded
	}
	l.queue = append(l.queue, j)
	l.watchLocked(j)
	signal(l.wake)
	return nil
}

// take removes the next group from the queue and returns it.
func (l *line[T]) take() []*job[T] {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.queue), maxGroup)
	if i := slices.IndexFunc(l.queue[:n], func(j *job[T]) bool { return j.Alone }); i >= 0 {
		n = max(i, 1) // the changes before it, or it alone
	}
	group := slices.Clone(l.queue[:n])
	l.queue = slices.Delete(l.queue, 0, n)
	return group
}

// untake puts a group back at the head of the queue.
func (l *line[T]) untake(group []*job[T]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(group, l.queue...)
}
