// Package engine carries the core's decisions out: it loads, steps, saves and performs the effects of
// a change in one transaction, and owns the clock.
//
// Changes are submitted in an order and applied in that order. Those that wait at the same time share
// one commit, because a commit costs a disk sync and a change does not; the answers of all of them
// leave only after that sync. A change that is refused, or that breaks, takes nothing with it and
// leaves the others of its group untouched.
//
// The package refuses to decide what a state may become (that is core's), to know how a thing is
// called on the wire (that is api's), and to believe anybody that a file has or has not changed: it
// looks for itself.
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
	"waybill/store"
)

// Options configures an Engine. Open is required; every other zero value works.
type Options struct {
	// Open opens the store. It is called when the store is needed first, and again after it failed.
	Open func(ctx context.Context) (store.Store, error)
	// Plans is where plan files are read. Plan, Look and Follow need it.
	Plans *Plans
	// Outputs is where the results of agents are read that lie in files.
	Outputs Outputs
	// Now is the clock; by default time.Now.
	Now func() time.Time
	// NewID makes a unique id with the given prefix; by default from a UUIDv7.
	NewID  func(prefix string) string
	Logger *slog.Logger
	// MaxPending bounds the instructions that wait for something, and the tasks that are under way; 0 is
	// no bound.
	MaxPending int
	// Backoff is the first wait before a task is tried again on the model that it failed on. It doubles
	// with each failure, up to core.MaxBackoff. 0 means that nothing waits.
	Backoff time.Duration
	// Keep says what is kept of what is over, by an engine that Tidies. One that does not is to end soon, and leaves that
	// to those that live on.
	Keep   Keep
	Tidies bool
}

// maxQueued bounds the changes that wait for a commit; front doors keep far fewer in hand.
const maxQueued = 1 << 14

// maxGroup bounds the changes that share one commit, so that the first of them does not wait for ever.
const maxGroup = 256

// ErrOverloaded says that too many changes wait already. Nothing was applied.
var ErrOverloaded = errors.New("too many changes are waiting for their commit")

// ErrStopped says that the engine has ended or is about to. Nothing was applied.
var ErrStopped = errors.New("the engine has stopped")

// ErrHurry is the cause to cancel a context with when a waiting change is to be answered at once
// with what there is, instead of being given up.
var ErrHurry = errors.New("answer with what there is")

// An Engine carries changes out on one store. All methods may be called from any goroutine.
type Engine struct {
	o Options

	wake   chan struct{} // size 1, never closed: something was queued
	opened chan struct{} // closed when the store was opened
	leased chan struct{} // size 1, never closed: somebody may have got a lease
	messy  chan struct{} // size 1, never closed: there may be something to remove
	// rewound is of size 1 and never closed: another log took the place of the one before.
	rewound chan struct{}

	// opening is held while the store is opened, which may take as long as another process holds it.
	// It guards st and head until opened is closed; from then on they do not change. It guards closed.
	opening  sync.Mutex
	underWay atomic.Bool // reports that it is being opened
	closed   bool        // the store is not opened any more
	st       store.Store
	head     store.Point // the end of the log when the store was opened

	meters meters // for Stats

	mu      sync.Mutex  // guards what follows
	end     store.Point // where the log was known to end last
	queue   []*job      // in the order of submission
	stopped bool
	waiting map[*job]struct{} // parked, see wait.go
	foreign int               // counts the signals that another process committed
	pending int               // estimate of the outstanding instructions; -1 is unknown
	subs    map[chan struct{}]struct{}
	// unanswered is the first event of the group that is under way, or 0; keptBack, that somebody was told so.
	unanswered int64
	keptBack   bool
	untidy     int                  // puts until the store is tidied again
	runs       map[string]storedRun // what stored has read
	// renewals has the facts that are on their way to the store, by run.
	renewals map[string]*renewal
	passes   map[string]core.Instant // when a pass began that has a part left, by session
	watch    watch                   // over the leases
	counts   tallies                 // that are not stored yet, and not on their way
	batches  int64                   // counts how often some went on their way
	underway int                     // how many batches are
	landed   chan struct{}           // closed when none is any more
	prompts  unstoredPrompts
	// gathering reports that storeGathered will be called.
	gathering bool
}

// New gives an engine that does nothing until Run is called.
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
	o.Keep = o.Keep.filled()
	return &Engine{
		o:        o,
		wake:     make(chan struct{}, 1),
		opened:   make(chan struct{}),
		leased:   make(chan struct{}, 1),
		messy:    make(chan struct{}, 1),
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
	}, nil
}

// newID panics only if the system has no randomness to give, and then nothing works.
func newID(prefix string) string { return prefix + uuid.Must(uuid.NewV7()).String() }

// Now is the engine's clock.
func (e *Engine) Now() core.Instant { return core.Instant(e.o.Now().UnixMicro()) }

// Run commits what is submitted until ctx ends; then it carries out what was submitted before,
// refuses what comes later, closes the store and returns.
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
	tidied := make(chan struct{}) // closed when the goroutine below has ended
	go func() {
		defer close(tidied)
		e.keepTidy(ctx)
	}()
	work := context.WithoutCancel(ctx) // what was accepted is carried out, even on the way out
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
	<-tidied
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

// drain commits group after group until nothing is queued.
func (e *Engine) drain(ctx context.Context) {
	for {
		group := e.take()
		if len(group) == 0 {
			return
		}
		e.commit(ctx, group)
	}
}

// take gives those that share the next commit.
func (e *Engine) take() []*job {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := min(len(e.queue), maxGroup)
	if i := slices.IndexFunc(e.queue[:n], func(j *job) bool { return j.Alone }); i >= 0 {
		n = max(i, 1) // those before it, or else it
	}
	group := slices.Clone(e.queue[:n])
	e.queue = slices.Delete(e.queue, 0, n)
	return group
}

// Opened is closed once the store was opened.
func (e *Engine) Opened() <-chan struct{} { return e.opened }

// Opening reports whether the store is being opened, which takes as long as the disk and other processes let it.
func (e *Engine) Opening() bool { return e.underWay.Load() }

// Head is where the log ended when the store was opened. It is valid once Opened is closed.
func (e *Engine) Head() store.Point { return e.head }

// store opens the store if that was not done, or failed.
func (e *Engine) store(ctx context.Context) (store.Store, error) {
	select {
	case <-e.opened:
		return e.st, nil
	default:
	}
	e.opening.Lock()
	defer e.opening.Unlock()
	switch {
	case e.st != nil:
		return e.st, nil
	case e.closed:
		return nil, ErrStopped
	}
	e.underWay.Store(true)
	defer e.underWay.Store(false)
	st, err := e.o.Open(ctx)
	if err != nil {
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

// View runs fn on one consistent reading of the store.
func (e *Engine) View(ctx context.Context, fn func(tx store.Tx) error) error {
	st, err := e.store(ctx)
	if err != nil {
		return err
	}
	return st.View(ctx, fn)
}

// StoreStatus describes the store, and opens it first if need be.
func (e *Engine) StoreStatus(ctx context.Context) (store.Status, error) {
	st, err := e.store(ctx)
	if err != nil {
		return store.Status{}, err
	}
	return st.Status(ctx), nil
}
