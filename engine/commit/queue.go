// Package commit applies changes to a store in the order of their submission. Changes that wait at the same time share one
// transaction, because a commit costs a disk sync, and are answered after that sync. A refused or failed change leaves no
// trace and does not affect the others of its group.
//
// A change may wait for a better result. It then waits outside the queue and runs again when another change, another
// process or the time may have changed its result.
//
// The package knows nothing about what a change does. It owns the store: it opens it at the first use, learns of the commits
// of other processes, and notices that the event log was replaced by another one.
package commit

import (
	"context"
	"errors"
	"sync"
	"time"

	"waybill/core"
	"waybill/store"
)

// maxQueued bounds the changes that wait for a commit. Front doors keep far fewer.
const maxQueued = 1 << 14

// maxGroup bounds the changes that share one commit, so that the first of them is answered soon.
const maxGroup = 256

// ErrOverloaded says that too many changes are waiting. Nothing was applied.
var ErrOverloaded = errors.New("too many changes are waiting; try again later")

// ErrStopped says that the queue has stopped or is stopping. Nothing was applied.
var ErrStopped = errors.New("the engine has stopped")

// ErrHurry, as the cause of a cancelled context, asks for an immediate answer to a waiting change instead of its
// cancellation.
var ErrHurry = errors.New("answer with what there is")

// A Tx is the transaction of one run of a change.
type Tx interface {
	// Touched returns the sessions whose waiting changes may have another result now.
	Touched() []string
	// Committed is called once after the commit, before the change is answered.
	Committed()
}

// Options configure a Queue of changes with transactions of type T. Every function is required.
type Options[T Tx] struct {
	// Open opens the store. It is called at the first use of the store, and again after it failed.
	Open func(ctx context.Context) (store.Store, error)
	// Begin returns the transaction of a change at a time.
	Begin func(tx store.Tx, now core.Instant) T
	Now   func() time.Time
	// Brief queues begin to watch the commits of other processes only after Attend.
	Brief bool

	// Foreign is called after another process has committed.
	Foreign func()
	// Wrote is called after a commit with the number of its writes.
	Wrote func(writes int)
	// Replaced is called in a transaction that found the event log replaced by another one, before its changes run. newest
	// is the number of its newest event.
	// AfterReplaced is called when that transaction has ended.
	Replaced      func(newest int64)
	AfterReplaced func()
}

// A Queue applies changes to one store. All methods may be called from any goroutine.
type Queue[T Tx] struct {
	o Options[T]
	source
	feed feed
	jobs jobs[T]

	attended   chan struct{} // closed by Attend
	attendOnce sync.Once
}

// New returns a queue. It does nothing until Run is called.
func New[T Tx](o Options[T]) *Queue[T] {
	q := &Queue[T]{o: o, attended: make(chan struct{})}
	q.openStore, q.opened = o.Open, make(chan struct{})
	q.feed.subs = map[chan struct{}]struct{}{}
	q.jobs = jobs[T]{now: o.Now, wake: make(chan struct{}, 1), waiting: map[*job[T]]struct{}{}}
	if !o.Brief {
		q.Attend()
	}
	return q
}

// Attend makes a brief queue watch the commits of other processes.
func (q *Queue[T]) Attend() { q.attendOnce.Do(func() { close(q.attended) }) }

// Attended returns a channel that is closed by Attend.
func (q *Queue[T]) Attended() <-chan struct{} { return q.attended }

// Run commits submitted changes until ctx ends. Then it calls last, which may submit more, commits what remains, refuses
// further changes and returns.
func (q *Queue[T]) Run(ctx context.Context, last func()) {
	stop := make(chan struct{})
	watched := make(chan struct{}) // closed when the goroutine below has ended
	go func() {
		defer close(watched)
		q.watchForeign(ctx, stop)
	}()
	work := context.WithoutCancel(ctx) // accepted changes are committed even after ctx ended
	for running := true; running; {
		select {
		case <-ctx.Done():
			running = false
		case <-q.jobs.wake:
		}
		q.drain(work)
	}
	last()
	q.jobs.stop()
	q.drain(work)
	close(stop)
	<-watched
}

// Stopped reports whether the queue refuses changes.
func (q *Queue[T]) Stopped() bool {
	q.jobs.mu.Lock()
	defer q.jobs.mu.Unlock()
	return q.jobs.stopped
}

// drain commits group after group until nothing is queued. Changes that arrive while the store is opened join the first
// group.
func (q *Queue[T]) drain(ctx context.Context) {
	for group := q.jobs.take(); len(group) > 0; group = q.jobs.take() {
		opened, err := q.openFor(ctx, group)
		switch {
		case err != nil:
			q.settleFailed(ctx, group, err)
			q.feed.signalHeldBack()
		case opened:
			q.jobs.putBack(group)
		default:
			q.commit(ctx, group)
		}
	}
}

// openFor opens the store for a group, and reports whether it was closed before.
func (q *Queue[T]) openFor(ctx context.Context, group []*job[T]) (opened bool, err error) {
	select {
	case <-q.opened:
		return false, nil
	default:
	}
	ctx, leave := q.jobs.newCancelGroup(ctx, group)
	defer leave()
	_, err = q.Store(ctx)
	return err == nil, err
}

// watchForeign handles the commits of other processes, from Attend until stop is closed. It reads nothing after ctx
// ended.
func (q *Queue[T]) watchForeign(ctx context.Context, stop <-chan struct{}) {
	for _, ready := range []<-chan struct{}{q.attended, q.opened} {
		select {
		case <-stop:
			return
		case <-ready:
		}
	}
	changed := q.st.Changed()
	for {
		select {
		case <-stop:
			return
		case <-changed:
			q.o.Foreign()
			q.jobs.noteForeign()
			q.feed.signalSubscribers()
			q.checkLog(ctx)
		}
	}
}

// checkLog checks whether another process replaced the event log. After an error, the next commit checks again.
func (q *Queue[T]) checkLog(ctx context.Context) {
	known := q.knownEnd() // read first, so that the store is never behind it
	rewound := false
	_ = q.View(ctx, func(tx store.Tx) (err error) {
		_, rewound, err = q.checkReplaced(tx, known)
		return err
	})
	if rewound {
		q.o.AfterReplaced()
	}
}

// checkReplaced reports whether the event log is another one than at its last known end. The caller calls AfterReplaced when
// its transaction has ended, because that may wait for a file.
func (q *Queue[T]) checkReplaced(tx store.EventLog, known store.Point) (end store.Point, replaced bool, err error) {
	if end, replaced, err = q.replaced(tx, known); replaced {
		q.o.Replaced(end.Seq)
	}
	return end, replaced, err
}

// Subscribe returns a channel of size one that receives a value after every commit of any process. The reader then
// reads the store. stop ends the subscription.
func (q *Queue[T]) Subscribe() (wake <-chan struct{}, stop func()) {
	q.Attend()
	return q.feed.subscribe()
}

// Unanswered returns the first event of the group being committed, or 0. From there on, the log may hold events whose
// callers have no answer yet. A reader that must not overtake the answers calls this after it read the log.
func (q *Queue[T]) Unanswered() int64 { return q.feed.unansweredFrom() }

// HoldBack records the first event of the group being committed. If the transaction runs again, the lower number stays.
func (q *Queue[T]) HoldBack(seq int64) { q.feed.holdBack(seq) }
