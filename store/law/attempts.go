package law

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/task"
	"waybill/store"
)

func attemptLaws() []Law {
	return []Law{
		law("an attempt comes back in every phase", everyAttemptComesBack),
		law("an attempt is found by its session and its token", attemptIsFound),
		law("of an attempt, task, number, cause and creation are fixed", attemptIsFixed),
		law("attempts are numbered without gaps", attemptsAreNumbered),
		law("a task has one unfinished attempt", oneUnfinished),
		law("a finished attempt changes only by stale reports", finishedStays),
		law("a token belongs to one attempt, a session to one task", tokensAreOwn),
		law("a session carries several attempts of its task", sessionGoesOn),
		law("a claim that was given back leaves its token to nobody", tokenGivenBack),
		law("attempts of a task are paged in order", attemptsArePaged),
		law("leases are listed by their ends", leasesAreListed),
	}
}

// lifetimes returns one attempt in phases that follow one another.
func lifetimes(a task.Attempt) []task.Attempt {
	in := func(phase task.AttemptPhase) task.Attempt {
		a.Phase = phase
		return a
	}
	lease := task.Lease{Token: "tok", Epoch: a.Number, ExpiresAt: start + day, Length: 5}
	longer := task.Lease{Token: "tok", Epoch: a.Number, ExpiresAt: start + 2*day, Length: 6}
	spared := longer
	spared.Spared = true
	running := []task.Attempt{
		in(task.PendingAttempt{}),
		in(task.RunningAttempt{Worker: "w", StartedAt: start + 1, Lease: lease}),
		in(task.RunningAttempt{Worker: "w", StartedAt: start + 1, Lease: spared}),
		in(task.RunningAttempt{Worker: "w", Session: "ses", StartedAt: start + 1, Lease: lease}),
	}
	a.Model = task.Model{Provider: "p", ID: "m", Variant: "v"}
	a.Stale = 3
	return append(running,
		in(task.RunningAttempt{Worker: "w", Session: "ses", StartedAt: start + 1, Lease: longer}),
		in(task.EndedAttempt{
			Status: task.AttemptError, Worker: "w", Session: "ses", StartedAt: start + 1, At: start + 3, Token: "tok",
			Failure: task.Failure{Class: task.ClassProvider, Name: "Overloaded", HTTP: 529, Message: "too many"}, Digest: "d",
		}))
}

func getAttempt(t T, tx store.Tx, id string) task.Attempt {
	t.Helper()
	got, ok, err := tx.Attempt(id)
	require.NoError(t, err)
	require.True(t, ok, "there is no attempt %s", id)
	return got
}

func everyAttemptComesBack(t T, s store.Store) {
	view(t, s, func(tx store.Tx) {
		_, ok, err := tx.Attempt("att_t_1")
		require.NoError(t, err)
		require.False(t, ok)
	})
	for _, want := range lifetimes(attempt("t", 1)) {
		update(t, s, func(tx store.Tx) {
			putTasks(t, tx, as(newTask("t", 1), want))
			require.Equal(t, want, getAttempt(t, tx, want.ID))
		})
		view(t, s, func(tx store.Tx) {
			require.Equal(t, want, getAttempt(t, tx, want.ID))
			require.Equal(t, want, getTask(t, tx, "t").Current)
		})
	}
	for i, status := range coretest.AttemptStatuses()[2:] {
		want := over(attempt(fmt.Sprint("ended", i), 1), status)
		update(t, s, func(tx store.Tx) { putTasks(t, tx, as(newTask(want.TaskID, int64(i)+10), want)) })
		view(t, s, func(tx store.Tx) { require.Equal(t, want, getAttempt(t, tx, want.ID)) })
	}
	never := attempt("never", 1)
	never.Phase = task.EndedAttempt{Status: task.AttemptCancelled, At: start, Failure: task.Failure{Class: task.ClassUser, Message: "why"}}
	never.Model, never.Link = task.Model{}, -1
	update(t, s, func(tx store.Tx) { putTasks(t, tx, as(newTask("never", 2), never)) })
	view(t, s, func(tx store.Tx) { require.Equal(t, never, getAttempt(t, tx, never.ID)) })
}

func attemptIsFound(t T, s store.Store) {
	find := func(session, token string) (found []string) {
		view(t, s, func(tx store.Tx) {
			a, ok, err := tx.AttemptOf(session)
			require.NoError(t, err)
			b, okToo, err := tx.AttemptUnder(token)
			require.NoError(t, err)
			if ok && okToo {
				require.Equal(t, a, b)
			}
			require.Equal(t, ok, a.ID != "")
			require.Equal(t, okToo, b.ID != "")
			found = []string{a.ID, b.ID}
		})
		return found
	}
	want := [][]string{{"", ""}, {"", "att_t_1"}, {"", "att_t_1"}, {"att_t_1", "att_t_1"}, {"att_t_1", "att_t_1"}, {"att_t_1", "att_t_1"}}
	for i, a := range lifetimes(attempt("t", 1)) {
		update(t, s, func(tx store.Tx) { putTasks(t, tx, as(newTask("t", 1), a)) })
		require.Equal(t, want[i], find("ses", "tok"), "step %d", i)
		require.Equal(t, []string{"", ""}, find("", ""), "what has none is not found by none")
	}
	update(t, s, func(tx store.Tx) { putTasks(t, tx, as(newTask("t", 1), attempt("t", 2))) })
	require.Equal(t, []string{"att_t_1", "att_t_1"}, find("ses", "tok"), "it is over, and still known")
}

func attemptIsFixed(t T, s store.Store) {
	update(t, s, func(tx store.Tx) { putTasks(t, tx, begun(newTask("t", 1)), newTask("other", 2)) })
	want := begun(newTask("t", 1)).Current
	for name, change := range map[string]func(*task.Attempt){
		"task":     func(a *task.Attempt) { a.TaskID = "other" },
		"no task":  func(a *task.Attempt) { a.TaskID = "nobody" },
		"number":   func(a *task.Attempt) { a.Number = 2 },
		"cause":    func(a *task.Attempt) { a.Cause = task.CauseReply },
		"creation": func(a *task.Attempt) { a.CreatedAt++ },
	} {
		changed := want
		change(&changed)
		update(t, s, func(tx store.Tx) {
			require.Error(t, tx.PutAttempt(changed), name)
			require.Equal(t, want, getAttempt(t, tx, want.ID))
			require.Error(t, tx.PutAttempt(changed), "%s, after a reading", name)
		})
	}
	view(t, s, func(tx store.Tx) { requireTask(t, tx, begun(newTask("t", 1))) })
}

func attemptsAreNumbered(t T, s store.Store) {
	update(t, s, func(tx store.Tx) {
		require.Error(t, tx.PutAttempt(attempt("t", 1)), "its task is not there")
		require.NoError(t, tx.PutTask(errored(newTask("t", 1))))
		for number := 1; number <= 3; number++ {
			for _, wrong := range []int{number - 2, number - 1, number + 1} {
				odd := over(attempt("t", wrong), task.AttemptError)
				odd.ID, odd.Phase = "odd", task.EndedAttempt{Status: task.AttemptCancelled, At: start}
				require.Error(t, tx.PutAttempt(odd), "number %d instead of %d", wrong, number)
			}
			require.NoError(t, tx.PutAttempt(over(attempt("t", number), task.AttemptError)))
		}
	})
	view(t, s, func(tx store.Tx) {
		all, err := tx.Attempts("t", 0, 10)
		require.NoError(t, err)
		require.Len(t, all, 3)
		_, ok, err := tx.Attempt("odd")
		require.NoError(t, err)
		require.False(t, ok)
	})
}

func oneUnfinished(t T, s store.Store) {
	first := newTask("t", 1)
	update(t, s, func(tx store.Tx) { putTasks(t, tx, first) })
	for _, now := range []task.Task{first, begun(first)} {
		update(t, s, func(tx store.Tx) {
			putTasks(t, tx, now)
			require.Error(t, tx.PutAttempt(attempt("t", 2)))
			require.Error(t, tx.PutAttempt(over(attempt("t", 2), task.AttemptError)))
			requireTask(t, tx, now)
		})
	}
	update(t, s, func(tx store.Tx) {
		require.NoError(t, tx.PutAttempt(over(first.Current, task.AttemptLost)))
		putTasks(t, tx, as(first, attempt("t", 2)))
	})
	view(t, s, func(tx store.Tx) { requireTask(t, tx, as(first, attempt("t", 2))) })
}

func finishedStays(t T, s store.Store) {
	done := over(attempt("t", 1), task.AttemptError)
	update(t, s, func(tx store.Tx) { putTasks(t, tx, as(newTask("t", 1), done)) })
	changes := map[string]func(a *task.Attempt, p *task.EndedAttempt){
		"status":  func(_ *task.Attempt, p *task.EndedAttempt) { p.Status = task.AttemptLost },
		"worker":  func(_ *task.Attempt, p *task.EndedAttempt) { p.Worker = "other" },
		"session": func(_ *task.Attempt, p *task.EndedAttempt) { p.Session = "other" },
		"start":   func(_ *task.Attempt, p *task.EndedAttempt) { p.StartedAt++ },
		"end":     func(_ *task.Attempt, p *task.EndedAttempt) { p.At++ },
		"token":   func(_ *task.Attempt, p *task.EndedAttempt) { p.Token = "other" },
		"failure": func(_ *task.Attempt, p *task.EndedAttempt) { p.Failure.Message = "other" },
		"digest":  func(_ *task.Attempt, p *task.EndedAttempt) { p.Digest = "other" },
		"model":   func(a *task.Attempt, _ *task.EndedAttempt) { a.Model.Variant = "other" },
		"link":    func(a *task.Attempt, _ *task.EndedAttempt) { a.Link++ },
	}
	for _, newer := range []bool{false, true} { // the newest attempt first, then an earlier one
		for name, change := range changes {
			changed, p := done, done.Phase.(task.EndedAttempt)
			change(&changed, &p)
			changed.Phase = p
			changed.Stale = 1
			update(t, s, func(tx store.Tx) { require.Error(t, tx.PutAttempt(changed), name) })
		}
		update(t, s, func(tx store.Tx) {
			require.Error(t, tx.PutAttempt(runs(attempt("t", 1), start)))
			require.Error(t, tx.PutAttempt(attempt("t", 1)))
			done = done.Belated()
			require.NoError(t, tx.PutAttempt(done))
			if !newer {
				putTasks(t, tx, as(newTask("t", 1), attempt("t", 2)))
			}
		})
		view(t, s, func(tx store.Tx) { require.Equal(t, done, getAttempt(t, tx, done.ID)) })
	}
}

func attemptsArePaged(t T, s store.Store) {
	of := func(tx store.Tx, taskID string, after, limit int) []int {
		page, err := tx.Attempts(taskID, after, limit)
		require.NoError(t, err)
		numbers := []int{}
		for _, a := range page {
			require.Equal(t, taskID, a.TaskID)
			numbers = append(numbers, a.Number)
		}
		return numbers
	}
	update(t, s, func(tx store.Tx) {
		putTasks(t, tx, newTask("other", 1))
		require.NoError(t, tx.PutTask(errored(newTask("t", 2))))
		for number := 1; number <= 11; number++ {
			require.NoError(t, tx.PutAttempt(over(attempt("t", number), task.AttemptError)))
		}
	})
	view(t, s, func(tx store.Tx) {
		require.Equal(t, []int{1, 2, 3}, of(tx, "t", 0, 3))
		require.Equal(t, []int{9, 10, 11}, of(tx, "t", 8, 10))
		require.Equal(t, []int{10}, of(tx, "t", 9, 1))
		require.Empty(t, of(tx, "t", 11, 10))
		require.Empty(t, of(tx, "t", 0, 0))
		require.Empty(t, of(tx, "t", 0, -1))
		require.Equal(t, []int{1}, of(tx, "other", 0, 10))
		require.Empty(t, of(tx, "nobody", 0, 10))
	})
}

func leasesAreListed(t T, s store.Store) {
	leased := func(tx store.Tx, after core.Instant, limit int) []string {
		page, err := tx.Leased(after, limit)
		require.NoError(t, err)
		found := []string{}
		for _, a := range page {
			require.Equal(t, getAttempt(t, tx, a.ID), a)
			found = append(found, a.TaskID)
		}
		return found
	}
	update(t, s, func(tx store.Tx) {
		for i, end := range []core.Instant{30, 10, 20, 10} {
			id := fmt.Sprint("r", i)
			putTasks(t, tx, as(newTask(id, int64(i)+1), runs(attempt(id, 1), start+end)))
		}
		putTasks(t, tx, newTask("q", 8), completed(newTask("c", 9)))
	})
	view(t, s, func(tx store.Tx) {
		require.Equal(t, []string{"r1", "r3", "r2", "r0"}, leased(tx, 0, 10))
		require.Equal(t, []string{"r1"}, leased(tx, 0, 1))
		require.Equal(t, []string{"r2", "r0"}, leased(tx, start+10, 10))
		require.Empty(t, leased(tx, start+30, 10))
		require.Empty(t, leased(tx, 0, 0))
	})
	update(t, s, func(tx store.Tx) {
		putTasks(t, tx, completed(newTask("r1", 2)), as(newTask("r3", 4), runs(attempt("r3", 1), start+40)))
		require.Equal(t, []string{"r2", "r0", "r3"}, leased(tx, 0, 10))
	})
}
