package law

import (
	"errors"
	"fmt"
	"sync"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/task"
	"waybill/store"
)

// contestants is how many try at the same time.
const contestants = 64

func contestLaws() []Law {
	return []Law{
		law("each task is claimed once", claimIsExclusive),
		{Name: "each task is claimed once, by whichever handle", Holds: claimIsExclusiveEverywhere, Shares: true},
		law("the first reply wins", firstReplyWins),
		law("only the holder of the lease ends an attempt", finishIsFenced),
	}
}

// step has an event happen to a task, and puts what it becomes.
func step(tx store.Tx, id string, event task.Event) (task.Task, error) {
	t, ok, err := tx.Task(id)
	if err == nil && !ok {
		err = core.Missing("task", id)
	}
	if err != nil {
		return t, err
	}
	next, effects, err := t.Step(event)
	if err != nil {
		return t, err
	}
	if err := tx.PutTask(next); err != nil {
		return t, err
	}
	for _, effect := range effects {
		if keep, ok := effect.(task.Keep); ok {
			if err := tx.PutAttempt(keep.Attempt); err != nil {
				return t, err
			}
		}
	}
	return next, nil
}

// contest has everybody try at the same time and returns the errors.
func contest(try func(i int) error) []error {
	var wg sync.WaitGroup
	errs := make([]error, contestants)
	for i := range contestants {
		wg.Go(func() { errs[i] = try(i) })
	}
	wg.Wait()
	return errs
}

func claimIsExclusive(t T, s store.Store) { claimAll(t, s) }

// claimIsExclusiveEverywhere is the same for contestants in several processes.
func claimIsExclusiveEverywhere(t T, open func() store.Store) {
	handles := []store.Store{open(), open(), open()}
	claimAll(t, handles...)
	for _, s := range handles {
		require.NoError(t, s.Close())
	}
}

// claimAll claims the oldest ready task through all handles at once, until no task is left.
func claimAll(t T, handles ...store.Store) {
	t.Helper()
	s := handles[0]
	const tasks = contestants + 16
	update(t, s, func(tx store.Tx) {
		for i := range int64(tasks) {
			putTasks(t, tx, newTask(fmt.Sprint("t", i), i+1))
		}
	})
	var mu sync.Mutex // guards claimed
	claimed := make(map[string]int)
	errs := contest(func(i int) error {
		for n := range tasks + 1 {
			id, err := claimOldest(t, handles[i%len(handles)], fmt.Sprint("tok ", i, " ", n))
			if err != nil || id == "" {
				return err
			}
			mu.Lock()
			claimed[id]++
			mu.Unlock()
		}
		return errors.New("there is no end of tasks")
	})
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.Len(t, claimed, tasks, "every task is claimed")
	for id, times := range claimed {
		require.Equal(t, 1, times, "times that %s was claimed", id)
	}
	view(t, s, func(tx store.Tx) {
		counts, err := tx.TaskCounts()
		require.NoError(t, err)
		require.Equal(t, tasks, counts[task.StatusRunning])
	})
}

// claimOldest claims the oldest task that is ready, and returns its id, or "" if there is none.
func claimOldest(t T, s store.Store, token string) (id string, err error) {
	err = s.Update(t.Context(), func(tx store.Tx) error {
		id = ""
		ready, err := tx.Tasks(store.TaskQuery{ReadyAt: start + day, Limit: 1})
		if err != nil || len(ready) == 0 {
			return err
		}
		id = ready[0].ID
		_, err = step(tx, id, task.Claim{At: start + day, Worker: "w", Token: token, Length: 1})
		return err
	})
	return id, err
}

// firstReplyWins lets everybody answer one question.
func firstReplyWins(t T, s store.Store) {
	update(t, s, func(tx store.Tx) { putTasks(t, tx, awaiting(newTask("t", 1))) })
	errs := contest(func(i int) error {
		return s.Update(t.Context(), func(tx store.Tx) error {
			said := reply("t", 1)
			said.Text = fmt.Sprint("answer ", i)
			_, err := step(tx, "t", task.Reply{
				At: start + 2*day, Text: said.Text, Next: task.Successor{AttemptID: fmt.Sprint("att ", i)},
			})
			if err != nil {
				return err
			}
			return tx.AddReply(said)
		})
	})
	winner := -1
	for i, err := range errs {
		if err == nil {
			require.Equal(t, -1, winner, "two replies won")
			winner = i
			continue
		}
		refusal, ok := errors.AsType[*core.Refusal](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, core.AlreadyResolved, refusal.Kind)
	}
	require.NotEqual(t, -1, winner, "no reply won")
	view(t, s, func(tx store.Tx) {
		given := replies(t, tx, "t", 0, 10)
		require.Len(t, given, 1)
		require.Equal(t, fmt.Sprint("answer ", winner), given[0].Text)
		got := getTask(t, tx, "t")
		require.Equal(t, given[0].Text, got.Reply)
		require.Equal(t, fmt.Sprint("att ", winner), got.Current.ID)
	})
}

// finishIsFenced has a worker lose its lease to another one and report all the same.
func finishIsFenced(t T, s store.Store) {
	update(t, s, func(tx store.Tx) {
		putTasks(t, tx, newTask("t", 1))
		for _, event := range []task.Event{
			task.Claim{At: start, Worker: "first", Token: "lost", Length: 1},
			task.Expire{At: start + day, Next: task.Successor{AttemptID: "second"}},
			task.Claim{At: start + day, Worker: "second", Token: "held", Length: int64(day)},
		} {
			_, err := step(tx, "t", event)
			require.NoError(t, err)
		}
	})
	errs := contest(func(i int) error {
		return s.Update(t.Context(), func(tx store.Tx) error {
			_, err := step(tx, "t", task.Finish{
				At: start + day, Token: []string{"lost", "held"}[i%2], Status: task.AttemptCompleted, Output: fmt.Sprint(i),
			})
			return err
		})
	})
	finished := 0
	for i, err := range errs {
		if err == nil {
			require.Equal(t, 1, i%2, "an attempt was ended under a lease that was lost")
			finished++
			continue
		}
		require.True(t, task.IsStale(err), "%v", err)
	}
	require.Equal(t, 1, finished, "another report is no report of the same")
	view(t, s, func(tx store.Tx) {
		all, err := tx.Attempts("t", 0, 10)
		require.NoError(t, err)
		require.Len(t, all, 2)
		require.Equal(t, task.AttemptLost, all[0].Status())
		require.Equal(t, task.AttemptCompleted, all[1].Status())
		require.Equal(t, task.StatusComplete, getTask(t, tx, "t").Status())
	})
}
