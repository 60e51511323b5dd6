package postgres

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"waybill/doctor"
	"waybill/store"
)

// rightsQuery asks whether the schema and its tables exist, and for this user's rights on them.
const rightsQuery = `SELECT
	(SELECT count(*) FROM pg_catalog.pg_namespace WHERE nspname = 'waybill'),
	(SELECT count(*) FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
		WHERE n.nspname = 'waybill' AND c.relname = 'versions' AND c.relkind = 'r'),
	has_database_privilege(current_database(), 'CREATE')::int,
	(SELECT has_schema_privilege(oid, 'USAGE')::int FROM pg_catalog.pg_namespace WHERE nspname = 'waybill'),
	(SELECT has_schema_privilege(oid, 'CREATE')::int FROM pg_catalog.pg_namespace WHERE nspname = 'waybill'),
	(SELECT bool_and(has_table_privilege(c.oid, 'SELECT'))::int
		FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
		WHERE n.nspname = 'waybill' AND c.relkind = 'r'),
	(SELECT bool_and(has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE'))::int
		FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
		WHERE n.nspname = 'waybill' AND c.relkind = 'r' AND c.relname <> 'versions')`

// rights are the result of rightsQuery.
type rights struct{ schema, tables, make, use, fill, read, write bool }

func (s *surveyor) rights(within context.Context) (r rights, err error) {
	n, err := s.numbers(within, rightsQuery)
	if err != nil {
		return r, err
	}
	return rights{n[0] == 1, n[1] == 1, n[2] == 1, n[3] == 1, n[4] == 1, n[5] == 1, n[6] == 1}, nil
}

const (
	grantTables = "have their owner GRANT USAGE ON SCHEMA waybill, and SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA waybill"
	grantSchema = "GRANT USAGE, CREATE ON SCHEMA waybill"
	grantMaking = "GRANT CREATE ON DATABASE, or have its owner run waybill once"
)

// judge says whether the rights are enough.
func (s *surveyor) judge(r rights) {
	switch {
	case r.tables && !(r.use && r.read):
		s.find("rights", doctor.Fail, grantTables, "the user may not read the tables")
	case r.tables && !r.write:
		s.find("rights", doctor.Fail, grantTables, "the user may read the tables and not change them")
	case r.tables:
		s.find("rights", doctor.OK, "", "the user may read and change the tables")
	case r.schema && !(r.use && r.fill):
		s.find("rights", doctor.Fail, grantSchema, "there are no tables yet, and the user may not make them in the schema waybill")
	case !r.schema && !r.make:
		s.find("rights", doctor.Fail, grantMaking, "there are no tables yet, and the user may not make a schema")
	default:
		s.find("rights", doctor.OK, "", "the user may make the tables")
	}
}

// tables looks at the rights and at the tables, and reports whether there is a workspace in them that can be read.
func (s *surveyor) tables(within context.Context) (ready bool, err error) {
	r, err := s.rights(within)
	if err != nil {
		return false, err
	}
	s.judge(r)
	switch {
	case !r.tables:
		s.find("schema", doctor.Warn, "nothing: the first call that needs a store makes them", "there are no tables yet")
		return false, nil
	case !r.use || !r.read:
		return false, nil
	}
	if current, err := s.version(within); err != nil || !current {
		return false, err
	}
	return s.workspace(within)
}

// version judges the version of the tables, and reports whether it is the one that this waybill makes.
func (s *surveyor) version(within context.Context) (current bool, err error) {
	newest, err := s.numbers(within, "SELECT coalesce(max(version), 0) FROM waybill.versions")
	if err != nil {
		return false, err
	}
	s.facts.Tables.Version = newest[0]
	switch {
	case newest[0] > schemaVersion:
		s.find("schema", doctor.Warn, "use the newer waybill; this one can only read the store",
			"the tables have version %d, and this waybill knows version %d", newest[0], schemaVersion)
	default:
		s.find("schema", doctor.OK, "", "the tables have version %d", newest[0])
	}
	return newest[0] == schemaVersion, nil
}

// workspace finds the workspace, if it is there.
func (s *surveyor) workspace(within context.Context) (there bool, err error) {
	found, err := s.numbers(within, "SELECT number FROM waybill.workspaces WHERE name = $1", s.o.Workspace)
	if err != nil {
		return false, err
	}
	if found == nil {
		s.find("database", doctor.Warn, "nothing: the first call that needs it makes it; --workspace-name names another one", "there is no workspace %s yet", s.o.Workspace)
		return false, nil
	}
	s.number, s.facts.There = found[0], true
	return true, nil
}

// records counts what is in the workspace, and reads and checks all of it.
func (s *surveyor) records(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, surveyLimit)
	defer cancel()
	for _, read := range []func(context.Context, *doctor.Tables) error{s.tallies, s.waiting, s.events} {
		if err := read(within, &s.facts.Tables); err != nil {
			return err
		}
	}
	s.facts.Tables.Read = true
	o := s.o
	o.ReadOnly, o.Logger = true, nil // the survey itself reports the findings
	opened, err := Open(ctx, o)
	if err != nil {
		return err
	}
	defer func() { _ = opened.Close() }() // it was only read
	for _, peer := range opened.Status(ctx).Peers {
		s.facts.Peers = append(s.facts.Peers, doctor.Peer(peer))
	}
	if err := opened.View(within, func(tx store.Tx) error {
		s.facts.Tables.Work, err = store.Workload(tx)
		return err
	}); err != nil {
		return err
	}
	damage, err := opened.Verify(ctx)
	if err != nil {
		return err
	}
	for _, d := range damage {
		s.find("database", doctor.Fail, "restore the database from a backup", "%s: %s", d.What, d.Detail)
	}
	if len(damage) == 0 {
		s.find("database", doctor.OK, "", "everything in %s is what was written", s.facts.Path)
	}
	return nil
}

func (s *surveyor) tallies(within context.Context, t *doctor.Tables) error {
	t.Instructions, t.Tasks, t.Runs = map[string]int64{}, map[string]int64{}, map[string]int64{}
	rows, err := s.ask(within, `SELECT 'i', state, count(*) FROM waybill.instructions WHERE workspace = $1 GROUP BY state
		UNION ALL SELECT 't', status, count(*) FROM waybill.tasks WHERE workspace = $1 GROUP BY status
		UNION ALL SELECT 'r', state, count(*) FROM waybill.runs WHERE workspace = $1 GROUP BY state`, s.text())
	if err != nil {
		return err
	}
	into := map[string]map[string]int64{"i": t.Instructions, "t": t.Tasks, "r": t.Runs}
	for _, row := range rows {
		if into[row[0]][row[1]], err = strconv.ParseInt(row[2], 10, 64); err != nil {
			return err
		}
	}
	return nil
}

// text is the number of the workspace as an argument.
func (s *surveyor) text() string { return strconv.FormatInt(s.number, 10) }

func (s *surveyor) waiting(within context.Context, t *doctor.Tables) error {
	n, err := s.numbers(within, `SELECT (SELECT count(*) FROM waybill.notices WHERE workspace = $1),
		(SELECT count(*) FROM waybill.attempts WHERE workspace = $1 AND ended_at IS NULL
			AND expires_at < (extract(epoch FROM clock_timestamp()) * 1000000)::bigint),
		(SELECT count(*) FROM waybill.events WHERE workspace = $1),
		(SELECT at FROM waybill.events WHERE workspace = $1 ORDER BY seq LIMIT 1)`, s.text())
	if err == nil {
		t.Notices, t.Overdue, t.Events = n[0], n[1], n[2]
		if t.Events > 0 {
			t.OldestAt = time.UnixMicro(n[3]).UTC()
		}
	}
	return err
}

// events reads the newest events.
func (s *surveyor) events(within context.Context, t *doctor.Tables) error {
	rows, err := s.ask(within, `SELECT seq, at, type, encode(subject, 'escape') FROM waybill.events
		WHERE workspace = $1 ORDER BY seq DESC LIMIT 200`, s.text())
	if err != nil || len(rows) == 0 {
		return err
	}
	for _, row := range slices.Backward(rows) {
		seq, errSeq := strconv.ParseInt(row[0], 10, 64)
		at, errAt := strconv.ParseInt(row[1], 10, 64)
		if err := errors.Join(errSeq, errAt); err != nil {
			return err
		}
		t.Recent = append(t.Recent, doctor.Event{Seq: seq, At: time.UnixMicro(at).UTC(), Type: row[2], Subject: row[3]})
	}
	t.NewestAt = t.Recent[len(t.Recent)-1].At
	return nil
}
