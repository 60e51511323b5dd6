package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"waybill/store"
	"waybill/store/sqlstore"
)

// refusal returns the reason why nothing can be written, or nil.
func (s *Store) refusal() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fault(store.Closed, nil, "the store is closed")
	}
	if s.stopped != nil {
		return s.stopped
	}
	return nil
}

// noteServer notes how the server is that was asked last: a standby may be promoted, and settings may be mended.
func (s *Store) noteServer(f facts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standby = f.standby
	before := s.unsettled
	s.unsettled = f.unsettled()
	for _, text := range s.unsettled {
		if !slices.Contains(before, text) {
			s.o.Logger.Warn("the store is degraded", "place", s.place, "reason", text)
		}
	}
}

// unwritable returns the reason why nothing can be written now, or nil. A standby may accept writes later.
func (s *Store) unwritable() error {
	if err := s.refusal(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.standby {
		return s.onStandby(nil)
	}
	return nil
}

func (s *Store) onStandby(cause error) *store.Error {
	return fault(store.ReadOnly, cause, "%s is that of a standby, which can only be read until it is promoted: name the primary server, or try again", s.place)
}

// gone ends all writing: the row of the workspace was removed.
func (s *Store) gone() error {
	lost := fault(store.Lost, nil, "the workspace %s was removed from %s: restart", s.o.Workspace, s.place)
	s.stop(lost)
	return lost
}

// stop ends all writing. The first reason stays.
func (s *Store) stop(why *store.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped == nil {
		s.stopped = why
		s.notes = append(s.notes, why.Error())
		s.o.Logger.Error("the store is not written", "place", s.place, "kind", why.Kind.String(), "reason", why.Error())
	}
}

// noteOnce keeps something for Status.
func (s *Store) noteOnce(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.notes, text) {
		s.notes = append(s.notes, text)
		s.o.Logger.Warn("the store is degraded", "place", s.place, "reason", text)
	}
}

const (
	maxDamaged      = 20      // how many damaged rows are noted one by one
	maxKnownDamaged = 100_000 // how many rows are remembered, so that later reads skip them
)

// isSpoilt reports whether a row is known not to be what was written.
func (s *Store) isSpoilt(row sqlstore.Damaged) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.damaged[row]
}

// noteDamage records a damaged row for Status, once.
func (s *Store) noteDamage(row sqlstore.Damaged) {
	s.mu.Lock()
	known := s.damaged[row] || len(s.damaged) >= maxKnownDamaged
	if !known {
		s.damaged[row] = true
	}
	n := len(s.damaged)
	s.mu.Unlock()
	switch {
	case known, n > maxDamaged+1:
	case n > maxDamaged:
		s.noteOnce("more records are damaged than are named here")
	default:
		s.noteOnce(row.Error() + ": it cannot be read, and the rest of the store goes on")
	}
}

// statusLimit is how long a Status waits for the server.
const statusLimit = 2 * time.Second

// Status describes the store. Its size is the size of all workspaces of the database. While all connections of the
// process are in use, its size and its peers are the last known ones.
func (s *Store) Status(ctx context.Context) store.Status {
	within, cancel := context.WithTimeout(ctx, statusLimit)
	defer cancel()
	answer, err := s.measure(within)
	s.mu.Lock()
	defer s.mu.Unlock()
	crowded := errors.Is(err, errCrowded) && ctx.Err() == nil
	away := err != nil && !errors.Is(err, errCrowded) && ctx.Err() == nil
	if err == nil {
		s.measured = answer
	}
	status := store.Status{
		Kind: "postgres", Path: s.place + ", workspace " + s.o.Workspace, SizeBytes: s.measured.size,
		ReadOnly: s.stopped != nil || s.standby || s.closed, SchemaVersion: s.version, Degraded: slices.Concat(s.notes, s.unsettled),
		Peers: s.measured.peers, Stats: store.Stats{Commits: s.commits.Read(), Waits: s.waits.Read()},
	}
	if s.standby {
		status.Degraded = append(status.Degraded, s.onStandby(nil).Error())
	}
	if crowded {
		status.Degraded = append(status.Degraded, fmt.Sprintf("all %d connections of this process to %s have been in use for %v: it reads very much, or the server does not answer",
			maxConns, s.place, statusLimit))
	}
	if away && !s.closed {
		status.Degraded = append(status.Degraded, s.place+" does not answer: check the server and the network")
	}
	return status
}

// measured is what a server answers for a Status.
type measured struct {
	size  int64 // of the tables and their indexes, in bytes
	peers []store.Peer
}

func (s *Store) measure(within context.Context) (m measured, err error) {
	c, err := s.take(within)
	if err != nil {
		return m, err
	}
	defer s.give(c)
	f, err := c.facts(within)
	if err != nil {
		return m, err
	}
	s.noteServer(f)
	n, err := c.script(within, "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_catalog.pg_class AS c "+
		"WHERE relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'waybill') AND relkind = 'r'")
	if err != nil {
		return m, err
	}
	m.size = n[0]
	m.peers, err = s.peers(within, c)
	return m, err
}

// Verify checks, on one snapshot, every row against its checksum, the hash chain of the event log, each task against
// its newest attempt, and the counts.
func (s *Store) Verify(ctx context.Context) (found []store.Damage, err error) {
	if err := s.refusal(); isKind(err, store.NewerSchema) || isKind(err, store.Closed) {
		return nil, err
	}
	c, err := s.take(ctx)
	if err != nil {
		return nil, s.fault(s.said(ctx, err))
	}
	defer s.give(c)
	defer c.Rollback()
	if err := c.beginView(ctx); err != nil {
		return nil, s.fault(s.said(ctx, err))
	}
	v := sqlstore.Verifier{Conn: c, Ctx: ctx, Moment: func(fn func() error) error { return fn() }}
	if found, err = v.All(v.Checks()); err != nil {
		return found, s.fault(s.said(ctx, err))
	}
	return found, nil
}
