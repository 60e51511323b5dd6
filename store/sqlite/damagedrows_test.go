package sqlite_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/run"
	"waybill/store"
	"waybill/store/sqlite"
)

// A damaging damages rows, and looks at the store afterwards, within one Update.
type damaging struct {
	statements []string
	look       func(t *testing.T, tx store.Tx) error
	names      []string // what the status calls damaged then
}

// TestFaultS4_DamageHoldsUpNobody: rows are not what was written. Who asks for one is told so, lists go on without it, as
// long as their limits say, what else the transaction puts is kept, and the status names the row once.
func TestFaultS4_DamageHoldsUpNobody(t *testing.T) {
	source := fullStore(t)
	s := open(t, sqlite.Options{Path: source})
	again, _ := run.Start("run_again", "tasks.md", "10", "", coretest.Policy(), 2)
	update(t, s, func(tx store.Tx) error {
		first, _, err := tx.Run("run_10")
		first, _ = first.Supersede(2)
		return errors.Join(err, tx.PutRun(first), tx.PutRun(again),
			tx.AddReply(store.Reply{TaskID: taskID(2), Number: 2, AttemptID: "att", Text: content}))
	})
	require.NoError(t, s.Close())
	for name, c := range damagings() {
		t.Run(name, func(t *testing.T) {
			path := path(t)
			copyFile(t, source, path)
			change(t, path, c.statements...)
			s := open(t, sqlite.Options{Path: path})
			require.Empty(t, s.Status(t.Context()).Degraded)
			update(t, s, func(tx store.Tx) error {
				require.NoError(t, c.look(t, tx))
				return createTask(tx, 99)
			})
			require.NoError(t, s.View(t.Context(), func(tx store.Tx) error {
				_, ok, err := tx.Task(taskID(99))
				require.True(t, ok)
				return err
			}))
			status := s.Status(t.Context())
			require.False(t, status.ReadOnly)
			require.Len(t, status.Degraded, len(c.names))
			for _, name := range c.names {
				require.Contains(t, strings.Join(status.Degraded, "\n"), name+" ")
			}
		})
	}
}

func damagings() map[string]damaging {
	return map[string]damaging{
		"an instruction and a notice": {
			[]string{"UPDATE instructions SET content = 'other' WHERE position = 7", "UPDATE notices SET deliveries = 9 WHERE id = 'ntc_20'"},
			func(t *testing.T, tx store.Tx) error {
				for range 2 {
					_, _, err := tx.Instruction(benchID(7))
					require.NotContains(t, fault(t, err, store.Corrupt).Message, "salvage", "there is no such command")
					_, _, err = tx.Notice("ntc_20")
					requireFault(t, err, store.Corrupt)
				}
				return nil
			},
			[]string{"instruction " + benchID(7), "notice ntc_20"},
		},
		"a prompt, which the next one replaces": {
			[]string{"UPDATE prompts SET text = 'other'" + thatPrompt},
			func(t *testing.T, tx store.Tx) error {
				_, ok, err := tx.Prompt("run_30", core.Worker)
				requireFault(t, err, store.Corrupt)
				require.False(t, ok)
				other, _, err := tx.Prompt("run_30", core.SpecReviewer)
				require.NoError(t, err)
				require.Equal(t, promptFor("run_30", core.SpecReviewer), other)
				require.NoError(t, putPrompts(tx, "run_30", core.Worker))
				again, _, err := tx.Prompt("run_30", core.Worker)
				require.Equal(t, promptFor("run_30", core.Worker), again)
				return err
			},
			[]string{"the prompt for worker of run run_30"},
		},
		"the latest run of an item, and one in the midst of a list": {
			[]string{"UPDATE runs SET frontier = 'other' WHERE id IN ('run_again', 'run_290')"},
			func(t *testing.T, tx store.Tx) error {
				latest, err := tx.LatestRuns("tasks.md")
				require.NoError(t, err)
				require.Len(t, latest, 28)
				for _, r := range latest {
					require.NotContains(t, []string{"10", "290"}, r.ItemID, "an earlier run took its place")
				}
				for _, behind := range []string{"run_300", "run_290"} {
					page, err := tx.Runs(store.RunQuery{Plan: "tasks.md", Behind: behind, Limit: 2})
					require.NoError(t, err)
					require.Len(t, page, 2)
					require.Equal(t, []string{"run_280", "run_270"}, []string{page[0].ID, page[1].ID})
				}
				return nil
			},
			[]string{"run run_again", "run run_290"},
		},
		"a tally, which stays so": {
			[]string{"UPDATE tallies SET n = n + 1 WHERE run_id = 'run_30' AND name = 'prompt.tokens'"},
			func(t *testing.T, tx store.Tx) error {
				require.NoError(t, tx.AddTallies("run_30", []store.Tally{{Name: "prompt.tokens", N: 5}, {Name: "results:worker", N: 6}}))
				left, err := tx.Tallies("run_30")
				require.NoError(t, err)
				require.Equal(t, []store.Tally{{Name: "results:worker", N: 8}}, left)
				all, err := tx.Tallies("")
				require.Contains(t, all, store.Tally{Name: "results:worker", N: 26})
				return err
			},
			[]string{"the tally prompt.tokens of run run_30"},
		},
		"a task and an attempt": {
			[]string{"UPDATE task_specs SET prompt = 'other' WHERE task = 3", "UPDATE attempts SET worker = 'other' WHERE id = 'att_4_2'"},
			func(t *testing.T, tx store.Tx) error {
				require.NoError(t, happen(tx, 2, claimOf(200)))
				before := tx.Writes()
				_, _, err := tx.Task(taskID(3))
				requireFault(t, err, store.Corrupt)
				_, _, err = tx.Attempt("att_4_2")
				requireFault(t, err, store.Corrupt)
				require.Equal(t, before, tx.Writes())
				_, ok, err := tx.AttemptUnder("tok_200")
				require.True(t, ok)
				return err
			},
			[]string{"task " + taskID(3), "attempt att_4_2"},
		},
		"parts of tasks": {
			[]string{
				"UPDATE attempts SET worker = 'other' WHERE id = 'att_4_1'", "UPDATE replies SET text = 'other' WHERE task = 2 AND number = 1",
				"UPDATE dependencies SET sum = x'0000000000000000' WHERE task = '" + taskID(10) + "'",
			},
			func(t *testing.T, tx store.Tx) error {
				attempts, err := tx.Attempts(taskID(4), 0, 1)
				require.NoError(t, err)
				require.Len(t, attempts, 1)
				require.Equal(t, "att_4_2", attempts[0].ID)
				replies, err := tx.Replies(taskID(2), 0, 1)
				require.NoError(t, err)
				require.Len(t, replies, 1)
				require.Equal(t, 2, replies[0].Number)
				waiting, err := tx.Dependents(taskID(1), taskID(9), 2)
				require.Equal(t, []string{taskID(11), taskID(12)}, waiting)
				return err
			},
			[]string{"attempt att_4_1", "reply 1 to task " + taskID(2), "the dependency of task " + taskID(10) + " on " + taskID(1)},
		},
		"the first in the queue, the next lease and a breaker": {
			[]string{
				"UPDATE task_specs SET prompt = 'other' WHERE task = 2", "UPDATE attempts SET worker = 'other' WHERE id = 'att_10_2'",
				"DELETE FROM attempts WHERE task = 5 AND number = 2", // of a task that says it is queued
				"UPDATE breakers SET until = 9 WHERE key = 'provider/model-1'",
			},
			func(t *testing.T, tx store.Tx) error {
				ready, err := tx.Tasks(store.TaskQuery{ReadyAt: 5000, Limit: 1})
				require.NoError(t, err)
				require.Equal(t, taskID(8), ready[0].ID)
				require.NoError(t, happen(tx, 8, claimOf(8000)))
				page, err := tx.Tasks(store.TaskQuery{Limit: 3})
				require.NoError(t, err)
				require.Equal(t, []string{taskID(1), taskID(3), taskID(4)}, []string{page[0].ID, page[1].ID, page[2].ID})
				leases, err := tx.Leased(0, 1)
				require.NoError(t, err)
				require.Equal(t, "att_13_2", leases[0].ID)
				_, ok, err := tx.Breaker("provider/model-1")
				require.NoError(t, err)
				require.False(t, ok)
				opened, err := tx.OpenedBreakers()
				require.Len(t, opened, staffedTasks-1)
				return err
			},
			[]string{"task " + taskID(2), "task " + taskID(5), "attempt att_10_2", "the breaker of model provider/model-1"},
		},
	}
}

// TestFaultS4_ManyDamagedTasks: more tasks are damaged than the status names. Their leases hold up nobody
// either: once only those that were named were passed by.
func TestFaultS4_ManyDamagedTasks(t *testing.T) {
	path := fullStore(t)
	change(t, path, "UPDATE task_specs SET prompt = 'other' WHERE task <> 28")
	s := open(t, sqlite.Options{Path: path})
	update(t, s, func(tx store.Tx) error {
		for n := int64(1); n <= staffedTasks; n++ {
			if _, _, err := tx.Task(taskID(n)); n != 28 {
				requireFault(t, err, store.Corrupt)
			}
		}
		due, err := tx.Leased(0, 1)
		require.Len(t, due, 1)
		require.Equal(t, "att_28_2", due[0].ID)
		return err
	})
	degraded := s.Status(t.Context()).Degraded
	require.Len(t, degraded, 21)
	require.Contains(t, degraded[20], "more records")
}
