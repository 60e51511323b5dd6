package gate

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"waybill/internal/ownfile"
)

// turnFile is the lock that a hook holds while it runs checks. Two executions of a check at once could break each other, and
// the second hook finds the files green that the first one checked.
const turnFile = "checks.lock"

// turnPause is the time between two looks at the lock.
const turnPause = 20 * time.Millisecond

// takeTurn blocks until no other hook of the workspace runs checks. It reports whether that came in time; otherwise the
// person is told.
func (g *gate) takeTurn(ctx context.Context) (bool, error) {
	if g.turn != nil || g.Store.folder() == "" {
		return true, nil
	}
	if err := g.Store.makeFolder(); err != nil {
		return false, err
	}
	look := time.NewTicker(turnPause)
	defer look.Stop()
	for {
		var err error
		if g.turn, err = ownfile.TryLock(filepath.Join(g.Store.folder(), turnFile)); err != nil || g.turn != nil {
			return err == nil, err
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			if !errors.Is(context.Cause(ctx), ErrLate) {
				return false, ctx.Err()
			}
			const late = "waybill: another hook ran checks for too long, so their outcome is not known here: waybill check runs them"
			if !slices.Contains(g.person, late) {
				g.person = append(g.person, late)
			}
			return false, nil
		}
	}
}

// endTurn lets the next hook run checks.
func (g *gate) endTurn() {
	if g.turn != nil {
		_ = g.turn.Close()
		g.turn = nil
	}
}
