package postgres

import (
	"context"
	"embed"
	"fmt"
	"path"
	"strconv"
	"strings"

	"waybill/meter"
	"waybill/store"
	"waybill/store/rows"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrations gives the scripts that bring the tables from each version to the next, the first to version 1. There is no
// way back.
func migrations() ([]string, error) {
	entries, err := migrationFiles.ReadDir("migrations")
	if err != nil {
		return nil, err
	}
	scripts := make([]string, len(entries))
	for _, entry := range entries {
		script, err := migrationFiles.ReadFile(path.Join("migrations", entry.Name()))
		if err != nil {
			return nil, err
		}
		version, err := strconv.Atoi(strings.TrimSuffix(entry.Name(), ".sql"))
		if err != nil {
			return nil, err
		}
		scripts[version-1] = string(script)
	}
	return scripts, nil
}

// Open opens the store, or makes it, with its tables if the database has none. A store that can be read but not written
// is opened all the same; its Status says so, and every Update is refused with the reason.
func Open(ctx context.Context, o Options) (*Store, error) {
	steps, err := migrations()
	if err != nil {
		return nil, err
	}
	return open(ctx, o, steps)
}

func open(ctx context.Context, o Options, steps []string) (*Store, error) {
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
	if o.ReadOnly && a.chosen { // who only looks once takes what there is
		a.config.ValidateConnect = nil
	}
	a.config.RuntimeParams["client_encoding"] = "UTF8"
	_, christened := a.config.RuntimeParams["application_name"]
	if !christened {
		a.config.RuntimeParams["application_name"] = strings.TrimSpace("waybill " + o.Version)
	}
	s := &Store{
		o: o, config: a.config, place: a.place, insisted: a.pooled, christened: christened,
		turn: make(chan struct{}, 1), slots: make(chan struct{}, maxConns), changed: make(chan struct{}, 1),
		untold: make(chan struct{}, 1), ended: make(chan struct{}), spoilt: make(map[rows.Damaged]bool),
		commits: meter.New(store.Latencies[:]...), waits: meter.New(store.Latencies[:]...),
	}
	if o.ReadOnly {
		s.stopped = fault(store.ReadOnly, nil, "the store in %s was opened for reading", s.place)
	}
	within, cancel := context.WithTimeout(ctx, o.callLimit)
	defer cancel()
	for again := retries(within); ; {
		err := s.start(within, steps)
		if err == nil {
			return s, nil
		}
		if !again(err) {
			_ = s.Close()
			return nil, s.fault(s.said(ctx, err))
		}
	}
}

// start makes what is missing, and reads what every call needs.
func (s *Store) start(within context.Context, steps []string) error {
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
	case version > int64(len(steps)):
		s.stop(s.newerSchema(version, len(steps)))
	case version < int64(len(steps)) && s.unwritable() != nil:
		return fault(store.ReadOnly, s.unwritable(), "the store in %s has tables of version %d and cannot be brought to version %d",
			s.place, version, len(steps))
	case version < int64(len(steps)):
		if err := s.bringUp(within, c, steps); err != nil {
			return err
		}
		version = int64(len(steps))
	}
	s.version = int(version)
	return s.enter(within, c)
}

func (s *Store) newerSchema(version int64, known int) *store.Error {
	return fault(store.NewerSchema, nil, "the store in %s has tables of version %d, and this waybill writes version %d: use the newer waybill",
		s.place, version, known)
}

// tables gives the version of the tables, 0 if there are none.
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

// migrationLock is the advisory lock under which tables are made; it ends with its transaction.
const migrationLock = 0x77617962

// bringUp makes the tables what this waybill expects, all in one transaction. Of those who come at the same moment the
// first does it, and the others find it done.
func (s *Store) bringUp(within context.Context, c *conn, steps []string) error {
	there, err := c.script(within, "SELECT count(*) FROM pg_catalog.pg_namespace WHERE nspname = 'waybill'")
	if err != nil {
		return err
	}
	schema := ""
	if there[0] == 0 { // to make one that is there takes the right to make one
		schema = "CREATE SCHEMA IF NOT EXISTS waybill; "
	}
	begin := fmt.Sprintf(beginWrite+"; %s; SET LOCAL lock_timeout = %d; SELECT 0 FROM pg_advisory_xact_lock(%d); "+schema+
		"CREATE TABLE IF NOT EXISTS versions (version bigint PRIMARY KEY); "+
		"SELECT coalesce(max(version), 0) FROM versions", c.settings, s.o.callLimit.Milliseconds(), migrationLock)
	found, err := c.script(within, begin)
	if err != nil {
		return s.begun(err)
	}
	if found[0] > 0 { // whoever changes a workspace has read that the tables are of the version before
		if _, err := c.script(within, "LOCK TABLE workspaces IN ACCESS EXCLUSIVE MODE"); err != nil {
			return err
		}
	}
	for i, step := range steps {
		if int64(i) < found[0] {
			continue
		}
		if _, err := c.script(within, fmt.Sprintf("%s\nINSERT INTO versions VALUES (%d)", step, i+1)); err != nil {
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

// found makes the workspace, unless somebody else has done so meanwhile, who is waited for.
func (s *Store) found(within context.Context, c *conn, find string) ([]int64, error) {
	made, err := c.script(within, fmt.Sprintf(beginWrite+"; %s; "+
		"INSERT INTO workspaces (name) VALUES ('%s') ON CONFLICT DO NOTHING RETURNING number", c.settings, s.o.Workspace))
	if err != nil {
		return nil, s.begun(err)
	}
	if made != nil {
		s.number = made[0]
		if err := rows.Found(c); err != nil {
			return nil, err
		}
		if err := rows.FoundTaskCounts(c); err != nil {
			return nil, err
		}
	}
	return c.script(within, "COMMIT; "+find)
}
