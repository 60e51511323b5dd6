package sqlite_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/store"
	"waybill/store/sqlite"
)

// TestFaultS4_DamageThatIsReadLosesNoTransaction: several calls share one transaction, and one of them
// reads what is damaged. That one is told so, and what the others put is kept.
func TestFaultS4_DamageThatIsReadLosesNoTransaction(t *testing.T) {
	path := staffed(t)
	change(t, path, "UPDATE task_specs SET prompt = 'other' WHERE task = 3",
		"UPDATE attempts SET worker = 'other' WHERE id = 'att_4_2'")
	s := open(t, sqlite.Options{Path: path})
	update(t, s, func(tx store.Tx) error {
		require.NoError(t, happen(tx, 2, claimOf(200)))
		before := tx.Writes()
		_, _, err := tx.Task(taskID(3))
		requireFault(t, err, store.Corrupt)
		_, _, err = tx.Attempt("att_4_2")
		requireFault(t, err, store.Corrupt)
		require.Equal(t, before, tx.Writes())
		return createTask(tx, 99)
	})
	require.NoError(t, s.View(t.Context(), func(tx store.Tx) error {
		_, _, err := tx.Task(taskID(3))
		requireFault(t, err, store.Corrupt)
		for _, n := range []int64{2, 99} {
			_, ok, err := tx.Task(taskID(n))
			require.NoError(t, err)
			require.True(t, ok)
		}
		_, ok, err := tx.AttemptUnder("tok_200")
		require.True(t, ok)
		return err
	}))
	degraded := s.Status(t.Context()).Degraded
	require.Len(t, degraded, 2)
	require.Contains(t, degraded[0], "task "+taskID(3)+" ")
	require.Contains(t, degraded[1], "attempt att_4_2 ")
}

// TestFaultS4_DamagedPartsOfATaskAreLeftOut: of the attempts, the replies and the dependents of a task one
// is not what was written. Each list returns the others, as many as its limit says, and the status names it.
func TestFaultS4_DamagedPartsOfATaskAreLeftOut(t *testing.T) {
	path := staffed(t)
	s := open(t, sqlite.Options{Path: path})
	update(t, s, func(tx store.Tx) error {
		return tx.AddReply(store.Reply{TaskID: taskID(2), Number: 2, AttemptID: "att", Text: content})
	})
	require.NoError(t, s.Close())
	change(t, path, "UPDATE attempts SET worker = 'other' WHERE id = 'att_4_1'",
		"UPDATE replies SET text = 'other' WHERE task = 2 AND number = 1",
		"UPDATE dependencies SET sum = x'0000000000000000' WHERE task = '"+taskID(10)+"'")
	s = open(t, sqlite.Options{Path: path})
	update(t, s, func(tx store.Tx) error {
		attempts, err := tx.Attempts(taskID(4), 0, 1)
		require.NoError(t, err)
		require.Len(t, attempts, 1)
		require.Equal(t, "att_4_2", attempts[0].ID)
		replies, err := tx.Replies(taskID(2), 0, 1)
		require.NoError(t, err)
		require.Len(t, replies, 1)
		require.Equal(t, 2, replies[0].Number)
		waiting, err := tx.Dependents(taskID(1), taskID(9), 2)
		require.NoError(t, err)
		require.Equal(t, []string{taskID(11), taskID(12)}, waiting)
		return happen(tx, 2, claimOf(200))
	})
	degraded := strings.Join(s.Status(t.Context()).Degraded, "\n")
	for _, what := range []string{"attempt att_4_1 ", "reply 1 to task " + taskID(2), "the dependency of task " + taskID(10)} {
		require.Contains(t, degraded, what)
	}
}

// TestFaultS4_ManyDamagedTasks: more tasks are damaged than the status names. Their leases hold up nobody
// either: once only those that were named were passed by.
func TestFaultS4_ManyDamagedTasks(t *testing.T) {
	path := staffed(t)
	change(t, path, "UPDATE task_specs SET prompt = 'other' WHERE task <> 28")
	s := open(t, sqlite.Options{Path: path})
	update(t, s, func(tx store.Tx) error {
		for n := int64(1); n <= staffedTasks; n++ {
			_, _, err := tx.Task(taskID(n))
			if n != 28 {
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
