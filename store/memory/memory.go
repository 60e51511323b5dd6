// Package memory keeps a store in memory: for tests, and for a host that wants nothing on its disk.
// It keeps every law of the law book but durability, and refuses to write anything anywhere.
package memory

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"waybill/meter"
	"waybill/store"
)

// A Store is a store.Store whose contents end with the process.
type Store struct {
	mu      sync.Mutex            // held by the Update under way
	current atomic.Pointer[state] // what the last Update left; a state never changes once it is here
	closed  atomic.Bool
	changed chan struct{} // nobody sends and nobody closes: no other process can see this store
	commits *meter.Histogram[time.Duration]
}

var _ store.Moments = (*Store)(nil)

// New gives an empty store.
func New() *Store {
	s := &Store{changed: make(chan struct{}, 1), commits: meter.New(store.Latencies[:]...)}
	s.current.Store(&state{oldest: 1})
	return s
}

// Update runs fn once, on a state of its own, and makes that state the current one if fn returns nil.
func (s *Store) Update(ctx context.Context, fn func(tx store.Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	next := *s.current.Load()
	t := &tx{cancelled: ctx.Err, state: &next, writable: true}
	defer t.end()
	if err := fn(t); err != nil {
		return err
	}
	if t.lost != nil {
		return t.lost
	}
	began := time.Now()
	if err := t.settled(); err != nil {
		return err
	}
	if err := s.usable(ctx); err != nil {
		return err
	}
	next.commits++
	s.current.Store(&next)
	s.commits.Observe(time.Since(began))
	return nil
}

// UpdateReserved is Update: there is no disk that could be full.
func (s *Store) UpdateReserved(ctx context.Context, fn func(tx store.Tx) error) error {
	return s.Update(ctx, fn)
}

// View runs fn on the current state. It waits for nobody.
func (s *Store) View(ctx context.Context, fn func(tx store.Tx) error) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	snapshot := *s.current.Load()
	t := &tx{cancelled: ctx.Err, state: &snapshot}
	defer t.end()
	return fn(t)
}

// Moment counts the commits. Nobody is ever at one for longer than the call takes.
func (s *Store) Moment() (now store.Moment, ok bool) {
	return store.Moment{Commits: s.current.Load().commits}, !s.closed.Load()
}

// usable tells why the store cannot serve a call, or nil.
func (s *Store) usable(ctx context.Context) error {
	if s.closed.Load() {
		return &store.Error{Kind: store.Closed, Message: "the store is closed"}
	}
	return heed(ctx.Err)
}

// heed gives the error for a call that is given up, or nil.
func heed(cancelled func() error) error {
	if err := cancelled(); err != nil {
		return &store.Error{Kind: store.Cancelled, Message: "the call was given up before it took effect", Err: err}
	}
	return nil
}

// Changed gives a channel that is never signalled.
func (s *Store) Changed() <-chan struct{} { return s.changed }

// Status says that nothing here survives the process.
func (s *Store) Status(context.Context) store.Status {
	return store.Status{
		Kind:     "memory",
		Degraded: []string{"the store is kept in memory only and ends with the process"},
		Stats:    store.Stats{Commits: s.commits.Read(), Waits: meter.New(store.Latencies[:]...).Read()},
	}
}

// Verify reads the event log and reports where its hashes do not link.
func (s *Store) Verify(ctx context.Context) ([]store.Damage, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	st := s.current.Load()
	var found []store.Damage
	prev := st.base
	for seq, ev := range st.events.all() {
		if store.Chain(prev, ev) != ev.Hash {
			found = append(found, store.Damage{
				What: fmt.Sprintf("event %d", seq), Detail: "its hash does not follow from the one before",
			})
		}
		prev = ev.Hash
	}
	return found, nil
}

// Close ends the store. An Update under way is finished first; Views under way go on.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed.Store(true)
	return nil
}
