package engine

import (
	"context"
	"errors"

	"waybill/core"
	"waybill/core/run"
	"waybill/ledger"
	"waybill/store"
)

// After a plan changed, the facts of its runs are stored again. Each run has at most one such write in flight, and
// only the newest reading waits after it. A plan that is edited faster than the disk syncs therefore builds up no
// queue.

// A renewal is the pending write of one run's facts. It is guarded by Engine.mu.
type renewal struct {
	renewRequest               // in flight
	next         *renewRequest // waiting, or nil
}

// A renewRequest asks for the facts of a view to be stored.
type renewRequest struct {
	view RunView
	done []func(run.Run, error)
}

func (o *renewRequest) hash() string { return o.view.Progress.Fingerprint.Hash }

// renew stores the facts of the view or of a later reading, and then calls done, which must not block. fresh reports
// that no other call was storing this reading.
func (e *Engine) renew(v RunView, done func(run.Run, error)) (fresh bool) {
	e.mu.Lock()
	r, going := e.renewals[v.Run.ID]
	if last := e.runs[v.Run.ID]; !going && last.tip.Seq > v.tip.Seq && ledger.SourceHash(last.facts) == v.Progress.Fingerprint.Hash {
		e.mu.Unlock()
		done(last.run, nil) // it was stored since the view was made
		return false
	}
	if !going {
		r = &renewal{renewRequest: renewRequest{v, []func(run.Run, error){done}}}
		e.renewals[v.Run.ID] = r
	} else {
		fresh = r.join(v, done)
	}
	e.mu.Unlock()
	if going {
		return fresh
	}
	e.storeFacts(v)
	return true
}

// join adds a view to a renewal in flight.
func (r *renewal) join(v RunView, done func(run.Run, error)) (fresh bool) {
	hash := v.Progress.Fingerprint.Hash
	switch {
	case r.next == nil && (r.hash() == hash || v.readNo < r.view.readNo):
		r.done = append(r.done, done)
		return false
	case r.next == nil:
		r.next = &renewRequest{view: v}
		fresh = true
	case v.readNo >= r.next.view.readNo:
		fresh = r.next.hash() != hash
		r.next.view = v
	}
	r.next.done = append(r.next.done, done)
	return fresh
}

// renewedFacts are the stored facts of a run.
type renewedFacts struct {
	run   run.Run
	facts []ledger.Fact
	tip   store.Point
	known logState // the state of the plan in the event log, if recorded with the facts
}

// storeFacts stores the facts of the view. A failed write does not fail the readers.
func (e *Engine) storeFacts(v RunView) {
	change, unannounced := e.o.Plans.unrecordedChange(v.Run.Plan)
	apply := func(tx *Tx) (any, error) {
		r, err := tx.renewFacts(v, change, unannounced)
		if err == nil {
			r.tip, err = tx.Tip()
		}
		return r, err
	}
	e.Submit(context.Background(), Change{Apply: apply}, func(result any, err error) {
		run := v.Run
		r, stored := result.(renewedFacts)
		if stored {
			run = r.run
			e.cacheRenewed(r)
			if change.path != "" {
				e.o.Plans.noteRecorded(run.Plan, r.known)
			}
		}
		if _, broken := errors.AsType[*store.Error](err); broken {
			e.o.Logger.Warn("the facts of a run were not stored", "run", v.Run.ID, "err", err)
			err = nil
		}
		if last := e.renewalDone(run, err); last && stored {
			e.recordPlanChangesAsync(run.Plan) // the plan may have changed back meanwhile
		}
	})
}

// renewFacts stores the facts of the view, and the change of the plan in the same transaction. The newest record about
// a plan then has the hash of the newest facts, so that processes know which reading is newer. Outdated facts are not
// stored.
func (tx *Tx) renewFacts(v RunView, c planChange, news bool) (r renewedFacts, err error) {
	if c.path != "" {
		var overtaken bool
		if r.known, overtaken, err = tx.recordReading(v, c, news); err != nil {
			return r, err
		}
		if overtaken {
			r.run, r.facts, err = tx.loadRun(v.Run.ID)
			return r, err
		}
	}
	r.run, r.facts, err = tx.replacePlanFacts(v)
	return r, err
}

// recordReading records the reading of the view and returns the new state of the log. overtaken reports that another
// process recorded a newer reading.
func (tx *Tx) recordReading(v RunView, c planChange, news bool) (known logState, overtaken bool, err error) {
	_, seq, err := lastLedger(tx.Tx, c.path, c.logState.seq)
	if err != nil {
		return known, false, err
	}
	known = c.logState
	if news || seq > c.logState.seq {
		if known, err = tx.recordPlanChange(c); err != nil {
			return known, false, err
		}
	}
	hash := v.Progress.Fingerprint.Hash
	switch {
	case known.Hash == hash || v.readNo < c.readNo: // this process read the plan again meanwhile
		return known, false, nil
	case seq > c.logState.seq && known.Hash != c.logState.Hash:
		return known, true, nil
	}
	event := ledgerEvent(v.Progress.Fingerprint) // the plan became unreadable before this was recorded
	event.Unseen = true
	event.setProblem(known.problem())
	if err := tx.record(core.LedgerChanged, c.path, event); err != nil {
		return known, false, err
	}
	seq, err = tx.Seq()
	return logState{event, seq, v.Plan, true, tx.engine.o.Plans.logEpoch.Load()}, false, err
}

// cacheRenewed caches the facts that were just written.
func (e *Engine) cacheRenewed(r renewedFacts) {
	task, err := ledger.ParseTaskFacts(r.run.ID, r.run.ItemID, r.facts)
	rounds, damaged := parseRounds(r.facts)
	if err == nil && damaged == nil { // otherwise the next view returns the error
		e.mu.Lock()
		defer e.mu.Unlock()
		e.cacheRun(storedRun{tip: r.tip, run: r.run, task: task, facts: r.facts, rounds: rounds, source: ledger.SourceHash(r.facts)})
	}
}

// renewalDone calls the done functions of the request in flight and submits the waiting one. last reports that there
// was none.
func (e *Engine) renewalDone(run run.Run, err error) (last bool) {
	e.mu.Lock()
	r := e.renewals[run.ID]
	done, next := r.done, r.next
	if next == nil {
		delete(e.renewals, run.ID)
	} else {
		r.renewRequest, r.next = *next, nil
	}
	e.mu.Unlock()
	for _, tell := range done {
		tell(run, err)
	}
	if next == nil {
		return true
	}
	e.storeFacts(next.view)
	return false
}
