// Package postgres keeps stores in a PostgreSQL database that several machines may use at the same time. It refuses to
// interpret its records, to rely on connection state between transactions, and to put a password into a message.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"waybill/meter"
	"waybill/store"
	"waybill/store/sqlstore"
)

// Options say which store of which database it is. URL and Workspace are required.
type Options struct {
	// URL names the database, as in postgres://user@host/database. Missing parts come from the environment variables, the
	// password file and the service file of PostgreSQL.
	URL string
	// Workspace is the name of the store in its database. Processes with the same name share one store.
	Workspace string
	// Version is the version of this program. The server shows it with its connections.
	Version string
	// Logger receives warnings for a person; nil discards them.
	Logger *slog.Logger
	// Clock is told the time of the server; nil for none.
	Clock *Clock
	// ReadOnly opens a store that is there already, and never writes to it: Updates are refused.
	ReadOnly bool
	// Whole is how long a View or an Update may last that is about a whole store; 0 for no longer than others.
	Whole time.Duration

	lockWait  time.Duration // how long an Update waits for other processes before it is refused as Busy; 0 for 5 s
	callLimit time.Duration // how long a call may take in all; 0 for 30 s
	viewLimit time.Duration // how long a View may last before it is ended; 0 for 10 s
	tellEvery time.Duration // the shortest time between two notifications to others; 0 means 20 ms
	lookEvery time.Duration // how often the commits of others are read; 0 adapts to the activity
	mute      bool          // sends no notifications
}

func (o Options) filled() (Options, error) {
	if o.Workspace == "" {
		return o, errors.New("postgres options: Workspace is empty")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = new(Clock)
	}
	o.lockWait = cmp.Or(o.lockWait, 5*time.Second)
	o.callLimit = cmp.Or(o.callLimit, 30*time.Second)
	o.viewLimit = cmp.Or(o.viewLimit, max(o.Whole, 10*time.Second))
	o.tellEvery = cmp.Or(o.tellEvery, tellInterval)
	return o, nil
}

// maxConns bounds the connections of a process; a server has few.
const maxConns = 4

// Store is a store.Store in a PostgreSQL database.
type Store struct {
	o        Options
	config   *pgconn.Config
	place    string // the database in messages, without a password
	insisted *bool  // the pooler parameter of the URL; nil if it is absent
	// namedByURL reports whether the URL names its connections.
	namedByURL bool

	number  int64 // of the workspace
	version int   // of the tables

	turn   chan struct{} // held by the Update at work, which alone uses recent and known
	recent sqlstore.Recent
	known  commit // that recent was learned at

	slots   chan struct{} // one is held for each connection in use
	changed chan struct{} // of size one, signalled by the listener and by updates; never closed
	unsent  chan struct{} // of size one, signalled when a commit must be announced; never closed
	ended   chan struct{} // closed by Close
	working sync.WaitGroup

	commits, waits *meter.Histogram[time.Duration]

	mu    sync.Mutex // guards the rest
	idle  []*conn
	seen  int64 // the newest commit that is known
	notes []string
	// unsettled has the settings of the server that should be different, as last read.
	unsettled     []string
	measured      measured
	damaged       map[sqlstore.Damaged]bool // the rows known as damaged
	stopped       *store.Error              // the reason why all writing has ended, or nil
	standby       bool                      // the server that was connected to last can only be read now
	stopListening context.CancelFunc        // ends the listener; nil without one
	tells         bool                      // a goroutine is announcing commits
	closed        bool
}

var _ store.Store = (*Store)(nil)

// Update runs fn in a transaction, as store.Store says. Callers of one process take turns, and so do the processes.
func (s *Store) Update(ctx context.Context, fn func(tx store.Tx) error) error {
	return s.change(ctx, func(*conn) error { return nil }, fn)
}

// change is Update with something to be done on the connection before, in the same transaction.
func (s *Store) change(ctx context.Context, before func(c *conn) error, fn func(tx store.Tx) error) error {
	if err := take(ctx, s.turn); err != nil {
		return err
	}
	defer func() { <-s.turn }()
	if err := s.refusal(); err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, max(s.o.callLimit, s.o.Whole))
	defer cancel()
	return s.updating(ctx, within, before, fn)
}

// UpdateReserved is Update: space on the disk of a server is not ours to reserve.
func (s *Store) UpdateReserved(ctx context.Context, fn func(tx store.Tx) error) error {
	return s.Update(ctx, fn)
}

// View runs fn on one moment of the store.
func (s *Store) View(ctx context.Context, fn func(tx store.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return sqlstore.GaveUp(err)
	}
	within, cancel := context.WithTimeout(ctx, max(s.o.callLimit, s.o.Whole))
	defer cancel()
	for again := retries(within); ; {
		begun, err := s.view(ctx, within, fn)
		if begun || err == nil || !again(err) {
			return s.said(ctx, err)
		}
	}
}

// view is one try of View. Once fn has begun, the try is not repeated.
func (s *Store) view(ctx, within context.Context, fn func(tx store.Tx) error) (begun bool, err error) {
	c, err := s.take(within)
	if err != nil {
		return false, err
	}
	defer s.give(c)
	if err := c.beginView(within); err != nil {
		return false, err
	}
	t := sqlstore.Begin(s.transaction(ctx, c))
	limit := time.AfterFunc(s.o.viewLimit, func() { t.Expire(s.o.viewLimit) })
	defer limit.Stop()
	defer t.End(sqlstore.ErrOver) // after a panic of fn
	err = fn(sqlstore.Contracts(t))
	t.End(sqlstore.ErrOver)
	if over := t.Ended(); err == nil && !errors.Is(over, sqlstore.ErrOver) {
		err = over // it was ended before, and fn has not noticed
	}
	return true, err
}

// transaction returns the options of a transaction on c.
func (s *Store) transaction(ctx context.Context, c *conn) sqlstore.Options {
	return sqlstore.Options{Conn: c, Cancelled: ctx.Err, OnDamage: s.noteDamage, IsSpoilt: s.isSpoilt}
}

// said turns the error of a call into the caller's error. It returns an error of the caller's function unchanged.
func (s *Store) said(ctx context.Context, err error) error {
	t, ok := errors.AsType[*trouble](err)
	if !ok {
		return err
	}
	if ended := ctx.Err(); ended != nil {
		return sqlstore.GaveUp(ended)
	}
	return s.fault(t.cause)
}

// Close ends the store. It waits for the Update and the Views under way.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	if s.stopListening != nil {
		s.stopListening()
	}
	s.mu.Unlock()
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	close(s.ended) // last, so that the others are notified of the last change
	s.working.Wait()
	for range maxConns {
		s.slots <- struct{}{}
	}
	s.closeAllIdle()
	for range maxConns {
		<-s.slots
	}
	return nil
}

// take waits for a place in a channel.
func take(ctx context.Context, places chan struct{}) error {
	if err := ctx.Err(); err != nil {
		return sqlstore.GaveUp(err)
	}
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return sqlstore.GaveUp(ctx.Err())
	}
}
