package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/engine"
	"waybill/ledger"
	"waybill/store"
	"waybill/store/memory"
	"waybill/store/move"
)

// An exchangeable store is one in memory in whose place another one can be put under a running engine, as a failover
// does. It counts the runs that are read in its Views, and cannot tell a Moment.
type exchangeable struct {
	store.Store // the first one
	now         atomic.Pointer[memory.Store]
	runs        atomic.Int64
}

func exchange() *exchangeable {
	first := memory.New()
	x := &exchangeable{Store: first}
	x.now.Store(first)
	return x
}

func (x *exchangeable) Update(ctx context.Context, fn func(store.Tx) error) error {
	return x.now.Load().Update(ctx, fn)
}

func (x *exchangeable) UpdateReserved(ctx context.Context, fn func(store.Tx) error) error {
	return x.now.Load().UpdateReserved(ctx, fn)
}

func (x *exchangeable) View(ctx context.Context, fn func(store.Tx) error) error {
	return x.now.Load().View(ctx, func(tx store.Tx) error { return fn(countedRuns{tx, &x.runs}) })
}

type countedRuns struct {
	store.Tx
	n *atomic.Int64
}

func (tx countedRuns) Run(id string) (core.Run, bool, error) {
	tx.n.Add(1)
	return tx.Tx.Run(id)
}

// copied gives another store with the same contents.
func copied(t *testing.T, s store.Store) *memory.Store {
	t.Helper()
	var file bytes.Buffer
	_, err := move.Export(t.Context(), s, &file, "w")
	require.NoError(t, err)
	c := memory.New()
	_, err = move.Import(t.Context(), c, bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	return c
}

// grown has the log of a store grow by one event, with which a run got the revision, and a task ledger with the summary.
func grown(t *testing.T, s store.Store, id string, revision int64, summary string) {
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

// length gives the number of the newest event.
func length(t *testing.T, s store.Store) (newest int64) {
	t.Helper()
	require.NoError(t, s.View(t.Context(), func(tx store.Tx) (err error) {
		_, newest, err = tx.Bounds()
		return err
	}))
	return newest
}

// The defect: a log that had gone back and grown to the same number of events passed for the one that was read, and so
// a run was given out as it was in commits that were lost.
func TestRunIsReadAgainIfTheLogWentBackAndGrewAgain(t *testing.T) {
	x := exchange()
	s := newSite(t, x, newDesk(t))
	s.write("tasks.md", twoItems, time.Hour)
	id := s.begin("1").ID
	s.look(id)
	lost, kept := copied(t, x), copied(t, x)
	grown(t, lost, id, 2, "It is lost.")
	grown(t, kept, id, 3, "It is kept.")
	require.Equal(t, length(t, lost), length(t, kept))

	x.now.Store(lost)
	before := s.look(id)
	require.EqualValues(t, 2, before.Run.Revision)
	require.Equal(t, "It is lost.", before.Task.Summary)
	read := x.runs.Load()
	again := s.look(id)
	require.Equal(t, read, x.runs.Load(), "the log is as it was")
	require.Equal(t, stamp(t, before), stamp(t, again))

	x.now.Store(kept)
	after := s.look(id)
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

// What a process has read last of a plan that cannot be read any more is not the newest, if that it was recorded is among
// what was lost, and another process has recorded something else since.
func TestReadingThatWasLostDoesNotLead(t *testing.T) {
	x, d := exchange(), newDesk(t)
	s := newSite(t, x, d)
	s.write("tasks.md", twoItems, time.Hour)
	id := s.begin("1").ID
	s.look(id)
	lost, kept := copied(t, x), copied(t, x)

	x.now.Store(lost)
	s.write("tasks.md", twoItems+"- [ ] 3. Third\n", time.Minute)
	require.Equal(t, 3, s.look(id).Progress.Totals.Total)
	s.spoil()
	require.Equal(t, 3, s.look(id).Progress.Totals.Total, "it is the newest")

	require.NoError(t, os.RemoveAll(filepath.Join(d.dir, "tasks.md")))
	other := newSite(t, kept, d.another(t))
	other.look(id)
	s.write("tasks.md", twoItems+"- [ ] 3. Third\n- [ ] 4. Fourth\n", time.Minute)
	require.Equal(t, 4, other.look(id).Progress.Totals.Total)
	s.spoil()
	for length(t, kept) < length(t, lost) {
		do(t, other.Engine, queue("s", "x"))
	}
	require.Equal(t, length(t, lost), length(t, kept))
	x.now.Store(kept)
	v := s.look(id)
	require.Equal(t, engine.StaleRebuild, v.Fallback)
	require.Equal(t, 4, v.Progress.Totals.Total)
}
