package engine

import (
	"cmp"
	"context"
	"slices"

	"waybill/core"
	"waybill/ledger"
	"waybill/store"
)

// This file finds out what was known of a plan before this process read it: by the event log, and by its runs.

// logged is what the event log says about a plan.
type logged struct {
	LedgerEvent
	seq  int64           // up to here, the log holds nothing newer about the plan
	base *ledger.Reading // has that hash, or is the last before it that this process read; nil if it read none
	own  bool            // it is what this process has read itself, and no news for it
	era  int64           // of Plans, when the log was asked; of another one it says nothing
}

// said asks the event log what it says about a plan. The hash is empty if it says nothing.
func (e *Engine) said(ctx context.Context, path string) (l logged, err error) {
	l.era = e.o.Plans.era.Load()
	err = e.View(ctx, func(tx store.Tx) error {
		if _, l.seq, err = tx.Bounds(); err != nil {
			return err
		}
		l.LedgerEvent, _, err = lastLedger(tx, path, 0)
		return err
	})
	return l, err
}

// remembered gives the hash of the plan that the facts of its runs were read from, for a plan that
// the event log says nothing about: that of the reading if one of them has it, else that of another
// one, and nothing if there is no run.
func (e *Engine) remembered(ctx context.Context, path string, r *ledger.Reading, facts []ledger.Fact) (hash string, err error) {
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

// itemsToAsk gives the items whose runs may know the plan: those that it has, and for a blank one, which may have
// been emptied, those that it had.
func itemsToAsk(tx store.Tx, path string, r *ledger.Reading) (ids []string, err error) {
	if r.Len() > 0 {
		ids = slices.Collect(r.IDs())
	}
	runs, err := tx.LatestRuns(path)
	for _, run := range runs {
		ids = append(ids, run.ItemID)
	}
	return ids, err
}

// itemsOnRecord gives how many items a plan had, by the given facts of a run of it or else by those of its run that
// changed last; 0 if there is none.
func (e *Engine) itemsOnRecord(ctx context.Context, path string, facts []ledger.Fact) (items int, err error) {
	if facts == nil {
		err = e.View(ctx, func(tx store.Tx) error {
			runs, err := tx.LatestRuns(path)
			if err != nil || len(runs) == 0 {
				return err
			}
			last := slices.MaxFunc(runs, func(a, b core.Run) int { return cmp.Compare(a.UpdatedAt, b.UpdatedAt) })
			of, err := tx.Facts(last.ID)
			facts = loaded(of)
			return err
		})
	}
	known, damaged := ledger.ParseProgressFacts(facts)
	if err != nil || damaged != nil {
		return 0, err // who looks at the run is told of the damage
	}
	return known.Totals.Total + known.Totals.Groups, nil
}

func noRuns(tx store.Tx) (bool, error) {
	counts, err := tx.RunCounts()
	for _, n := range counts {
		if n > 0 {
			return false, err
		}
	}
	return true, err
}

// sourceOfRun gives the hash of the plan that the facts of an item's latest run were read from.
func sourceOfRun(tx store.Tx, path, itemID string) (string, error) {
	run, ok, err := tx.LatestRun(path, itemID)
	if err != nil || !ok {
		return "", err
	}
	facts, err := tx.Facts(run.ID)
	return ledger.SourceHash(loaded(facts)), err
}
