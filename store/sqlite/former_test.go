package sqlite_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/store"
	"waybill/store/sqlite"
)

// What a former waybill wrote cannot be written by this one, so it is kept in testdata: for each former
// version of the tables a store with formerRecords instructions and events, formerRuns, a fact of run_3, a
// notice and an answer; from version 2 on six tasks of staff, too, from version 3 on a tally of run_3, and from version 4
// on a prompt of run_3. Each was written by the last code that wrote tables of version 2, 3,
// 4, 5 or 6, and closed.

const formerRecords = 40

// formerVersions are those of the stores in testdata.
func formerVersions() []int { return []int{1, 2, 3, 4, 5, 6} }

// formerStore gives a closed store with tables of that version.
func formerStore(t *testing.T, version int) string {
	t.Helper()
	packed, err := os.Open(fmt.Sprintf("testdata/version-%d.db.gz", version))
	require.NoError(t, err)
	defer func() { require.NoError(t, packed.Close()) }()
	unpacked, err := gzip.NewReader(packed)
	require.NoError(t, err)
	contents, err := io.ReadAll(unpacked)
	require.NoError(t, err)
	path := path(t)
	require.NoError(t, os.WriteFile(path, contents, 0o600))
	return path
}

// formerRuns are the runs that the stored stores of former versions have, in the order of their first put.
// Nothing blocked a run in those days.
func formerRuns() []core.Run {
	superseded := core.Run{
		ID: "run_1", Plan: "tasks.md", ItemID: "1", State: core.RunFailed,
		Policy: core.Policy{
			InvalidRetries: 11, ReviewerFreshRuns: 12, WorkerFailures: 13,
			ReviewRejections: 14, StalledThreshold: 15, ReviewLoopThreshold: 16,
		},
		Counters: core.Counters{
			InvalidResults: [core.Roles]int{1, 2, 3}, WorkerFailures: 4, ReviewRejections: 5, Stalled: 6, ReviewLoop: 7,
		},
		PlanVersion: 8, Revision: 9, CreatedAt: 10, UpdatedAt: 20,
	}
	begun := core.Run{
		ID: "run_2", Plan: "tasks.md", ItemID: "1", State: core.RunRunning, Policy: core.DefaultPolicy(),
		PlanVersion: 1, Revision: 1, CreatedAt: 20, UpdatedAt: 20,
	}
	done, elsewhere := begun, begun
	done.ID, done.ItemID, done.State, done.Revision, done.UpdatedAt = "run_3", "2", core.RunDone, 3, 40
	elsewhere.ID, elsewhere.Plan, elsewhere.Revision = "run_4", "docs/tasks.md", 2
	return []core.Run{superseded, begun, done, elsewhere}
}

// requireBroughtUp checks that a store that was brought up has what it had, and can keep what is new.
func requireBroughtUp(t *testing.T, s store.Store) {
	t.Helper()
	require.Equal(t, 7, s.Status(t.Context()).SchemaVersion)
	require.Empty(t, s.Status(t.Context()).Degraded)
	requireInstructions(t, s, formerRecords)
	requireRuns(t, s, formerRuns()...)
	sound(t, s)
	update(t, s, func(tx store.Tx) error {
		require.NoError(t, tx.PutRun(blockedRun(formerRuns()[1])))
		require.NoError(t, tx.AddTallies("run_1", []store.Tally{{Name: "results", N: 1}}))
		require.NoError(t, tx.PutPrompt(store.Prompt{RunID: "run_1", Role: core.Worker, At: 1, Text: content}))
		return staffMore(tx)
	})
	requireRuns(t, s, formerRuns()[0], blockedRun(formerRuns()[1]), formerRuns()[2], formerRuns()[3])
	sound(t, s)
}

// staffMore makes three tasks of all kinds behind those that there are.
func staffMore(tx store.Tx) error {
	n, err := tx.CountTasks(store.TaskQuery{})
	for more := range 3 {
		err = errors.Join(err, staff(tx, int64(n+more+1)))
	}
	return err
}

// requireRuns checks that the runs come back, one by one and as the latest of their items.
func requireRuns(t *testing.T, s store.Store, want ...core.Run) {
	t.Helper()
	require.NoError(t, s.View(t.Context(), func(tx store.Tx) error {
		for _, run := range want {
			got, ok, err := tx.Run(run.ID)
			require.NoError(t, err)
			require.True(t, ok, run.ID)
			require.Equal(t, run, got)
		}
		latest, err := tx.LatestRuns("tasks.md")
		require.Equal(t, want[1:3], latest)
		require.NoError(t, err)
		all, err := tx.Runs(store.RunQuery{})
		slices.Reverse(all)
		require.Equal(t, want, all)
		return err
	}))
}

// requireCopyOfFormer checks that the copy beside a store that was brought up is of the store as it was.
func requireCopyOfFormer(t *testing.T, path string, version int) {
	t.Helper()
	copied, err := sqlite.OpenFormer(t.Context(), sqlite.Options{Path: fmt.Sprint(path, ".version-", version)}, version)
	require.NoError(t, err)
	defer func() { require.NoError(t, copied.Close()) }()
	require.Equal(t, version, copied.Status(t.Context()).SchemaVersion)
	require.EqualValues(t, formerRecords, newest(t, copied))
	requireInstructions(t, copied, formerRecords)
}

// TestFaultS5_FormerStores: a store of a former waybill is copied, then gets what it has not, and keeps what
// it has. The sums of its runs are right, although runs have more columns now.
func TestFaultS5_FormerStores(t *testing.T) {
	for _, version := range formerVersions() {
		path := formerStore(t, version)
		s := open(t, sqlite.Options{Path: path})
		requireBroughtUp(t, s)
		requireCopyOfFormer(t, path, version)
	}
}

// TestFaultS5_FormerTallies: what a former waybill has counted is there, and is counted on.
func TestFaultS5_FormerTallies(t *testing.T) {
	s := open(t, sqlite.Options{Path: formerStore(t, 3)})
	update(t, s, func(tx store.Tx) error { return tx.AddTallies("run_3", []store.Tally{{Name: "prompts", N: 1}}) })
	require.NoError(t, s.View(t.Context(), func(tx store.Tx) error {
		got, err := tx.Tallies("run_3")
		require.Equal(t, []store.Tally{{Name: "prompts", N: 8}}, got)
		return err
	}))
}

// TestFaultS5_FormerPrompt: the prompt that a former waybill has kept is there.
func TestFaultS5_FormerPrompt(t *testing.T) {
	s := open(t, sqlite.Options{Path: formerStore(t, 4)})
	require.NoError(t, s.View(t.Context(), func(tx store.Tx) error {
		got, _, err := tx.Prompt("run_3", core.Worker)
		require.Equal(t, store.Prompt{RunID: "run_3", Role: core.Worker, At: 40, Text: "Do item 2."}, got)
		return err
	}))
}

// TestFaultS5_BlockedRunInAFormerStore: no former waybill blocked a run. One that says that it is blocked is
// damaged: it holds up no migration, and either is what it was or is named.
func TestFaultS5_BlockedRunInAFormerStore(t *testing.T) {
	path := formerStore(t, 2)
	change(t, path, "UPDATE runs SET state = 'blocked' WHERE id IN ('run_2', 'run_3')")
	s := open(t, sqlite.Options{Path: path})
	require.NoError(t, s.View(t.Context(), func(tx store.Tx) error {
		got, _, err := tx.Run("run_2")
		require.Equal(t, formerRuns()[1], got, "it was running, and is again")
		require.NoError(t, err)
		_, _, err = tx.Run("run_3")
		requireFault(t, err, store.Corrupt)
		return nil
	}))
	damage, err := s.Verify(t.Context())
	require.NoError(t, err)
	require.Equal(t, []store.Damage{{What: "run run_3", Detail: "it is not what was written"}}, damage)
}

// TestFaultS5_FormerStoreAgainstItsRules: a row breaks a rule of its own table, which nobody can write but
// a disk can give. The migration does not go on with it; the store is left as it was, and can be salvaged.
func TestFaultS5_FormerStoreAgainstItsRules(t *testing.T) {
	path := formerStore(t, 2)
	change(t, path, "PRAGMA ignore_check_constraints = ON; UPDATE runs SET stalled = -1 WHERE id = 'run_2'")
	_, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	require.Contains(t, fault(t, err, store.Corrupt).Error(), "damaged")
	var version int
	db := raw(t, path)
	require.NoError(t, db.QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&version))
	require.NoError(t, db.Close())
	require.Equal(t, 2, version)
	result, err := sqlite.Salvage(t.Context(), sqlite.Options{Path: path})
	require.NoError(t, err)
	require.Equal(t, map[string]int{"runs": 1}, result.Lost)
	s := open(t, sqlite.Options{Path: path})
	sound(t, s)
	require.Equal(t, 7, s.Status(t.Context()).SchemaVersion)
}

// TestSalvageOfFormerStores: a damaged store of a former waybill is salvaged into one with all that there is.
func TestSalvageOfFormerStores(t *testing.T) {
	for _, version := range formerVersions() {
		path := formerStore(t, version)
		change(t, path, "UPDATE instructions SET content = 'other' WHERE position = 1",
			"UPDATE runs SET stalled = 9 WHERE id = 'run_4'")
		result, err := sqlite.Salvage(t.Context(), sqlite.Options{Path: path})
		require.NoError(t, err)
		require.Equal(t, map[string]int{"instructions": 1, "runs": 1}, result.Lost)
		require.Equal(t, 3, result.Kept["runs"])
		require.Empty(t, result.Unreadable)
		s := open(t, sqlite.Options{Path: path})
		require.Equal(t, 7, s.Status(t.Context()).SchemaVersion)
		requireInstructions(t, s, formerRecords-1)
		requireRuns(t, s, formerRuns()[:3]...)
		update(t, s, staffMore)
		sound(t, s)
	}
}
