// Package engine applies changes to the store: each change loads values, steps them with package core, saves them and
// performs the effects in one transaction. The engine owns the clock.
//
// Package commit orders the changes and groups them into commits. This package does not decide which states are allowed
// (package core does) and knows no wire names (package api does). It checks plan files itself instead of trusting a
// notification that a file changed.
package engine

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"waybill/core"
	"waybill/engine/commit"
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

// A Change is applied as a whole, or not at all.
type Change = commit.Change[*Tx]

// An Engine applies changes to one store. All methods may be called from any goroutine.
type Engine struct {
	o       Options
	changes *commit.Queue[*Tx]

	leased   chan struct{} // size 1, never closed: an attempt may have got a lease
	pruneDue chan struct{} // size 1, never closed: finished records may be due for removal
	// rewound has size 1 and is never closed: the event log was replaced by another one.
	rewound chan struct{}

	meters *meters // for Stats
	watch  lease.Watch

	began   core.Instant // when the engine was created, by its clock
	running time.Time    // the same by the monotonic clock

	mu            sync.Mutex           // guards the fields below
	pending       int                  // estimate of the outstanding instructions; -1 is unknown
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
	e := &Engine{
		o:        o,
		leased:   make(chan struct{}, 1),
		pruneDue: make(chan struct{}, 1),
		rewound:  make(chan struct{}, 1),
		pending:  -1,
		runs:     map[string]storedRun{},
		passes:   map[string]core.Instant{},
		renewals: map[string]*renewal{},
		counts:   tallies{},
		prompts:  unstoredPrompts{of: map[promptOf]unstoredPrompt{}},
		meters:   newMeters(),
		began:    core.Instant(o.Now().UnixMicro()),
		running:  time.Now(),
	}
	e.changes = commit.New(commit.Options[*Tx]{
		Open: o.Open, Begin: func(tx store.Tx, now core.Instant) *Tx { return &Tx{Tx: tx, engine: e, now: now} }, Now: o.Now, Brief: o.Brief,
		Foreign: e.noteForeign, Wrote: e.schedulePrune, Replaced: e.noteReplaced, AfterReplaced: e.forgetPlans,
	})
	return e, nil
}

// newID panics only if the system has no source of randomness.
func newID(prefix string) string { return prefix + uuid.Must(uuid.NewV7()).String() }

// Now returns the time of the engine's clock.
func (e *Engine) Now() core.Instant { return core.Instant(e.o.Now().UnixMicro()) }

// Run commits submitted changes until ctx ends. Then it commits the remaining ones, refuses new ones, closes the
// store and returns.
func (e *Engine) Run(ctx context.Context) error {
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
	e.changes.Run(ctx, e.storeGathered)
	<-leases
	<-pruned
	return e.changes.Close()
}

// Submit queues the change and returns, as commit.Queue says.
func (e *Engine) Submit(ctx context.Context, c Change, done func(result any, err error)) {
	e.changes.Submit(ctx, c, done)
}

// Do submits the change and waits for its answer.
func (e *Engine) Do(ctx context.Context, c Change) (any, error) { return e.changes.Do(ctx, c) }

// View runs fn in one consistent read transaction.
func (e *Engine) View(ctx context.Context, fn func(tx store.Tx) error) error {
	return e.changes.View(ctx, fn)
}

// Subscribe returns a channel of size one that receives a value after every commit of any process. The reader then
// reads the store. stop ends the subscription.
func (e *Engine) Subscribe() (wake <-chan struct{}, stop func()) { return e.changes.Subscribe() }

// Unanswered returns the first event of the group being committed, or 0. From there on, the log may hold events whose
// callers have no answer yet. A reader that must not overtake the answers calls this after it read the log.
func (e *Engine) Unanswered() int64 { return e.changes.Unanswered() }

// Opened returns a channel that is closed once the store is open.
func (e *Engine) Opened() <-chan struct{} { return e.changes.Opened() }

// Head returns the end of the log at the time when the store was opened. It is valid once Opened is closed.
func (e *Engine) Head() store.Point { return e.changes.Head() }

// noteForeign forgets what another process may have changed.
func (e *Engine) noteForeign() {
	e.mu.Lock()
	e.pending = -1
	e.mu.Unlock()
	signal(e.leased)
}

// signal puts a value into a channel of size one unless it is full.
func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// StoreStatus describes the store. It opens the store if necessary.
func (e *Engine) StoreStatus(ctx context.Context) (store.Status, error) {
	st, err := e.changes.Store(ctx)
	if err != nil {
		return store.Status{}, err
	}
	return st.Status(ctx), nil
}
