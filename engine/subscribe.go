package engine

import "context"

// This file tells whoever asked that something was committed, here or by another process, and never what.

// Subscribe gives a channel of size one that is signalled after every commit, of this process and of
// others. The reader then reads the truth from the store. stop ends the subscription.
func (e *Engine) Subscribe() (wake <-chan struct{}, stop func()) {
	ch := make(chan struct{}, 1)
	e.mu.Lock()
	e.subs[ch] = struct{}{}
	e.mu.Unlock()
	return ch, func() {
		e.mu.Lock()
		delete(e.subs, ch)
		e.mu.Unlock()
	}
}

func (e *Engine) announce() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for ch := range e.subs {
		signal(ch)
	}
}

// Unanswered gives the first event of the changes that are being committed, or 0. From there on the log may have,
// already, what their callers do not know yet; who wants to tell of events only after the answers asks this after it
// has read the log, and reads the rest when it is woken.
func (e *Engine) Unanswered() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.keptBack = e.keptBack || e.unanswered != 0
	return e.unanswered
}

// hush notes an event of the group that is under way. Of a transaction that runs again, the first run had
// the lower numbers.
func (e *Engine) hush(seq int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.unanswered == 0 {
		e.unanswered = seq
	}
}

// unhush ends what hush began, now that the answers have left, and reports whether that kept anybody back.
func (e *Engine) unhush() (keptBack bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	keptBack = e.keptBack
	e.unanswered, e.keptBack = 0, false
	return keptBack
}

// tell announces a commit whose answers have left.
func (e *Engine) tell() {
	e.unhush()
	e.announce()
}

// tellRest wakes who was kept back by a group of which nothing is known to be committed: others may have
// committed meanwhile.
func (e *Engine) tellRest() {
	if e.unhush() {
		e.announce()
	}
}

// signal leaves a mark in a channel of size one.
func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// watchForeign passes on what other processes commit, until stop is closed. It reads nothing any more when ctx has ended.
func (e *Engine) watchForeign(ctx context.Context, stop <-chan struct{}) {
	select {
	case <-stop:
		return
	case <-e.opened:
	}
	changed := e.st.Changed()
	for {
		select {
		case <-stop:
			return
		case <-changed:
			e.noteForeign()
			e.announce()
			e.review(ctx)
		}
	}
}
