package commit

import (
	"context"
	"errors"
	"slices"
)

// A change whose ctx ends before its transaction begins is answered at once, because another process may hold the
// store for seconds. The transaction continues for the rest of the group and is cancelled with the last of them.

// A cancelGroup cancels the transaction of a group when all its changes are cancelled.
type cancelGroup struct {
	left   int                // guarded by jobs.mu
	cancel context.CancelFunc // ends the transaction of the group
}

// watchLocked cancels the job when its ctx ends, until its transaction begins. It is called each time the job starts
// to wait.
func (s *jobs[T]) watchLocked(j *job[T]) {
	j.begun = false
	j.unwatch = context.AfterFunc(j.ctx, func() { s.ctxEnded(j) })
}

// ctxEnded answers a job that has not begun. With ErrHurry, a waiting job is queued again instead and answered with
// its current result.
func (s *jobs[T]) ctxEnded(j *job[T]) {
	cause := context.Cause(j.ctx)
	if s.giveUp(j, errors.Is(cause, ErrHurry)) {
		j.done(nil, cause)
	}
}

// giveUp cancels a job and reports whether this call did. A job is answered only once.
func (s *jobs[T]) giveUp(j *job[T], hurried bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, parked := s.waiting[j]
	switch {
	case j.begun || j.answered:
		return false
	case hurried:
		if parked {
			s.requeueLocked(j)
		}
		return false
	case parked:
		s.unparkLocked(j)
	default:
		// It is in the queue or in a group that has not begun.
		if i := slices.Index(s.queue, j); i >= 0 {
			s.queue = slices.Delete(s.queue, i, i+1)
		}
	}
	j.answered = true
	if j.cancelGroup != nil {
		if j.cancelGroup.left--; j.cancelGroup.left == 0 {
			j.cancelGroup.cancel()
		}
	}
	return true
}

// newCancelGroup creates the cancelGroup for the jobs that are not cancelled, and returns the context of their
// transaction.
func (s *jobs[T]) newCancelGroup(ctx context.Context, group []*job[T]) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	c := &cancelGroup{cancel: cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range group {
		if j.answered {
			continue
		}
		if j.begun {
			s.watchLocked(j)
		}
		j.cancelGroup = c
		c.left++
	}
	if c.left == 0 {
		cancel()
	}
	return ctx, cancel
}

// begin returns the jobs that are not cancelled. From now on they cannot be cancelled.
func (s *jobs[T]) begin(group []*job[T]) []*job[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	present := make([]*job[T], 0, len(group))
	for _, j := range group {
		if !j.answered {
			j.begun, j.cancelGroup = true, nil
			j.unwatch()
			present = append(present, j)
		}
	}
	return present
}

// answer answers the job unless it was cancelled.
func (s *jobs[T]) answer(j *job[T], result any, err error) {
	s.mu.Lock()
	gone := j.answered
	j.answered = true
	s.mu.Unlock()
	if gone {
		return
	}
	j.unwatch()
	j.done(result, err)
}
