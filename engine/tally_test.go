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

// The sums include counts that are being stored.
func TestCountsThatAreOnTheirWayToTheStoreAreInTheSums(t *testing.T) {
	for _, committed := range []bool{false, true} {
		withPrompts(t, 1, func(t *testing.T, f *promptFixture) {
			free, e := make(chan struct{}), f.e
			if committed {
				f.st.after = func(int) { <-free }
			} else {
				f.st.before = func(int) error { <-free; return nil }
			}
			one := store.Tally{Name: engine.TallyPrompts, N: 1}
			e.Tally("run_0", one)
			f.requireTally(1)
			f.pause() // now it is under way
			e.Tally("run_0", one)
			sum := make(chan int64, 1)
			go func() { // ends when it has the sum
				counts, _ := e.Tallies(context.WithoutCancel(t.Context()), "run_0")
				sum <- counts[engine.TallyPrompts]
			}()
			synctest.Wait()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := e.Tallies(ctx, "run_0")
			require.ErrorIs(t, err, context.Canceled)
			waits := len(sum) == 0
			close(free)
			require.True(t, waits, "it was not known yet what is stored")
			require.EqualValues(t, 2, <-sum)
			time.Sleep(2 * time.Second)
			f.requireTally(2)
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
		st := &slowStore{hookedStore: storeWithRuns(t, 1)}
		f := &promptFixture{t, st.hookedStore, start(t, st)}
		f.requireTally(0)
		f.e.Tally("run_0", store.Tally{Name: engine.TallyPrompts, N: 5})
		st.slow.Store(true)
		f.requireTally(5)
		require.False(t, st.slow.Load())
	})
}

func TestCountsThatTheStoreRefusesAreKept(t *testing.T) {
	for _, kind := range []store.Kind{store.Full, store.ReadOnly, store.IO} {
		withPrompts(t, 1, func(t *testing.T, f *promptFixture) {
			var fault error
			f.st.before = func(int) error { return fault }
			tally := func(want int64) {
				t.Helper()
				f.e.Tally("run_0", store.Tally{Name: engine.TallyPrompts, N: 2})
				f.pause()
				f.requireTally(want)
			}
			fault = &store.Error{Kind: kind, Outcome: store.NotApplied, Message: "no"}
			tally(2)
			tally(4)
			fault = nil
			tally(6)
			time.Sleep(time.Minute)
			require.NoError(t, f.e.View(t.Context(), func(tx store.Tx) error {
				list, err := tx.Tallies("run_0")
				require.Equal(t, []store.Tally{{Name: engine.TallyPrompts, N: 6}}, list)
				return err
			}))
			fault = &store.Error{Kind: kind, Outcome: store.Unknown, Message: "no"}
			tally(6) // they may be stored, and none is counted twice
		})
	}
}
