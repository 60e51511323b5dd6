package engine

// noteReplaced clears the caches after the event log was replaced by another one. It is called in a transaction.
func (e *Engine) noteReplaced(newest int64) {
	e.o.Logger.Info("the event log was replaced, for example by a restore", "newest", newest)
	e.forgetRuns()
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
