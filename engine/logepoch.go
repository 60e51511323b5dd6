package engine

import (
	"context"

	"waybill/store"
)

// The event log can be replaced while it is open, by a restore or a failover to an older copy. Event numbers are then
// assigned again. The engine notices this and clears its caches.

// checkLog checks whether another process replaced the event log. After an error, the next commit checks again.
func (e *Engine) checkLog(ctx context.Context) {
	known := e.knownEnd() // read first, so that the store is never behind it
	rewound := false
	_ = e.View(ctx, func(tx store.Tx) (err error) {
		_, rewound, err = e.checkLogEpoch(tx, known)
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

// checkLogEpoch compares the log with its last known end, and returns its current end. If the log was replaced, it
// clears the caches of runs and leases. The caller must then call forgetPlans after its transaction, because that may
// wait for a file.
func (e *Engine) checkLogEpoch(tx store.Tx, known store.Point) (end store.Point, rewound bool, err error) {
	end, err = tx.Tip()
	if err != nil || end == known {
		return end, false, err
	}
	goesOn, err := known.Continues(tx)
	if err != nil || !e.learnEnd(known, end) || goesOn {
		return end, false, err
	}
	e.o.Logger.Info("the event log was replaced, for example by a restore", "newest", end.Seq)
	e.forgetRuns()
	return end, true, nil
}

// learnEnd stores the end of the log unless another call did so first.
func (e *Engine) learnEnd(known, end store.Point) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.end != known {
		return false
	}
	e.end = end
	return true
}

// forgetRuns clears everything cached about runs. Leases count as checked from now on, because their holders extended
// them in the replaced log.
func (e *Engine) forgetRuns() {
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.runs)
	clear(e.passes)
	e.counts = tallies{} // a new map, because storeCounts still uses the old one
	e.prompts.clear()
	e.watch.Restart(e.Now())
}

// forgetPlans clears the recorded states of all plans and has the plans read again.
func (e *Engine) forgetPlans() {
	if e.o.Plans != nil {
		e.o.Plans.forgetLog()
	}
	signal(e.rewound)
}

// forgetLog clears the recorded states of the plans, so that the event log is read again.
func (p *Plans) forgetLog() {
	p.logEpoch.Add(1)
	for _, rel := range p.Known() {
		m, _ := p.memory(rel)
		m.mu.Lock()
		m.log, m.aheadOfLog, m.submitted, m.items = nil, false, nil, 0
		m.mu.Unlock()
	}
}
