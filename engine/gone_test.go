package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core/run"
	"waybill/engine"
	"waybill/plan"
	"waybill/store"
)

// requireItemGone asserts that each engine reports the item of a run as gone, repeatedly.
func requireItemGone(t *testing.T, id string, sites ...*runFixture) {
	t.Helper()
	for range 2 {
		for i, f := range sites {
			require.Equal(t, &plan.ItemError{Plan: "tasks.md", ItemID: "1"}, f.look(id).Gone, "process %d", i)
		}
	}
}

// A missing item is stored before it is answered, so that a crash cannot lose it.
func TestMissingItemIsStoredBeforeItIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plans := planFixtureAt(t, t.TempDir())
		st, stored := newHookedStore(t), make(chan struct{})
		var holding atomic.Bool
		st.before = func(int) error {
			if holding.Load() {
				<-stored
			}
			return nil
		}
		f := newRunFixture(t, st, plans)
		f.write("tasks.md", twoItems, time.Hour)
		id := f.begin("1").ID
		f.write("tasks.md", "- [ ] 2. Second\n- [ ] 3. Third\n", time.Minute)
		holding.Store(true)
		told := make(chan engine.RunView, 1)
		go func() { // ends when it has peeked
			v, _ := f.Peek(t.Context(), id)
			told <- v
		}()
		synctest.Wait()
		require.Empty(t, told, "told before it was stored")
		close(stored)
		v := <-told
		require.Error(t, v.Gone)
		require.True(t, v.Rebuilt)
		f.remove()
		requireItemGone(t, id, newRunFixture(t, st, plans.secondReader(t)))
	})
}

// Peek returns changed facts at once, even if the store accepts no writes.
func TestPeekWaitsForNothingButThatAnItemIsGone(t *testing.T) {
	st, plans := newHookedStore(t), newPlanFixture(t)
	free := make(chan struct{})
	var refusing atomic.Bool
	st.before = func(int) error {
		if !refusing.Load() {
			return nil
		}
		<-free
		return &store.Error{Kind: store.ReadOnly, Message: "read only"}
	}
	f := newRunFixture(t, st, plans)
	f.write("tasks.md", twoItems, time.Hour)
	id := f.begin("1").ID
	f.write("tasks.md", threeItems, time.Hour)
	refusing.Store(true)
	v, err := f.Peek(t.Context(), id)
	close(free)
	require.NoError(t, err)
	require.Equal(t, 3, v.Progress.Totals.Total)
	f.write("tasks.md", "- [ ] 2. Second\n", time.Hour)
	v, err = f.Peek(t.Context(), id)
	require.NoError(t, err)
	require.Error(t, v.Gone)
	require.Equal(t, run.Running, v.Run.State)
}

// Without an earlier reading, the caller waits until the file has settled.
func TestPlanThatMayBeHalfWrittenIsGivenAMomentByWhoReadsItFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newHookedStore(t)
		f := newRunFixture(t, st, planFixtureAt(t, t.TempDir()))
		f.write("tasks.md", threeItems, time.Hour)
		f.begin("1")
		f.write("tasks.md", "- [ ] 2. Second\n", 0) // without the item of the run
		began := time.Now()
		plan, err := newRunFixture(t, st, f.secondReader(t)).Plan(t.Context(), "tasks.md")
		require.NoError(t, err)
		require.Equal(t, 1, plan.Reading.Len())
		require.Equal(t, 150*time.Millisecond, time.Since(began))

		f.write("tasks.md", "", 0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err = newRunFixture(t, st, f.secondReader(t)).Plan(ctx, "tasks.md")
		require.Equal(t, &engine.StaleError{Path: "tasks.md", Reason: engine.StaleSettling}, err)
	})
}
