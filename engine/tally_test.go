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

func counted(t *testing.T, e *engine.Engine, n int64) {
	t.Helper()
	for _, run := range []string{"run_1", ""} {
		counts, err := e.Tallies(t.Context(), run)
		require.NoError(t, err)
		require.Equal(t, n, counts[engine.TallyPrompts], "of %q", run)
	}
}

// The defect: while counts were on their way to the store they were in no sum, which so went back and forth.
func TestCountsThatAreOnTheirWayToTheStoreAreInTheSums(t *testing.T) {
	for _, committed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			free := make(chan struct{})
			st := prompted(t, "run_1")
			if committed {
				st.after = func(int) { <-free }
			} else {
				st.before = func(int) error { <-free; return nil }
			}
			e := start(t, st)
			one := store.Tally{Name: engine.TallyPrompts, N: 1}
			e.Tally("run_1", one)
			counted(t, e, 1)
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
			counted(t, e, 2)
		})
	}
}

// A store that is slow to give what it has read.
type slowToGive struct {
	*watched
	slow atomic.Bool // the next time
}

func (s *slowToGive) View(ctx context.Context, fn func(store.Tx) error) error {
	err := s.watched.View(ctx, fn)
	if s.slow.CompareAndSwap(true, false) {
		time.Sleep(2 * time.Second)
		synctest.Wait()
	}
	return err
}

// Counts go on their way after the store was read for the sums, and before they are given: it is read again.
func TestCountsThatGoTheirWayWhileTheStoreIsReadAreInTheSumsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &slowToGive{watched: prompted(t, "run_1")}
		e := start(t, st)
		counted(t, e, 0)
		e.Tally("run_1", store.Tally{Name: engine.TallyPrompts, N: 5})
		st.slow.Store(true)
		counted(t, e, 5)
		require.False(t, st.slow.Load())
	})
}

// The defect: counts that the store refused were lost.
func TestCountsThatTheStoreRefusesAreKept(t *testing.T) {
	for _, kind := range []store.Kind{store.Full, store.ReadOnly, store.IO} {
		synctest.Test(t, func(t *testing.T) {
			st := prompted(t, "run_1")
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
			counted(t, e, 2)
			tally()
			counted(t, e, 4)
			refused = false
			tally()
			counted(t, e, 6)
			time.Sleep(time.Minute)
			require.NoError(t, e.View(t.Context(), func(tx store.Tx) error {
				list, err := tx.Tallies("run_1")
				require.Equal(t, []store.Tally{{Name: engine.TallyPrompts, N: 6}}, list)
				return err
			}))
			refused, outcome = true, store.Unknown
			tally()
			counted(t, e, 6) // they may be stored, and none is counted twice
		})
	}
}
