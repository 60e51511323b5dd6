package engine

import (
	"context"
	"errors"

	"waybill/core"
	"waybill/ledger"
	"waybill/store"
)

// When a plan was edited, the facts of its runs are to be stored anew. Of each run, one such renewal
// is on its way at most, and the newest of the later readings waits behind it; those in between are
// never stored. So a plan that is edited faster than the disk syncs leaves no queue behind, and its
// last state is stored all the same.

// A renewal is the renewal of the facts of one run. It is guarded by Engine.mu.
type renewal struct {
	order        // on its way
	next  *order // behind it, or nil
}

// An order to store the facts that a view was made from.
type order struct {
	view RunView
	done []func(core.Run, error)
}

func (o *order) hash() string { return o.view.Progress.Fingerprint.Hash }

// renew stores the facts that the view was made from, or those of a later reading. done is given the
// run as it is then; it must not block. fresh reports that nobody was about to store that reading.
func (e *Engine) renew(v RunView, done func(core.Run, error)) (fresh bool) {
	e.mu.Lock()
	r, going := e.renewals[v.Run.ID]
	if last := e.runs[v.Run.ID]; !going && last.tip.Seq > v.tip.Seq && ledger.SourceHash(last.facts) == v.Progress.Fingerprint.Hash {
		e.mu.Unlock()
		done(last.run, nil) // it was stored since the view was made
		return false
	}
	if !going {
		r = &renewal{order: order{v, []func(core.Run, error){done}}}
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

// join adds to a renewal that is going on.
func (r *renewal) join(v RunView, done func(core.Run, error)) (fresh bool) {
	hash := v.Progress.Fingerprint.Hash
	switch {
	case r.next == nil && (r.hash() == hash || v.turn < r.view.turn):
		r.done = append(r.done, done)
		return false
	case r.next == nil:
		r.next = &order{view: v}
		fresh = true
	case v.turn >= r.next.view.turn:
		fresh = r.next.hash() != hash
		r.next.view = v
	}
	r.next.done = append(r.next.done, done)
	return fresh
}

// A renewed is what storing the facts of a run came to.
type renewed struct {
	run   core.Run
	facts []ledger.Fact
	tip   store.Point
	known logged // what the event log says about the plan, if it was announced with them
}

// storeFacts stores the facts that the view was made from. A store that takes no writes does not stop anybody from
// reading on.
func (e *Engine) storeFacts(v RunView) {
	change, unannounced := e.o.Plans.pending(v.Run.Plan)
	apply := func(tx *Tx) (any, error) {
		r, err := tx.renewFacts(v, change, unannounced)
		if err == nil {
			r.tip, err = tx.Tip()
		}
		return r, err
	}
	e.Submit(context.Background(), Change{Apply: apply}, func(result any, err error) {
		run := v.Run
		r, stored := result.(renewed)
		if stored {
			run = r.run
			e.keepRenewed(r)
			if change.path != "" {
				e.o.Plans.announced(run.Plan, r.known)
			}
		}
		if _, broken := errors.AsType[*store.Error](err); broken {
			e.o.Logger.Warn("facts of a run were not stored", "run", v.Run.ID, "err", err)
			err = nil
		}
		if last := e.arrived(run, err); last && stored {
			e.announceLater(run.Plan) // it may have turned back to what it was before
		}
	})
}

// renewFacts stores the facts that the view was made from, and records in the same transaction that the plan changed
// if nobody has. So the newest record about a plan has the hash of the facts that were stored last, and whoever
// finds other facts than it has read itself knows which of them are newer. Facts that were overtaken are not stored.
func (tx *Tx) renewFacts(v RunView, c planChange, news bool) (r renewed, err error) {
	if c.path != "" {
		var overtaken bool
		if r.known, overtaken, err = tx.recorded(v, c, news); err != nil {
			return r, err
		}
		if overtaken {
			r.run, r.facts, err = tx.loadRun(v.Run.ID)
			return r, err
		}
	}
	r.run, r.facts, err = tx.reread(v)
	return r, err
}

// recorded makes the event log tell of the reading that the view was made from, and gives what it says then. If
// another process has recorded another one since, it is that which counts, unless this process finds that it is no
// more so.
func (tx *Tx) recorded(v RunView, c planChange, news bool) (known logged, overtaken bool, err error) {
	_, seq, err := lastLedger(tx.Tx, c.path, c.said.seq)
	if err != nil {
		return known, false, err
	}
	known = c.said
	if news || seq > c.said.seq {
		if known, err = tx.announce(c); err != nil {
			return known, false, err
		}
	}
	hash := v.Progress.Fingerprint.Hash
	switch {
	case known.Hash == hash || v.turn < c.turn: // this process has read it again since
		return known, false, nil
	case seq > c.said.seq && known.Hash != c.said.Hash:
		return known, true, nil
	}
	event := ledgerEvent(v.Progress.Fingerprint) // the plan could not be read any more before this was recorded
	event.Unseen = true
	event.lapsed(known.lapse())
	if err := tx.record(core.LedgerChanged, c.path, event); err != nil {
		return known, false, err
	}
	seq, err = tx.Seq()
	return logged{event, seq, v.Plan, true, tx.engine.o.Plans.era.Load()}, false, err
}

// keepRenewed spares the next look at the run the reading of what was just written.
func (e *Engine) keepRenewed(r renewed) {
	task, err := ledger.ParseTaskFacts(r.run.ID, r.run.ItemID, r.facts)
	if err == nil { // else the next look says so
		e.keep(r.run.ID, storedRun{tip: r.tip, run: r.run, task: task, facts: r.facts, source: ledger.SourceHash(r.facts)})
	}
}

// arrived answers those who waited for the order that was on its way, and sends the one behind it. last
// reports that there was none.
func (e *Engine) arrived(run core.Run, err error) (last bool) {
	e.mu.Lock()
	r := e.renewals[run.ID]
	done, next := r.done, r.next
	if next == nil {
		delete(e.renewals, run.ID)
	} else {
		r.order, r.next = *next, nil
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
