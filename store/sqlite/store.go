// Package sqlite keeps a store in one SQLite file that several processes may use at the same time. It refuses to
// interpret its records and to use a disk that several machines share. It never writes to a file that is damaged,
// missing, or of a newer waybill.
package sqlite

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"waybill/meter"
	"waybill/store"
	"waybill/store/sqlstore"
)

// Options configure a store. Only Path is required.
type Options struct {
	// Path names the database file. It is made, with its directory, if it is not there.
	Path string
	// Version is that of this program; others that have the store open see it in their Status.
	Version string
	// Logger receives messages for a person, or nil.
	Logger *slog.Logger
	// PrivateDir means that the directory holds only the store. The store keeps the directory at mode 0700.
	PrivateDir bool
	// AllowRemote permits a file system that is shared between machines, for one process at a time.
	AllowRemote bool
	// ReadOnly opens a store that is there already, and never writes to it: Updates are refused.
	ReadOnly bool
	// Brief is for a process that makes one change and ends. Views use the connection that writes. Close leaves a short
	// write-ahead log, and the connection, to the end of the process: the next process reads such a log sooner than this
	// one could copy it into the database.
	Brief bool
	// ViewLimit is how long a View may last before it is ended; 0 for 10 s. While one lasts, the write-ahead log
	// of a store that is written only grows.
	ViewLimit time.Duration

	lockWait  time.Duration // how long an Update waits for other processes before it is refused as Busy; 0 for 5 s
	net       time.Duration // how often the lock file is read in addition to a watch; 0 means 1 s
	unwatched bool          // it is looked at and never watched
	machine   string        // plays one, in its boot id and its name; "" for the one that we are on
}

func (o Options) filled() (Options, error) {
	if o.Path == "" {
		return o, errors.New("sqlite options: Path is empty")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.lockWait == 0 {
		o.lockWait = 5 * time.Second
	}
	if o.ViewLimit == 0 {
		o.ViewLimit = 10 * time.Second
	}
	if o.net == 0 {
		o.net = netInterval
	}
	return o, nil
}

// A Store is a store.Store in an SQLite file.
type Store struct {
	o     Options
	place *place
	mode  access // of the connections

	turn       turn // held by the goroutine that uses the fields down to diskFailed
	lock       *lockFile
	lockReader *lockReader
	w          *conn // the writing connection, or nil
	files      identity
	retryAt    time.Time // no attempt to open w after a fault of the disk is made before; zero if there was no fault
	retryIn    time.Duration

	diskFailed bool // once at least

	database part      // which file the store is
	presence *presence // nil if others cannot see us
	readers  *pool
	changed  chan struct{} // signalled by poll and by updates; never closed
	seen     atomic.Int64  // how many commits of all processes are known
	ended    chan struct{} // closed by Close
	polling  sync.WaitGroup

	commits, waits *meter.Histogram[time.Duration]

	mu      sync.Mutex // guards the rest
	notes   []string
	damage  []string                  // sentences about damaged records, reset when other contents take the place of these
	damaged map[sqlstore.Damaged]bool // the rows known as damaged
	version int                       // of the tables
	stopped *store.Error              // the reason why all writing has ended, or nil
	absent  *store.Error              // why there is no w, which a later Update will open; nil if there is one
	alone   bool                      // there are no connections but the writing one, and Views use it
	polls   bool
	closed  bool
}

var _ store.Moments = (*Store)(nil)

// turn is a lock that can be waited for with a context.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

func (t turn) take(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return sqlstore.GaveUp(err)
	}
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return sqlstore.GaveUp(ctx.Err())
	}
}

func (t turn) give() { <-t }

// Update runs fn in a transaction, as store.Store says. Callers of one process take turns, and so do
// the processes.
func (s *Store) Update(ctx context.Context, fn func(tx store.Tx) error) error {
	return s.update(ctx, fn, false)
}

// UpdateReserved is Update for changes that only finish something. On a full disk it may use the
// reserved space.
func (s *Store) UpdateReserved(ctx context.Context, fn func(tx store.Tx) error) error {
	return s.update(ctx, fn, true)
}

func (s *Store) update(ctx context.Context, fn func(tx store.Tx) error, reserved bool) error {
	if err := s.turn.take(ctx); err != nil {
		return err
	}
	defer s.turn.give()
	if err := s.refusal(); err != nil && !isKind(err, store.Corrupt) {
		return err
	}
	if err := s.resting(); err != nil {
		return err
	}
	if err := s.lock.acquire(ctx, s.o.lockWait); err != nil {
		return s.withoutLock(err)
	}
	defer s.lock.release()
	s.noticeCommits()
	if err := s.refusal(); err != nil && !s.mended() {
		return err
	}
	if err := s.reopen(ctx); err != nil {
		return err
	}
	if !reserved {
		if err := s.takeBackReserve(); err != nil {
			return err
		}
	}
	return s.makingRoom(reserved, func() error { return s.transact(ctx, fn) })
}

// withoutLock returns the error for an Update that did not get the lock. If the directory of the store was removed, its
// lock file is gone too.
func (s *Store) withoutLock(err error) error {
	if part, gone := s.files.changed(); gone {
		return s.lose(part, store.NotApplied)
	}
	return classify(s.place.path, err)
}

// transact runs fn in a transaction; the lock is held. It compares the files before, so that nothing is written into
// another database. It compares them again afterwards, so that no change is confirmed that only a file without a name has.
func (s *Store) transact(ctx context.Context, fn func(tx store.Tx) error) error {
	if part, gone := s.files.changed(); gone {
		return s.lose(part, store.NotApplied)
	}
	t, err := begin(ctx, s.w, s.options(), true)
	if err != nil {
		return s.afterFault(err)
	}
	defer t.End(sqlstore.ErrOver) // rolls back after an error and after a panic of fn
	if s.w.renewed {
		s.heal()
	}
	err = fn(sqlstore.Contracts(t))
	if lost := t.Lost(); lost != nil {
		t.End(sqlstore.ErrOver)
		return s.afterFault(lost)
	}
	if err == nil {
		err = t.Incoherent()
	}
	if err != nil {
		return err
	}
	if err := s.ensurePages(); err != nil {
		t.End(sqlstore.ErrOver)
		return s.afterFault(err)
	}
	s.lock.says.commits++ // also if its effect is unknown
	s.seen.Store(s.lock.says.commits)
	began := time.Now()
	if err := commit(t, s.w); err != nil {
		return s.afterFault(err)
	}
	s.commits.Observe(time.Since(began))
	s.retryAt, s.retryIn = time.Time{}, 0
	if newest, _, read := t.Newest(); read {
		s.lock.says.newest = newest
	}
	if part, gone := s.files.changed(); gone {
		return s.lose(part, store.Unknown)
	}
	return nil
}

// View runs fn on one moment of the store, on a connection that only reads.
func (s *Store) View(ctx context.Context, fn func(tx store.Tx) error) error {
	err := s.reading(ctx, func(c *conn) (sound bool, err error) {
		t, err := begin(ctx, c, s.options(), false)
		if err != nil {
			return false, err
		}
		limit := time.AfterFunc(s.o.ViewLimit, func() { t.Expire(s.o.ViewLimit) })
		defer limit.Stop()
		defer t.End(sqlstore.ErrOver) // after a panic of fn
		err = fn(sqlstore.Contracts(t))
		t.End(sqlstore.ErrOver)
		if over := t.Ended(); err == nil && !errors.Is(over, sqlstore.ErrOver) {
			err = over // it was ended before, and fn has not noticed
		}
		return t.Lost() == nil || isKind(t.Lost(), store.Cancelled), err
	})
	return s.asReader(err)
}

// options returns the options of every transaction of the store.
func (s *Store) options() sqlstore.Options {
	return sqlstore.Options{OnDamage: s.noteDamage, IsSpoilt: s.isSpoilt}
}

// Close ends the store. It waits for the Update and the Views under way. With Brief, the end of the process may close the
// writing connection.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.ended)
	s.mu.Unlock()
	s.polling.Wait()

	s.turn <- struct{}{}
	defer s.turn.give()
	return s.closeAll()
}

// closeAll closes the connections. The turn is held.
func (s *Store) closeAll() error {
	s.presence.withdraw()
	s.lockReader.close()
	errs := []error{s.readers.close()}
	if s.w != nil && !(s.o.Brief && s.place.hasShortLog(s.w.sharedFile)) { // otherwise the end of the process closes it
		errs = append(errs, s.w.close())
	}
	s.w = nil
	if err := errors.Join(append(errs, s.lock.close())...); err != nil {
		return classify(s.place.path, err)
	}
	return nil
}
