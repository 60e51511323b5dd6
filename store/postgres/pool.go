package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"waybill/store"
)

// take returns an idle connection; give returns it to the pool.
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

// takeLate is take for work during Close, before Close has ended all connections.
func (s *Store) takeLate(within context.Context) (*conn, error) {
	if err := s.slot(within); err != nil {
		return nil, err
	}
	return s.fill(within, s.rested(), s.config)
}

// own returns a connection that leaves the pool for good. It counts towards the limit of the process, so an idle
// connection is closed for it if necessary.
func (s *Store) own(within context.Context, config *pgconn.Config) (*conn, error) {
	if err := s.slot(within); err != nil {
		return nil, err
	}
	if c := s.rested(); c != nil {
		c.close()
	}
	return s.fill(within, nil, config)
}

// errCrowded says that all connections that a process may have were in use.
var errCrowded = errors.New("all connections of this process are in use")

// slot waits for one of the connections that a process may have.
func (s *Store) slot(within context.Context) error {
	if err := within.Err(); err != nil {
		return &trouble{cause: err}
	}
	if err := take(within, s.slots); err != nil {
		return &trouble{cause: errors.Join(errCrowded, within.Err())}
	}
	return nil
}

// fill returns the connection that a slot is for: c, or a new one if that is nil.
func (s *Store) fill(within context.Context, c *conn, config *pgconn.Config) (*conn, error) {
	if c != nil {
		return c, nil
	}
	c, err := s.connect(within, config)
	switch {
	case err == nil:
		return c, nil
	case c != nil:
		s.part(c)
	default:
		<-s.slots
	}
	return nil, err
}

// part ends a connection that has a slot. The slot becomes free when the connection has no resources left, or when the
// store closes.
func (s *Store) part(c *conn) {
	c.close()
	select {
	case <-c.over():
		<-s.slots
		return
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		<-s.slots
		return
	}
	s.working.Go(func() { // ends with the connection, by the limit of pgconn for that, or with Close
		select {
		case <-c.over():
		case <-s.ended:
		}
		<-s.slots
	})
}

// rested returns a connection that was used before, or nil.
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

// closeIdle closes idle connections while a slot for closing is free, because others may connect at the same time.
func (s *Store) closeIdle() {
	for {
		select {
		case s.slots <- struct{}{}:
		default:
			return
		}
		c := s.rested()
		if c == nil {
			<-s.slots
			return
		}
		s.part(c)
	}
}

// closeAllIdle closes all idle connections. The caller holds all slots.
func (s *Store) closeAllIdle() {
	for c := s.rested(); c != nil; c = s.rested() {
		c.close()
	}
}

// give returns a connection to the pool. It drops a connection that has ended or is still in a transaction.
func (s *Store) give(c *conn) {
	if c.pg.IsClosed() || c.pg.TxStatus() != 'I' {
		s.part(c)
		return
	}
	c.used = true
	s.mu.Lock()
	s.idle = append(s.idle, c)
	s.mu.Unlock()
	<-s.slots
}

func (s *Store) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// connect makes a connection and asks the server how it is set. With an error it returns the connection, too, if there is one,
// which has to be ended.
func (s *Store) connect(within context.Context, config *pgconn.Config) (*conn, error) {
	pg, err := pgconn.ConnectConfig(within, config)
	if err != nil {
		return nil, &trouble{cause: err, again: worthAnother(nil, err)}
	}
	c := &conn{s: s, pg: pg, names: make(map[string]*prompt)}
	facts, err := c.facts(within)
	if err != nil {
		return c, err
	}
	return c, s.judge(c, facts)
}

// facts are the settings of a server.
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

// serverTime returns the time of the server in microseconds.
const serverTime = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

// oldestServer is the first version that we keep stores in.
const oldestServer = 130000

// unsettled names what a server should be set to otherwise.
func (f facts) unsettled() (all []string) {
	if f.unsynced {
		all = append(all, "synchronous_commit is off on the server: every change asks for on by itself; set it to on")
	}
	if f.unsafe {
		all = append(all, "fsync is off on the server: a loss of power can destroy the database; set it to on")
	}
	if f.torn {
		all = append(all, "full_page_writes is off on the server: a loss of power can damage the database; set it to on")
	}
	return all
}

// judge refuses a server that cannot keep a store, and records its settings. A server process with another number than
// the one reported at connection is behind a transaction pooler. Nothing that outlives a transaction may be left on
// such a connection.
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
	}
	s.noteServer(f)
	c.pooled = int64(c.pg.PID()) != f.pid
	if s.insisted != nil {
		c.pooled = *s.insisted
	}
	return nil
}
