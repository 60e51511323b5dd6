package engine

import (
	"errors"
	"fmt"
	"time"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/core/task"
	"waybill/internal/safetext"
	"waybill/store"
)

// expireBatch bounds the leases that one change ends, and the defaults that it takes, so that other changes do not wait long.
const expireBatch = 64

// expireLeases ends or extends once the leases that have expired, and returns their number. Both remove the lease
// from the head of the list, so that the next check sees the rest.
func (tx *Tx) expireLeases() (moved int, err error) {
	calm, _ := tx.engine.watch.Check(time.Now(), tx.engine.o.Now())
	page, err := tx.Leased(0, 1)
	if err != nil || len(page) == 0 || !due(page[0], tx.now) {
		return 0, err
	}
	page, err = tx.Leased(0, store.DefaultLimit) // more than a batch, because some may be damaged
	if err != nil {
		return 0, err
	}
	for _, a := range page {
		if !due(a, tx.now) || moved == expireBatch {
			break
		}
		gone, err := tx.expire(a, calm)
		if err != nil {
			return moved, err
		}
		if gone {
			moved++
		}
	}
	return moved, nil
}

func leaseOf(a task.Attempt) task.Lease { return a.Phase.(task.RunningAttempt).Lease }

func due(a task.Attempt, now core.Instant) bool { return leaseOf(a).ExpiresAt <= now }

// rebaseLeases shortens leases whose remaining time exceeds their length, because the clock was set back.
func (tx *Tx) rebaseLeases() error {
	var after core.Instant
	for {
		page, err := tx.Leased(after, store.DefaultLimit)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, a := range page {
			if _, err := tx.expire(a, tx.now); err != nil {
				return err
			}
		}
		after = leaseOf(page[len(page)-1]).ExpiresAt
		if len(page) == store.DefaultLimit && after > leaseOf(page[0]).ExpiresAt {
			after-- // leases with the same end may continue on the next page
		}
	}
}

// expire ends or extends one lease and reports whether the attempt changed. A damaged task is skipped, because the
// store has recorded the damage and other leases must not wait.
func (tx *Tx) expire(a task.Attempt, calm core.Instant) (moved bool, err error) {
	t, err := tx.task(a.TaskID)
	if damaged(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	next, err := tx.stepTask(t, task.Expire{At: tx.now, Calm: calm, Next: tx.successor()})
	return next.Current != a, err
}

// takeDefaults answers a batch of the questions whose default is due, and reports whether more may be left. An instant by
// after now also reaches those that are due too late because the clock was set back, and corrects them.
func takeDefaults(tx *Tx, by core.Instant) (full bool, err error) {
	q, moved := store.TaskQuery{DefaultBy: by, Limit: expireBatch}, 0
	for {
		page, err := tx.Tasks(q)
		if err != nil || len(page) == 0 {
			return false, err
		}
		for _, was := range page {
			t, err := tx.stepTask(was, task.TakeDefault{At: tx.now, Next: tx.successor()})
			if err == nil && t.Replies > was.Replies {
				if err = tx.AddReply(replyOf(t, was, "")); err == nil {
					_, err = completeQuestion(tx, t, was, "")
				}
			}
			if err != nil {
				return false, err
			}
			if t != was {
				moved++
			}
			if moved == expireBatch {
				tx.timed = true // the watch takes the rest
				return true, nil
			}
		}
		q.After = page[len(page)-1].Position
	}
}

// replyOf returns the record of the answer that a task has now.
func replyOf(t, was task.Task, by string) store.Reply {
	return store.Reply{
		TaskID: t.ID, Number: t.Replies, AttemptID: was.Current.ID, Question: t.Question, Text: t.Reply,
		Option: t.Choice.Option, ByTime: t.Choice.ByTime, By: by, At: t.Current.CreatedAt,
	}
}

// damaged reports whether an error says that one stored record is damaged. The transaction can continue.
func damaged(err error) bool {
	fault, ok := errors.AsType[*store.Error](err)
	return ok && fault.Kind == store.Corrupt
}

// heldBySession has the session that asked claim its question and report about it, in one transaction: no other worker sees
// the question in the queue.
func heldBySession(tx *Tx, t task.Task, session string, report task.Finish) (task.Task, error) {
	report.At, report.Token, report.Next = tx.now, tx.engine.o.NewID("lease_"), tx.successor()
	t, err := tx.stepTask(t, task.Claim{At: tx.now, Worker: session, Token: report.Token, Length: leaseOfQuestion})
	if err != nil {
		return t, err
	}
	return tx.stepTask(t, report)
}

// leaseOfQuestion is never waited for, because the report follows in the same transaction.
const leaseOfQuestion = 60_000_000

// completeQuestion completes an answered question of a session, and has the session told unless it has the answer already.
func completeQuestion(tx *Tx, t, was task.Task, has string) (task.Task, error) {
	if t.Spec.Role != task.RoleQuestion {
		return t, nil
	}
	session, told := was.Current.Worker(), "A person answered your question %s in waybill's inbox. The answer counts, whatever a dialog says:\n%s"
	if t.Choice.ByTime {
		told = "No person answered your question %s in time. Its default counts:\n%s"
	}
	next, err := heldBySession(tx, t, session, task.Finish{Status: task.AttemptCompleted, Output: t.Reply, Question: t.Question, Offer: t.Offer})
	if err == nil {
		err = tx.dropNotices(t.ID, core.NoticeTaskFinished) // the session is told instead
	}
	if err == nil && has != session {
		_, err = tx.Queue(instruction.Instruction{Session: session, Content: fmt.Sprintf(told, safetext.Quote(t.Question, maxQuoted), t.Reply)})
	}
	return next, err
}
