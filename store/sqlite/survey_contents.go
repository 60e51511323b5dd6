package sqlite

import (
	"context"
	"slices"
	"time"

	"waybill/doctor"
	"waybill/store"
	"waybill/store/sqlstore"
)

// The levels of synchronous.
const (
	syncFull  = 2
	syncExtra = 3
)

// mostRecent is how many of the newest events a Survey returns.
const mostRecent = 200

// contents reads what is in the store, as far as it can be read.
func (s *surveyor) contents(ctx context.Context) {
	_ = readFile(ctx, s.place.path, readOnly, readPatience, func(c *conn) error { return s.settings(ctx, c) }) // a file that cannot be read has no settings
	e := examination{ctx: ctx, path: s.place.path}
	_ = e.reader(func(c *conn) error { return s.tables(c) }) // the checks report the reason
}

// settings finds out how a connection that writes would make changes durable. The connection is for this alone.
func (s *surveyor) settings(ctx context.Context, c *conn) error {
	engine := &s.facts.Engine
	journal, sync, script := s.wantedJournal()
	var found doctor.Known
	if err := c.Query(func(r *sqlstore.Row) error {
		found = doctor.Known(r.Text())
		return r.Err()
	}, "PRAGMA journal_mode"); err != nil {
		return err
	}
	if err := c.script(ctx, script); err != nil {
		return err
	}
	level, err := c.number("PRAGMA synchronous")
	if err == nil {
		engine.Journal, engine.WantJournal = found, journal
		engine.Sync, engine.WantSync = level, sync
	}
	return err
}

// tables counts the rows of the tables if this version knows the tables.
func (s *surveyor) tables(c *conn) error {
	found, err := readLabels(c)
	if err != nil {
		return err
	}
	t := &s.facts.Tables
	t.Version = found.version
	if found.application != applicationID || found.version != schemaVersion {
		return nil
	}
	for _, read := range []func(*conn, *doctor.Tables) error{s.tallies, s.waiting, events} {
		if err := read(c, t); err != nil {
			return err
		}
	}
	t.Read = true
	return nil
}

func (s *surveyor) tallies(c *conn, t *doctor.Tables) error {
	t.Instructions, t.Tasks, t.Runs = map[string]int64{}, map[string]int64{}, map[string]int64{}
	for _, count := range []struct {
		into map[string]int64
		text string
	}{
		{t.Instructions, "SELECT state, count(*) FROM instructions GROUP BY state"},
		{t.Tasks, "SELECT status, count(*) FROM tasks GROUP BY status"},
		{t.Runs, "SELECT state, count(*) FROM runs GROUP BY state"},
	} {
		if err := c.Query(func(r *sqlstore.Row) error {
			name := r.Text()
			count.into[name] = r.Integer()
			return r.Err()
		}, count.text); err != nil {
			return err
		}
	}
	return nil
}

func (s *surveyor) waiting(c *conn, t *doctor.Tables) (err error) {
	if t.Notices, err = c.number("SELECT count(*) FROM notices"); err != nil {
		return err
	}
	t.Overdue, err = c.number("SELECT count(*) FROM attempts WHERE expires_at < ? AND ended_at IS NULL", s.now.UnixMicro())
	if err != nil {
		return err
	}
	t.Work, err = store.Workload(sqlstore.Contracts(sqlstore.Begin(sqlstore.Options{Conn: c})))
	return err
}

// events reads the newest events, and when the oldest was.
func events(c *conn, t *doctor.Tables) error {
	err := c.Query(func(r *sqlstore.Row) error {
		ev := doctor.Event{Seq: r.Integer(), At: timeOf(r.Integer()), Type: r.Text(), Subject: r.Text()}
		t.Recent = append(t.Recent, ev)
		return r.Err()
	}, "SELECT seq, at, type, subject FROM events ORDER BY seq DESC"+" LIMIT ?+0", int64(mostRecent))
	if err != nil || len(t.Recent) == 0 {
		return err
	}
	t.NewestAt = t.Recent[0].At
	slices.Reverse(t.Recent)
	if t.Events, err = c.number("SELECT count(*) FROM events"); err != nil {
		return err
	}
	oldest, err := c.number("SELECT at FROM events ORDER BY seq"+" LIMIT ?+0", int64(1))
	t.OldestAt = timeOf(oldest)
	return err
}

func timeOf(at int64) time.Time { return time.UnixMicro(at).UTC() }
