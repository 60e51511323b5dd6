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
