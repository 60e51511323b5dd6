package engine

import (
	"context"
	"errors"
	"slices"
)

// A change whose ctx ends before it began is answered at once, whatever its group waits for: another
// process may hold the store for seconds. The transaction goes on for those of the group that are
// left, and is given up with the last of them. From its beginning on, the transaction alone decides.

// A crew is the jobs of a group that have not given up yet.
type crew struct {
	left  int                // guarded by Engine.mu
	leave context.CancelFunc // gives the transaction of the group up
}

// watchLocked lets the end of its ctx end the job, until it begins. It is called whenever the job
// waits, again if it has begun before and nothing came of it.
func (e *Engine) watchLocked(j *job) {
	j.begun = false
	j.unwatch = context.AfterFunc(j.ctx, func() { e.ctxEnded(j) })
}

// ctxEnded answers a job that has not begun. A hurried one is not given up: it goes back to the queue
// if it was parked, to be answered with what there is.
func (e *Engine) ctxEnded(j *job) {
	cause := context.Cause(j.ctx)
	if e.giveUp(j, errors.Is(cause, ErrHurry)) {
		j.done(nil, cause)
	}
}

// giveUp reports whether the job is given up now, so that nobody else answers it.
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
		// It is in the queue, or in a group on its way.
		if i := slices.Index(e.queue, j); i >= 0 {
			e.queue = slices.Delete(e.queue, i, i+1)
		}
	}
	j.answered = true
	if j.crew != nil {
		if j.crew.left--; j.crew.left == 0 {
			j.crew.leave()
		}
	}
	return true
}

// muster makes a crew of those of the group that are still there, and gives the context for their
// transaction.
func (e *Engine) muster(ctx context.Context, group []*job) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	c := &crew{leave: cancel}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, j := range group {
		if j.answered {
			continue
		}
		if j.begun {
			e.watchLocked(j)
		}
		j.crew = c
		c.left++
	}
	if c.left == 0 {
		cancel()
	}
	return ctx, cancel
}

// begin gives those of the group that are still there. Nobody gives them up any more.
func (e *Engine) begin(group []*job) []*job {
	e.mu.Lock()
	defer e.mu.Unlock()
	present := make([]*job, 0, len(group))
	for _, j := range group {
		if !j.answered {
			j.begun, j.crew = true, nil
			j.unwatch()
			present = append(present, j)
		}
	}
	return present
}

// answer answers the job, unless it has given up.
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
