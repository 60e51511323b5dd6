package engine

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
func (e *Engine) Unanswered() int64 { return e.unanswered.Load() }

// hush notes an event of the group that is under way. Of a transaction that runs again, the first run had
// the lower numbers, and only the goroutine that commits changes this.
func (e *Engine) hush(seq int64) {
	if e.unanswered.Load() == 0 {
		e.unanswered.Store(seq)
	}
}

// tell ends what hush began, now that the answers have left, and announces the commit.
func (e *Engine) tell() {
	e.unanswered.Store(0)
	e.announce()
}

// tellRest is tell for a group of which nothing is known to be committed: what others committed behind its
// events may have been kept back with them.
func (e *Engine) tellRest() {
	if e.unanswered.Load() != 0 {
		e.tell()
	}
}

// signal leaves a mark in a channel of size one.
func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// watchForeign passes on what other processes commit, until stop is closed.
func (e *Engine) watchForeign(stop <-chan struct{}) {
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
		}
	}
}
