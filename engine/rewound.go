package engine

import (
	"context"

	"waybill/core"
	"waybill/store"
)

// A store can be put back while it is open: a restore puts a copy in its place, and a database fails over to one that has
// less. Then numbers of events are given once more, to others. What is asked of the store is what it says now; this file
// finds out, and forgets what was remembered of the log that is gone.

// review looks whether others have put another log in the place of the one that was known. What cannot be read now is
// looked at the next time.
func (e *Engine) review(ctx context.Context) {
	known := e.knownEnd() // before the store is read, which is never behind it then
	_ = e.View(ctx, func(tx store.Tx) error {
		_, err := e.heed(tx, known)
		return err
	})
}

func (e *Engine) knownEnd() store.Point {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.end
}

// heed compares a log with where it was known to end, and gives where it ends now. If it does not go on from there, it
// is another one.
func (e *Engine) heed(tx store.Tx, known store.Point) (end store.Point, err error) {
	end, err = tx.Tip()
	if err != nil || end == known {
		return end, err
	}
	goesOn, err := known.Continues(tx)
	if err != nil {
		return end, err
	}
	if e.learnEnd(known, end) && !goesOn {
		e.o.Logger.Info("another event log took the place of the one before", "newest", end.Seq)
		e.forget()
	}
	return end, nil
}

// learnEnd notes where the log ends, unless somebody has noted that since.
func (e *Engine) learnEnd(known, end store.Point) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.end != known {
		return false
	}
	e.end = end
	return true
}

// forget forgets everything about the runs and the plans of a log that is gone, and has each plan looked at again.
func (e *Engine) forget() {
	e.mu.Lock()
	clear(e.runs)
	e.passes = map[string]core.Instant{}
	e.counts = tallies{}
	e.prompts.clear()
	e.mu.Unlock()
	if e.o.Plans != nil {
		e.o.Plans.forgetLog()
	}
	signal(e.rewound)
}

// forgetLog forgets what the event log says about the plans, so that it is asked again.
func (p *Plans) forgetLog() {
	for _, rel := range p.Known() {
		m, _ := p.memory(rel)
		m.mu.Lock()
		m.log, m.unsaid, m.items = nil, false, 0
		m.mu.Unlock()
	}
}
