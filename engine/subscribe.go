package engine

import "context"

// Subscribe returns a channel of size one that receives a value after every commit of any process. The reader then
// reads the store. stop ends the subscription.
func (e *Engine) Subscribe() (wake <-chan struct{}, stop func()) {
	ch := make(chan struct{}, 1)
	e.attend()
	e.mu.Lock()
	e.subs[ch] = struct{}{}
	e.mu.Unlock()
	return ch, func() {
		e.mu.Lock()
		delete(e.subs, ch)
		e.mu.Unlock()
	}
}

func (e *Engine) signalSubscribers() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for ch := range e.subs {
		signal(ch)
	}
}

// Unanswered returns the first event of the group being committed, or 0. From there on, the log may hold events whose
// callers have no answer yet. A reader that must not overtake the answers calls this after it read the log.
func (e *Engine) Unanswered() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heldBack = e.heldBack || e.unanswered != 0
	return e.unanswered
}

// holdBack records the first event of the group being committed. If the transaction runs again, the lower number
// stays.
func (e *Engine) holdBack(seq int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.unanswered == 0 {
		e.unanswered = seq
	}
}

// releaseHeld ends holdBack after the answers were sent. It reports whether a reader was held back.
func (e *Engine) releaseHeld() (keptBack bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	keptBack = e.heldBack
	e.unanswered, e.heldBack = 0, false
	return keptBack
}

// signalCommitted signals subscribers after the answers of a commit were sent.
func (e *Engine) signalCommitted() {
	e.releaseHeld()
	e.signalSubscribers()
}

// signalHeldBack signals subscribers that were held back by a group without a commit, because another process may
// have committed.
func (e *Engine) signalHeldBack() {
	if e.releaseHeld() {
		e.signalSubscribers()
	}
}

// signal puts a value into a channel of size one unless it is full.
func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// watchForeign handles the commits of other processes, from attend until stop is closed. It reads nothing after ctx
// ended.
func (e *Engine) watchForeign(ctx context.Context, stop <-chan struct{}) {
	for _, ready := range []<-chan struct{}{e.attended, e.opened} {
		select {
		case <-stop:
			return
		case <-ready:
		}
	}
	changed := e.st.Changed()
	for {
		select {
		case <-stop:
			return
		case <-changed:
			e.noteForeign()
			e.signalSubscribers()
			e.checkLog(ctx)
		}
	}
}
