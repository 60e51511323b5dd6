package law

import (
	"fmt"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/core/task"
	"waybill/store"
)

func taskLaws() []Law {
	return []Law{
		law("a task comes back in every phase, with every field", everyTaskComesBack),
		law("of a task, launch, position and creation are fixed", launchIsFixed),
		law("no two tasks share a position", taskPositionsAreTaken),
		law("a task and its newest attempt agree in the end", tasksAreCoherent),
		law("the newest attempt is the current one", newestIsCurrent),
		law("counts of tasks by status agree with the rows", taskCountsAgree),
		law("dependents are listed in order, each once", dependentsAreListed),
		law("ids are found by their beginning and their end", idsAreFound),
		law("prune leaves tasks alone", pruneLeavesTasks),
		law("a dropped task is gone with all that belongs to it, and nothing else is", droppedTasks),
		law("only a task that is over is dropped, and none that is needed", onlyOverIsDropped),
	}
}

// putTasks puts tasks with their newest attempts.
func putTasks(t T, tx store.Tx, all ...task.Task) {
	t.Helper()
	for _, one := range all {
		require.NoError(t, tx.PutTask(one))
		require.NoError(t, tx.PutAttempt(one.Current))
	}
}

func getTask(t T, tx store.Tx, id string) task.Task {
	t.Helper()
	got, ok, err := tx.Task(id)
	require.NoError(t, err)
	require.True(t, ok, "there is no task %s", id)
	return got
}

func requireTask(t T, tx store.Tx, want task.Task) {
	t.Helper()
	require.Equal(t, want, getTask(t, tx, want.ID))
	listed, err := tx.Tasks(store.TaskQuery{After: want.Position - 1, Limit: 1})
	require.NoError(t, err)
	require.Equal(t, []task.Task{want}, listed)
}

// everyTaskComesBack puts tasks of which every field differs from the others in all phases.
func everyTaskComesBack(t T, s store.Store) {
	view(t, s, func(tx store.Tx) {
		_, ok, err := tx.Task("t1")
		require.NoError(t, err)
		require.False(t, ok)
	})
	all := rapid.Custom(drawWholeTask)
	seen := make(map[task.Status]bool)
	for i := range 60 {
		want := all.Example(i)
		want.ID, want.Position = fmt.Sprint("t", i), int64(i)*7+1
		want.Current.ID, want.Current.TaskID = "a"+want.ID, want.ID
		want.Current.Phase = own(want.Current.Phase, want.ID)
		seen[want.Status()] = true
		update(t, s, func(tx store.Tx) {
			putTasks(t, tx, want)
			requireTask(t, tx, want)
		})
		view(t, s, func(tx store.Tx) { requireTask(t, tx, want) })
	}
	require.Len(t, seen, len(task.Statuses()), "not every phase was drawn")
}

// own returns a phase whose session and token belong to no other task.
func own(phase task.AttemptPhase, id string) task.AttemptPhase {
	mine := func(text string) string {
		if text == "" {
			return ""
		}
		return text + " of " + id
	}
	switch p := phase.(type) {
	case task.PendingAttempt:
		return p
	case task.RunningAttempt:
		p.Session, p.Lease.Token = mine(p.Session), mine(p.Lease.Token)
		return p
	case task.EndedAttempt:
		p.Session, p.Token = mine(p.Session), mine(p.Token)
		return p
	}
	panic("law: attempt without a phase")
}

func launchIsFixed(t T, s store.Store) {
	original := newTask("t", 7)
	update(t, s, func(tx store.Tx) { putTasks(t, tx, original) })
	changes := map[string]func(*task.Task){
		"position":     func(t *task.Task) { t.Position = 8 },
		"creation":     func(t *task.Task) { t.CreatedAt++ },
		"prompt":       func(t *task.Task) { t.Spec.Prompt = "other" },
		"description":  func(t *task.Task) { t.Spec.Description = "other" },
		"run":          func(t *task.Task) { t.Spec.RunID = "other" },
		"role":         func(t *task.Task) { t.Spec.Role = "other" },
		"parent":       func(t *task.Task) { t.Spec.Parent = "other" },
		"chain":        func(t *task.Task) { t.Spec.Chain = task.Chain{} },
		"attempts":     func(t *task.Task) { t.Spec.MaxAttempts = 9 },
		"dependencies": func(t *task.Task) { t.Spec.DependsOn = `["other"]` },
		"labels":       func(t *task.Task) { t.Spec.Labels = `{"other":1}` },
	}
	for name, change := range changes {
		changed := original
		changed.Output = "said"
		change(&changed)
		update(t, s, func(tx store.Tx) {
			require.Error(t, tx.PutTask(changed), name)
			requireTask(t, tx, original)
			require.Error(t, tx.PutTask(changed), "%s, after a reading", name)
		})
	}
	view(t, s, func(tx store.Tx) { requireTask(t, tx, original) })
}

func taskPositionsAreTaken(t T, s store.Store) {
	update(t, s, func(tx store.Tx) {
		putTasks(t, tx, newTask("a", 7))
		require.Error(t, tx.PutTask(newTask("b", 7)))
		require.Error(t, tx.PutTask(newTask("b", 0)))
		require.Error(t, tx.PutTask(newTask("b", -1)))
		putTasks(t, tx, newTask("b", 6))
	})
	view(t, s, func(tx store.Tx) {
		require.Equal(t, []string{"b", "a"}, selectedTasks(t, tx, store.TaskQuery{}))
	})
}

// tasksAreCoherent leaves a task in the lurch in each way there is. Within a transaction it may be.
func tasksAreCoherent(t T, s store.Store) {
	update(t, s, func(tx store.Tx) { putTasks(t, tx, newTask("t", 1)) })
	halves := map[string]func(tx store.Tx) error{
		"no attempt":                     func(tx store.Tx) error { return tx.PutTask(newTask("u", 2)) },
		"running, and its attempt not":   func(tx store.Tx) error { return tx.PutTask(begun(newTask("t", 1))) },
		"queued, and its attempt runs":   func(tx store.Tx) error { return tx.PutAttempt(begun(newTask("t", 1)).Current) },
		"complete, and its attempt not":  func(tx store.Tx) error { return tx.PutTask(completed(newTask("t", 1))) },
		"queued, and its attempt is not": func(tx store.Tx) error { return tx.PutAttempt(errored(newTask("t", 1)).Current) },
	}
	for name, half := range halves {
		require.Error(t, s.Update(t.Context(), half), name)
		view(t, s, func(tx store.Tx) {
			requireTask(t, tx, newTask("t", 1))
			n, err := tx.CountTasks(store.TaskQuery{})
			require.NoError(t, err)
			require.Equal(t, 1, n)
		})
	}
	update(t, s, func(tx store.Tx) {
		now := begun(newTask("t", 1))
		require.NoError(t, tx.PutAttempt(now.Current), "it does not matter which is put first")
		require.NoError(t, tx.PutTask(now))
	})
	view(t, s, func(tx store.Tx) { requireTask(t, tx, begun(newTask("t", 1))) })
}

func newestIsCurrent(t T, s store.Store) {
	now := newTask("t", 1)
	update(t, s, func(tx store.Tx) { putTasks(t, tx, now, newTask("other", 2)) })
	for number := 2; number <= 12; number++ {
		update(t, s, func(tx store.Tx) {
			require.NoError(t, tx.PutAttempt(over(now.Current, task.AttemptError)))
			now.Current = attempt("t", number)
			require.NoError(t, tx.PutAttempt(now.Current))
			requireTask(t, tx, now)
		})
		update(t, s, func(tx store.Tx) {
			require.NoError(t, tx.PutAttempt(over(attempt("t", 1), task.AttemptError).Belated()), "an earlier one")
			require.Equal(t, now, getTask(t, tx, "t"))
			altered := now
			altered.Current = task.Attempt{}
			require.NoError(t, tx.PutTask(altered), "the attempt is not put with its task")
		})
		view(t, s, func(tx store.Tx) { requireTask(t, tx, now) })
	}
}

func taskCountsAgree(t T, s store.Store) {
	requireCounts := func(queued, running, complete, failed int) {
		t.Helper()
		view(t, s, func(tx store.Tx) {
			got, err := tx.TaskCounts()
			require.NoError(t, err)
			require.Equal(t, map[task.Status]int{
				task.StatusQueued: queued, task.StatusRunning: running, task.StatusComplete: complete,
				task.StatusAwaiting: 0, task.StatusError: failed, task.StatusCancelled: 0, task.StatusBlocked: 0,
			}, got)
			for status, n := range got {
				rows, err := tx.CountTasks(store.TaskQuery{Status: status})
				require.NoError(t, err)
				require.Equal(t, n, rows, "tasks that are %s", status)
			}
		})
	}
	requireCounts(0, 0, 0, 0)
	update(t, s, func(tx store.Tx) { putTasks(t, tx, newTask("a", 1), newTask("b", 2), newTask("c", 3)) })
	requireCounts(3, 0, 0, 0)
	update(t, s, func(tx store.Tx) {
		putTasks(t, tx, begun(newTask("a", 1)), completed(newTask("a", 1)), begun(newTask("b", 2)), begun(newTask("b", 2)))
	})
	requireCounts(1, 1, 1, 0)
	require.Error(t, s.Update(t.Context(), func(tx store.Tx) error {
		putTasks(t, tx, errored(newTask("c", 3)))
		return errNo
	}))
	requireCounts(1, 1, 1, 0)
	update(t, s, func(tx store.Tx) { putTasks(t, tx, errored(newTask("c", 3))) })
	requireCounts(0, 1, 1, 1)
}

func dependentsAreListed(t T, s store.Store) {
	of := func(tx store.Tx, on, after string, limit int) []string {
		found, err := tx.Dependents(on, after, limit)
		require.NoError(t, err)
		return append([]string{}, found...)
	}
	update(t, s, func(tx store.Tx) {
		putTasks(t, tx, newTask("root", 1), newTask("c", 2), newTask("B", 3), newTask("a", 4))
		for _, id := range []string{"c", "a", "B", "a"} {
			require.NoError(t, tx.AddDependency(id, "root"))
		}
		require.NoError(t, tx.AddDependency("a", "c"))
		require.Error(t, tx.AddDependency("nobody", "root"))
		require.Error(t, tx.AddDependency("a", "nobody"))
	})
	view(t, s, func(tx store.Tx) {
		require.Equal(t, []string{"B", "a", "c"}, of(tx, "root", "", 10))
		require.Equal(t, []string{"B", "a"}, of(tx, "root", "", 2))
		require.Equal(t, []string{"c"}, of(tx, "root", "a", 2))
		require.Equal(t, []string{"a"}, of(tx, "c", "", 10))
		require.Empty(t, of(tx, "a", "", 10))
		require.Empty(t, of(tx, "nobody", "", 10))
		require.Empty(t, of(tx, "root", "", 0))
	})
}

// dropped drops a task, which must be there.
func dropped(t T, tx store.Tx, id string) {
	t.Helper()
	ok, err := tx.DropTask(id)
	require.NoError(t, err)
	require.True(t, ok, "there is no task %s", id)
}

func droppedTasks(t T, s store.Store) {
	var kept task.Task
	update(t, s, func(tx store.Tx) {
		everything(t, tx)
		gone := completed(newTask("gone", 3))
		ended := gone.Current.Phase.(task.EndedAttempt)
		ended.Session = "of gone"
		gone.Current.Phase = ended
		putTasks(t, tx, gone)
		require.NoError(t, tx.AddDependency("gone", "before"))
		require.NoError(t, tx.AddReply(reply("gone", 1)))
		kept = completed(newTask("kept", 4))
		putTasks(t, tx, kept)
		require.NoError(t, tx.AddDependency("kept", "gone"))
	})
	update(t, s, func(tx store.Tx) {
		before := tx.Writes()
		dropped(t, tx, "gone")
		require.Greater(t, tx.Writes(), before)
		ok, err := tx.DropTask("gone")
		require.NoError(t, err)
		require.False(t, ok)
	})
	view(t, s, func(tx store.Tx) {
		_, ok, err := tx.Task("gone")
		require.NoError(t, err)
		require.False(t, ok)
		_, ok, err = tx.Attempt("att_gone_1")
		require.NoError(t, err)
		require.False(t, ok)
		_, ok, err = tx.AttemptOf("of gone")
		require.NoError(t, err)
		require.False(t, ok)
		_, ok, err = tx.AttemptUnder("token of att_gone_1")
		require.NoError(t, err)
		require.False(t, ok)
		for _, on := range []string{"gone", "before"} {
			waiting, err := tx.Dependents(on, "", 10)
			require.NoError(t, err)
			require.NotContains(t, waiting, "gone")
			require.NotContains(t, waiting, "kept")
		}
		replies, err := tx.Replies("gone", 0, 10)
		require.NoError(t, err)
		require.Empty(t, replies)
		requireTask(t, tx, kept)
		requireCensus(t, tx, 1)
		counts, err := tx.TaskCounts()
		require.NoError(t, err)
		require.Equal(t, []int{2, 1}, []int{counts[task.StatusComplete], counts[task.StatusQueued]})
	})
	update(t, s, func(tx store.Tx) { putTasks(t, tx, completed(newTask("gone", 5))) })
	view(t, s, func(tx store.Tx) { require.Equal(t, "gone", getTask(t, tx, "gone").ID) })
	damage, err := s.Verify(t.Context())
	require.NoError(t, err)
	require.Empty(t, damage)
}

// onlyOverIsDropped tries it with a task of each status, and with tasks that others need.
func onlyOverIsDropped(t T, s store.Store) {
	update(t, s, func(tx store.Tx) {
		all := rapid.Custom(drawWholeTask)
		seen := make(map[task.Status]bool)
		for i := range 60 {
			one := all.Example(i)
			one.ID, one.Position = fmt.Sprint("t", i), int64(i)+1
			one.Current.ID, one.Current.TaskID = "a"+one.ID, one.ID
			one.Current.Phase = own(one.Current.Phase, one.ID)
			seen[one.Status()] = true
			putTasks(t, tx, one)
			ok, err := tx.DropTask(one.ID)
			require.Equal(t, one.Status().Forgettable(), ok, "%+v", one)
			require.Equal(t, ok, err == nil, "%+v: %v", one, err)
			_, there, err := tx.Task(one.ID)
			require.NoError(t, err)
			require.NotEqual(t, ok, there)
		}
		require.Len(t, seen, len(task.Statuses()), "not every phase was drawn")
		putTasks(t, tx, completed(newTask("needed", 100)), completed(newTask("over", 101)), newTask("needs", 102))
		require.NoError(t, tx.AddDependency("over", "needed"))
		require.NoError(t, tx.AddDependency("needs", "needed"))
		_, err := tx.DropTask("needed")
		require.Error(t, err)
		dropped(t, tx, "over")
		_, err = tx.DropTask("needed")
		require.Error(t, err, "one is left that needs it")
		getTask(t, tx, "needed")
	})
	view(t, s, func(tx store.Tx) { getTask(t, tx, "needed") })
	update(t, s, func(tx store.Tx) { // a cancelled task may be told to continue, and then waits for incomplete dependencies
		first, second := cancelled(newTask("first", 110)), cancelled(newTask("second", 111))
		putTasks(t, tx, first, second, completed(newTask("third", 112)))
		require.NoError(t, tx.AddDependency("second", "first"))
		require.NoError(t, tx.AddDependency("second", "third"))
		_, err := tx.DropTask("first")
		require.Error(t, err)
		dropped(t, tx, "third")
		dropped(t, tx, "second")
		dropped(t, tx, "first")
	})
}

func pruneLeavesTasks(t T, s store.Store) {
	update(t, s, func(tx store.Tx) { everything(t, tx) })
	update(t, s, func(tx store.Tx) {
		_, err := tx.Prune(start+900*day, 1000)
		require.NoError(t, err)
	})
	view(t, s, func(tx store.Tx) {
		left := census(t, tx)
		for _, kind := range []string{"tasks", "attempts", "dependents", "replies", "breakers"} {
			require.Equal(t, 1, left[kind], kind)
		}
		requireTask(t, tx, completed(newTask("before", 1)))
	})
}
