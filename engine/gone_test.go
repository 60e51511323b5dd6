package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/engine"
	"waybill/ledger"
	"waybill/store"
)

// isGone asserts that each process says of a run that its item is gone, however often it is asked.
func isGone(t *testing.T, id string, sites ...*site) {
	t.Helper()
	for range 2 {
		for i, s := range sites {
			require.Equal(t, &ledger.ItemError{Plan: "tasks.md", ItemID: "1"}, s.look(id).Gone, "process %d", i)
		}
	}
}

// The defect: of two processes, the one that had missed an edit went on with what it had read before, because the
// file that took the place of the plan had an older time.
func TestItemThatIsGoneStaysGoneWhateverTheTimeOfTheFile(t *testing.T) {
	for name, ago := range map[string]time.Duration{"older": time.Hour, "as old": time.Minute, "newer": time.Second} {
		t.Run(name, func(t *testing.T) {
			st, d := watch(), newDesk(t)
			asleep, awake := newSite(t, st, d), newSite(t, st, d.another(t))
			d.write("tasks.md", twoItems, time.Minute)
			id := asleep.begin("1").ID
			require.Nil(t, asleep.look(id).Gone)
			require.Nil(t, awake.look(id).Gone)
			d.write("tasks.md", "- [ ] 2. Second\n- [ ] 3. Third\n", ago)
			isGone(t, id, awake)
			asleep.remove()
			isGone(t, id, asleep, awake, newSite(t, st, d.another(t)))
		})
	}
}

// What another process has read later counts, also where it is the older text once more.
func TestItemThatCameBackIsThereForAProcessThatMissedIt(t *testing.T) {
	st, d := watch(), newDesk(t)
	asleep, awake := newSite(t, st, d), newSite(t, st, d.another(t))
	d.write("tasks.md", twoItems, time.Minute)
	id := asleep.begin("1").ID
	d.write("tasks.md", "- [ ] 2. Second\n", time.Hour)
	isGone(t, id, asleep, awake)
	d.write("tasks.md", threeItems, 2*time.Hour)
	require.Equal(t, 3, awake.look(id).Progress.Totals.Total)
	asleep.remove()
	for range 2 {
		for _, s := range []*site{asleep, awake, newSite(t, st, d.another(t))} {
			v := s.look(id)
			require.NoError(t, v.Gone)
			require.Equal(t, 3, v.Progress.Totals.Total)
			require.False(t, v.Rebuilt)
		}
	}
}

// A process has read a plan while nobody asked about its run, and then the plan cannot be read: what it read is what
// the plan said last, for all.
func TestItemThatIsGoneIsGoneForAllAlsoIfThePlanWasReadForSomethingElse(t *testing.T) {
	st, d := watch(), newDesk(t)
	asleep, awake := newSite(t, st, d), newSite(t, st, d.another(t))
	d.write("tasks.md", twoItems, time.Minute)
	id := asleep.begin("1").ID
	require.Nil(t, awake.look(id).Gone)
	d.write("tasks.md", "- [ ] 2. Second\n", time.Hour)
	_, err := awake.Plan(t.Context(), "tasks.md")
	require.NoError(t, err)
	asleep.remove()
	isGone(t, id, awake, asleep, newSite(t, st, d.another(t)))
}

// The item was gone before anybody could record it, and then so was the file. Another process recorded that meanwhile,
// with what the plan had said before that.
func TestItemThatIsGoneStaysGoneIfTheFileGoesBeforeThatIsStored(t *testing.T) {
	st, d := watch(), newDesk(t)
	slow, quick := newSite(t, st, d), newSite(t, st, d.another(t))
	d.write("tasks.md", twoItems, time.Minute)
	id := slow.begin("1").ID
	d.write("tasks.md", threeItems, time.Minute)
	for _, s := range []*site{slow, quick} {
		require.Nil(t, s.look(id).Gone)
	}
	d.write("tasks.md", "- [ ] 2. Second\n", time.Hour)
	storing := st.number() + 1
	st.before = func(n int) error {
		if n == storing {
			slow.remove()
			lookAll(quick)
			d.pass(time.Second)
			lookAll(quick)
		}
		return nil
	}
	isGone(t, id, slow, quick, newSite(t, st, d.another(t)))
	require.Equal(t, []string{"[3]", "gone", "gone"}, slow.records(), "the second has what the plan said last")
}

// The defect: that an item is gone was answered before it was stored. Killed at once, the process left facts behind
// from which the next one, which could not read the file, made a prompt for the item.
func TestItemThatIsGoneIsStoredBeforeAnybodyIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := deskAt(t, t.TempDir())
		st, stored := watch(), make(chan struct{})
		var holding atomic.Bool
		st.before = func(int) error {
			if holding.Load() {
				<-stored
			}
			return nil
		}
		s := newSite(t, st, d)
		s.write("tasks.md", twoItems, time.Hour)
		id := s.begin("1").ID
		s.write("tasks.md", "- [ ] 2. Second\n- [ ] 3. Third\n", time.Minute)
		holding.Store(true)
		told := make(chan engine.RunView, 1)
		go func() { // ends when it has peeked
			v, _ := s.Peek(t.Context(), id)
			told <- v
		}()
		synctest.Wait()
		require.Empty(t, told, "told before it was stored")
		close(stored)
		v := <-told
		require.Error(t, v.Gone)
		require.True(t, v.Rebuilt)
		s.remove()
		isGone(t, id, newSite(t, st, d.another(t)))
	})
}

// What is only news is told at once, and a store that takes no writes keeps nobody from being told.
func TestPeekWaitsForNothingButThatAnItemIsGone(t *testing.T) {
	st, d := watch(), newDesk(t)
	free := make(chan struct{})
	var refusing atomic.Bool
	st.before = func(int) error {
		if !refusing.Load() {
			return nil
		}
		<-free
		return &store.Error{Kind: store.ReadOnly, Message: "read only"}
	}
	s := newSite(t, st, d)
	s.write("tasks.md", twoItems, time.Hour)
	id := s.begin("1").ID
	s.write("tasks.md", threeItems, time.Hour)
	refusing.Store(true)
	v, err := s.Peek(t.Context(), id)
	close(free)
	require.NoError(t, err)
	require.Equal(t, 3, v.Progress.Totals.Total)
	s.write("tasks.md", "- [ ] 2. Second\n", time.Hour)
	v, err = s.Peek(t.Context(), id)
	require.NoError(t, err)
	require.Error(t, v.Gone)
	require.Equal(t, core.RunRunning, v.Run.State)
}

// The defect: a process that had not read the plan yet believed the half of it that an editor had written, and stored
// that for all others: the item was gone, also if the editor never came to write the rest.
func TestFaultF8_HalfWrittenPlanIsNotBelievedByAProcessThatReadsItFirst(t *testing.T) {
	for name, recorded := range map[string]bool{"known by its run": false, "known by the log": true} {
		t.Run(name, func(t *testing.T) {
			st, d := watch(), newDesk(t)
			s := newSite(t, st, d)
			s.write("tasks.md", twoItems, time.Hour)
			id := s.begin("1").ID
			records := []string{}
			if recorded {
				s.write("tasks.md", threeItems, time.Minute)
				require.True(t, s.look(id).Rebuilt)
				records = append(records, "[3]")
			}
			s.write("tasks.md", "- [ ] 2. Second\n", 0)
			for _, s := range []*site{newSite(t, st, d.another(t)), s} {
				v := s.look(id)
				require.NoError(t, v.Gone)
				require.Equal(t, engine.StaleSettling, v.Fallback)
				require.Equal(t, "First", v.Progress.CurrentItem.Title)
			}
			s.remove() // the editor died
			for _, s := range []*site{newSite(t, st, d.another(t)), s} {
				require.NoError(t, s.look(id).Gone)
			}
			s.write("tasks.md", "- [ ] 2. Second\n", 0)
			next := newSite(t, st, d.another(t))
			require.NoError(t, next.look(id).Gone)
			d.pass(150 * time.Millisecond)
			isGone(t, id, next, s)
			require.Len(t, s.records(), len(records)+1)

			s.write("tasks.md", threeItems, time.Minute)
			require.NoError(t, s.look(id).Gone)
			for before, spoil := range map[string]func(){engine.StaleRebuild: s.remove, engine.StaleEmpty: func() { s.write("tasks.md", "", time.Minute) }} {
				spoil()
				next := newSite(t, st, d.another(t)) // has never read it
				require.Equal(t, before, next.look(id).Fallback)
				s.write("tasks.md", "- [ ] 1.", 0)
				v := next.look(id)
				require.NoError(t, v.Gone)
				require.Equal(t, "First", v.Progress.CurrentItem.Title)
				require.Equal(t, engine.StaleSettling, v.Fallback)
			}
		})
	}
}

// What has as many items as were known, and what nobody works at, is believed at once.
func TestFreshPlanIsBelievedByAProcessThatReadsItFirst(t *testing.T) {
	st, d := watch(), newDesk(t)
	s := newSite(t, st, d)
	s.write("tasks.md", twoItems, time.Hour)
	_, err := s.Plan(t.Context(), "tasks.md")
	require.NoError(t, err)
	s.write("tasks.md", "- [ ] 1. First\n", 0)
	plan, err := newSite(t, st, d.another(t)).Plan(t.Context(), "tasks.md")
	require.NoError(t, err)
	require.Equal(t, 1, plan.Reading.Len(), "there is no run of it")

	s.write("tasks.md", twoItems, time.Hour)
	id := s.begin("1").ID
	s.write("tasks.md", "- [ ] 2. Second\n- [ ] 3. Third\n", 0)
	isGone(t, id, newSite(t, st, d.another(t)))
}

// Who has nothing to go on with but the file is told what it says once it has settled.
func TestPlanThatMayBeHalfWrittenIsGivenAMomentByWhoReadsItFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := watch()
		s := newSite(t, st, deskAt(t, t.TempDir()))
		s.write("tasks.md", threeItems, time.Hour)
		s.begin("1")
		s.write("tasks.md", "- [ ] 2. Second\n", 0) // without the item of the run
		began := time.Now()
		plan, err := newSite(t, st, s.another(t)).Plan(t.Context(), "tasks.md")
		require.NoError(t, err)
		require.Equal(t, 1, plan.Reading.Len())
		require.Equal(t, 150*time.Millisecond, time.Since(began))

		s.write("tasks.md", "", 0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err = newSite(t, st, s.another(t)).Plan(ctx, "tasks.md")
		require.Equal(t, &engine.StaleError{Path: "tasks.md", Reason: engine.StaleSettling}, err)
	})
}
