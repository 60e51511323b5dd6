package watcher

import (
	"sync"
	"time"
)

// batch decides when changes are reported: after no change for quiet, and at the latest maxWait after the first one.
// The next change begins a new batch, so reports are at least quiet apart.
//
// Any goroutine may call touch. One goroutine receives from started and timer.C and then calls due. Many changes do
// not wake it, because touch only records the time.
type batch struct {
	quiet, maxWait time.Duration
	started        chan struct{} // size 1; a batch began; never closed
	timer          *time.Timer   // only for the goroutine that calls due

	mu          sync.Mutex // guards first and last
	first, last time.Time  // change of this batch; zero without one
}

func newBatch(quiet, maxWait time.Duration) *batch {
	b := &batch{quiet: quiet, maxWait: maxWait, started: make(chan struct{}, 1), timer: time.NewTimer(maxWait)}
	b.timer.Stop()
	return b
}

// touch records a change. The caller has already marked the file.
func (b *batch) touch() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = time.Now()
	if b.first.IsZero() {
		b.first = b.last
		signal(b.started)
	}
}

// due reports whether the batch is due, and then ends it. Otherwise timer fires when it may be due.
func (b *batch) due() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.first.IsZero() {
		return false
	}
	at := b.last.Add(b.quiet)
	if latest := b.first.Add(b.maxWait); latest.Before(at) {
		at = latest
	}
	if wait := time.Until(at); wait > 0 {
		b.timer.Reset(wait)
		return false
	}
	b.first = time.Time{}
	return true
}

// reset drops the batch; touch begins another one.
func (b *batch) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.timer.Stop()
	b.first = time.Time{}
}
