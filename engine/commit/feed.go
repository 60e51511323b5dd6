package commit

import "sync"

// A feed tells readers of the event log about commits. They must not overtake the answers of a commit.
type feed struct {
	mu   sync.Mutex // guards the fields below
	subs map[chan struct{}]struct{}
	// unanswered is the first event of the group being committed, or 0. heldBack reports that a reader has seen it.
	unanswered int64
	heldBack   bool
}

// subscribe returns a channel of size one that receives a value after every commit of any process. The reader then
// reads the store. stop ends the subscription.
func (f *feed) subscribe() (wake <-chan struct{}, stop func()) {
	ch := make(chan struct{}, 1)
	f.mu.Lock()
	f.subs[ch] = struct{}{}
	f.mu.Unlock()
	return ch, func() {
		f.mu.Lock()
		delete(f.subs, ch)
		f.mu.Unlock()
	}
}

func (f *feed) signalSubscribers() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for ch := range f.subs {
		signal(ch)
	}
}

func (f *feed) unansweredFrom() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.heldBack = f.heldBack || f.unanswered != 0
	return f.unanswered
}

func (f *feed) holdBack(seq int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unanswered == 0 {
		f.unanswered = seq
	}
}

// releaseHeld ends holdBack after the answers were sent. It reports whether a reader was held back.
func (f *feed) releaseHeld() (keptBack bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	keptBack = f.heldBack
	f.unanswered, f.heldBack = 0, false
	return keptBack
}

// signalCommitted signals subscribers after the answers of a commit were sent.
func (f *feed) signalCommitted() {
	f.releaseHeld()
	f.signalSubscribers()
}

// signalHeldBack signals subscribers that were held back by a group without a commit, because another process may
// have committed.
func (f *feed) signalHeldBack() {
	if f.releaseHeld() {
		f.signalSubscribers()
	}
}

// signal puts a value into a channel of size one unless it is full.
func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
