package sqlite_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/instruction"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/store"
)

// TestLawsOfCoreAreRepeated: a value that core can never have given is refused by the tables, and the transaction goes on.
func TestLawsOfCoreAreRepeated(t *testing.T) {
	s, _ := openNew(t)
	begun, _ := run.Start("run", "tasks.md", "1", "2", coretest.Policy(), 1)
	update(t, s, func(tx store.Tx) error { return errors.Join(createTask(tx, 1), tx.PutRun(begun)) })
	before := newest(t, s)
	for name, put := range illegal() {
		update(t, s, func(tx store.Tx) error {
			require.Error(t, put(tx), name)
			n, err := tx.CountInstructions(store.InstructionQuery{})
			require.Zero(t, n, name)
			counts, failed := tx.InstructionCounts()
			require.Zero(t, counts[instruction.StateQueued], name)
			return errors.Join(err, failed)
		})
	}
	require.Equal(t, before, newest(t, s))
	update(t, s, func(tx store.Tx) error {
		for _, halt := range coretest.Halts() {
			one := blockedRun(begun)
			one.Halt = halt
			require.NoError(t, tx.PutRun(one))
		}
		return nil
	})
	sound(t, s)
}

// illegal returns what no table takes, by what is wrong with it.
func illegal() map[string]func(tx store.Tx) error {
	all := map[string]func(tx store.Tx) error{
		"a notice given less than never": func(tx store.Tx) error { return tx.PutNotice(store.Notice{ID: "n", Position: 1, Deliveries: -1}) },
		"a breaker without failures":     func(tx store.Tx) error { return tx.PutBreaker(task.Breaker{Key: "k", Failures: -1}) },
	}
	tracked, plain := newInstruction(1), newInstruction(1)
	plain.Tracked, plain.MaxRetries = false, 0
	for k, in := range []instruction.Instruction{
		in(tracked, instruction.Sent{Sends: 5, At: 1}), // more than allowed
		in(plain, instruction.Sent{Sends: 2, At: 1}),
		in(tracked, instruction.Sent{}), in(tracked, instruction.Sent{Sends: -1, At: 1}),
		in(tracked, instruction.Acknowledged{SentAt: 1, At: 1, By: instruction.ByCall}), // sent without a number
		in(plain, instruction.Acknowledged{At: 1, By: instruction.ByCall}),
		in(plain, instruction.Failed{Sends: 1, SentAt: 1, At: 1}),
		in(tracked, instruction.Failed{At: 1}), in(tracked, instruction.Acknowledged{At: 1}), in(tracked, instruction.Acknowledged{At: 1, By: "wish"}),
	} {
		all[fmt.Sprint("instruction ", k)] = func(tx store.Tx) error { return tx.PutInstruction(in) }
	}
	for name, wrong := range map[string]func(*run.Run){
		"blocked, but not why":   func(r *run.Run) { r.Halt = "" },
		"blocked in its own way": func(r *run.Run) { r.Halt = "mood" },
		"not blocked, but why":   func(r *run.Run) { r.State = run.Running },
		"over, but why":          func(r *run.Run) { r.State = run.Done },
		"an unknown worker":      func(r *run.Run) { r.Standing[0] = run.Broken + 1 },
		"an unknown reviewer":    func(r *run.Run) { r.Standing[1] = run.Broken + 1 },
		"another":                func(r *run.Run) { r.Standing[2] = 255 },
		"an unknown role":        func(r *run.Run) { r.Policy.Reviewers = 1 << core.Roles },
		"an unknown state":       func(r *run.Run) { r.State, r.Halt = "paused", "" },
		"no revision":            func(r *run.Run) { r.State, r.Halt, r.Revision = run.Done, "", 0 },
	} {
		all["run: "+name] = func(tx store.Tx) error {
			one, _, err := tx.Run("run")
			one = blockedRun(one)
			wrong(&one)
			return errors.Join(err, tx.PutRun(one))
		}
	}
	for name, wrong := range map[string]func(*task.Task){
		"a status of nobody":          func(t *task.Task) { t.Phase = task.Errored{Reason: "wish"} },
		"an error without a reason":   func(t *task.Task) { t.Phase = task.Errored{} },
		"a reason of no cancellation": func(t *task.Task) { t.Phase = task.Running{CancelReason: "why"} },
		"waits for less than nothing": func(t *task.Task) { t.Waits = -1 },
		"more failures than attempts": func(t *task.Task) { t.Spent.Failures = 4 },
		"more failures on a model":    func(t *task.Task) { t.Spent.OnModel = 1 },
		"fewer than no replies":       func(t *task.Task) { t.Replies = -1 },
		"an answer that nobody gave":  func(t *task.Task) { t.Reply = "yes" },
	} {
		for _, id := range []string{taskID(1), "new"} {
			all["task "+id+": "+name] = func(tx store.Tx) error {
				one, _, err := tx.Task(taskID(1))
				if one.ID = id; id == "new" {
					one.Position = 2
				}
				wrong(&one)
				return errors.Join(err, tx.PutTask(one))
			}
		}
	}
	lease := task.Lease{Token: "tok", Epoch: 1, ExpiresAt: 1}
	for name, wrong := range map[string]func(*task.Attempt){
		"runs without a token":      func(a *task.Attempt) { a.Phase = task.RunningAttempt{Lease: task.Lease{Epoch: 1}} },
		"of another epoch":          func(a *task.Attempt) { a.Phase = task.RunningAttempt{Lease: task.Lease{Token: "tok", Epoch: 2}} },
		"ended as running":          func(a *task.Attempt) { a.Phase = task.EndedAttempt{Status: task.AttemptRunning, Token: "tok", At: 1} },
		"ended in no known way":     func(a *task.Attempt) { a.Phase = task.EndedAttempt{Status: "vanished", Token: "tok", At: 1} },
		"completed without a lease": func(a *task.Attempt) { a.Phase = task.EndedAttempt{Status: task.AttemptCompleted, At: 1} },
		"began without a token":     func(a *task.Attempt) { a.Phase = task.EndedAttempt{Status: task.AttemptCancelled, StartedAt: 5, At: 5} },
		"failed in no known way": func(a *task.Attempt) {
			a.Phase = task.EndedAttempt{Status: task.AttemptError, Token: "tok", At: 1, Failure: task.Failure{Class: "odd"}}
		},
		"of no link":               func(a *task.Attempt) { a.Phase, a.Link = task.RunningAttempt{Lease: lease}, -2 },
		"stale for less than once": func(a *task.Attempt) { a.Phase, a.Stale = task.RunningAttempt{Lease: lease}, -1 },
	} {
		all["attempt: "+name] = func(tx store.Tx) error {
			a, _, err := tx.Attempt("att_1_1")
			wrong(&a)
			return errors.Join(err, tx.PutAttempt(a))
		}
	}
	return all
}

func in(i instruction.Instruction, phase instruction.Phase) instruction.Instruction {
	i.Phase = phase
	return i
}

// TestTablesHoldTheLaws: not even behind the store's back a table gets what nobody can have put, such as a finished attempt
// that is unfinished again.
func TestTablesHoldTheLaws(t *testing.T) {
	s, path := openNew(t)
	begun, _ := run.Start("run", "tasks.md", "1", "2", coretest.Policy(), 1)
	update(t, s, func(tx store.Tx) error {
		return errors.Join(tx.PutRun(blockedRun(begun)), putPrompts(tx, "run", core.Worker), tx.AddTallies("run", []store.Tally{{Name: "results", N: 1}}),
			createTask(tx, 1), happen(tx, 1, claimOf(1), finishOf(1)), createTask(tx, 2))
	})
	db := raw(t, path, "PRAGMA busy_timeout = 1000", "PRAGMA foreign_keys = ON",
		"CREATE TEMP TABLE twin AS SELECT * FROM attempts WHERE id = 'att_2_1'", "UPDATE twin SET number = 2, id = 'other'")
	for _, statement := range []string{
		"UPDATE runs SET naming = 3", "UPDATE runs SET check_failures = -1", "UPDATE runs SET state = 'running'", "UPDATE tallies SET n = -1",
		"UPDATE tallies SET name = ''", "UPDATE tallies SET name = 'Results'", "UPDATE tallies SET run_id = 'none'",
		"UPDATE prompts SET role = 'reviewer'", "UPDATE prompts SET run_id = 'none'", "UPDATE prompts SET tokens = -1",
		"UPDATE prompts SET sum = x'00'", "UPDATE prompts SET version = '" + strings.Repeat("é", 33) + "'",
		"UPDATE prompts SET text = CAST(zeroblob(1048577) AS TEXT)", "UPDATE prompts SET cursor = CAST(zeroblob(1048577) AS TEXT)",
		"UPDATE tallies SET name = '" + strings.Repeat("x", 65) + "'", "UPDATE tallies SET sum = x'00'",
		"UPDATE attempts SET ended_at = NULL", "UPDATE attempts SET status = 'pending' WHERE id = 'att_1_1'",
		"UPDATE attempts SET status = 'running' WHERE id = 'att_1_1'", "UPDATE attempts SET expires_at = 5 WHERE id = 'att_1_1'",
		"UPDATE attempts SET number = 0", "INSERT INTO attempts SELECT * FROM attempts",
		"INSERT INTO attempts SELECT * FROM twin", // a second one of a task that has not ended
	} {
		_, err := db.ExecContext(t.Context(), statement)
		require.ErrorContains(t, err, "constraint", statement)
	}
	require.NoError(t, db.Close())
	sound(t, s)
	change(t, path, "CREATE TEMP TABLE twin AS SELECT * FROM attempts WHERE id = 'att_2_1'",
		"UPDATE twin SET number = 2, id = 'other', status = 'cancelled', ended_at = 1", "INSERT INTO attempts SELECT * FROM twin")
}
