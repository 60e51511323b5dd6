package engine_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/engine"
	"waybill/store"
)

// bounds gives the numbers of the oldest and the newest event.
func bounds(t *testing.T, e *engine.Engine) (oldest, newest int64) {
	t.Helper()
	require.NoError(t, e.View(t.Context(), func(tx store.Tx) (err error) {
		oldest, newest, err = tx.Bounds()
		return err
	}))
	return oldest, newest
}

func TestWhatNobodyWaitsForIsForgottenInTime(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		const many = 1200 // more than one change removes
		st := watch()
		e := build(t, engine.Options{Open: open(st)})
		stop := run(t, e)
		for i := range many {
			do(t, e, keyed(fmt.Sprint("k", i), "f", queue("s", "old")))
		}
		do(t, e, engine.Change{Apply: func(tx *engine.Tx) (any, error) { return tx.CancelSession("s", "") }})
		do(t, e, tracked("s", "outstanding", 1))
		stop()
		time.Sleep(30*24*time.Hour + time.Second)

		e = build(t, engine.Options{Open: open(st)})
		run(t, e)
		do(t, e, queue("s", "new")) // the first change after the store was opened
		synctest.Wait()
		require.Equal(t, []string{"outstanding", "new"}, contents(t, e))
		oldest, newest := bounds(t, e)
		require.EqualValues(t, 2*many+2, newest)
		require.Equal(t, newest, oldest)
		require.Equal(t, "fresh", do(t, e, keyed("k0", "g", queue("s", "fresh"))), "the old answer is still kept")
	})
}

func TestNothingIsForgottenTooSoon(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		e := start(t, watch())
		do(t, e, keyed("k", "f", queue("s", "x")))
		time.Sleep(29 * 24 * time.Hour)
		for range 5000 { // as many puts as pass between two looks
			do(t, e, queue("s", "y"))
		}
		synctest.Wait()
		oldest, _ := bounds(t, e)
		require.EqualValues(t, 1, oldest)
		require.Equal(t, engine.Replay{JSON: `"x"`}, do(t, e, keyed("k", "f", queue("s", "x"))))
	})
}
