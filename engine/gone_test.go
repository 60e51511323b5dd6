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

// A process that missed an edit must not prefer its older reading because the new file has an older time.
func TestItemThatIsGoneStaysGoneWhateverTheTimeOfTheFile(t *testing.T) {
	for name, ago := range map[string]time.Duration{"older": time.Hour, "as old": time.Minute, "newer": time.Second} {
		t.Run(name, func(t *testing.T) {
			st, plans := newHookedStore(t), newPlanFixture(t)
			asleep, awake := newRunFixture(t, st, plans), newRunFixture(t, st, plans.secondReader(t))
			plans.write("tasks.md", twoItems, time.Minute)
			id := asleep.begin("1").ID
			require.Nil(t, asleep.look(id).Gone)
			require.Nil(t, awake.look(id).Gone)
			plans.write("tasks.md", "- [ ] 2. Second\n- [ ] 3. Third\n", ago)
			requireItemGone(t, id, awake)
			asleep.remove()
			requireItemGone(t, id, asleep, awake, newRunFixture(t, st, plans.secondReader(t)))
		})
	}
}

// The reading recorded last counts, even if it equals an older one.
func TestItemThatCameBackIsThereForAProcessThatMissedIt(t *testing.T) {
	st, plans := newHookedStore(t), newPlanFixture(t)
	asleep, awake := newRunFixture(t, st, plans), newRunFixture(t, st, plans.secondReader(t))
	plans.write("tasks.md", twoItems, time.Minute)
	id := asleep.begin("1").ID
	plans.write("tasks.md", "- [ ] 2. Second\n", time.Hour)
	requireItemGone(t, id, asleep, awake)
	plans.write("tasks.md", threeItems, 2*time.Hour)
	require.Equal(t, 3, awake.look(id).Progress.Totals.Total)
	asleep.remove()
	for range 2 {
		for _, f := range []*runFixture{asleep, awake, newRunFixture(t, st, plans.secondReader(t))} {
			v := f.look(id)
			require.NoError(t, v.Gone)
			require.Equal(t, 3, v.Progress.Totals.Total)
			require.False(t, v.Rebuilt)
		}
	}
}

// A reading that was made for another call counts as the last one once the plan is unreadable.
func TestItemThatIsGoneIsGoneForAllAlsoIfThePlanWasReadForSomethingElse(t *testing.T) {
	st, plans := newHookedStore(t), newPlanFixture(t)
	asleep, awake := newRunFixture(t, st, plans), newRunFixture(t, st, plans.secondReader(t))
	plans.write("tasks.md", twoItems, time.Minute)
	id := asleep.begin("1").ID
	require.Nil(t, awake.look(id).Gone)
	plans.write("tasks.md", "- [ ] 2. Second\n", time.Hour)
	_, err := awake.Plan(t.Context(), "tasks.md")
	require.NoError(t, err)
	asleep.remove()
	requireItemGone(t, id, awake, asleep, newRunFixture(t, st, plans.secondReader(t)))
}

// The item and then the file disappear before the first change is recorded.
func TestItemThatIsGoneStaysGoneIfTheFileGoesBeforeThatIsStored(t *testing.T) {
	st, plans := newHookedStore(t), newPlanFixture(t)
	slow, quick := newRunFixture(t, st, plans), newRunFixture(t, st, plans.secondReader(t))
	plans.write("tasks.md", twoItems, time.Minute)
	id := slow.begin("1").ID
	plans.write("tasks.md", threeItems, time.Minute)
	for _, f := range []*runFixture{slow, quick} {
		require.Nil(t, f.look(id).Gone)
	}
	plans.write("tasks.md", "- [ ] 2. Second\n", time.Hour)
	storing := st.number() + 1
	st.before = func(n int) error {
		if n == storing {
			slow.remove()
			lookAll(quick)
			plans.advance(time.Second)
			lookAll(quick)
		}
		return nil
	}
	requireItemGone(t, id, slow, quick, newRunFixture(t, st, plans.secondReader(t)))
	require.Equal(t, []string{"[3]", "gone", "gone"}, slow.records(), "the second has what the plan said last")
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

// A process whose first reading is half-written must not store it.
func TestHalfWrittenPlanIsNotBelievedByAProcessThatReadsItFirst(t *testing.T) {
	for name, recorded := range map[string]bool{"known by its run": false, "known by the log": true} {
		t.Run(name, func(t *testing.T) {
			st, plans := newHookedStore(t), newPlanFixture(t)
			f := newRunFixture(t, st, plans)
			f.write("tasks.md", twoItems, time.Hour)
			id := f.begin("1").ID
			records := []string{}
			if recorded {
				f.write("tasks.md", threeItems, time.Minute)
				require.True(t, f.look(id).Rebuilt)
				records = append(records, "[3]")
			}
			f.write("tasks.md", "- [ ] 2. Second\n", 0)
			for _, f := range []*runFixture{newRunFixture(t, st, plans.secondReader(t)), f} {
				v := f.look(id)
				require.NoError(t, v.Gone)
				require.Equal(t, engine.StaleSettling, v.Fallback)
				require.Equal(t, "First", v.Progress.CurrentItem.Title)
			}
			f.remove() // the editor died
			for _, f := range []*runFixture{newRunFixture(t, st, plans.secondReader(t)), f} {
				require.NoError(t, f.look(id).Gone)
			}
			f.write("tasks.md", "- [ ] 2. Second\n", 0)
			next := newRunFixture(t, st, plans.secondReader(t))
			require.NoError(t, next.look(id).Gone)
			plans.advance(150 * time.Millisecond)
			requireItemGone(t, id, next, f)
			require.Len(t, f.records(), len(records)+1)

			f.write("tasks.md", threeItems, time.Minute)
			require.NoError(t, f.look(id).Gone)
			for before, damage := range map[string]func(){engine.StaleRebuild: f.remove, engine.StaleEmpty: func() { f.write("tasks.md", "", time.Minute) }} {
				damage()
				next := newRunFixture(t, st, plans.secondReader(t)) // has never read it
				require.Equal(t, before, next.look(id).Fallback)
				f.write("tasks.md", "- [ ] 1.", 0)
				v := next.look(id)
				require.NoError(t, v.Gone)
				require.Equal(t, "First", v.Progress.CurrentItem.Title)
				require.Equal(t, engine.StaleSettling, v.Fallback)
			}
		})
	}
}

// A first reading with all known items is used at once.
func TestFreshPlanIsBelievedByAProcessThatReadsItFirst(t *testing.T) {
	st, plans := newHookedStore(t), newPlanFixture(t)
	f := newRunFixture(t, st, plans)
	f.write("tasks.md", twoItems, time.Hour)
	_, err := f.Plan(t.Context(), "tasks.md")
	require.NoError(t, err)
	f.write("tasks.md", "- [ ] 1. First\n", 0)
	plan, err := newRunFixture(t, st, plans.secondReader(t)).Plan(t.Context(), "tasks.md")
	require.NoError(t, err)
	require.Equal(t, 1, plan.Reading.Len(), "there is no run of it")

	f.write("tasks.md", twoItems, time.Hour)
	id := f.begin("1").ID
	f.write("tasks.md", "- [ ] 2. Second\n- [ ] 3. Third\n", 0)
	requireItemGone(t, id, newRunFixture(t, st, plans.secondReader(t)))
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
