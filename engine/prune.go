package engine

import (
	"context"
	"errors"
	"time"

	"waybill/core"
)

const (
	// pruneEvery is how many puts pass between two looks for things that nobody waits for.
	pruneEvery = 5000
	// pruneBatch bounds what one change removes, so that nobody waits long behind it.
	pruneBatch = 500
	// keepFor is how long things that nobody waits for are kept.
	keepFor = 30 * 24 * time.Hour
)

// tidy looks for things that are older than the engine keeps them, once the store was opened and
// then every pruneEvery puts.
func (e *Engine) tidy(writes int) {
	e.mu.Lock()
	e.untidy -= writes
	due := e.untidy <= 0
	if due {
		e.untidy = pruneEvery
	}
	e.mu.Unlock()
	if due {
		e.prune()
	}
}

func (e *Engine) prune() {
	before := core.Instant(e.o.Now().Add(-keepFor).UnixMicro())
	apply := func(tx *Tx) (any, error) { return tx.Prune(before, pruneBatch) }
	e.Submit(context.Background(), Change{Apply: apply}, func(removed any, err error) {
		switch {
		case errors.Is(err, ErrStopped): // the next process does it
		case err != nil:
			e.o.Logger.Warn("old records were not removed", "err", err)
		case removed.(int) >= pruneBatch:
			e.prune()
		}
	})
}
