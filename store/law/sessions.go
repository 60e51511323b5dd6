package law

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"waybill/core/task"
	"waybill/store"
)

// These laws concern the identifiers that reports about an attempt use: its token and its session.

func tokenGivenBack(t T, s store.Store) {
	claimed := runs(attempt("a", 1), start)
	token := claimed.Token()
	update(t, s, func(tx store.Tx) { putTasks(t, tx, as(newTask("a", 1), claimed)) })
	update(t, s, func(tx store.Tx) { putTasks(t, tx, as(newTask("a", 1), attempt("a", 1))) })
	view(t, s, func(tx store.Tx) {
		require.Equal(t, attempt("a", 1), getAttempt(t, tx, claimed.ID))
		_, ok, err := tx.AttemptUnder(token)
		require.NoError(t, err)
		require.False(t, ok, "the token still finds the attempt")
		leased, err := tx.Leased(0, 10)
		require.NoError(t, err)
		require.Empty(t, leased)
	})
	update(t, s, func(tx store.Tx) { putTasks(t, tx, as(newTask("a", 1), claimed), as(newTask("b", 2), attempt("b", 1))) })
}

func tokensAreOwn(t T, s store.Store) {
	bound := func(taskID, session, token string) task.Attempt {
		a := runs(attempt(taskID, 1), start)
		p := a.Phase.(task.RunningAttempt)
		p.Session, p.Lease.Token = session, token
		a.Phase = p
		return a
	}
	update(t, s, func(tx store.Tx) {
		putTasks(t, tx, as(newTask("a", 1), bound("a", "ses", "tok")), as(newTask("b", 2), bound("b", "", "tok b")))
	})
	for _, ended := range []bool{false, true} {
		update(t, s, func(tx store.Tx) {
			if ended {
				last := over(attempt("a", 1), task.AttemptError)
				p := last.Phase.(task.EndedAttempt)
				p.Session, p.Token = "ses", "tok"
				last.Phase = p
				putTasks(t, tx, as(newTask("a", 1), last))
			}
			require.Error(t, tx.PutAttempt(bound("b", "ses", "tok b")))
			require.Error(t, tx.PutAttempt(bound("b", "", "tok")))
			require.NoError(t, tx.PutTask(begun(newTask("c", 3))))
			require.Error(t, tx.PutAttempt(bound("c", "", "tok")), "a new one")
			require.Error(t, tx.PutAttempt(bound("c", "ses", "tok c")), "a new one")
			require.NoError(t, tx.PutAttempt(bound("c", "ses c", "tok c")))
			require.Equal(t, bound("b", "", "tok b"), getAttempt(t, tx, "att_b_1"))
		})
	}
}

// sessionGoesOn has the attempts of a task run in one session, one after the other, while another task may
// not come into it. The newest one answers for the session, and the one before when that has left it.
func sessionGoesOn(t T, s store.Store) {
	const last = 11
	for number := 1; number <= last; number++ {
		now := running("t", number, "ses")
		update(t, s, func(tx store.Tx) {
			putTasks(t, tx, as(newTask("t", 1), now), begun(newTask("other", 2)))
			require.Error(t, tx.PutAttempt(running("other", 1, "ses")), "another runs in it")
			require.Error(t, tx.PutAttempt(running("t", number+1, "ses")), "two unfinished ones")
		})
		require.Equal(t, now.ID, attemptIn(t, s, "ses"))
		if number == last {
			break
		}
		update(t, s, func(tx store.Tx) {
			putTasks(t, tx, as(newTask("t", 1), endedIn(now, "ses")))
			require.Error(t, tx.PutAttempt(running("other", 1, "ses")), "another ran in it")
		})
		require.Equal(t, now.ID, attemptIn(t, s, "ses"))
	}
	update(t, s, func(tx store.Tx) {
		putTasks(t, tx, as(newTask("t", 1), running("t", last, "new")))
		require.Error(t, tx.PutAttempt(running("other", 1, "ses")), "others ran in it")
		putTasks(t, tx, as(newTask("other", 2), running("other", 1, "its own")))
	})
	require.Equal(t, fmt.Sprint("att_t_", last), attemptIn(t, s, "new"))
	require.Equal(t, fmt.Sprint("att_t_", last-1), attemptIn(t, s, "ses"))
	require.Equal(t, "att_other_1", attemptIn(t, s, "its own"))
}

// running returns an attempt that runs in a session.
func running(taskID string, number int, session string) task.Attempt {
	a := runs(attempt(taskID, number), start)
	p := a.Phase.(task.RunningAttempt)
	p.Session = session
	a.Phase = p
	return a
}

// endedIn returns the attempt as it failed in a session.
func endedIn(a task.Attempt, session string) task.Attempt {
	a = over(a, task.AttemptError)
	p := a.Phase.(task.EndedAttempt)
	p.Session = session
	a.Phase = p
	return a
}

// attemptIn returns the id of the attempt that answers for a session.
func attemptIn(t T, s store.Store, session string) (id string) {
	t.Helper()
	view(t, s, func(tx store.Tx) {
		a, _, err := tx.AttemptOf(session)
		require.NoError(t, err)
		id = a.ID
	})
	return id
}
