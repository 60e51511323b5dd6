package sqlite_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/task"
	"waybill/store"
	"waybill/store/sqlite"
)

// keepsake writes a file of the user's own and makes sure in the end that it is as it was.
func keepsake(t *testing.T, path string) {
	t.Helper()
	const text = "of the user's own"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	t.Cleanup(func() {
		now := fileText(t, path)
		require.Equal(t, text, string(now))
	})
}

// requireFiles fails unless a folder has these files and no others.
func requireFiles(t *testing.T, dir string, known ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, filepath.Join(dir, entry.Name()))
	}
	require.ElementsMatch(t, known, names)
}

func salvage(t *testing.T, path string) sqlite.Salvaged {
	t.Helper()
	result, err := sqlite.Salvage(t.Context(), sqlite.Options{Path: path})
	require.NoError(t, err)
	return result
}

// TestBackupTouchesNoOtherFile: a file FILE.part beside the one to be made is not ours.
func TestBackupTouchesNoOtherFile(t *testing.T) {
	s := open(t, sqlite.Options{Path: fullStore(t)})
	target := filepath.Join(t.TempDir(), "copy.db")
	keepsake(t, target+".part")
	_, err := s.Backup(t.Context(), target)
	require.NoError(t, err)
	requireFiles(t, filepath.Dir(target), target, target+".part")
	_, err = s.Backup(t.Context(), target)
	requireFault(t, err, store.Unsafe)
	requireFiles(t, filepath.Dir(target), target, target+".part")
}

// TestSalvageTouchesNoOtherFile: neither is FILE.salvaging, with or without a journal.
func TestSalvageTouchesNoOtherFile(t *testing.T) {
	damaged := fullStore(t)
	target := filepath.Join(t.TempDir(), "saved.db")
	for _, path := range []string{target, damaged} {
		keepsake(t, path+".salvaging")
		keepsake(t, path+".salvaging-journal")
	}
	_, err := sqlite.SalvageTo(t.Context(), sqlite.Options{Path: damaged}, target)
	require.NoError(t, err)
	requireFiles(t, filepath.Dir(target), target, target+".salvaging", target+".salvaging-journal")
	salvage(t, damaged)
}

// TestSalvageKeepsEveryDamagedFile: a store that is salvaged again and again within a second leaves each of
// the damaged files.
func TestSalvageKeepsEveryDamagedFile(t *testing.T) {
	path := fullStore(t)
	aside := map[string]bool{}
	for range 3 {
		result := salvage(t, path)
		require.FileExists(t, result.SetAside)
		aside[result.SetAside] = true
	}
	require.Len(t, aside, 3)
}

// TestSalvageLeavesAStoreInUse: who has the store open would write on into a file without a name. The
// salvage is refused and says who that is; into a file beside it, it is not.
func TestSalvageLeavesAStoreInUse(t *testing.T) {
	path := fullStore(t)
	c := stepper(t, path)
	require.Equal(t, "401", c.ask(t, "update"))
	_, err := sqlite.Salvage(t.Context(), sqlite.Options{Path: path})
	e := notApplied(t, err, store.Busy)
	require.Contains(t, e.Message, fmt.Sprint(c.Process.Pid))
	require.Contains(t, e.Message, "salvage FILE")
	require.Equal(t, "402", c.ask(t, "update"))

	target := filepath.Join(t.TempDir(), "saved.db")
	result, err := sqlite.SalvageTo(t.Context(), sqlite.Options{Path: path}, target)
	require.NoError(t, err)
	require.Equal(t, 402, result.Kept["events"])
	require.Equal(t, "403", c.ask(t, "update"))

	c.kill(t)
	salvage(t, path)
}

// createWaiting puts a task that depends on others, of which so many are not complete.
func createWaiting(tx store.Tx, n int64, waits int, on ...int64) error {
	var ids []string
	for _, other := range on {
		ids = append(ids, taskID(other))
	}
	text, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	launch := task.Spec{Prompt: content, MaxAttempts: 3, DependsOn: string(text)}
	t, effects := task.Create(taskID(n), fmt.Sprint("att_", n, "_1"), n, launch, waits, core.Instant(n))
	errs := []error{save(tx, t, effects)}
	for _, id := range ids {
		errs = append(errs, tx.AddDependency(t.ID, id))
	}
	return errors.Join(errs...)
}

// TestSalvageTellsWhoWaitsForALostTask: a task that was waited for is lost, or the row that says who waits.
// What waits is let go if that is known to be right, and named otherwise; nobody waits unseen.
func TestSalvageTellsWhoWaitsForALostTask(t *testing.T) {
	s, path := openNew(t)
	update(t, s, func(tx store.Tx) error {
		return errors.Join(
			createTask(tx, 1), createTask(tx, 2), createTask(tx, 3), createTask(tx, 4), // 1 and 2 will be lost
			happen(tx, 2, claimOf(2), finishOf(2)),
			createWaiting(tx, 5, 1, 1),    // for what is lost
			createWaiting(tx, 6, 1, 1, 2), // and for what is lost and had completed
			createWaiting(tx, 7, 1, 3),    // for what is kept, and the row about it is lost
			createWaiting(tx, 8, 0, 2),    // for nothing any more
			createWaiting(tx, 9, 2, 1, 3), // for one of each
			createWaiting(tx, 10, 1, 4),   // for what completes while nobody can read that it waits
			happen(tx, 4, claimOf(4), finishOf(4)),
		)
	})
	require.NoError(t, s.Close())
	change(t, path, "UPDATE task_specs SET prompt = 'other' WHERE task <= 2",
		"UPDATE dependencies SET sum = x'0000000000000000' WHERE task IN ('"+taskID(7)+"', '"+taskID(10)+"')")
	result := salvage(t, path)
	require.Equal(t, []sqlite.Stranded{
		{TaskID: taskID(5), Lost: []string{taskID(1)}},
		{TaskID: taskID(6), Lost: []string{taskID(1), taskID(2)}},
		{TaskID: taskID(9), Lost: []string{taskID(1)}},
	}, result.Stranded)
	require.Equal(t, 3, result.Kept["dependencies"])
	require.Equal(t, 5, result.Lost["dependencies"])

	s = open(t, sqlite.Options{Path: path})
	sound(t, s)
	waits := map[int64]int{5: 1, 6: 1, 7: 1, 8: 0, 9: 2, 10: 0}
	require.NoError(t, s.View(t.Context(), func(tx store.Tx) error {
		for n, want := range waits {
			task, _, err := tx.Task(taskID(n))
			require.NoError(t, err)
			require.Equal(t, want, task.Waits, "task %d", n)
		}
		left, err := tx.Dependents(taskID(3), "", 10)
		require.Equal(t, []string{taskID(7), taskID(9)}, left)
		return err
	}))
	update(t, s, func(tx store.Tx) error {
		return errors.Join(happen(tx, 5, task.Cancel{At: 99, Reason: "what it waits for is lost"}),
			happen(tx, 7, task.DependencyDone{At: 99}, claimOf(7)), happen(tx, 10, claimOf(10)))
	})
}
