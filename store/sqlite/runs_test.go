package sqlite_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/run"
	"waybill/store"
	"waybill/store/sqlite"
)

// runDamage is damage to what fullStore has of runs since version 3, and of their prompts: run_20 has nothing there, and run_30
// has something everywhere.
func runDamage() map[string][2]string {
	rows := map[string][2]string{
		"UPDATE runs SET state = 'blocked', halt = 'stalled' WHERE id = 'run_20'": {"rows", "run run_20"},
		"UPDATE runs SET state = 'running', halt = '' WHERE id = 'run_30'":        {"rows", "run run_30"},
		"UPDATE runs SET halt = 'stalled' WHERE id = 'run_30'":                    {"rows", "run run_30"},
		`UPDATE runs SET reviewers = 0, standing_worker = 0, standing_spec = 0, standing_quality = 0, naming = 0, proof = '', findings_spec = '',
			findings_quality = '', frontier = '' WHERE id = 'run_30'`: {"rows", "run run_30"},
		"UPDATE runs SET findings_spec = replace(findings_spec, '1 2', '1 3') WHERE id = 'run_30'":                  {"rows", "run run_30"},
		"UPDATE runs SET (findings_spec, findings_quality) = (findings_quality, findings_spec) WHERE id = 'run_30'": {"rows", "run run_30"},
		"UPDATE runs SET check_failures = check_failures + 1 WHERE id = 'run_30'":                                   {"rows", "run run_30"},
		"UPDATE runs SET proof = replace(proof, 'red', 'green') WHERE id = 'run_30'":                                {"rows", "run run_30"},
		"UPDATE tallies SET n = n + 1 WHERE run_id = 'run_30' AND name = 'prompt.tokens'":                           {"rows", "the tally prompt.tokens of run run_30"},
		"UPDATE tallies SET name = 'prompt' WHERE run_id = 'run_30' AND name = 'prompt.tokens'":                     {"rows", "the tally prompt of run run_30"},
		"UPDATE prompts SET at = at + 1" + thatPrompt:                                                               {"rows", "the prompt for worker of run run_30"},
		"UPDATE prompts SET version = '2'" + thatPrompt:                                                             {"rows", "the prompt for worker of run run_30"},
		"UPDATE prompts SET cursor = version, version = cursor" + thatPrompt:                                        {"rows", "the prompt for worker of run run_30"},
		"UPDATE prompts SET tokens = 0" + thatPrompt:                                                                {"rows", "the prompt for worker of run run_30"},
		"UPDATE prompts SET text = ''" + thatPrompt:                                                                 {"rows", "the prompt for worker of run run_30"},
		"UPDATE prompts SET sum = x'0000000000000000'" + thatPrompt:                                                 {"rows", "the prompt for worker of run run_30"},
		"UPDATE prompts SET role = 'code-quality-reviewer'" + thatPrompt:                                            {"rows", "the prompt for code-quality-reviewer of run run_30"},
		"UPDATE prompts SET run_id = 'run_20'" + thatPrompt:                                                         {"rows", "the prompt for worker of run run_20"},
		"UPDATE tallies SET run_id = 'run_20' WHERE run_id = 'run_30' AND n = 2":                                    {"rows", "the tally results:worker of run run_20"},
	}
	for _, column := range smallColumns() {
		rows["UPDATE runs SET "+column+" = 1 WHERE id = 'run_20'"] = [2]string{"rows", "run run_20"}
		rows["UPDATE runs SET "+column+" = 0 WHERE id = 'run_30'"] = [2]string{"rows", "run run_30"}
	}
	for _, column := range []string{"findings_spec", "findings_quality", "frontier", "proof"} {
		rows["UPDATE runs SET "+column+" = 'other' WHERE id = 'run_20'"] = [2]string{"rows", "run run_20"}
		rows["UPDATE runs SET "+column+" = '' WHERE id = 'run_30'"] = [2]string{"rows", "run run_30"}
	}
	return rows
}

// smallColumns are those whose numbers are bytes and flags in core.
func smallColumns() []string {
	return []string{"reviewers", "standing_worker", "standing_spec", "standing_quality", "naming"}
}

// TestFaultS4_NumbersThatAreTooLarge: a number is damaged in such a way that its last byte is what it was.
func TestFaultS4_NumbersThatAreTooLarge(t *testing.T) {
	source := fullStore(t)
	for _, column := range smallColumns() {
		path := path(t)
		copyFile(t, source, path)
		change(t, path, "PRAGMA ignore_check_constraints = ON; UPDATE runs SET "+column+" = "+column+" + 256")
		s := open(t, sqlite.Options{Path: path})
		requireFault(t, s.View(t.Context(), func(tx store.Tx) error {
			_, _, err := tx.Run("run_30")
			return err
		}), store.Corrupt)
	}
}

// TestTablesHoldTheLawsOfRuns: a run that core can never have given is refused, by the front and behind the
// store's back, and so is a counter that nobody can have counted.
func TestTablesHoldTheLawsOfRuns(t *testing.T) {
	path := path(t)
	s := open(t, sqlite.Options{Path: path})
	begun, _ := run.Start("run", "tasks.md", "1", "2", coretest.Policy(), 1)
	blocked := blockedRun(begun)
	update(t, s, func(tx store.Tx) error {
		for _, halt := range coretest.Halts() {
			one := blocked
			one.Halt = halt
			require.NoError(t, tx.PutRun(one))
		}
		for name, wrong := range map[string]func(*run.Run){
			"blocked, but not why":     func(r *run.Run) { r.Halt = "" },
			"blocked, and nobody's to": func(r *run.Run) { r.Halt = "mood" },
			"not blocked, but why":     func(r *run.Run) { r.State = run.Running },
			"over, but why":            func(r *run.Run) { r.State = run.Done },
			"an unknown worker":        func(r *run.Run) { r.Standing[0] = run.Broken + 1 },
			"an unknown reviewer":      func(r *run.Run) { r.Standing[1] = run.Broken + 1 },
			"another":                  func(r *run.Run) { r.Standing[2] = 255 },
			"an unknown role":          func(r *run.Run) { r.Policy.Reviewers = 1 << core.Roles },
		} {
			one := blocked
			wrong(&one)
			require.Error(t, tx.PutRun(one), name)
		}
		require.NoError(t, putPrompts(tx, "run", core.Worker))
		return tx.AddTallies("run", []store.Tally{{Name: "results", N: 1}})
	})
	db := raw(t, path, "PRAGMA busy_timeout = 1000", "PRAGMA foreign_keys = ON")
	for _, statement := range []string{
		"UPDATE runs SET naming = 3", "UPDATE runs SET check_failures = -1", "UPDATE runs SET state = 'running'", "UPDATE tallies SET n = -1",
		"UPDATE tallies SET name = ''", "UPDATE tallies SET name = 'Results'", "UPDATE tallies SET run_id = 'none'",
		"UPDATE prompts SET role = 'reviewer'", "UPDATE prompts SET run_id = 'none'", "UPDATE prompts SET tokens = -1",
		"UPDATE prompts SET sum = x'00'", "UPDATE prompts SET version = '" + strings.Repeat("é", 33) + "'",
		"UPDATE prompts SET text = CAST(zeroblob(1048577) AS TEXT)", "UPDATE prompts SET cursor = CAST(zeroblob(1048577) AS TEXT)",
		"UPDATE tallies SET name = '" + strings.Repeat("x", 65) + "'", "UPDATE tallies SET sum = x'00'",
	} {
		_, err := db.ExecContext(t.Context(), statement)
		require.ErrorContains(t, err, "constraint", statement)
	}
	require.NoError(t, db.Close())
	sound(t, s)
}

// TestFaultS4_DamagedRunIsNoLatestRun: the latest run of an item is not what was written. The list goes on
// without the item, no earlier run of it takes its place, and the status names the run.
func TestFaultS4_DamagedRunIsNoLatestRun(t *testing.T) {
	path := path(t)
	s := open(t, sqlite.Options{Path: path})
	update(t, s, func(tx store.Tx) error { return putJourneys(tx, 3, 2) })
	require.NoError(t, s.Close())
	change(t, path, "UPDATE runs SET frontier = 'other' WHERE id = '"+journeyID(2, 2)+"'")
	s = open(t, sqlite.Options{Path: path})
	for range 2 {
		update(t, s, func(tx store.Tx) error {
			runs, err := tx.LatestRuns("tasks.md")
			require.Len(t, runs, 2)
			require.Equal(t, journeyID(1, 2), runs[0].ID)
			require.Equal(t, journeyID(3, 2), runs[1].ID)
			return err
		})
	}
	degraded := s.Status(t.Context()).Degraded
	require.Len(t, degraded, 1)
	require.Contains(t, degraded[0], "run "+journeyID(2, 2)+" ")
}

// TestFaultS4_DamagedTallyHoldsUpNobody: a counter is not what was written. It is left out and named, and
// stays so when something is added to it; the others are counted on.
func TestFaultS4_DamagedTallyHoldsUpNobody(t *testing.T) {
	path := path(t)
	s := open(t, sqlite.Options{Path: path})
	both := []store.Tally{{Name: "a", N: 5}, {Name: "b", N: 6}}
	update(t, s, func(tx store.Tx) error {
		require.NoError(t, putJourneys(tx, 1, 1))
		return tx.AddTallies(journeyID(1, 1), both)
	})
	require.NoError(t, s.Close())
	change(t, path, "UPDATE tallies SET n = 50 WHERE name = 'a'")
	s = open(t, sqlite.Options{Path: path})
	update(t, s, func(tx store.Tx) error { return tx.AddTallies(journeyID(1, 1), both) })
	require.NoError(t, s.View(t.Context(), func(tx store.Tx) error {
		for _, id := range []string{journeyID(1, 1), ""} {
			left, err := tx.Tallies(id)
			require.NoError(t, err)
			require.Equal(t, []store.Tally{{Name: "b", N: 12}}, left)
		}
		return nil
	}))
	degraded := s.Status(t.Context()).Degraded
	require.Len(t, degraded, 1)
	require.Contains(t, degraded[0], "the tally a of run "+journeyID(1, 1)+" ")
}

// TestFaultS4_DamagedRunIsNotListed: a run is not what was written. Lists go on without it, also one that goes
// on behind it, and the status names it.
func TestFaultS4_DamagedRunIsNotListed(t *testing.T) {
	path := path(t)
	s := open(t, sqlite.Options{Path: path})
	update(t, s, func(tx store.Tx) error { return putJourneys(tx, 4, 1) })
	require.NoError(t, s.Close())
	change(t, path, "UPDATE runs SET frontier = 'other' WHERE id = '"+journeyID(3, 1)+"'")
	s = open(t, sqlite.Options{Path: path})
	require.NoError(t, s.View(t.Context(), func(tx store.Tx) error {
		for behind, want := range map[string][]string{
			"":              {journeyID(4, 1), journeyID(2, 1)},
			journeyID(3, 1): {journeyID(2, 1), journeyID(1, 1)},
		} {
			page, err := tx.Runs(store.RunQuery{Plan: "tasks.md", Behind: behind, Limit: 2})
			require.NoError(t, err)
			require.Len(t, page, 2)
			require.Equal(t, want, []string{page[0].ID, page[1].ID})
		}
		return nil
	}))
	degraded := s.Status(t.Context()).Degraded
	require.Len(t, degraded, 1)
	require.Contains(t, degraded[0], "run "+journeyID(3, 1)+" ")
}

func journeyID(item, run int) string {
	return fmt.Sprintf("run_0192f0c1-7d3a-7abc-8def-%06d%06d", item, run)
}

// putJourneys puts runs of items of a plan, in turns; the last of each has come some way.
func putJourneys(tx store.Tx, items, each int) error {
	for n := 1; n <= each; n++ {
		for item := 1; item <= items; item++ {
			r, _ := run.Start(journeyID(item, n), "tasks.md", fmt.Sprintf("%06d", item), "next", coretest.Policy(), 1)
			if n < each {
				r, _ = r.Supersede(2)
			} else {
				r.Standing[0] = run.Submitted
			}
			if err := tx.PutRun(r); err != nil {
				return err
			}
		}
	}
	return nil
}
