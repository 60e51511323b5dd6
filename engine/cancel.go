package engine

import (
	"context"
	"errors"
	"slices"
)

// A change whose ctx ends before its transaction begins is answered at once, because another process may hold the
// store for seconds. The transaction continues for the rest of the group and is cancelled with the last of them.

// A cancelGroup cancels the transaction of a group when all its changes are cancelled.
type cancelGroup struct {
	left   int                // guarded by Engine.mu
	cancel context.CancelFunc // ends the transaction of the group
}

// watchLocked cancels the job when its ctx ends, until its transaction begins. It is called each time the job starts
// to wait.
func (e *Engine) watchLocked(j *job) {
	j.begun = false
	j.unwatch = context.AfterFunc(j.ctx, func() { e.ctxEnded(j) })
}

// ctxEnded answers a job that has not begun. With ErrHurry, a waiting job is queued again instead and answered with
// its current result.
func (e *Engine) ctxEnded(j *job) {
	cause := context.Cause(j.ctx)
	if e.giveUp(j, errors.Is(cause, ErrHurry)) {
		j.done(nil, cause)
	}
}

// giveUp cancels a job and reports whether this call did. A job is answered only once.
func (e *Engine) giveUp(j *job, hurried bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, parked := e.waiting[j]
	switch {
	case j.begun || j.answered:
		return false
	case hurried:
		if parked {
			e.requeueLocked(j)
		}
		return false
	case parked:
		e.unparkLocked(j)
	default:
		// It is in the queue or in a group that has not begun.
		if i := slices.Index(e.queue, j); i >= 0 {
			e.queue = slices.Delete(e.queue, i, i+1)
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
func (e *Engine) newCancelGroup(ctx context.Context, group []*job) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	c := &cancelGroup{cancel: cancel}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, j := range group {
		if j.answered {
			continue
		}
		if j.begun {
			e.watchLocked(j)
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
func (e *Engine) begin(group []*job) []*job {
	e.mu.Lock()
	defer e.mu.Unlock()
	present := make([]*job, 0, len(group))
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
func (e *Engine) answer(j *job, result any, err error) {
	e.mu.Lock()
	gone := j.answered
	j.answered = true
	e.mu.Unlock()
	if gone {
		return
	}
	j.unwatch()
	j.done(result, err)
}
