package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"waybill/store"
)

// take gives a connection that nobody uses; give takes it back.
func (s *Store) take(within context.Context) (*conn, error) {
	if err := s.slot(within); err != nil {
		return nil, err
	}
	if s.isClosed() {
		<-s.slots
		return nil, fault(store.Closed, nil, "the store is closed")
	}
	return s.fill(within, s.rested(), s.config)
}

// takeLate is take for what has to be done although the store is being closed, before Close has ended all connections.
func (s *Store) takeLate(within context.Context) (*conn, error) {
	if err := s.slot(within); err != nil {
		return nil, err
	}
	return s.fill(within, s.rested(), s.config)
}

// own gives a connection that is parted with and not given back. It is one of those that a process may have.
func (s *Store) own(within context.Context, config *pgconn.Config) (*conn, error) {
	if err := s.slot(within); err != nil {
		return nil, err
	}
	return s.fill(within, nil, config)
}

// slot waits for one of the connections that a process may have.
func (s *Store) slot(within context.Context) error {
	if err := take(within, s.slots); err != nil {
		return &trouble{cause: within.Err()}
	}
	return nil
}

// fill gives the connection that a slot is for: c, or a new one if that is nil.
func (s *Store) fill(within context.Context, c *conn, config *pgconn.Config) (*conn, error) {
	if c != nil {
		return c, nil
	}
	c, err := s.connect(within, config)
	if err != nil {
		<-s.slots
	}
	return c, err
}

// part ends a connection that own gave.
func (s *Store) part(c *conn) {
	c.close()
	<-s.slots
}

// rested gives a connection that was used before, or nil.
func (s *Store) rested() *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.idle); n > 0 {
		c := s.idle[n-1]
		s.idle = s.idle[:n-1]
		return c
	}
	return nil
}

// dismiss ends the connections that nobody uses.
func (s *Store) dismiss() {
	for c := s.rested(); c != nil; c = s.rested() {
		c.close()
	}
}

// give takes a connection back. One that ended, or that is left in a transaction, is not used again.
func (s *Store) give(c *conn) {
	defer func() { <-s.slots }()
	if c.pg.IsClosed() || c.pg.TxStatus() != 'I' {
		c.close()
		return
	}
	c.used = true
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = append(s.idle, c)
}

func (s *Store) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// connect makes a connection and asks the server how it is set.
func (s *Store) connect(within context.Context, config *pgconn.Config) (*conn, error) {
	pg, err := pgconn.ConnectConfig(within, config)
	if err != nil {
		return nil, &trouble{cause: err, again: worthAnother(nil, err)}
	}
	c := &conn{s: s, pg: pg, fresh: true, names: make(map[string]*prompt)}
	facts, err := c.facts(within)
	if err != nil {
		c.close()
		return nil, err
	}
	if err := s.judge(c, facts); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// facts are what a server says of itself.
type facts struct {
	pid, version                          int64
	standby, unsynced, unsafe, torn, utf8 bool
}

func (c *conn) facts(within context.Context) (f facts, err error) {
	asked := c.s.o.Clock.here()
	n, err := c.script(within, `SELECT pg_backend_pid(), current_setting('server_version_num')::bigint, pg_is_in_recovery()::int,
		(current_setting('synchronous_commit') = 'off')::int, (current_setting('fsync') = 'off')::int,
		(current_setting('full_page_writes') = 'off')::int, (current_setting('server_encoding') = 'UTF8')::int, `+serverTime)
	if err != nil {
		return f, err
	}
	c.s.o.Clock.heard(n[7], asked)
	return facts{
		pid: n[0], version: n[1], standby: n[2] == 1, unsynced: n[3] == 1, unsafe: n[4] == 1, torn: n[5] == 1, utf8: n[6] == 1,
	}, nil
}

// serverTime gives the time of the server in microseconds.
const serverTime = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

// oldestServer is the first version that we keep stores in.
const oldestServer = 130000

// judge refuses a server that a store cannot be kept on, and notes what is not as it should be. A server whose process
// has another number than the one that we were told when we connected is behind something that deals out its
// connections: nothing that lasts longer than a transaction can be left on one.
func (s *Store) judge(c *conn, f facts) error {
	switch {
	case f.version < oldestServer:
		return fault(store.Unsafe, nil, "%s is PostgreSQL %d, and 13 is the oldest that can be used", s.place, f.version/10000)
	case !f.utf8:
		return fault(store.Unsafe, nil, "%s is not encoded in UTF-8: make another with createdb -E UTF8 -T template0", s.place)
	}
	limit := max(s.o.callLimit, s.o.Whole)
	c.settings = fmt.Sprintf("SET LOCAL search_path = waybill; SET LOCAL statement_timeout = %d; "+
		"SET LOCAL idle_in_transaction_session_timeout = %d", limit.Milliseconds(), 2*limit.Milliseconds())
	if f.unsynced {
		c.settings += "; SET LOCAL synchronous_commit = on"
		s.noteOnce("synchronous_commit is off on the server: every change asks for on by itself; set it to on")
	}
	if f.unsafe {
		s.noteOnce("fsync is off on the server: a loss of power can destroy the database; set it to on")
	}
	if f.torn {
		s.noteOnce("full_page_writes is off on the server: a loss of power can damage the database; set it to on")
	}
	s.noteStandby(f.standby)
	c.pooled = int64(c.pg.PID()) != f.pid
	if s.insisted != nil {
		c.pooled = *s.insisted
	}
	return nil
}
