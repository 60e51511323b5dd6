package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"waybill/core/run"
	"waybill/ledger"
	"waybill/plan"
	"waybill/store"
)

// A logState is the state of a plan according to the event log.
type logState struct {
	LedgerEvent
	seq      int64         // the log up to this event has nothing newer about the plan
	base     *plan.Reading // the reading with the hash, or the last earlier one of this process; may be nil
	own      bool          // this process recorded the state
	logEpoch int64         // Plans.logEpoch at the time of reading; another epoch makes the state invalid
}

// loggedState reads the state of a plan from the event log. The hash is empty without a record.
func (e *Engine) loggedState(ctx context.Context, path string) (l logState, err error) {
	l.logEpoch = e.o.Plans.logEpoch.Load()
	err = e.View(ctx, func(tx store.Tx) error {
		if _, l.seq, err = tx.Bounds(); err != nil {
			return err
		}
		l.LedgerEvent, _, err = lastLedger(tx, path, 0)
		return err
	})
	return l, err
}

// remembered returns the source hash of the runs of a plan that the event log has no record of. It prefers the hash
// of the reading; without runs it returns "".
func (e *Engine) remembered(ctx context.Context, path string, r *plan.Reading, facts []ledger.Fact) (hash string, err error) {
	hash = ledger.SourceHash(facts)
	if r == nil || hash == r.Hash {
		return hash, nil
	}
	err = e.View(ctx, func(tx store.Tx) error {
		if none, err := noRuns(tx); none || err != nil {
			return err
		}
		ids, err := itemsToAsk(tx, path, r)
		for _, id := range ids {
			of, err := sourceOfRun(tx, path, id)
			if err != nil {
				return err
			}
			if of != "" {
				hash = of
			}
			if of == r.Hash {
				break
			}
		}
		return err
	})
	return hash, err
}

// itemsToAsk returns the items whose runs may know the plan: those of the reading, or those of all runs for a blank
// plan.
func itemsToAsk(tx store.RunRecords, path string, r *plan.Reading) (ids []string, err error) {
	if r.Len() > 0 {
		ids = slices.Collect(r.IDs())
	}
	runs, err := tx.LatestRuns(path)
	for _, run := range runs {
		ids = append(ids, run.ItemID)
	}
	return ids, err
}

// itemsOnRecord returns how many items a plan had according to the given facts, or else to its last changed run; 0 if
// unknown.
func (e *Engine) itemsOnRecord(ctx context.Context, path string, facts []ledger.Fact) (items int, err error) {
	if facts == nil {
		err = e.View(ctx, func(tx store.Tx) error {
			runs, err := tx.LatestRuns(path)
			if err != nil || len(runs) == 0 {
				return err
			}
			last := slices.MaxFunc(runs, func(a, b run.Run) int { return cmp.Compare(a.UpdatedAt, b.UpdatedAt) })
			facts, err = tx.Facts(last.ID)
			return err
		})
	}
	known, damaged := ledger.ParseProgressFacts(facts)
	if err != nil || damaged != nil {
		return 0, err // a call about the run reports the damage
	}
	return known.Totals.Items(), nil
}

func noRuns(tx store.RunRecords) (bool, error) {
	counts, err := tx.RunCounts()
	for _, n := range counts {
		if n > 0 {
			return false, err
		}
	}
	return true, err
}

// sourceOfRun returns the source hash of the facts of an item's latest run.
func sourceOfRun(tx store.Tx, path, itemID string) (string, error) {
	run, ok, err := tx.LatestRun(path, itemID)
	if err != nil || !ok {
		return "", err
	}
	facts, err := tx.Facts(run.ID)
	return ledger.SourceHash(facts), err
}

// lastLedger returns the newest ledger.changed event of a plan with a number above after, and that number. Without
// one, it returns after.
func lastLedger(tx store.EventLog, path string, after int64) (last LedgerEvent, seq int64, err error) {
	ev, ok, err := store.LastOf(tx, path, after)
	if err != nil || !ok {
		return last, after, err
	}
	if err := json.Unmarshal([]byte(ev.Data), &last); err != nil {
		return last, 0, fmt.Errorf("read event %d: %w", ev.Seq, err)
	}
	return last, ev.Seq, nil
}
