package commit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"waybill/store"
)

// A source opens a store at its first use, and again after that failed.
type source struct {
	openStore func(ctx context.Context) (store.Store, error)

	// opening is held while the store is opened, which may wait for another process. It guards closed, and st and
	// head until opened is closed; after that they do not change.
	opening sync.Mutex
	opened  chan struct{} // closed once the store is open
	closed  bool          // the store must not be opened again
	st      store.Store
	head    store.Point // the end of the log when the store was opened
	// busy is the error of the last opening that another process held up.
	busy atomic.Pointer[store.Error]

	endMu sync.Mutex  // guards end
	end   store.Point // the last known end of the log
}

// Opened returns a channel that is closed once the store is open.
func (s *source) Opened() <-chan struct{} { return s.opened }

// StoreIfOpen returns the store if it is open, and otherwise nil.
func (s *source) StoreIfOpen() store.Store {
	select {
	case <-s.opened:
		return s.st
	default:
		return nil
	}
}

// Head returns the end of the log at the time when the store was opened. It is valid once Opened is closed.
func (s *source) Head() store.Point { return s.head }

// Store returns the store and opens it if necessary. A call that waited while another one found the store busy has its
// answer: calls that tried one after the other would wait for minutes.
func (s *source) Store(ctx context.Context) (store.Store, error) {
	select {
	case <-s.opened:
		return s.st, nil
	default:
	}
	before := s.busy.Load()
	s.opening.Lock()
	defer s.opening.Unlock()
	switch busy := s.busy.Load(); {
	case s.st != nil:
		return s.st, nil
	case s.closed:
		return nil, ErrStopped
	case busy != before:
		return nil, busy
	}
	st, err := s.openStore(ctx)
	if err != nil {
		if fault, ok := errors.AsType[*store.Error](err); ok && fault.Kind == store.Busy {
			s.busy.Store(fault)
		}
		return nil, err
	}
	err = st.View(ctx, func(tx store.Tx) error {
		s.head, err = tx.Tip()
		return err
	})
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	s.st = st
	s.learnEnd(store.Point{}, s.head)
	close(s.opened)
	return st, nil
}

// View runs fn in one consistent read transaction.
func (s *source) View(ctx context.Context, fn func(tx store.Tx) error) error {
	st, err := s.Store(ctx)
	if err != nil {
		return err
	}
	return st.View(ctx, fn)
}

// Close closes the store. It is called after Run has returned.
func (s *source) Close() error {
	s.opening.Lock()
	defer s.opening.Unlock()
	s.closed = true
	if s.st == nil {
		return nil
	}
	if err := s.st.Close(); err != nil {
		return fmt.Errorf("close store: %w", err)
	}
	return nil
}

func (s *source) knownEnd() store.Point {
	s.endMu.Lock()
	defer s.endMu.Unlock()
	return s.end
}

// learnEnd stores the end of the log unless another call did so first.
func (s *source) learnEnd(known, end store.Point) bool {
	s.endMu.Lock()
	defer s.endMu.Unlock()
	if s.end != known {
		return false
	}
	s.end = end
	return true
}

// replaced compares the log with its last known end, and returns its current end. The event log can be replaced while it is
// open, by a restore or a failover to an older copy. Event numbers are then assigned again.
func (s *source) replaced(tx store.EventLog, known store.Point) (end store.Point, replaced bool, err error) {
	end, err = tx.Tip()
	if err != nil || end == known {
		return end, false, err
	}
	goesOn, err := known.Continues(tx)
	if err != nil || !s.learnEnd(known, end) || goesOn {
		return end, false, err
	}
	return end, true, nil
}
