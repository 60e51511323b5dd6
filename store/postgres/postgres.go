// Package postgres keeps stores in a PostgreSQL database that several machines may use at the same time. It refuses to
// decide anything about what it keeps, to rely on anything that a connection remembers between transactions, and to let
// a password into a message.
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
	"waybill/store/rows"
)

// Options say which store of which database it is. URL and Workspace are required.
type Options struct {
	// URL names the database, as in postgres://user@host/database. What it leaves out is taken from the environment
	// variables, the password file and the service file that PostgreSQL's own programs know.
	URL string
	// Workspace is the name of the store in its database. Whoever uses the same name uses the same store.
	Workspace string
	// Version is that of this program; the server shows it beside its connections.
	Version string
	// Logger is told what a person may have to look after; nil for nobody.
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
	tellEvery time.Duration // how long others are told nothing after they were told something; 0 for 20 ms
	lookEvery time.Duration // how often it is looked at what others did; 0 for as often as it is worth it
	mute      bool          // tells the others nothing
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
	place    string // what messages call the database; without a password
	insisted *bool  // what the URL says of whether connections are pooled; nil for nothing
	// christened reports whether the URL gives connections a name.
	christened bool

	number  int64 // of the workspace
	version int   // of the tables

	turn   chan struct{} // held by the Update at work, which alone uses recent and known
	recent rows.Recent
	known  commit // that recent was learned at

	slots   chan struct{} // one is held for each connection in use
	changed chan struct{} // of size one, signalled by the ear and by updates; nobody closes it
	untold  chan struct{} // of size one, signalled when others are to be told of a commit; nobody closes it
	ended   chan struct{} // closed by Close
	working sync.WaitGroup

	commits, waits *meter.Histogram[time.Duration]

	mu    sync.Mutex // guards the rest
	idle  []*conn
	seen  int64 // the newest commit that is known
	notes []string
	// unsettled names what the server should be set to otherwise, as it was when it was asked last.
	unsettled []string
	measured  measured
	spoilt    map[rows.Damaged]bool // the rows known as damaged
	stopped   *store.Error          // why nothing is written any more, or nil
	standby   bool                  // the server that was connected to last can only be read now
	deafen    context.CancelFunc    // ends the ear; nil while there is none
	tells     bool                  // somebody tells the others what is untold
	closed    bool
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
		return rows.GaveUp(err)
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
	t := rows.Begin(s.transaction(ctx, c))
	limit := time.AfterFunc(s.o.viewLimit, func() { t.Expire(s.o.viewLimit) })
	defer limit.Stop()
	defer t.End(rows.ErrOver) // after a panic of fn
	err = fn(t)
	t.End(rows.ErrOver)
	if over := t.Ended(); err == nil && !errors.Is(over, rows.ErrOver) {
		err = over // it was ended before, and fn has not noticed
	}
	return true, err
}

// transaction gives what a transaction on c is told.
func (s *Store) transaction(ctx context.Context, c *conn) rows.Options {
	return rows.Options{Conn: c, Cancelled: ctx.Err, OnDamage: s.noteDamage, IsSpoilt: s.isSpoilt}
}

// said turns what a try of a call gave into what the caller is told: an error of its function as it is.
func (s *Store) said(ctx context.Context, err error) error {
	t, ok := errors.AsType[*trouble](err)
	if !ok {
		return err
	}
	if ended := ctx.Err(); ended != nil {
		return rows.GaveUp(ended)
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
	if s.deafen != nil {
		s.deafen()
	}
	s.mu.Unlock()
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	close(s.ended) // and not before: the others are told of the last change, too
	s.working.Wait()
	for range maxConns {
		s.slots <- struct{}{}
	}
	s.dismiss()
	for range maxConns {
		<-s.slots
	}
	return nil
}

// take waits for a place in a channel.
func take(ctx context.Context, places chan struct{}) error {
	if err := ctx.Err(); err != nil {
		return rows.GaveUp(err)
	}
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return rows.GaveUp(ctx.Err())
	}
}
