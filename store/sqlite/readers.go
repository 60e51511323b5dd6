package sqlite

import (
	"context"
	"errors"
	"sync"

	"waybill/store"
)

// maxReaders bounds the connections that only read. More would share the same two disks and cores.
const maxReaders = 4

// pool keeps connections that only read.
type pool struct {
	slots chan struct{} // one is held for each connection in use

	mu   sync.Mutex // guards idle
	idle []*conn
}

func newPool() *pool { return &pool{slots: make(chan struct{}, maxReaders)} }

func (p *pool) take(ctx context.Context) (c *conn, err error) {
	if err := turn(p.slots).take(ctx); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		c, p.idle = p.idle[n-1], p.idle[:n-1]
	}
	return c, nil
}

// give returns a connection to the pool. A nil connection only frees its slot.
func (p *pool) give(c *conn) {
	if c != nil {
		p.mu.Lock()
		p.idle = append(p.idle, c)
		p.mu.Unlock()
	}
	<-p.slots
}

// close waits for the connections in use and closes all. The pool can be used again.
func (p *pool) close() error {
	for range maxReaders {
		p.slots <- struct{}{}
	}
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	var errs []error
	for _, c := range idle {
		errs = append(errs, c.close())
	}
	for range maxReaders {
		<-p.slots
	}
	return errors.Join(errs...)
}

// reading runs fn with a connection for reading. A connection on which fn met a fault is not used
// again.
func (s *Store) reading(ctx context.Context, fn func(c *conn) (sound bool, err error)) error {
	if s.usesWriter() {
		return s.readingAlone(ctx, fn)
	}
	c, err := s.readers.take(ctx)
	if err != nil {
		return err
	}
	sound := false
	defer func() {
		if c != nil && !sound {
			_ = c.close()
			c = nil
		}
		s.readers.give(c)
	}()
	if err := s.unusable(); err != nil {
		sound = true
		return err
	}
	if c == nil {
		if c, err = s.connectReader(ctx); err != nil {
			return classify(s.place.path, err)
		}
	}
	sound, err = fn(c)
	return err
}

// readingAlone reads on the connection that writes, because it is the only one there can be.
func (s *Store) readingAlone(ctx context.Context, fn func(c *conn) (bool, error)) error {
	if err := s.turn.take(ctx); err != nil {
		return err
	}
	defer s.turn.give()
	if err := s.unusable(); err != nil {
		return err
	}
	if s.w == nil {
		return fault(store.IO, nil, "%s", diskFailedText(s.place.path))
	}
	_, err := fn(s.w)
	return err
}

func (s *Store) usesWriter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.alone
}

// unusable returns the reason why the store cannot even be read, or nil.
func (s *Store) unusable() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return closedFault()
	}
	return nil
}

// connectReader opens a read-only connection and checks that it reads this store, and not one that took its name
// meanwhile.
func (s *Store) connectReader(ctx context.Context) (*conn, error) {
	c, err := connect(ctx, s.place.path, s.mode)
	if err != nil {
		return nil, err
	}
	if err := c.script(ctx, readerSettings(s.o.lockWait)); err != nil {
		return nil, errors.Join(err, c.close())
	}
	if !s.database.there() {
		return nil, errors.Join(
			fault(store.Lost, nil, "%s was removed or replaced while the store was open: restart", s.place.path),
			c.close())
	}
	return c, nil
}
