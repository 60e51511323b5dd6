package commit

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"waybill/core"
	"waybill/store"
)

// A Change is applied as a whole, or not at all.
type Change[T Tx] struct {
	// Apply reads and writes the store. It may run more than once, so outside tx it must only set values that every
	// run sets again. After an error nothing is applied.
	Apply func(tx T) (result any, err error)

	// Key and Fingerprint make the change idempotent: a second change with the same key returns the first answer as a
	// Replay. Encode returns the JSON of a result.
	Key, Fingerprint string
	Encode           func(result any) ([]byte, error)

	// Finishes marks a change that only finishes existing work. It is applied even on a full disk, from reserved
	// space.
	Finishes bool

	// Alone applies the change in a commit of its own, so that it does not fail others if the disk has no room for it.
	Alone bool

	// Wait, if positive, delays the answer for at most that long while Idle reports that the result is empty. A
	// change of Session ends the wait. Due returns when time alone can end it, or zero.
	Wait    time.Duration
	Idle    func(result any) bool
	Session string
	Due     func(result any) core.Instant
}

// A Replay is the first answer to an idempotency key.
type Replay struct{ JSON string }

// A job is a submitted change.
type job[T Tx] struct {
	Change[T]
	ctx      context.Context
	done     func(result any, err error)
	deadline time.Time // the end of Wait; zero without Wait

	// Of the last run:
	result any
	err    error
	waits  bool // the result is empty and there is time to wait
	tx     T
	ran    bool // tx was used; false if the answer of the key was stored before

	timer *time.Timer // ends the wait

	// See cancel.go.
	begun, answered bool         // guarded by jobs.mu
	unwatch         func() bool  // stops watching ctx
	cancelGroup     *cancelGroup // guarded by jobs.mu; set while its transaction is about to begin
}

// Submit queues the change and returns. done is called exactly once, after the commit, and must not block. If ctx
// ends before the transaction begins, the change fails with ctx's cause; later ctx has no effect.
func (q *Queue[T]) Submit(ctx context.Context, c Change[T], done func(result any, err error)) {
	j := &job[T]{Change: c, ctx: ctx, done: done}
	if c.Wait > 0 {
		j.deadline = time.Now().Add(c.Wait)
	}
	if err := q.jobs.enqueue(j); err != nil {
		done(nil, err)
	}
}

// Do submits the change and waits for its answer.
func (q *Queue[T]) Do(ctx context.Context, c Change[T]) (any, error) {
	type outcome struct {
		result any
		err    error
	}
	ch := make(chan outcome, 1)
	q.Submit(ctx, c, func(result any, err error) { ch <- outcome{result, err} })
	o := <-ch
	return o.result, o.err
}

// errRedo rolls a group back because one of its changes failed after a write.
var errRedo = errors.New("run the group again without the change that broke")

// commit applies the group in one transaction and answers each of its changes.
func (q *Queue[T]) commit(ctx context.Context, group []*job[T]) {
	defer q.feed.signalHeldBack()
	live := group
	for len(live) > 0 {
		foreign := q.jobs.foreignSignals()
		applied, broken, writes, err := q.attempt(ctx, live, store.Store.Update)
		switch {
		case broken != nil:
		case err != nil:
			q.settleFailed(ctx, live, err)
			return
		default:
			q.settle(applied, writes, foreign)
			return
		}
		// The transaction was rolled back. The failed change gets its own error, and the others run again.
		q.jobs.answer(broken, nil, broken.err)
		live = without(live, broken)
	}
}

// An update runs a write transaction on a store.
type update func(st store.Store, ctx context.Context, fn func(store.Tx) error) error

// attempt runs the uncancelled jobs of a group in one transaction. broken is a job that failed after a write; then
// nothing was applied.
func (q *Queue[T]) attempt(ctx context.Context, group []*job[T], update update) (applied []*job[T], broken *job[T], writes int, err error) {
	ctx, leave := q.jobs.newCancelGroup(ctx, group)
	defer leave()
	st, err := q.Store(ctx)
	if err != nil {
		return nil, nil, 0, err
	}
	var known, end store.Point
	rewound := false
	err = update(st, ctx, func(stx store.Tx) error {
		var other bool
		known, other, _ = q.checkReplaced(stx, q.knownEnd()) // damage is reported to the callers that read it
		rewound = rewound || other
		applied, broken = q.jobs.begin(group), nil
		now := core.Instant(q.o.Now().UnixMicro()) // inside the transaction, because the write lock may take seconds
		for _, j := range applied {
			before := stx.Writes()
			j.result, j.err = q.run(stx, j, now)
			if j.err != nil && stx.Writes() != before {
				broken = j
				return errRedo
			}
		}
		writes = stx.Writes()
		end, _ = stx.Tip()
		return nil
	})
	if err == nil {
		q.learnEnd(known, end)
	}
	if rewound {
		q.o.AfterReplaced()
	}
	if broken != nil && !errors.Is(err, errRedo) {
		broken = nil
	}
	return applied, broken, writes, err
}

func without[T Tx](group []*job[T], gone *job[T]) []*job[T] {
	rest := make([]*job[T], 0, len(group))
	for _, j := range group {
		if j != gone {
			rest = append(rest, j)
		}
	}
	return rest
}

// run applies one change, or returns the stored answer of its key.
func (q *Queue[T]) run(stx store.Tx, j *job[T], now core.Instant) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Panic{Value: p, Stack: string(debug.Stack())}
		}
	}()
	j.waits, j.ran = false, false
	if err := j.ctx.Err(); err != nil && !errors.Is(context.Cause(j.ctx), ErrHurry) {
		return nil, context.Cause(j.ctx)
	}
	if j.Key != "" {
		if answer, known, err := stx.Answered(j.Key); known || err != nil {
			return replay(j, answer, err)
		}
	}
	tx := q.o.Begin(stx, now)
	if result, err = j.Apply(tx); err != nil {
		return nil, err
	}
	j.tx, j.ran = tx, true
	if j.waits = q.jobs.shouldWait(j, result); j.waits || j.Key == "" {
		return result, nil
	}
	return result, q.remember(stx, j, result, now)
}

// replay returns the stored answer of the job's key. It does not wait for a fuller one, because an answer never
// changes.
func replay[T Tx](j *job[T], answer store.Answer, err error) (any, error) {
	switch {
	case err != nil:
		return nil, err
	case answer.Fingerprint != j.Fingerprint:
		return nil, keyReused(j.Key)
	}
	return Replay{answer.Result}, nil
}

func (q *Queue[T]) remember(stx store.AnswerRecords, j *job[T], result any, now core.Instant) error {
	text, err := j.Encode(result)
	if err != nil {
		return fmt.Errorf("encode the answer for idempotency key %s: %w", j.Key, err)
	}
	return stx.PutAnswer(store.Answer{
		Key: j.Key, Fingerprint: j.Fingerprint, Result: string(text), At: now,
	})
}

func keyReused(key string) error {
	return &core.Refusal{
		Kind: core.KeyReused, Noun: "idempotency_key", Subject: key,
		Message: fmt.Sprintf("idempotency_key %q was used before with another method or other params; "+
			"use a new key for a new call", key),
	}
}

// A Panic is a panic of a change's Apply. Nothing of the change was applied.
type Panic struct {
	Value any
	Stack string
}

// Error returns the value of the panic.
func (p *Panic) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// settle answers the changes of a committed group and wakes the waiting ones.
func (q *Queue[T]) settle(group []*job[T], writes, foreign int) {
	for _, j := range group {
		if j.ran {
			j.tx.Committed()
		}
		if j.waits {
			q.Attend()
			q.jobs.park(j, foreign)
			continue
		}
		q.jobs.answer(j, j.result, j.err)
	}
	if writes == 0 {
		return
	}
	for _, j := range group {
		if j.ran {
			q.jobs.wakeWaiting(j.tx.Touched())
		}
	}
	q.feed.signalCommitted()
	q.o.Wrote(writes)
}

// settleFailed answers a group that could not be committed. On a full disk, changes with Finishes are tried again in
// the reserved space. A busy store is so for the changes behind the group as well, which waited as long as it did: group
// after group, each would wait as long again.
func (q *Queue[T]) settleFailed(ctx context.Context, group []*job[T], err error) {
	var fault *store.Error
	full := errors.As(err, &fault) && fault.Kind == store.Full
	if fault != nil && fault.Kind == store.Busy {
		for more := q.jobs.take(); len(more) > 0; more = q.jobs.take() {
			group = append(group, more...)
		}
	}
	for _, j := range group {
		if !full || !j.Finishes {
			q.jobs.answer(j, nil, err)
			continue
		}
		q.finish(ctx, j)
	}
}

func (q *Queue[T]) finish(ctx context.Context, j *job[T]) {
	foreign := q.jobs.foreignSignals()
	applied, broken, writes, err := q.attempt(ctx, []*job[T]{j}, store.Store.UpdateReserved)
	switch {
	case broken != nil:
		q.jobs.answer(j, nil, j.err)
	case err != nil:
		q.jobs.answer(j, nil, err)
	default:
		q.settle(applied, writes, foreign)
	}
}
