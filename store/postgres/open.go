package postgres

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"waybill/meter"
	"waybill/store"
	"waybill/store/sqlstore"
)

// schemaScript makes the tables in an empty schema.
//
//go:embed schema.sql
var schemaScript string

// schemaVersion is the version of the tables that schemaScript makes.
const schemaVersion = 1

// Open opens the store, or makes it, with its tables if the database has none. A store that can be read but not written
// still opens. Its Status says so, and every Update is refused with the reason.
func Open(ctx context.Context, o Options) (*Store, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	if err := CheckName(o.Workspace); err != nil {
		return nil, fault(store.Unsafe, err, "the workspace cannot be kept")
	}
	a, err := readAddress(o.URL)
	if err != nil {
		return nil, err
	}
	if o.ReadOnly && a.chosen { // a process that only reads once accepts what exists
		a.config.ValidateConnect = nil
	}
	a.config.RuntimeParams["client_encoding"] = "UTF8"
	_, namedByURL := a.config.RuntimeParams["application_name"]
	if !namedByURL {
		a.config.RuntimeParams["application_name"] = strings.TrimSpace("waybill " + o.Version)
	}
	s := &Store{
		o: o, config: a.config, place: a.place, insisted: a.pooled, namedByURL: namedByURL,
		turn: make(chan struct{}, 1), slots: make(chan struct{}, maxConns), changed: make(chan struct{}, 1),
		unsent: make(chan struct{}, 1), ended: make(chan struct{}), damaged: make(map[sqlstore.Damaged]bool),
		commits: meter.New(store.Latencies[:]...), waits: meter.New(store.Latencies[:]...),
	}
	if o.ReadOnly {
		s.stopped = fault(store.ReadOnly, nil, "the store in %s was opened for reading", s.place)
	}
	within, cancel := context.WithTimeout(ctx, o.callLimit)
	defer cancel()
	for again := retries(within); ; {
		err := s.start(within)
		if err == nil {
			return s, nil
		}
		if !again(err) {
			_ = s.Close()
			return nil, s.fault(err) // the cause is more useful than the end of the caller's context
		}
	}
}

// start creates what is missing and reads the values that every call needs.
func (s *Store) start(within context.Context) error {
	c, err := s.take(within)
	if err != nil {
		return err
	}
	defer s.give(c)
	defer c.Rollback()
	version, err := c.tables(within)
	switch {
	case err != nil:
		return err
	case version > schemaVersion:
		s.stop(s.newerSchema(version))
	case version == 0 && s.unwritable() != nil:
		return fault(store.ReadOnly, s.unwritable(), "the store in %s has no tables, and none can be made", s.place)
	case version == 0:
		if err := s.createTables(within, c); err != nil {
			return err
		}
		version = schemaVersion
	}
	s.version = int(version)
	return s.enter(within, c)
}

func (s *Store) newerSchema(version int64) *store.Error {
	return fault(store.NewerSchema, nil, "the store in %s has tables of version %d, and this waybill writes version %d: use the newer waybill",
		s.place, version, schemaVersion)
}

// tables returns the version of the tables, 0 if there are none.
func (c *conn) tables(within context.Context) (version int64, err error) {
	there, err := c.script(within, "SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = 'waybill' AND tablename = 'versions'")
	if err != nil || there[0] == 0 {
		return 0, err
	}
	newest, err := c.script(within, "SELECT max(version) FROM waybill.versions")
	if err != nil {
		return 0, err
	}
	return newest[0], nil
}

// creationLock is the advisory lock under which tables are made; it ends with its transaction.
const creationLock = 0x77617962

// createTables makes the tables in one transaction. Of several processes that come at the same moment, the first makes
// them, and the others find them.
func (s *Store) createTables(within context.Context, c *conn) error {
	there, err := c.script(within, "SELECT count(*) FROM pg_catalog.pg_namespace WHERE nspname = 'waybill'")
	if err != nil {
		return err
	}
	schema := ""
	if there[0] == 0 { // CREATE SCHEMA requires the right to create one even if it exists
		schema = "CREATE SCHEMA IF NOT EXISTS waybill; "
	}
	begin := fmt.Sprintf(beginWrite+"; %s; SET LOCAL lock_timeout = %d; SELECT 0 FROM pg_advisory_xact_lock(%d); "+schema+
		"CREATE TABLE IF NOT EXISTS versions (version bigint PRIMARY KEY); "+
		"SELECT coalesce(max(version), 0) FROM versions", c.settings, s.o.callLimit.Milliseconds(), creationLock)
	found, err := c.script(within, begin)
	if err != nil {
		return s.begun(err)
	}
	if found[0] == 0 {
		if _, err := c.script(within, fmt.Sprintf("%s\nINSERT INTO versions VALUES (%d)", schemaScript, schemaVersion)); err != nil {
			return err
		}
	}
	_, err = c.script(within, "COMMIT")
	return err
}

// enter finds the workspace, or makes it.
func (s *Store) enter(within context.Context, c *conn) error {
	find := fmt.Sprintf("SELECT number, commits FROM waybill.workspaces WHERE name = '%s'", s.o.Workspace)
	found, err := c.script(within, find)
	if err != nil {
		return err
	}
	if found == nil {
		if err := s.unwritable(); err != nil {
			return fault(store.ReadOnly, err, "there is no workspace %s in %s, and none can be made", s.o.Workspace, s.place)
		}
		if found, err = s.found(within, c, find); err != nil {
			return err
		}
	}
	s.number, s.known = found[0], commit{number: -1}
	s.mine(found[1])
	return nil
}

// found creates the workspace, or waits for another process that is creating it.
func (s *Store) found(within context.Context, c *conn, find string) ([]int64, error) {
	made, err := c.script(within, fmt.Sprintf(beginWrite+"; %s; "+
		"INSERT INTO workspaces (name) VALUES ('%s') ON CONFLICT DO NOTHING RETURNING number", c.settings, s.o.Workspace))
	if err != nil {
		return nil, s.begun(err)
	}
	if made != nil {
		s.number = made[0]
		if err := sqlstore.Found(c); err != nil {
			return nil, err
		}
	}
	return c.script(within, "COMMIT; "+find)
}
