package sqlite_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/task"
	"waybill/store"
	"waybill/store/sqlite"
)

// TestFaultD16_TwoProcessesClaimOneTask: so do two processes.
func TestFaultD16_TwoProcessesClaimOneTask(t *testing.T) {
	path := path(t)
	s := open(t, sqlite.Options{Path: path})
	const tasks = 60
	update(t, s, func(tx store.Tx) error { return createTasks(tx, tasks) })
	children := []*child{start(t, command(t, "claim", path)), start(t, command(t, "claim", path))}
	for _, c := range children {
		require.Equal(t, "ready", c.line(t))
	}
	for _, c := range children {
		_, err := fmt.Fprintln(c.in)
		require.NoError(t, err)
	}
	requireEachOnce(t, tasks, children[0].rest(), children[1].rest())
	require.NoError(t, s.View(t.Context(), func(tx store.Tx) error {
		counts, err := tx.TaskCounts()
		require.Equal(t, tasks, counts[task.StatusRunning])
		return err
	}))
	sound(t, s)
}

func createTasks(tx store.Tx, tasks int64) error {
	for n := int64(1); n <= tasks; n++ {
		if err := createTask(tx, n); err != nil {
			return err
		}
	}
	return nil
}

func requireEachOnce(t *testing.T, tasks int64, claims ...[]string) {
	t.Helper()
	times := make(map[string]int)
	for _, ids := range claims {
		for _, id := range ids {
			times[id]++
		}
	}
	for n := int64(1); n <= tasks; n++ {
		require.Equal(t, 1, times[taskID(n)], "times that task %d was claimed", n)
	}
	require.Len(t, times, int(tasks))
}

// TestFaultD20_FinishedAttemptsNeverChange: a finished attempt cannot be written behind the store's back as unfinished.
func TestFaultD20_FinishedAttemptsNeverChange(t *testing.T) {
	path := path(t)
	s := open(t, sqlite.Options{Path: path})
	update(t, s, func(tx store.Tx) error { return createTask(tx, 1) })
	update(t, s, func(tx store.Tx) error { return happen(tx, 1, claimOf(1), finishOf(1)) })
	db := raw(t, path, "PRAGMA busy_timeout = 1000")
	for _, statement := range []string{
		"UPDATE attempts SET ended_at = NULL",
		"UPDATE attempts SET status = 'pending'",
		"UPDATE attempts SET status = 'running'",
		"UPDATE attempts SET expires_at = 5",
		"UPDATE attempts SET number = 0",
		"INSERT INTO attempts SELECT * FROM attempts",
	} {
		_, err := db.ExecContext(t.Context(), statement)
		require.ErrorContains(t, err, "constraint", statement)
	}
	require.NoError(t, db.Close())
	sound(t, s)
}
