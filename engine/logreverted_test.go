package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/engine"
	"waybill/ledger"
	"waybill/store"
	"waybill/store/transfer"
	"waybill/test/teststore"
)

// A swappableStore can be replaced under a running engine. It counts the runs that Views read and has no Moment.
type swappableStore struct {
	store.Store // the first one
	now         atomic.Pointer[store.Store]
	runs        atomic.Int64
}

func newSwappableStore(t testing.TB) *swappableStore {
	first := store.Store(teststore.New(t))
	x := &swappableStore{Store: first}
	x.now.Store(&first)
	return x
}

func (x *swappableStore) Update(ctx context.Context, fn func(store.Tx) error) error {
	return (*x.now.Load()).Update(ctx, fn)
}

func (x *swappableStore) UpdateReserved(ctx context.Context, fn func(store.Tx) error) error {
	return (*x.now.Load()).UpdateReserved(ctx, fn)
}

func (x *swappableStore) View(ctx context.Context, fn func(store.Tx) error) error {
	return (*x.now.Load()).View(ctx, func(tx store.Tx) error { tx.RunRecords = countedRuns{tx.RunRecords, &x.runs}; return fn(tx) })
}

type countedRuns struct {
	store.RunRecords
	n *atomic.Int64
}

func (tx countedRuns) Run(id string) (run.Run, bool, error) {
	tx.n.Add(1)
	return tx.RunRecords.Run(id)
}

// copied returns a copy of the store.
func copied(t *testing.T, s store.Store) store.Store {
	t.Helper()
	var file bytes.Buffer
	_, err := transfer.Export(t.Context(), s, &file, "w")
	require.NoError(t, err)
	c := teststore.New(t)
	_, err = transfer.Import(t.Context(), c, bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	return c
}

// changeRun appends one event that sets a run's revision and the summary of its task ledger.
func changeRun(t *testing.T, s store.Store, id string, revision int64, summary string) {
	t.Helper()
	require.NoError(t, s.Update(t.Context(), func(tx store.Tx) error {
		run, ok, err := tx.Run(id)
		require.NoError(t, err)
		require.True(t, ok)
		run.Revision = revision
		require.NoError(t, tx.PutRun(run))
		task := ledger.NewTaskLedger(run.ID, run.ItemID)
		task.Summary = summary
		facts, err := tx.Facts(id)
		require.NoError(t, err)
		facts = slices.DeleteFunc(facts, func(f store.Fact) bool { return strings.HasPrefix(f.Key, "ledger.task.") })
		for _, f := range ledger.TaskFacts(task) {
			facts = append(facts, store.Fact(f))
		}
		require.NoError(t, tx.PutFacts(id, facts))
		_, err = tx.Append(store.Event{Type: core.RunOutcome, Subject: id, At: 1, Data: fmt.Sprintf(`{"revision":%d}`, revision)})
		return err
	}))
}

// length returns the number of the newest event.
func length(t *testing.T, s store.Store) (newest int64) {
	t.Helper()
	require.NoError(t, s.View(t.Context(), func(tx store.Tx) (err error) {
		_, newest, err = tx.Bounds()
		return err
	}))
	return newest
}

// A replaced log with the same number of events must not be taken for the old one.
func TestRunIsReadAgainIfTheLogWentBackAndGrewAgain(t *testing.T) {
	x := newSwappableStore(t)
	f, id := begun(t, x, newPlanFixture(t))
	lost, kept := copied(t, x), copied(t, x)
	changeRun(t, lost, id, 2, "It is lost.")
	changeRun(t, kept, id, 3, "It is kept.")
	require.Equal(t, length(t, lost), length(t, kept))

	x.now.Store(&lost)
	before := f.look(id)
	require.EqualValues(t, 2, before.Run.Revision)
	require.Equal(t, "It is lost.", before.Task.Summary)
	read := x.runs.Load()
	again := f.look(id)
	require.Equal(t, read, x.runs.Load(), "the log is as it was")
	require.Equal(t, stamp(t, before), stamp(t, again))

	x.now.Store(&kept)
	after := f.look(id)
	require.EqualValues(t, 3, after.Run.Revision)
	require.Equal(t, "It is kept.", after.Task.Summary)
	require.NotEqual(t, stamp(t, before), stamp(t, after), "a prompt that was made of the one is not the other's")
	require.Equal(t, read+1, x.runs.Load())
}

func stamp(t *testing.T, v engine.RunView) engine.Stamp {
	t.Helper()
	s, ok := v.Stamp()
	require.True(t, ok)
	return s
}

// A reading whose record was lost with the log is not the newest one.
func TestReadingThatWasLostDoesNotLead(t *testing.T) {
	x, plans := newSwappableStore(t), newPlanFixture(t)
	f, id := begun(t, x, plans)
	lost, kept := copied(t, x), copied(t, x)

	x.now.Store(&lost)
	f.write("tasks.md", threeItems, time.Minute)
	require.Equal(t, 3, f.look(id).Progress.Totals.Total)
	f.breakPlan()
	require.Equal(t, 3, f.look(id).Progress.Totals.Total, "it is the newest")

	require.NoError(t, os.RemoveAll(filepath.Join(plans.dir, "tasks.md")))
	other := newRunFixture(t, kept, plans.secondReader(t))
	other.look(id)
	f.write("tasks.md", fourItems, time.Minute)
	require.Equal(t, 4, other.look(id).Progress.Totals.Total)
	f.breakPlan()
	for length(t, kept) < length(t, lost) {
		do(t, other.Engine, queue("s", "x"))
	}
	require.Equal(t, length(t, lost), length(t, kept))
	x.now.Store(&kept)
	v := f.look(id)
	require.Equal(t, engine.StaleRebuild, v.Fallback)
	require.Equal(t, 4, v.Progress.Totals.Total)
}

// replaceStore replaces the store in fake time, as a restore does.
func replaceStore(st *hookedStore, other store.Store) {
	synctest.Wait()
	st.Store = other
	st.changed <- struct{}{}
	synctest.Wait()
}

// storeWith returns another store that fill has written to.
func storeWith(t *testing.T, fill func(st *hookedStore)) store.Store {
	t.Helper()
	st := newHookedStore(t)
	fill(st)
	return st.Store
}

// After the log was replaced, the state of the plan is recorded in it once, without a change of the file.
func TestPlanIsRecordedAgainInAReplacedLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, st := t.TempDir(), newHookedStore(t)
		f := newRunFixture(t, st, planFixtureAt(t, dir))
		f.write("tasks.md", twoItems, time.Hour)
		wake := startFollow(t, f)
		f.write("tasks.md", threeItems, 0)
		wake("tasks.md")
		old := storeWith(t, func(other *hookedStore) {
			require.NoError(t, st.Store.View(t.Context(), func(tx store.Tx) error {
				kept, err := tx.Events(0, 10, nil)
				require.Len(t, kept, 1)
				return errors.Join(err, other.Store.Update(t.Context(), func(to store.Tx) error {
					_, err := to.Append(kept[0])
					return err
				}))
			}))
		})
		f.write("tasks.md", fourItems, 0)
		wake("tasks.md")
		require.Equal(t, []string{"[3]", "[4]"}, f.records())
		replaceStore(st, old)
		require.Equal(t, []string{"[3]", "unseen"}, f.records())
		wake("tasks.md")
		require.Equal(t, []string{"[3]", "unseen"}, f.records())
	})
}

// The last prompt of a run in the replaced log is not returned for a run of the new log.
func TestLastPromptOfAReplacedLogIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := storeWithRuns(t, 1)
		require.NoError(t, st.Store.Update(t.Context(), func(tx store.Tx) error {
			_, err := tx.Append(store.Event{Type: core.RunStarted, Subject: "run_0", At: 1, Data: "{}"})
			return err
		}))
		e := build(t, engine.Options{Open: open(st)})
		runEngine(t, e)
		require.Empty(t, contents(t, e)) // opens it
		synctest.Wait()
		e.KeepPrompt(givenPrompt(0, 2, "of the log that is gone"))
		replaceStore(st, storeWithRuns(t, 1).Store)
		_, ok, err := e.LastPrompt(t.Context(), "run_0", core.Worker)
		require.NoError(t, err)
		require.False(t, ok)
	})
}

// After a restore, holders of extended leases get the time that a new process would give them.
func TestRestoreEndsNoLeaseOfAnActiveWorker(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		h.play("claim 1 10s")
		copied := copied(t, h.st.Store)
		h.create(task.Spec{}) // an event, by which the logs differ
		h.play(strings.Repeat("sleep 9s; beat 10s; ", 9) + "sleep 9s; beat 10s")
		replaceStore(h.st.hookedStore, copied)
		h.play("sleep 4s; lost 0; beat 10s; sleep 9s; lost 0; sleep 1m; lost 1")
	})
}
