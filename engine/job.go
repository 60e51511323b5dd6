package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"waybill/core"
	"waybill/store"
)

// A Change is something to be applied as a whole, or not at all.
type Change struct {
	// Apply decides and puts. It may run more than once, so it must touch nothing but tx and values
	// that it sets anew. An error means that nothing is applied.
	Apply func(tx *Tx) (result any, err error)

	// Key and Fingerprint make the change happen once: a second one with the same key is answered
	// with the first answer, in JSON, as a Replay. Encode gives the JSON of a result.
	Key, Fingerprint string
	Encode           func(result any) ([]byte, error)

	// Finishes marks a change that only finishes work which exists already, and is therefore let in
	// when the disk is full.
	Finishes bool

	// Alone marks a change that shares its commit with no other, so that it takes none with it if the disk has no
	// room for it.
	Alone bool

	// Wait, if positive, is how long an answer may be put off while Idle says that the result has
	// nothing in it. Session is whose changes can end the wait, and Due gives the next moment at
	// which time alone can end it, or zero.
	Wait    time.Duration
	Idle    func(result any) bool
	Session string
	Due     func(result any) core.Instant
}

// A Replay is the answer that was given to the same idempotency key before.
type Replay struct{ JSON string }

// A job is a change on its way.
type job struct {
	Change
	ctx      context.Context
	done     func(result any, err error)
	deadline time.Time // when waiting ends, by the clock that nobody sets; zero: it does not wait

	// Of the last run:
	result  any
	err     error
	waits   bool     // the result has nothing in it, and there is time to wait for a better one
	touched []string // sessions that something was made available for
	leased  bool     // somebody got a lease
	account account  // what it counts for

	timer *time.Timer // wakes the job while it is parked

	// See giveup.go.
	begun, answered bool        // guarded by Engine.mu
	unwatch         func() bool // ends the watch over ctx
	crew            *crew       // guarded by Engine.mu; nil unless its transaction is about to begin
}

// Submit gives the change its place in the order of changes, without waiting for anything. done is
// called exactly once, after the commit, and must not block. A ctx that ends before the change was
// applied makes it end with ctx's cause, at once; later it has no influence.
func (e *Engine) Submit(ctx context.Context, c Change, done func(result any, err error)) {
	j := &job{Change: c, ctx: ctx, done: done}
	if c.Wait > 0 {
		j.deadline = time.Now().Add(c.Wait)
	}
	if err := e.enqueue(j); err != nil {
		done(nil, err)
	}
}

func (e *Engine) enqueue(j *job) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.stopped:
		return ErrStopped
	case len(e.queue) >= maxQueued:
		return ErrOverloaded
	}
	e.queue = append(e.queue, j)
	e.watchLocked(j)
	signal(e.wake)
	return nil
}

// Do submits the change and waits for it.
func (e *Engine) Do(ctx context.Context, c Change) (any, error) {
	type outcome struct {
		result any
		err    error
	}
	ch := make(chan outcome, 1)
	e.Submit(ctx, c, func(result any, err error) { ch <- outcome{result, err} })
	o := <-ch
	return o.result, o.err
}

// errRedo makes the store forget a group because one of its changes broke half-way.
var errRedo = errors.New("run the group again without the change that broke")

// commit applies the group in one transaction and answers each of its changes.
func (e *Engine) commit(ctx context.Context, group []*job) {
	defer e.tellRest()
	live := group
	for len(live) > 0 {
		foreign := e.foreignSeen()
		applied, broken, writes, err := e.attempt(ctx, live, store.Store.Update)
		switch {
		case broken != nil:
		case err != nil:
			e.settleFailed(ctx, live, err)
			return
		default:
			e.settle(applied, writes, foreign)
			return
		}
		// The transaction is gone; the one that broke it is answered with its own error.
		e.answer(broken, nil, broken.err)
		live = without(live, broken)
	}
}

// An update is a way to run a transaction on a store.
type update func(st store.Store, ctx context.Context, fn func(store.Tx) error) error

// attempt runs those of the group that have not given up in one transaction. broken is a change that
// failed after it had put something; then nothing was applied.
func (e *Engine) attempt(ctx context.Context, group []*job, update update) (applied []*job, broken *job, writes int, err error) {
	ctx, leave := e.muster(ctx, group)
	defer leave()
	st, err := e.store(ctx)
	if err != nil {
		return nil, nil, 0, err
	}
	var known, end store.Point
	rewound := false
	err = update(st, ctx, func(stx store.Tx) error {
		var other bool
		known, other, _ = e.heed(stx, e.knownEnd()) // who needs what is damaged is told so by its own verb
		rewound = rewound || other
		applied, broken = e.begin(group), nil
		now := e.Now() // and not before: it may take seconds until it is our turn to write
		for _, j := range applied {
			before := stx.Writes()
			j.result, j.err = e.run(stx, j, now)
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
		e.learnEnd(known, end)
	}
	if rewound {
		e.forgetPlans()
	}
	if broken != nil && !errors.Is(err, errRedo) {
		broken = nil
	}
	return applied, broken, writes, err
}

func without(group []*job, gone *job) []*job {
	rest := make([]*job, 0, len(group))
	for _, j := range group {
		if j != gone {
			rest = append(rest, j)
		}
	}
	return rest
}

// run applies one change, or finds the answer that it was given before.
func (e *Engine) run(stx store.Tx, j *job, now core.Instant) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Panic{Value: p, Stack: string(debug.Stack())}
		}
	}()
	j.waits, j.touched, j.leased, j.account = false, nil, false, account{}
	if err := j.ctx.Err(); err != nil && !errors.Is(context.Cause(j.ctx), ErrHurry) {
		return nil, context.Cause(j.ctx)
	}
	if j.Key != "" {
		if answer, known, err := stx.Answered(j.Key); known || err != nil {
			return replay(j, answer, err)
		}
	}
	tx := &Tx{Tx: stx, engine: e, now: now}
	if result, err = j.Apply(tx); err != nil {
		return nil, err
	}
	j.touched, j.leased, j.account = tx.touched, tx.leased, tx.account
	if j.waits = e.patient(j, result); j.waits || j.Key == "" {
		return result, nil
	}
	return result, e.remember(stx, j, result, now)
}

// replay gives the answer that the job's key was given before. Nobody waits for a better one: an
// answer that was given once stays what it is.
func replay(j *job, answer store.Answer, err error) (any, error) {
	switch {
	case err != nil:
		return nil, err
	case answer.Fingerprint != j.Fingerprint:
		return nil, keyReused(j.Key)
	}
	return Replay{answer.Result}, nil
}

func (e *Engine) remember(stx store.Tx, j *job, result any, now core.Instant) error {
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

// A Panic is a defect that was caught while a change was applied. Nothing of the change was applied.
type Panic struct {
	Value any
	Stack string
}

// Error names what the code panicked with.
func (p *Panic) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// settle answers the changes of a group that was committed, then tells everybody.
func (e *Engine) settle(group []*job, writes, foreign int) {
	for _, j := range group {
		e.meters.take(j.account)
		if j.waits {
			e.park(j, foreign)
			continue
		}
		if j.leased {
			e.beginLooking()
		}
		e.answer(j, j.result, j.err)
	}
	if writes == 0 {
		return
	}
	for _, j := range group {
		e.rouse(j.touched)
	}
	e.tell()
	e.tidy(writes)
}

// settleFailed answers a group that could not be committed. On a full disk the changes that only
// finish existing work get another chance, on the space that is kept for them.
func (e *Engine) settleFailed(ctx context.Context, group []*job, err error) {
	var fault *store.Error
	full := errors.As(err, &fault) && fault.Kind == store.Full
	for _, j := range group {
		if !full || !j.Finishes {
			e.answer(j, nil, err)
			continue
		}
		e.finish(ctx, j)
	}
}

func (e *Engine) finish(ctx context.Context, j *job) {
	applied, broken, writes, err := e.attempt(ctx, []*job{j}, store.Store.UpdateReserved)
	switch {
	case broken != nil:
		e.answer(j, nil, j.err)
	case err != nil:
		e.answer(j, nil, err)
	default:
		e.settle(applied, writes, e.foreignSeen())
	}
}
