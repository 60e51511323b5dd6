package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/store"
	"waybill/store/sqlite"
)

func TestOptionsAreChecked(t *testing.T) {
	_, err := sqlite.Open(t.Context(), sqlite.Options{})
	require.ErrorContains(t, err, "Path")
}

// TestOwnCommitsAreNoNews: a process is signalled those of others only.
func TestOwnCommitsAreNoNews(t *testing.T) {
	s, path := openNew(t)
	changed := s.Changed()
	c := stepper(t, path)
	for range 20 {
		update(t, s, appendOne)
	}
	require.Empty(t, changed)
	require.Equal(t, "21", c.ask(t, "update"))
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
	s, path := openNew(t)
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

// TestBackup: a backup is a store of its own, as it was at that moment. What is there is not replaced.
func TestBackup(t *testing.T) {
	s := open(t, sqlite.Options{Path: fullStore(t)})
	want, err := dump(t, s)
	require.NoError(t, err)
	backup := path(t)
	backupTo(t, s, backup)
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
