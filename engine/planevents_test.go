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
	"waybill/store"
)

const (
	threeItems = twoItems + "- [ ] 3. Third\n"
	fourItems  = threeItems + "- [ ] 4. Fourth\n"
)

// read reads tasks.md, which may be missing.
func (f *runFixture) read() { _, _ = f.Plan(f.t.Context(), "tasks.md") }

// remove removes tasks.md.
func (f *runFixture) remove() {
	f.t.Helper()
	require.NoError(f.t, os.Remove(filepath.Join(f.dir, "tasks.md")))
}

// begun returns a process with a run of the first of two items, which has been looked at.
func begun(t *testing.T, st store.Store, plans *planFixture) (f *runFixture, id string) {
	t.Helper()
	f = newRunFixture(t, st, plans)
	f.write("tasks.md", twoItems, time.Hour)
	id = f.begin("1").ID
	f.look(id)
	return f, id
}

// edited writes the plan and returns the number of items that a peek at the run shows.
func (f *runFixture) edited(id, text string) int {
	f.t.Helper()
	if text == "" {
		f.remove()
	} else {
		f.write("tasks.md", text, time.Minute)
	}
	ctx, cancel := context.WithTimeout(f.t.Context(), 20*time.Second) // a view of an older reading waits for its writer
	defer cancel()
	v, err := f.Peek(ctx, id)
	require.NoError(f.t, err)
	return v.Progress.Totals.Total
}

// Rapid edits must not queue one write each.
func TestRapidEditsDoNotPileUp(t *testing.T) {
	f, id := begun(t, newHookedStore(t), newPlanFixture(t))
	release := blockEngine(t, f.Engine)
	for i := range 100 {
		f.write("tasks.md", fmt.Sprintf("%s- [ ] 3. Version %d\n", twoItems, i), time.Hour)
		for _, rebuilt := range []bool{true, false} { // the second time, somebody stores it already
			v, err := f.Peek(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, rebuilt, v.Rebuilt)
		}
	}
	release()
	v := f.look(id) // waits for what is on its way
	require.LessOrEqual(t, v.Run.Revision, int64(3), "the first reading and the last one")
	require.LessOrEqual(t, len(f.records()), 2)
	last := ""
	for _, ev := range events(t, f.Engine) {
		if ev.Type == core.LedgerChanged {
			last = ev.Data
		}
	}
	require.Contains(t, last, v.Progress.Fingerprint.Hash, "the last state was lost")
}

// A slowViewStore holds back the first View that reads a run after arm.
type slowViewStore struct {
	*hookedStore
	armed      atomic.Bool
	read, free chan struct{} // closed by that View, and by the test
}

func (h *slowViewStore) View(ctx context.Context, fn func(store.Tx) error) error {
	var runs atomic.Int64
	err := h.hookedStore.View(ctx, func(tx store.Tx) error {
		tx.RunRecords = countedRuns{tx.RunRecords, &runs}
		return fn(tx)
	})
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
	f.write("tasks.md", threeItems, time.Minute)
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
		f, id := begun(t, newHookedStore(t), planFixtureAt(t, t.TempDir()))
		release := blockEngine(t, f.Engine)
		f.edited(id, threeItems)
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
			history := func(last string) {
				require.NoError(t, st.Update(t.Context(), func(tx store.Tx) error {
					say := func(subject, hash string) {
						text, err := json.Marshal(engine.LedgerEvent{Hash: hash, Changed: []string{}})
						require.NoError(t, err)
						_, err = tx.Append(store.Event{Type: core.LedgerChanged, Subject: subject, Data: string(text)})
						require.NoError(t, err)
					}
					for n := range 1200 {
						say("other.md", "other")
						say("tasks.md", fmt.Sprint("hash ", n))
					}
					say("tasks.md", last)
					for range behind {
						say("other.md", "other")
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

// A missing item is stored before it is answered, so that a crash cannot lose it.
func TestMissingItemIsStoredBeforeItIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plans := planFixtureAt(t, t.TempDir())
		st, stored := newHookedStore(t), make(chan struct{})
		f, id := begun(t, st, plans)
		st.before = func(int) error {
			<-stored
			return nil
		}
		f.write("tasks.md", "- [ ] 2. Second\n- [ ] 3. Third\n", time.Minute)
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
		other := newRunFixture(t, st, plans.secondReader(t))
		for range 2 {
			require.Contains(t, other.view(id), "gone")
		}
	})
}

// Peek returns changed facts at once, even if the store accepts no writes.
func TestPeekWaitsForNothingButThatAnItemIsGone(t *testing.T) {
	st, free := newHookedStore(t), make(chan struct{})
	f, id := begun(t, st, newPlanFixture(t))
	var refusing atomic.Bool
	st.before = func(int) error {
		if !refusing.Load() {
			return nil
		}
		<-free
		return &store.Error{Kind: store.ReadOnly, Message: "read only"}
	}
	refusing.Store(true)
	items := f.edited(id, threeItems)
	close(free)
	require.Equal(t, 3, items)
	f.write("tasks.md", "- [ ] 2. Second\n", time.Hour)
	v, err := f.Peek(t.Context(), id)
	require.NoError(t, err)
	require.Error(t, v.Gone)
	require.Equal(t, run.Running, v.Run.State)
}

// Without an earlier reading, the caller waits until the file has settled.
func TestPlanThatMayBeHalfWrittenIsGivenAMomentByWhoReadsItFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newHookedStore(t)
		f, _ := begun(t, st, planFixtureAt(t, t.TempDir()))
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

// A newer reading that is not recorded yet counts before an older one that this process recorded. That the log holds a
// record of this process, before this process has heard that it was written, makes it no newer reading.
func TestReadingThatIsStillToBeRecordedLeadsBeforeAnOlderOneOfOurs(t *testing.T) {
	for _, written := range []bool{false, true} {
		st := newHookedStore(t)
		f, id := begun(t, st, newPlanFixture(t))
		first, second, reached := make(chan struct{}), make(chan struct{}), make(chan struct{})
		recording := st.number() + 1
		st.before = func(n int) error {
			if !written && n == recording {
				<-first
			} else if !written && n == recording+1 {
				close(reached)
				<-second
			}
			return nil
		}
		st.after = func(n int) {
			if written && n == recording {
				close(reached)
				<-second
			}
		}
		require.Equal(t, 3, f.edited(id, threeItems))
		if written {
			<-reached
		}
		require.Equal(t, 4, f.edited(id, fourItems))
		close(first)
		<-reached
		items := f.edited(id, "")
		close(second)
		require.Equal(t, 4, items)
		require.Equal(t, 4, f.look(id).Progress.Totals.Total)
	}
}
