package engine

import (
	"context"

	"waybill/store"
)

// A store can be put back while it is open: a restore puts a copy in its place, and a database fails over to one that has
// less. Then numbers of events are given once more, to others. What is asked of the store is what it says now; this file
// finds out, and forgets what was remembered of the log that is gone.

// review looks whether others have put another log in the place of the one that was known. What cannot be read now is
// looked at the next time.
func (e *Engine) review(ctx context.Context) {
	known := e.knownEnd() // before the store is read, which is never behind it then
	rewound := false
	_ = e.View(ctx, func(tx store.Tx) (err error) {
		_, rewound, err = e.heed(tx, known)
		return err
	})
	if rewound {
		e.forgetPlans()
	}
}

func (e *Engine) knownEnd() store.Point {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.end
}

// heed compares a log with where it was known to end, and gives where it ends now. If it does not go on from there, it
// is another one: what was known of runs and leases is forgotten, and the caller, when its transaction is over, calls
// forgetPlans, which may wait for a file.
func (e *Engine) heed(tx store.Tx, known store.Point) (end store.Point, rewound bool, err error) {
	end, err = tx.Tip()
	if err != nil || end == known {
		return end, false, err
	}
	goesOn, err := known.Continues(tx)
	if err != nil || !e.learnEnd(known, end) || goesOn {
		return end, false, err
	}
	e.o.Logger.Info("another event log took the place of the one before", "newest", end.Seq)
	e.forget()
	return end, true, nil
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

// forget forgets everything about the runs of a log that is gone. The leases that are in the new one end as they would if
// this process began now: their holders have extended them in the log that is gone.
func (e *Engine) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.runs)
	clear(e.passes)
	e.counts = tallies{} // another one: those on their way to the store are kept by who stores them
	e.prompts.clear()
	e.watch.going, e.watch.calm = false, e.Now()
}

// forgetPlans forgets everything about the plans of a log that is gone, and has each of them looked at again.
func (e *Engine) forgetPlans() {
	if e.o.Plans != nil {
		e.o.Plans.forgetLog()
	}
	signal(e.rewound)
}

// forgetLog forgets what the event log says about the plans, so that it is asked again.
func (p *Plans) forgetLog() {
	p.era.Add(1)
	for _, rel := range p.Known() {
		m, _ := p.memory(rel)
		m.mu.Lock()
		m.log, m.unsaid, m.items = nil, false, 0
		m.mu.Unlock()
	}
}
