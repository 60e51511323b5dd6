package law

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/store"
)

func transactionLaws() []Law {
	return []Law{
		law("update is whole", updateIsWhole),
		law("an error of the function applies nothing", errorAppliesNothing),
		law("a panic of the function applies nothing", panicAppliesNothing),
		law("effects are those of one run of the function", effectsOfOneRun),
		law("a transaction sees what it put", seesOwnPuts),
		law("writes are counted", writesAreCounted),
		law("a transaction is over when its function returns", overAfterReturn),
		law("a view is one moment", viewIsOneMoment),
		law("a view sees every update that returned", viewSeesReturned),
		law("a view runs beside an update and sees nothing of it", viewBesideUpdate),
		law("a view cannot put", viewCannotPut),
		law("a cancelled call applies nothing", cancelledAppliesNothing),
		law("a reserved update is an update", reservedIsUpdate),
		law("a moment lasts until something is committed", momentLasts),
	}
}

// everything puts one thing of each kind.
func everything(t T, tx store.Tx) {
	t.Helper()
	put(t, tx, tracked("a", 1))
	require.NoError(t, tx.PutRun(newRun("r", "1.1")))
	require.NoError(t, tx.PutFacts("r", []store.Fact{{Key: "k", Value: "v"}}))
	require.NoError(t, tx.AddTallies("r", tallies("results", 1)))
	require.NoError(t, tx.PutPrompt(prompt("r", core.Worker)))
	appendTo(t, tx, event(core.InstructionQueued, "a", start))
	require.NoError(t, tx.PutNotice(notice("n", 1)))
	require.NoError(t, tx.PutAnswer(store.Answer{Key: "key", Fingerprint: "f", Result: "{}", At: start}))
	putTasks(t, tx, completed(newTask("before", 1)), newTask("t", 2))
	require.NoError(t, tx.AddDependency("t", "before"))
	require.NoError(t, tx.AddReply(reply("t", 1)))
	require.NoError(t, tx.PutBreaker(task.Breaker{Key: "anthropic/opus", Failures: 5, Opened: 1, Until: start}))
}

// census counts what there is of each kind that everything puts.
func census(t T, tx store.Tx) map[string]int {
	t.Helper()
	instructions, err := tx.CountInstructions(store.InstructionQuery{})
	require.NoError(t, err)
	runs, err := tx.RunCounts()
	require.NoError(t, err)
	facts, err := tx.Facts("r")
	require.NoError(t, err)
	latest, err := tx.LatestRuns("tasks.md")
	require.NoError(t, err)
	listed, err := tx.Runs(store.RunQuery{})
	require.NoError(t, err)
	counted, err := tx.Tallies("")
	require.NoError(t, err)
	_, prompted, err := tx.Prompt("r", core.Worker)
	require.NoError(t, err)
	notices, err := tx.CountNotices()
	require.NoError(t, err)
	_, answered, err := tx.Answered("key")
	require.NoError(t, err)
	tasks, err := tx.TaskCounts()
	require.NoError(t, err)
	attempts, err := tx.Attempts("t", 0, 10)
	require.NoError(t, err)
	dependents, err := tx.Dependents("before", "", 10)
	require.NoError(t, err)
	replies, err := tx.Replies("t", 0, 10)
	require.NoError(t, err)
	breakers, err := tx.OpenedBreakers()
	require.NoError(t, err)
	found := map[string]int{
		"tasks": tasks[task.StatusQueued], "attempts": len(attempts), "dependents": len(dependents),
		"replies": len(replies), "breakers": len(breakers),
		"instructions": instructions, "runs": runs[run.Running], "facts": len(facts),
		"latest runs": len(latest), "listed runs": len(listed), "tallies": len(counted),
		"events": len(allEvents(t, tx)), "notices": notices, "answers": 0, "prompts": 0,
	}
	if answered {
		found["answers"] = 1
	}
	if prompted {
		found["prompts"] = 1
	}
	return found
}

func requireCensus(t T, tx store.Tx, each int) {
	t.Helper()
	for kind, n := range census(t, tx) {
		require.Equal(t, each, n, kind)
	}
}

func updateIsWhole(t T, s store.Store) {
	update(t, s, func(tx store.Tx) { everything(t, tx) })
	view(t, s, func(tx store.Tx) { requireCensus(t, tx, 1) })
}

func errorAppliesNothing(t T, s store.Store) {
	err := s.Update(t.Context(), func(tx store.Tx) error {
		everything(t, tx)
		return errNo
	})
	require.Same(t, errNo, err, "the error of the function is returned as it is")
	view(t, s, func(tx store.Tx) { requireCensus(t, tx, 0) })
}

func panicAppliesNothing(t T, s store.Store) {
	require.PanicsWithValue(t, "the function panics", func() {
		_ = s.Update(t.Context(), func(tx store.Tx) error {
			everything(t, tx)
			panic("the function panics")
		})
	})
	view(t, s, func(tx store.Tx) { requireCensus(t, tx, 0) })
	update(t, s, func(tx store.Tx) { everything(t, tx) })
	view(t, s, func(tx store.Tx) { requireCensus(t, tx, 1) })
}

func effectsOfOneRun(t T, s store.Store) {
	update(t, s, func(tx store.Tx) {
		appendTo(t, tx, event(core.InstructionQueued, "a", start))
		notices, err := tx.CountNotices()
		require.NoError(t, err)
		require.NoError(t, tx.PutNotice(notice("n", int64(notices)+1)))
	})
	view(t, s, func(tx store.Tx) {
		require.Len(t, allEvents(t, tx), 1)
		n, ok, err := tx.Notice("n")
		require.NoError(t, err)
		require.True(t, ok)
		require.EqualValues(t, 1, n.Position)
	})
}

func seesOwnPuts(t T, s store.Store) {
	update(t, s, func(tx store.Tx) {
		everything(t, tx)
		requireCensus(t, tx, 1)
		_, newest := bounds(t, tx)
		require.EqualValues(t, 1, newest)
		got, ok, err := tx.Instruction("a")
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, tracked("a", 1), got)
		counts, err := tx.InstructionCounts()
		require.NoError(t, err)
		require.Equal(t, 1, counts[instruction.StateQueued])
	})
}

func writesAreCounted(t T, s store.Store) {
	update(t, s, func(tx store.Tx) {
		require.Zero(t, tx.Writes())
		everything(t, tx)
		require.Equal(t, 15, tx.Writes())
		_ = census(t, tx)
		require.NoError(t, tx.PutAnswer(store.Answer{Key: "key", Fingerprint: "again"}))
		ok, err := tx.ConsumeNotice("no such notice")
		require.NoError(t, err)
		require.False(t, ok)
		require.Error(t, tx.PutInstruction(tracked("b", 1)), "the position is taken")
		require.Error(t, tx.PutTask(newTask("u", 1)), "the position is taken")
		require.Error(t, tx.PutAttempt(attempt("t", 2)), "the first attempt is not finished")
		require.NoError(t, tx.AddDependency("t", "before"))
		require.NoError(t, tx.AddTallies("r", nil))
		require.Error(t, tx.AddTallies("r", tallies("Results", 1)), "the name is none")
		require.Error(t, tx.PutPrompt(prompt("r", 0)), "the role is none")
		require.Equal(t, 15, tx.Writes(), "nothing more has been put")
		ok, err = tx.ConsumeNotice("n")
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, 16, tx.Writes())
	})
	view(t, s, func(tx store.Tx) { require.Zero(t, tx.Writes()) })
}

func overAfterReturn(t T, s store.Store) {
	var fromUpdate, fromView store.Tx
	update(t, s, func(tx store.Tx) { fromUpdate = tx })
	view(t, s, func(tx store.Tx) { fromView = tx })
	require.Error(t, fromUpdate.PutInstruction(tracked("a", 1)))
	_, _, err := fromView.Bounds()
	require.Error(t, err)
	view(t, s, func(tx store.Tx) { requireCensus(t, tx, 0) })
}

func viewIsOneMoment(t T, s store.Store) {
	view(t, s, func(before store.Tx) {
		requireCensus(t, before, 0)
		update(t, s, func(tx store.Tx) { everything(t, tx) })
		requireCensus(t, before, 0)
	})
	view(t, s, func(tx store.Tx) { requireCensus(t, tx, 1) })
}

func viewSeesReturned(t T, s store.Store) {
	for i := range int64(20) {
		update(t, s, func(tx store.Tx) { appendTo(t, tx, event(core.LedgerChanged, "plan", start)) })
		view(t, s, func(tx store.Tx) {
			_, newest := bounds(t, tx)
			require.Equal(t, i+1, newest)
		})
	}
}

func viewBesideUpdate(t T, s store.Store) {
	update(t, s, func(tx store.Tx) {
		everything(t, tx)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				err := s.View(t.Context(), func(beside store.Tx) error {
					_, newest, err := beside.Bounds()
					if err == nil && newest != 0 {
						err = errors.New("the view sees what is not committed")
					}
					return err
				})
				if err != nil {
					t.Errorf("view beside an update: %v", err)
				}
			})
		}
		wg.Wait()
	})
}

func viewCannotPut(t T, s store.Store) {
	update(t, s, func(tx store.Tx) { everything(t, tx) })
	puts := map[string]func(tx store.Tx) error{
		"PutInstruction": func(tx store.Tx) error { return tx.PutInstruction(tracked("b", 2)) },
		"PutRun":         func(tx store.Tx) error { return tx.PutRun(newRun("s", "1.2")) },
		"PutFacts":       func(tx store.Tx) error { return tx.PutFacts("r", nil) },
		"AddTallies":     func(tx store.Tx) error { return tx.AddTallies("r", tallies("results", 1)) },
		"PutPrompt":      func(tx store.Tx) error { return tx.PutPrompt(prompt("r", core.SpecReviewer)) },
		"Append": func(tx store.Tx) error {
			_, err := tx.Append(event(core.InstructionQueued, "b", start))
			return err
		},
		"PutNotice": func(tx store.Tx) error { return tx.PutNotice(notice("m", 2)) },
		"ConsumeNotice": func(tx store.Tx) error {
			_, err := tx.ConsumeNotice("n")
			return err
		},
		"PutAnswer":     func(tx store.Tx) error { return tx.PutAnswer(store.Answer{Key: "other"}) },
		"PutTask":       func(tx store.Tx) error { return tx.PutTask(newTask("u", 3)) },
		"PutAttempt":    func(tx store.Tx) error { return tx.PutAttempt(attempt("t", 1).Belated()) },
		"AddDependency": func(tx store.Tx) error { return tx.AddDependency("t", "before") },
		"AddReply":      func(tx store.Tx) error { return tx.AddReply(reply("t", 2)) },
		"PutBreaker":    func(tx store.Tx) error { return tx.PutBreaker(task.Breaker{Key: "other"}) },
		"DropTask": func(tx store.Tx) error {
			_, err := tx.DropTask("before")
			return err
		},
		"Prune": func(tx store.Tx) error {
			_, err := tx.Prune(start+day, 10)
			return err
		},
	}
	for name, put := range puts {
		err := s.View(t.Context(), put)
		require.Error(t, err, name)
		isKind(t, err, store.ReadOnly)
	}
	view(t, s, func(tx store.Tx) { requireCensus(t, tx, 1) })
}

func cancelledAppliesNothing(t T, s store.Store) {
	before, cancel := context.WithCancel(t.Context())
	cancel()
	var runs atomic.Int32
	count := func(store.Tx) error { runs.Add(1); return nil }
	isKind(t, s.Update(before, count), store.Cancelled)
	isKind(t, s.UpdateReserved(before, count), store.Cancelled)
	isKind(t, s.View(before, count), store.Cancelled)
	require.Zero(t, runs.Load())

	within, cancel := context.WithCancel(t.Context())
	err := s.Update(within, func(tx store.Tx) error {
		everything(t, tx)
		cancel()
		return nil
	})
	isKind(t, err, store.Cancelled)
	require.ErrorIs(t, err, context.Canceled)
	view(t, s, func(tx store.Tx) { requireCensus(t, tx, 0) })
}

func reservedIsUpdate(t T, s store.Store) {
	require.NoError(t, s.UpdateReserved(t.Context(), func(tx store.Tx) error {
		everything(t, tx)
		return nil
	}))
	view(t, s, func(tx store.Tx) { requireCensus(t, tx, 1) })
	require.Same(t, errNo, s.UpdateReserved(t.Context(), func(tx store.Tx) error {
		appendTo(t, tx, event(core.InstructionQueued, "a", start))
		return errNo
	}))
	view(t, s, func(tx store.Tx) { requireCensus(t, tx, 1) })
}

// momentLasts applies only to stores that are Moments and support them at their location.
func momentLasts(t T, s store.Store) {
	t.Helper()
	m, ok := s.(store.Moments)
	if !ok {
		return
	}
	if _, ok := m.Moment(); !ok {
		return
	}
	moment := func() store.Moment {
		now, ok := m.Moment()
		require.True(t, ok, "nobody is at a commit")
		return now
	}
	seen := map[store.Moment]bool{moment(): true}
	for i := range int64(3) {
		before := moment()
		update(t, s, func(tx store.Tx) {
			put(t, tx, tracked(string(rune('a'+i)), i+1))
			if now, ok := m.Moment(); ok {
				require.Equal(t, before, now, "it is not committed yet")
			}
		})
		require.False(t, seen[moment()], "what was committed is not to be noticed")
		seen[moment()] = true
	}
	last := moment()
	view(t, s, func(tx store.Tx) { census(t, tx) })
	require.Equal(t, last, moment(), "a view is no commit")
}
