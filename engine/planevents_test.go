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
