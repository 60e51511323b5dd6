// Package engine applies changes to the store: each change loads values, steps them with package core, saves them and
// performs the effects in one transaction. The engine owns the clock.
//
// Changes are applied in the order of their submission. Changes that wait at the same time share one commit, because
// a commit costs a disk sync. Their answers are sent after that sync. A refused or failed change leaves no trace and
// does not affect the others of its group.
//
// The package does not decide which states are allowed (package core does) and knows no wire names (package api
// does). It checks plan files itself instead of trusting a notification that a file changed.
package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"waybill/core"
	"waybill/engine/lease"
	"waybill/engine/resultfile"
	"waybill/store"
)

// Options configures an Engine. Open is required; every other zero value works.
type Options struct {
	// Open opens the store. The engine calls it at the first use of the store, and again after it failed.
	Open func(ctx context.Context) (store.Store, error)
	// Plans reads the plan files. Plan, Look and Follow need it.
	Plans *Plans
	// Outputs reads the result files of agents.
	Outputs resultfile.Folders
	// Now is the clock; by default time.Now.
	Now func() time.Time
	// NewID returns a unique id with the given prefix; by default from a UUIDv7.
	NewID  func(prefix string) string
	Logger *slog.Logger
	// MaxPending bounds the outstanding instructions, and separately the unfinished tasks; 0 means no bound.
	MaxPending int
	// Backoff is the delay before the first retry of a task on the same model. It doubles with each failure, up to
	// core.MaxBackoff. 0 means no delay.
	Backoff time.Duration
	// Retention limits the finished records that are kept. Prunes makes the engine remove the others; short-lived
	// processes leave that to long-lived ones.
	Retention Retention
	Prunes    bool
	// Brief engines begin to watch leases and the commits of other processes only when a caller waits, subscribes or
	// claims a task. The system takes longer to end a watch than to commit a change.
	Brief bool
}

// maxQueued bounds the changes that wait for a commit. Front doors keep far fewer.
const maxQueued = 1 << 14

// maxGroup bounds the changes that share one commit, so that the first of them is answered soon.
const maxGroup = 256

// ErrOverloaded says that too many changes are waiting. Nothing was applied.
var ErrOverloaded = errors.New("too many changes are waiting; try again later")

// ErrStopped says that the engine has stopped or is stopping. Nothing was applied.
var ErrStopped = errors.New("the engine has stopped")

// ErrHurry, as the cause of a cancelled context, asks for an immediate answer to a waiting change instead of its
// cancellation.
var ErrHurry = errors.New("answer with what there is")

// An Engine applies changes to one store. All methods may be called from any goroutine.
type Engine struct {
	o Options

	wake     chan struct{} // size 1, never closed: something was queued
	opened   chan struct{} // closed once the store is open
	leased   chan struct{} // size 1, never closed: an attempt may have got a lease
	pruneDue chan struct{} // size 1, never closed: finished records may be due for removal
	attended chan struct{} // closed by attend once others and leases are watched
	attend   func()
	// rewound has size 1 and is never closed: the event log was replaced by another one.
	rewound chan struct{}

	// opening is held while the store is opened, which may wait for another process. It guards closed, and st and
	// head until opened is closed; after that they do not change.
	opening sync.Mutex
	closed  bool // the store must not be opened again
	st      store.Store
	head    store.Point // the end of the log when the store was opened
	// busy is the error of the last opening that another process held up.
	busy atomic.Pointer[store.Error]

	// work counts the openings, transactions and reads in progress, for AtWork.
	work atomic.Int32

	meters *meters // for Stats
	watch  lease.Watch

	began   core.Instant // when the engine was created, by its clock
	running time.Time    // the same by the monotonic clock

	mu           sync.Mutex  // guards the fields below
	end          store.Point // the last known end of the log
	queue        []*job      // in the order of submission
	stopped      bool
	waiting      map[*job]struct{} // waiting changes, see wait.go
	foreignCount int               // counts the signals about commits of other processes
	pending      int               // estimate of the outstanding instructions; -1 is unknown
	subs         map[chan struct{}]struct{}
	// unanswered is the first event of the group being committed, or 0. heldBack reports that a reader has seen it.
	unanswered    int64
	heldBack      bool
	writesToPrune int                  // writes until the store is pruned again
	runs          map[string]storedRun // cache of stored
	// renewals are the facts being written to the store, by run.
	renewals        map[string]*renewal
	passes          map[string]core.Instant // the start of each incomplete pass, by session
	counts          tallies                 // counts that were not submitted to the store yet
	batchCount      int64                   // the number of submitted batches
	batchesInFlight int                     // the batches not yet committed
	batchesDone     chan struct{}           // closed when no batch is in flight
	prompts         unstoredPrompts
	// storeScheduled reports that storeGathered will be called.
	storeScheduled bool
}

// New returns an engine. It does nothing until Run is called.
func New(o Options) (*Engine, error) {
	if o.Open == nil {
		return nil, errors.New("engine: Options.Open is missing")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = newID
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Retention = o.Retention.withDefaults()
	attended := make(chan struct{})
	e := &Engine{
		o:        o,
		attended: attended,
		attend:   sync.OnceFunc(func() { close(attended) }),
		wake:     make(chan struct{}, 1),
		opened:   make(chan struct{}),
		leased:   make(chan struct{}, 1),
		pruneDue: make(chan struct{}, 1),
		rewound:  make(chan struct{}, 1),
		waiting:  map[*job]struct{}{},
		pending:  -1,
		subs:     map[chan struct{}]struct{}{},
		runs:     map[string]storedRun{},
		passes:   map[string]core.Instant{},
		renewals: map[string]*renewal{},
		counts:   tallies{},
		prompts:  unstoredPrompts{of: map[promptOf]unstoredPrompt{}},
		meters:   newMeters(),
		began:    core.Instant(o.Now().UnixMicro()),
		running:  time.Now(),
	}
	if !o.Brief {
		e.attend()
	}
	return e, nil
}

// newID panics only if the system has no source of randomness.
func newID(prefix string) string { return prefix + uuid.Must(uuid.NewV7()).String() }

// Now returns the time of the engine's clock.
func (e *Engine) Now() core.Instant { return core.Instant(e.o.Now().UnixMicro()) }

// Run commits submitted changes until ctx ends. Then it commits the remaining ones, refuses new ones, closes the
// store and returns.
func (e *Engine) Run(ctx context.Context) error {
	stopForeign := make(chan struct{})
	foreign := make(chan struct{}) // closed when the goroutine below has ended
	go func() {
		defer close(foreign)
		e.watchForeign(ctx, stopForeign)
	}()
	leases := make(chan struct{}) // closed when the goroutine below has ended
	go func() {
		defer close(leases)
		e.watchLeases(ctx)
	}()
	pruned := make(chan struct{}) // closed when the goroutine below has ended
	go func() {
		defer close(pruned)
		e.pruneLoop(ctx)
	}()
	work := context.WithoutCancel(ctx) // accepted changes are committed even after ctx ended
	for running := true; running; {
		select {
		case <-ctx.Done():
			running = false
		case <-e.wake:
		}
		e.drain(work)
	}
	e.storeGathered()
	e.stop()
	e.drain(work)
	close(stopForeign)
	<-foreign
	<-leases
	<-pruned
	return e.close()
}

func (e *Engine) close() error {
	e.opening.Lock()
	defer e.opening.Unlock()
	e.closed = true
	if e.st == nil {
		return nil
	}
	if err := e.st.Close(); err != nil {
		return fmt.Errorf("close store: %w", err)
	}
	return nil
}

// drain commits group after group until nothing is queued. Changes that arrive while the store is opened join the first
// group.
func (e *Engine) drain(ctx context.Context) {
	for group := e.take(); len(group) > 0; group = e.take() {
		opened, err := e.openFor(ctx, group)
		switch {
		case err != nil:
			e.settleFailed(ctx, group, err)
		case opened:
			e.mu.Lock()
			e.queue = append(group, e.queue...)
			e.mu.Unlock()
		default:
			e.commit(ctx, group)
		}
	}
}

// openFor opens the store for a group, and reports whether it was closed before.
func (e *Engine) openFor(ctx context.Context, group []*job) (opened bool, err error) {
	select {
	case <-e.opened:
		return false, nil
	default:
	}
	ctx, leave := e.newCancelGroup(ctx, group)
	defer leave()
	_, err = e.store(ctx)
	return err == nil, err
}

// take removes the next group from the queue and returns it.
func (e *Engine) take() []*job {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := min(len(e.queue), maxGroup)
	if i := slices.IndexFunc(e.queue[:n], func(j *job) bool { return j.Alone }); i >= 0 {
		n = max(i, 1) // the changes before it, or it alone
	}
	group := slices.Clone(e.queue[:n])
	e.queue = slices.Delete(e.queue, 0, n)
	return group
}

// Opened returns a channel that is closed once the store is open.
func (e *Engine) Opened() <-chan struct{} { return e.opened }

// AtWork reports whether the store is being opened or a transaction of this engine is running. Waiting for the lock
// of another process does not count.
func (e *Engine) AtWork() bool {
	return e.work.Load() > 0
}

// Head returns the end of the log at the time when the store was opened. It is valid once Opened is closed.
func (e *Engine) Head() store.Point { return e.head }

// store returns the store and opens it if necessary. A call that waited while another one found the store busy has its
// answer: calls that tried one after the other would wait for minutes.
func (e *Engine) store(ctx context.Context) (store.Store, error) {
	select {
	case <-e.opened:
		return e.st, nil
	default:
	}
	before := e.busy.Load()
	e.opening.Lock()
	defer e.opening.Unlock()
	switch busy := e.busy.Load(); {
	case e.st != nil:
		return e.st, nil
	case e.closed:
		return nil, ErrStopped
	case busy != before:
		return nil, busy
	}
	e.work.Add(1)
	defer e.work.Add(-1)
	st, err := e.o.Open(ctx)
	if err != nil {
		if fault, ok := errors.AsType[*store.Error](err); ok && fault.Kind == store.Busy {
			e.busy.Store(fault)
		}
		return nil, err
	}
	err = st.View(ctx, func(tx store.Tx) error {
		e.head, err = tx.Tip()
		return err
	})
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	e.st = st
	e.learnEnd(store.Point{}, e.head)
	close(e.opened)
	return st, nil
}

// View runs fn in one consistent read transaction.
func (e *Engine) View(ctx context.Context, fn func(tx store.Tx) error) error {
	st, err := e.store(ctx)
	if err != nil {
		return err
	}
	return st.View(ctx, func(tx store.Tx) error {
		e.work.Add(1)
		defer e.work.Add(-1)
		return fn(tx)
	})
}

// StoreStatus describes the store. It opens the store if necessary.
func (e *Engine) StoreStatus(ctx context.Context) (store.Status, error) {
	st, err := e.store(ctx)
	if err != nil {
		return store.Status{}, err
	}
	return st.Status(ctx), nil
}
