package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/run"
	"waybill/engine"
	"waybill/plan"
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

// The last record of a plan is found wherever it lies in a long log.
func TestLastRecordOfALongHistoryIsFound(t *testing.T) {
	for name, behind := range map[string]int{"the newest": 0, "one before": 1, "long ago": 3000} {
		t.Run(name, func(t *testing.T) {
			st, plans := newHookedStore(t), newPlanFixture(t)
			f := newRunFixture(t, st, plans)
			f.write("tasks.md", twoItems, time.Hour)
			plan, err := f.Plan(t.Context(), "tasks.md")
			require.NoError(t, err)
			say := func(tx store.Tx, subject, hash string) {
				text, err := json.Marshal(engine.LedgerEvent{Hash: hash, Changed: []string{}})
				require.NoError(t, err)
				_, err = tx.Append(store.Event{Type: core.LedgerChanged, Subject: subject, Data: string(text)})
				require.NoError(t, err)
			}
			history := func(last string) {
				require.NoError(t, st.Update(t.Context(), func(tx store.Tx) error {
					for n := range 1200 {
						say(tx, "other.md", "other")
						say(tx, "tasks.md", fmt.Sprint("hash ", n))
					}
					say(tx, "tasks.md", last)
					for range behind {
						say(tx, "other.md", "other")
					}
					return nil
				}))
			}
			unseen := func() int {
				next := newRunFixture(t, st, plans.secondReader(t))
				next.read()
				return strings.Count(strings.Join(next.records(), " "), "unseen")
			}
			history(plan.Reading.Hash)
			require.Zero(t, unseen(), "it is what was said last")
			history("another")
			require.Equal(t, 1, unseen())
			require.Equal(t, 1, unseen())
		})
	}
}

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

// A newer reading that is not recorded yet counts before an older one that this process recorded.
func TestReadingThatIsStillToBeRecordedLeadsBeforeAnOlderOneOfOurs(t *testing.T) {
	st := newHookedStore(t)
	f := newRunFixture(t, st, newPlanFixture(t))
	f.write("tasks.md", twoItems, time.Hour)
	id := f.begin("1").ID
	f.look(id)
	first, second, reached := make(chan struct{}), make(chan struct{}), make(chan struct{})
	recording := st.number() + 1
	st.before = func(n int) error {
		switch n {
		case recording:
			<-first
		case recording + 1:
			close(reached)
			<-second
		}
		return nil
	}
	peek := func() int {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // who believes the record waits for the other one
		defer cancel()
		v, err := f.Peek(ctx, id)
		require.NoError(t, err)
		return v.Progress.Totals.Total
	}
	f.write("tasks.md", threeItems, time.Minute)
	require.Equal(t, 3, peek())
	f.write("tasks.md", threeItems+"- [ ] 4. Fourth\n", time.Minute)
	require.Equal(t, 4, peek())
	close(first)
	<-reached
	f.remove()
	items := peek()
	close(second)
	require.Equal(t, 4, items)
	require.Equal(t, 4, f.look(id).Progress.Totals.Total)
}

// The log can hold a record of this process before this process has heard that it was written.
func TestRecordOfOursThatWasJustWrittenIsNoNewerReading(t *testing.T) {
	st := newHookedStore(t)
	f := newRunFixture(t, st, newPlanFixture(t))
	f.write("tasks.md", twoItems, time.Hour)
	id := f.begin("1").ID
	f.look(id)
	written, heard := make(chan struct{}), make(chan struct{})
	recording := st.number() + 1
	st.after = func(n int) {
		if n == recording {
			close(written)
			<-heard
		}
	}
	peek := func() (items int, err error) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // a view of the older reading waits for the writer
		defer cancel()
		v, err := f.Peek(ctx, id)
		return v.Progress.Totals.Total, err
	}
	f.write("tasks.md", threeItems, time.Minute)
	_, err := peek()
	require.NoError(t, err)
	<-written
	f.write("tasks.md", threeItems+"- [ ] 4. Fourth\n", time.Minute)
	_, err = peek()
	f.remove()
	items, errRemoved := peek()
	close(heard)
	require.NoError(t, err)
	require.NoError(t, errRemoved)
	require.Equal(t, 4, items)
	require.Equal(t, 4, f.look(id).Progress.Totals.Total)
}
