package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/engine"
	"waybill/store"
)

func requireTally(t *testing.T, e *engine.Engine, n int64) {
	t.Helper()
	for _, run := range []string{"run_1", ""} {
		counts, err := e.Tallies(t.Context(), run)
		require.NoError(t, err)
		require.Equal(t, n, counts[engine.TallyPrompts], "of %q", run)
	}
}

// The sums include counts that are being stored.
func TestCountsThatAreOnTheirWayToTheStoreAreInTheSums(t *testing.T) {
	for _, committed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			free := make(chan struct{})
			st := storeWithRuns(t, "run_1")
			if committed {
				st.after = func(int) { <-free }
			} else {
				st.before = func(int) error { <-free; return nil }
			}
			e := start(t, st)
			one := store.Tally{Name: engine.TallyPrompts, N: 1}
			e.Tally("run_1", one)
			requireTally(t, e, 1)
			time.Sleep(time.Second)
			synctest.Wait() // now it is under way
			e.Tally("run_1", one)
			sum := make(chan int64, 1)
			go func() { // ends when it has the sum
				counts, _ := e.Tallies(context.WithoutCancel(t.Context()), "run_1")
				sum <- counts[engine.TallyPrompts]
			}()
			synctest.Wait()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := e.Tallies(ctx, "run_1")
			require.ErrorIs(t, err, context.Canceled)
			waits := len(sum) == 0
			close(free)
			require.True(t, waits, "it was not known yet what is stored")
			require.EqualValues(t, 2, <-sum)
			time.Sleep(2 * time.Second)
			requireTally(t, e, 2)
		})
	}
}

// A slowStore delays the results of reads.
type slowStore struct {
	*hookedStore
	slow atomic.Bool // the next time
}

func (s *slowStore) View(ctx context.Context, fn func(store.Tx) error) error {
	err := s.hookedStore.View(ctx, fn)
	if s.slow.CompareAndSwap(true, false) {
		time.Sleep(2 * time.Second)
		synctest.Wait()
	}
	return err
}

// Counts submitted during a read make it read again.
func TestCountsThatGoTheirWayWhileTheStoreIsReadAreInTheSumsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &slowStore{hookedStore: storeWithRuns(t, "run_1")}
		e := start(t, st)
		requireTally(t, e, 0)
		e.Tally("run_1", store.Tally{Name: engine.TallyPrompts, N: 5})
		st.slow.Store(true)
		requireTally(t, e, 5)
		require.False(t, st.slow.Load())
	})
}

func TestCountsThatTheStoreRefusesAreKept(t *testing.T) {
	for _, kind := range []store.Kind{store.Full, store.ReadOnly, store.IO} {
		synctest.Test(t, func(t *testing.T) {
			st := storeWithRuns(t, "run_1")
			refused, outcome := true, store.NotApplied
			st.before = func(int) error {
				if refused {
					return &store.Error{Kind: kind, Outcome: outcome, Message: "no"}
				}
				return nil
			}
			e := start(t, st)
			tally := func() {
				e.Tally("run_1", store.Tally{Name: engine.TallyPrompts, N: 2})
				time.Sleep(time.Second)
				synctest.Wait()
			}
			tally()
			requireTally(t, e, 2)
			tally()
			requireTally(t, e, 4)
			refused = false
			tally()
			requireTally(t, e, 6)
			time.Sleep(time.Minute)
			require.NoError(t, e.View(t.Context(), func(tx store.Tx) error {
				list, err := tx.Tallies("run_1")
				require.Equal(t, []store.Tally{{Name: engine.TallyPrompts, N: 6}}, list)
				return err
			}))
			refused, outcome = true, store.Unknown
			tally()
			requireTally(t, e, 6) // they may be stored, and none is counted twice
		})
	}
}
