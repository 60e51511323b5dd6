package watcher

import (
	"sync"
	"time"
)

// batch decides when changes are reported: when nothing has changed for quiet, and at
// the latest maxWait after the first. A new batch begins with the next change, so
// reports are never closer than quiet.
//
// Any goroutine calls touch. One goroutine receives from kick and from timer.C and
// then calls settled. In a storm that goroutine sleeps: touch only notes the time.
type batch struct {
	quiet, maxWait time.Duration
	kick           chan struct{} // size 1, a batch began; nobody closes it
	timer          *time.Timer   // only for the goroutine that calls settled

	mu          sync.Mutex // guards first and last
	first, last time.Time  // change of this batch; zero when there is none
}

func newBatch(quiet, maxWait time.Duration) *batch {
	b := &batch{quiet: quiet, maxWait: maxWait, kick: make(chan struct{}, 1), timer: time.NewTimer(maxWait)}
	b.timer.Stop()
	return b
}

// touch notes a change. What changed must have been noted before.
func (b *batch) touch() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = time.Now()
	if b.first.IsZero() {
		b.first = b.last
		signal(b.kick)
	}
}

// settled reports whether the batch is due, and then begins the next one. Otherwise
// timer fires when it may be.
func (b *batch) settled() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.first.IsZero() {
		return false
	}
	due := b.last.Add(b.quiet)
	if latest := b.first.Add(b.maxWait); latest.Before(due) {
		due = latest
	}
	if wait := time.Until(due); wait > 0 {
		b.timer.Reset(wait)
		return false
	}
	b.first = time.Time{}
	return true
}

// reset forgets the batch; touch begins another one.
func (b *batch) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.timer.Stop()
	b.first = time.Time{}
}
