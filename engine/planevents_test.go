package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/engine"
	"waybill/store"
)

const threeItems = twoItems + "- [ ] 3. Third\n"

// read reads tasks.md, which may be missing.
func (f *runFixture) read() { _, _ = f.Plan(f.t.Context(), "tasks.md") }

// remove removes tasks.md.
func (f *runFixture) remove() {
	f.t.Helper()
	require.NoError(f.t, os.Remove(filepath.Join(f.dir, "tasks.md")))
}

// records returns the ledger.changed events of tasks.md: the changed items, or "unseen", "gone" or the problem.
func (f *runFixture) records() []string {
	f.t.Helper()
	list := []string{}
	for _, ev := range events(f.t, f.Engine) {
		if ev.Type != core.LedgerChanged {
			continue
		}
		var data engine.LedgerEvent
		require.NoError(f.t, json.Unmarshal([]byte(ev.Data), &data))
		require.NotNil(f.t, data.Changed)
		switch {
		case data.Gone:
			require.Empty(f.t, data.Changed)
			list = append(list, "gone")
		case data.Stale != "":
			require.Empty(f.t, data.Changed)
			require.False(f.t, data.Unseen)
			list = append(list, data.Stale+": "+data.StaleReason)
		case data.Unseen:
			require.Empty(f.t, data.Changed)
			list = append(list, "unseen")
		default:
			list = append(list, fmt.Sprint(data.Changed))
		}
	}
	return list
}

// An edit made while no process ran is recorded by the next one.
func TestEditBetweenProcessesIsRecorded(t *testing.T) {
	st, plans := newHookedStore(t), newPlanFixture(t)
	f := newRunFixture(t, st, plans)
	for _, text := range []string{twoItems, threeItems} {
		f.write("tasks.md", text, time.Hour)
		f.read()
	}
	f.write("tasks.md", twoItems, time.Hour)
	next, third := newRunFixture(t, st, plans.secondReader(t)), newRunFixture(t, st, plans.secondReader(t))
	for range 2 {
		next.read()
		third.read()
	}
	require.Equal(t, []string{"[3]", "unseen"}, next.records())
	f.write("tasks.md", threeItems, time.Hour)
	next.read()
	require.Equal(t, []string{"[3]", "unseen", "[3]"}, next.records())
}

// The event log has no record of the plan, but the facts of its run know it.
func TestEditBetweenProcessesIsRecordedIfOnlyARunKnowsThePlan(t *testing.T) {
	for name, look := range map[string]func(f *runFixture, id string){
		"plan": func(f *runFixture, _ string) { f.read() },
		"run":  func(f *runFixture, id string) { f.look(id) },
		"run whose item is gone": func(f *runFixture, id string) {
			f.write("tasks.md", "- [ ] 9. Another\n", time.Hour)
			f.look(id)
		},
	} {
		t.Run(name, func(t *testing.T) {
			st, plans := newHookedStore(t), newPlanFixture(t)
			f := newRunFixture(t, st, plans)
			f.write("tasks.md", twoItems, time.Hour)
			id := f.begin("2").ID
			same := newRunFixture(t, st, plans.secondReader(t))
			look(same, id)
			if name != "run whose item is gone" {
				require.Empty(t, same.records())
			}
			f.write("tasks.md", threeItems, time.Hour)
			next := newRunFixture(t, st, plans.secondReader(t))
			look(next, id)
			look(next, id)
			require.Equal(t, []string{"unseen"}, next.records())
		})
	}
}

func TestFirstReadingOfAPlanIsNoChange(t *testing.T) {
	f := newRunFixture(t, newHookedStore(t), newPlanFixture(t))
	f.write("tasks.md", twoItems, time.Hour)
	f.write("other.md", twoItems, time.Hour)
	f.begin("1")
	_, err := f.Plan(t.Context(), "other.md")
	require.NoError(t, err)
	require.Empty(t, f.records())
}

func TestPlanThatVanishesIsRecordedOnceAndAgainWhenItComesBack(t *testing.T) {
	st, plans := newHookedStore(t), newPlanFixture(t)
	f := newRunFixture(t, st, plans)
	f.write("tasks.md", twoItems, time.Hour)
	f.read()
	other := newRunFixture(t, st, plans.secondReader(t))
	other.read()
	f.remove()
	look := func() {
		for range 3 {
			f.read()
			other.read()
		}
	}
	look()
	require.Empty(t, f.records(), "an editor may be about to write it anew")
	f.advance(150 * time.Millisecond)
	look()
	require.Equal(t, []string{"gone"}, f.records())
	f.write("tasks.md", twoItems, time.Hour)
	look()
	require.Equal(t, []string{"gone", "[]"}, f.records())
	f.remove()
	look()
	f.advance(150 * time.Millisecond)
	look()
	f.write("tasks.md", threeItems, time.Hour)
	look()
	require.Equal(t, []string{"gone", "[]", "gone", "[3]"}, f.records())
}

// An editor removes the file and writes it again.
func TestPlanThatIsGoneForAMomentIsNotRecorded(t *testing.T) {
	f := newRunFixture(t, newHookedStore(t), newPlanFixture(t))
	f.write("tasks.md", twoItems, time.Hour)
	f.read()
	f.remove()
	f.read()
	f.write("tasks.md", threeItems, time.Hour)
	f.read()
	f.advance(time.Second)
	f.read()
	require.Equal(t, []string{"[3]"}, f.records())
}

// A plan removed while no process ran is recorded by the next one.
func TestPlanRemovedBetweenProcessesIsRecorded(t *testing.T) {
	st, plans := newHookedStore(t), newPlanFixture(t)
	f := newRunFixture(t, st, plans)
	f.write("tasks.md", twoItems, time.Hour)
	id := f.begin("1").ID
	f.remove()
	next := newRunFixture(t, st, plans.secondReader(t))
	require.Equal(t, engine.StaleRebuild, next.look(id).Fallback)
	f.advance(time.Second)
	next.look(id)
	next.look(id)
	require.Equal(t, []string{"gone"}, next.records())
	require.Equal(t, []string{"tasks.md"}, next.Known())
	f.write("tasks.md", threeItems, time.Hour)
	require.True(t, next.look(id).Rebuilt)
	require.Equal(t, []string{"gone", "unseen"}, next.records())
}

func TestFollowRecordsAPlanThatVanishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLiveFixture(t)
		f.write("tasks.md", twoItems, time.Hour)
		wake := startFollow(t, f)
		f.remove()
		wake("tasks.md")
		require.Empty(t, f.records())
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, []string{"gone"}, f.records())
	})
}

// Rapid edits must not queue one write each.
func TestRapidEditsDoNotPileUp(t *testing.T) {
	const edits = 100
	st := newHookedStore(t)
	f := newRunFixture(t, st, newPlanFixture(t))
	f.write("tasks.md", twoItems, time.Hour)
	id := f.begin("1").ID
	release := blockEngine(t, f.Engine)
	for i := range edits {
		f.write("tasks.md", fmt.Sprintf("%s- [ ] 3. Version %d\n", twoItems, i), time.Hour)
		v, err := f.Peek(t.Context(), id)
		require.NoError(t, err)
		require.True(t, v.Rebuilt)
		again, err := f.Peek(t.Context(), id)
		require.NoError(t, err)
		require.False(t, again.Rebuilt, "somebody stores it already")
	}
	release()
	v := f.look(id) // waits for what is on its way
	require.LessOrEqual(t, v.Run.Revision, int64(3), "the first reading and the last one")
	require.LessOrEqual(t, len(f.records()), 2)
	var final engine.LedgerEvent
	for _, ev := range events(t, f.Engine) {
		if ev.Type == core.LedgerChanged {
			require.NoError(t, json.Unmarshal([]byte(ev.Data), &final))
		}
	}
	require.Equal(t, v.Progress.Fingerprint.Hash, final.Hash, "the last state was lost")
}

// A slowViewStore holds back the first View that reads a run after arm.
type slowViewStore struct {
	*hookedStore
	armed      atomic.Bool
	read, free chan struct{} // closed by that View, and by the test
}

func (h *slowViewStore) View(ctx context.Context, fn func(store.Tx) error) error {
	var runs atomic.Int64
	err := h.hookedStore.View(ctx, func(tx store.Tx) error { return fn(countedRuns{tx, &runs}) })
	if runs.Load() > 0 && h.armed.CompareAndSwap(true, false) {
		close(h.read)
		<-h.free
	}
	return err
}

// A slow view put the older run back into the cache, and said that it had rebuilt the facts once more.
func TestSlowViewDoesNotReplaceANewerRun(t *testing.T) {
	st := &slowViewStore{hookedStore: newHookedStore(t), read: make(chan struct{}), free: make(chan struct{})}
	f := newRunFixture(t, st, newPlanFixture(t))
	f.write("tasks.md", twoItems, time.Hour)
	id := f.begin("1").ID
	f.write("tasks.md", twoItems+"- [ ] 3. Third\n", time.Minute)
	st.armed.Store(true)
	rebuilt := make(chan bool, 1)
	go func() { // ends when free is closed
		v, err := f.Peek(context.Background(), id)
		rebuilt <- v.Rebuilt || err != nil
	}()
	<-st.read
	require.True(t, f.look(id).Rebuilt)
	close(st.free)
	require.False(t, <-rebuilt)
	require.EqualValues(t, 2, f.look(id).Run.Revision)
}

// The plan changes back while the first change is being stored.
func TestPlanThatTurnsBackWhileItIsStoredIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLiveFixture(t)
		f.write("tasks.md", twoItems, time.Hour)
		id := f.begin("1").ID
		release := blockEngine(t, f.Engine)
		f.write("tasks.md", threeItems, time.Hour)
		_, err := f.Peek(t.Context(), id)
		require.NoError(t, err)
		f.write("tasks.md", twoItems, time.Hour)
		f.read()
		release()
		synctest.Wait()
		require.Equal(t, []string{"[3]", "[3]"}, f.records())
	})
}
