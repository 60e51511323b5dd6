package transfer

import (
	"slices"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/store"
	"waybill/store/record"
)

// pageSize is how many records are read at a time. Each may have a text of a MiB.
const pageSize = 64

// each returns every record of the store in the order of an export, until yield returns an error. A record that a store
// leaves out because it is damaged is an error: who copies the rest would lose it without a word.
func each(tx store.Tx, yield func(entry) error) error {
	for _, some := range []func(store.Tx, func(entry) error) error{
		eachEvent, eachInstruction, eachRun, eachTask, eachDependency, eachBreaker, eachNotice, eachAnswer,
	} {
		if err := some(tx, yield); err != nil {
			return err
		}
	}
	return nil
}

// paged reads all pages: each begins behind the key of the last record of the one before.
func paged[K, V any](first K, read func(after K) ([]V, error), key func(V) K, yield func(V) error) error {
	for after := first; ; {
		page, err := read(after)
		if err != nil {
			return err
		}
		for _, v := range page {
			if err := yield(v); err != nil {
				return err
			}
			after = key(v)
		}
		if len(page) < pageSize {
			return nil
		}
	}
}

func eachEvent(tx store.Tx, yield func(entry) error) error {
	oldest, newest, err := tx.Bounds()
	if err != nil {
		return err
	}
	next := oldest
	err = paged(oldest-1, func(after int64) ([]store.Event, error) { return tx.Events(after, pageSize, nil) },
		func(ev store.Event) int64 { return ev.Seq },
		func(ev store.Event) error {
			if ev.Seq != next {
				return damaged("event %d is missing", next)
			}
			next++
			return yield(events.entry(ev))
		})
	if err == nil && next != newest+1 {
		err = damaged("event %d is missing", next)
	}
	return err
}

func eachInstruction(tx store.Tx, yield func(entry) error) error {
	return paged(0, func(after int64) ([]instruction.Instruction, error) {
		return tx.Instructions(store.InstructionQuery{After: after, Limit: pageSize})
	}, func(in instruction.Instruction) int64 { return in.Position }, func(in instruction.Instruction) error { return yield(instructions.entry(in)) })
}

// eachRun returns the runs in the order of their first put, which a store lists from its end.
func eachRun(tx store.Tx, yield func(entry) error) error {
	var ids []string
	if err := paged("", func(behind string) ([]run.Run, error) {
		return tx.Runs(store.RunQuery{Behind: behind, Limit: pageSize})
	}, func(r run.Run) string { return r.ID }, func(r run.Run) error {
		ids = append(ids, r.ID)
		return nil
	}); err != nil {
		return err
	}
	if n, err := runsOf(tx); err != nil || n != len(ids) {
		return orDamaged(err, "%d of %d runs cannot be read", n-len(ids), n)
	}
	for _, id := range slices.Backward(ids) {
		if err := wholeRun(tx, id, yield); err != nil {
			return err
		}
	}
	return nil
}

// orDamaged returns err, or else says that the store is damaged.
func orDamaged(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return damaged(format, args...)
}

// wholeRun returns a run and what belongs to it.
func wholeRun(tx store.Tx, id string, yield func(entry) error) error {
	r, ok, err := tx.Run(id)
	if err != nil || !ok {
		return orDamaged(err, "run %s cannot be read", id)
	}
	if err := yield(runs.entry(record.Run{Run: r})); err != nil {
		return err
	}
	ofRun, err := tx.Facts(id)
	if err != nil {
		return err
	}
	for _, f := range ofRun {
		if err := yield(facts.entry(record.Fact{RunID: id, Fact: f})); err != nil {
			return err
		}
	}
	counters, err := tx.Tallies(id)
	if err != nil {
		return err
	}
	for _, t := range counters {
		if err := yield(tallies.entry(record.Tally{RunID: id, Tally: t})); err != nil {
			return err
		}
	}
	return eachPrompt(tx, id, yield)
}

func eachPrompt(tx store.RunContents, runID string, yield func(entry) error) error {
	for role := core.Worker; role <= core.Roles; role++ {
		p, ok, err := tx.Prompt(runID, role)
		if err == nil && ok {
			err = yield(prompts.entry(p))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func pagedTasks(tx store.TaskRecords, yield func(task.Task) error) error {
	return paged(0, func(after int64) ([]task.Task, error) {
		return tx.Tasks(store.TaskQuery{After: after, Limit: pageSize})
	}, func(t task.Task) int64 { return t.Position }, yield)
}

func eachTask(tx store.Tx, yield func(entry) error) error {
	found := 0
	if err := pagedTasks(tx, func(t task.Task) error {
		found++
		return wholeTask(tx, t, yield)
	}); err != nil {
		return err
	}
	if n, err := tx.CountTasks(store.TaskQuery{}); err != nil || n != found {
		return orDamaged(err, "%d of %d tasks cannot be read", n-found, n)
	}
	return nil
}

// wholeTask returns a task, its attempts and the replies to it. Both are numbered without gaps.
func wholeTask(tx store.AttemptRecords, t task.Task, yield func(entry) error) error {
	if err := yield(tasks.entry(t)); err != nil {
		return err
	}
	last := 0
	if err := paged(0, func(after int) ([]task.Attempt, error) { return tx.Attempts(t.ID, after, pageSize) },
		func(a task.Attempt) int { return a.Number },
		func(a task.Attempt) error {
			if last++; a.Number != last {
				return damaged("attempt %d of task %s cannot be read", last, t.ID)
			}
			return yield(attempts.entry(record.Attempt{Attempt: a}))
		}); err != nil {
		return err
	}
	if last != t.Current.Number {
		return damaged("attempt %d of task %s cannot be read", last+1, t.ID)
	}
	return eachReply(tx, t.ID, yield)
}

func eachReply(tx store.AttemptRecords, taskID string, yield func(entry) error) error {
	last := 0
	return paged(0, func(after int) ([]store.Reply, error) { return tx.Replies(taskID, after, pageSize) },
		func(r store.Reply) int { return r.Number },
		func(r store.Reply) error {
			if last++; r.Number != last {
				return damaged("reply %d to task %s cannot be read", last, taskID)
			}
			return yield(replies.entry(record.Reply{Reply: r}))
		})
}

// eachDependency returns who waits for whom, by the tasks that are waited for in their order.
func eachDependency(tx store.Tx, yield func(entry) error) error {
	return pagedTasks(tx, func(t task.Task) error {
		return paged("", func(after string) ([]string, error) { return tx.Dependents(t.ID, after, pageSize) },
			func(id string) string { return id },
			func(id string) error { return yield(dependencies.entry(record.Dependency{On: t.ID, Task: id})) })
	})
}

func eachBreaker(tx store.Tx, yield func(entry) error) error {
	return paged("", func(after string) ([]task.Breaker, error) { return tx.Breakers(after, pageSize) },
		func(b task.Breaker) string { return b.Key }, func(b task.Breaker) error { return yield(breakers.entry(b)) })
}

func eachNotice(tx store.Tx, yield func(entry) error) error {
	return paged(0, func(after int64) ([]store.Notice, error) { return tx.Notices("", after, pageSize) },
		func(n store.Notice) int64 { return n.Position }, func(n store.Notice) error { return yield(notices.entry(n)) })
}

func eachAnswer(tx store.Tx, yield func(entry) error) error {
	return paged("", func(after string) ([]store.Answer, error) { return tx.Answers(after, pageSize) },
		func(a store.Answer) string { return a.Key }, func(a store.Answer) error { return yield(answers.entry(a)) })
}

// soundOf fails if a store is damaged, because some methods leave damaged records out without a trace.
func soundOf(found []store.Damage, err error) error {
	if err != nil || len(found) == 0 {
		return err
	}
	return damaged("%s: %s", found[0].What, found[0].Detail)
}
