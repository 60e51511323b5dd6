package sqlite_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core/coretest"
	"waybill/core/instruction"
	"waybill/core/run"
	"waybill/store"
	"waybill/store/sqlite"
)

func TestOptionsAreChecked(t *testing.T) {
	_, err := sqlite.Open(t.Context(), sqlite.Options{})
	require.ErrorContains(t, err, "Path")
}

// TestChanged: commits of another process are signalled, and our own are not.
func TestChanged(t *testing.T) {
	path := path(t)
	s := open(t, sqlite.Options{Path: path})
	changed := s.Changed()
	c := stepper(t, path)
	for _, seq := range []string{"1", "2", "3"} {
		require.Equal(t, seq, c.ask(t, "update"))
		awaitSignal(t, changed)
		require.Equal(t, seq, c.ask(t, "newest"))
	}
	for range 20 {
		update(t, s, appendOne)
	}
	require.Empty(t, changed, "our own commits are no news")
	require.Equal(t, "24", c.ask(t, "update"))
	update(t, s, appendOne)
	awaitSignal(t, changed)
}

func awaitSignal(t *testing.T, changed <-chan struct{}) {
	t.Helper()
	select {
	case <-changed:
	case <-time.After(time.Minute): // only a test that fails waits that long
		require.FailNow(t, "no signal came")
	}
}

// TestLockFileRemoved: without its lock file a store goes on, with a new one that others find.
func TestLockFileRemoved(t *testing.T) {
	unixOnly(t, "an open file cannot be removed here")
	path := path(t)
	s := open(t, sqlite.Options{Path: path})
	other := open(t, sqlite.Options{Path: path}.Waiting(250*time.Millisecond))
	require.NoError(t, os.Remove(path+".lock"))
	update(t, s, func(tx store.Tx) error {
		e := fault(t, other.Update(t.Context(), appendOne), store.Busy)
		require.Contains(t, e.Message, "process", "it waits for the lock of the new file")
		return appendOne(tx)
	})
	update(t, other, appendOne)
	require.EqualValues(t, 2, newest(t, s))
	sound(t, s)
}

// TestForeignLockFile: a lock file that says something else is used as a lock and written anew.
func TestForeignLockFile(t *testing.T) {
	for _, text := range []string{"", "12345\n", "waybill lock 2\nnewest 99\n", strings.Repeat("\x00", 500)} {
		path := path(t)
		require.NoError(t, os.WriteFile(path+".lock", []byte(text), 0o600))
		s := open(t, sqlite.Options{Path: path})
		update(t, s, appendOne)
		require.EqualValues(t, 1, newest(t, s))
		require.Empty(t, s.Status(t.Context()).Degraded)
	}
}

// TestCallersTakeTurns: an Update waits for the one before it only as long as its context lasts.
func TestCallersTakeTurns(t *testing.T) {
	s := open(t, sqlite.Options{Path: path(t)})
	update(t, s, func(tx store.Tx) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		requireFault(t, s.Update(ctx, appendOne), store.Cancelled)
		return appendOne(tx)
	})
	require.EqualValues(t, 1, newest(t, s))
}

// TestManyViews: more Views than there are connections wait for each other, and for no longer than
// their contexts.
func TestManyViews(t *testing.T) {
	s := open(t, sqlite.Options{Path: path(t)})
	update(t, s, appendOne)
	var wg, all sync.WaitGroup
	const held = 4
	all.Add(held)
	leave := make(chan struct{})
	for range held {
		wg.Go(func() {
			err := s.View(t.Context(), func(store.Tx) error {
				all.Done()
				<-leave
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	requireFault(t, s.View(ctx, func(store.Tx) error { return nil }), store.Cancelled)
	close(leave)
	require.EqualValues(t, 1, newest(t, s))
	wg.Wait()
}

// TestStatus: what a person wants to know about a healthy store.
func TestStatus(t *testing.T) {
	path := path(t)
	s := open(t, sqlite.Options{Path: path})
	update(t, s, appendOne)
	status := s.Status(t.Context())
	require.Equal(t, "sqlite", status.Kind)
	require.Equal(t, path, status.Path)
	require.Equal(t, 1, status.SchemaVersion)
	require.Greater(t, status.SizeBytes, int64(4096))
	require.False(t, status.ReadOnly)
	require.Empty(t, status.Degraded)
	require.NoError(t, s.Close())
	require.True(t, s.Status(t.Context()).ReadOnly)
}

// TestLogger: what degrades a store is logged, and no contents are.
func TestLogger(t *testing.T) {
	path := oldStore(t)
	require.NoError(t, os.Remove(path))
	var log strings.Builder
	open(t, sqlite.Options{Path: path, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.Contains(t, log.String(), "level=WARN")
	require.Contains(t, log.String(), "event 300")
}

// TestLawsOfCoreAreRepeated: a value that core can never have given is refused by the tables, and the
// transaction goes on.
func TestLawsOfCoreAreRepeated(t *testing.T) {
	tracked, plain := newInstruction(1), newInstruction(1)
	plain.Tracked, plain.MaxRetries = false, 0
	illegal := map[string]struct {
		in    instruction.Instruction
		phase instruction.Phase
	}{
		"more sends than allowed":          {tracked, instruction.Sent{Sends: 5, At: 1}},
		"a plain one sent twice":           {plain, instruction.Sent{Sends: 2, At: 1}},
		"sent, but never":                  {tracked, instruction.Sent{}},
		"negative sends":                   {tracked, instruction.Sent{Sends: -1, At: 1}},
		"a send without a number":          {tracked, instruction.Acknowledged{SentAt: 1, At: 1, By: instruction.ByCall}},
		"a plain one acknowledged":         {plain, instruction.Acknowledged{At: 1, By: instruction.ByCall}},
		"a plain one failed":               {plain, instruction.Failed{Sends: 1, SentAt: 1, At: 1}},
		"failed before it was sent":        {tracked, instruction.Failed{At: 1}},
		"acknowledged by nobody":           {tracked, instruction.Acknowledged{At: 1}},
		"acknowledged by somebody unknown": {tracked, instruction.Acknowledged{At: 1, By: "wish"}},
	}
	s := open(t, sqlite.Options{Path: path(t)})
	for name, row := range illegal {
		update(t, s, func(tx store.Tx) error {
			row.in.Phase = row.phase
			require.Error(t, tx.PutInstruction(row.in), name)
			requireNoInstructions(t, tx)
			return nil
		})
		err := s.Update(t.Context(), func(tx store.Tx) error {
			row.in.Phase = instruction.Queued{}
			require.NoError(t, tx.PutInstruction(row.in))
			row.in.Phase = row.phase
			return tx.PutInstruction(row.in)
		})
		require.Error(t, err, name)
	}
	requireInstructions(t, s, 0)
	update(t, s, func(tx store.Tx) error {
		r, _ := run.Start("run", "tasks.md", "1", "", coretest.Policy(), 1)
		r.State = "paused"
		require.Error(t, tx.PutRun(r))
		r.State, r.Revision = run.Done, 0
		require.Error(t, tx.PutRun(r))
		require.Error(t, tx.PutNotice(store.Notice{ID: "n", Position: 1, Deliveries: -1}))
		return nil
	})
	sound(t, s)
}

func requireNoInstructions(t *testing.T, tx store.Tx) {
	t.Helper()
	n, err := tx.CountInstructions(store.InstructionQuery{})
	require.NoError(t, err)
	require.Zero(t, n)
	counts, err := tx.InstructionCounts()
	require.NoError(t, err)
	require.Zero(t, counts[instruction.StateQueued])
}

// TestBackup: a backup is a store of its own, as it was at that moment. What is there is not replaced.
func TestBackup(t *testing.T) {
	s := open(t, sqlite.Options{Path: fullStore(t)})
	want, err := dump(t, s)
	require.NoError(t, err)
	backup := path(t)
	damage, err := s.Backup(t.Context(), backup)
	require.NoError(t, err)
	require.Empty(t, damage)
	update(t, s, appendOne)
	copied := open(t, sqlite.Options{Path: backup})
	got, err := dump(t, copied)
	require.NoError(t, err)
	require.Equal(t, want, got)
	sound(t, copied)
	info, err := os.Stat(backup)
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		require.EqualValues(t, 0o600, info.Mode().Perm())
	}
	for target, kind := range map[string]store.Kind{
		backup: store.Unsafe, s.Status(t.Context()).Path: store.Unsafe, filepath.Join(backup, "below a file"): store.IO,
	} {
		_, err = s.Backup(t.Context(), target)
		requireFault(t, err, kind)
	}
	require.EqualValues(t, 401, newest(t, s))
}

// TestBackupOfADamagedStore: a damaged record is copied as it is, and named.
func TestBackupOfADamagedStore(t *testing.T) {
	path := fullStore(t)
	change(t, path, "UPDATE instructions SET content = 'other' WHERE position = 7")
	s := open(t, sqlite.Options{Path: path})
	damage, err := s.Backup(t.Context(), path+".copy")
	require.NoError(t, err)
	require.Len(t, damage, 1)
	require.Equal(t, "instruction "+benchID(7), damage[0].What)
}
