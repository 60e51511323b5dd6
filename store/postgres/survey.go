package postgres

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"waybill/doctor"
	"waybill/store"
)

// surveyLimit bounds each question of a Survey but the last, which reads the whole workspace.
const surveyLimit = 30 * time.Second

// Survey describes the store, its database and the server. It changes nothing and creates neither tables nor a
// workspace.
func Survey(ctx context.Context, o Options) doctor.Store {
	facts := doctor.Store{Kind: "PostgreSQL", Server: &doctor.Server{Oldest: oldestServer, Each: maxConns}}
	s := surveyor{o: o, facts: &facts, as: &Store{o: o}}
	if err := s.survey(ctx); err != nil {
		s.find("database", doctor.Fail, "do what it says, and try again", "%v", s.as.fault(err))
	}
	return facts
}

// surveyor is one Survey.
type surveyor struct {
	o      Options
	as     *Store // turns errors into store errors; it is never opened
	pg     *pgconn.PgConn
	facts  *doctor.Store
	number int64 // of the workspace
}

func (s *surveyor) find(check string, level doctor.Level, fix, format string, args ...any) {
	s.facts.Findings = append(s.facts.Findings, doctor.Find(check, level, fix, format, args...))
}

func (s *surveyor) survey(ctx context.Context) error {
	a, err := readAddress(s.o.URL)
	if err != nil {
		return err
	}
	s.as.place = a.place
	s.facts.Path, s.facts.Server.Insisted = a.place+", workspace "+s.o.Workspace, a.pooled
	if err := CheckName(s.o.Workspace); err != nil {
		return fault(store.Unsafe, err, "the workspace cannot be kept")
	}
	a.config.RuntimeParams["client_encoding"] = "UTF8"
	within, cancel := context.WithTimeout(ctx, surveyLimit)
	defer cancel()
	if s.pg, err = pgconn.ConnectConfig(within, a.config); err != nil {
		return err
	}
	defer func() {
		over, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = s.pg.Close(over) // closing changes nothing
	}()
	if err := s.server(within); err != nil {
		return err
	}
	if ready, err := s.tables(within); err != nil || !ready {
		return err
	}
	return s.records(ctx)
}

// Reach returns why a connection to the database of a store cannot be made, or nil. It tries once and changes nothing.
func Reach(ctx context.Context, o Options) error {
	a, err := readAddress(o.URL)
	if err != nil {
		return err
	}
	pg, err := pgconn.ConnectConfig(ctx, a.config)
	if err != nil {
		return (&Store{o: o, place: a.place}).fault(err)
	}
	over, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = pg.Close(over) // closing changes nothing
	return nil
}

// ask runs a query and returns the rows as texts, with "" for NULL.
func (s *surveyor) ask(within context.Context, query string, args ...string) (rows [][]string, err error) {
	values := make([][]byte, len(args))
	for i, arg := range args {
		values[i] = []byte(arg)
	}
	result := s.pg.ExecParams(within, query, values, nil, nil, nil).Read()
	for _, row := range result.Rows {
		texts := make([]string, len(row))
		for i, value := range row {
			texts[i] = string(value)
		}
		rows = append(rows, texts)
	}
	return rows, result.Err
}

// numbers returns the first row of a query whose columns are integers, -1 for NULL.
func (s *surveyor) numbers(within context.Context, query string, args ...string) ([]int64, error) {
	rows, err := s.ask(within, query, args...)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	all := make([]int64, len(rows[0]))
	for i, text := range rows[0] {
		if all[i] = -1; text == "" {
			continue
		}
		if all[i], err = strconv.ParseInt(text, 10, 64); err != nil {
			return nil, fmt.Errorf("read what the server answered: %w", err)
		}
	}
	return all, nil
}

// settingsQuery reads the settings of a server. Behind a transaction pooler, each run may reach another server process.
const settingsQuery = `SELECT current_setting('server_version_num'), current_setting('server_encoding'),
	pg_is_in_recovery()::int, current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'),
	pg_backend_pid()`

// server reads the settings of the server, its free connections, and its clock.
func (s *surveyor) server(within context.Context) error {
	rows, err := s.ask(within, settingsQuery)
	if err != nil {
		return err
	}
	said, to := rows[0], s.facts.Server
	if to.Version, err = strconv.ParseInt(said[0], 10, 64); err != nil {
		return err
	}
	to.Encoding, to.Standby, to.Fsync, to.WholePages, to.Commit = said[1], said[2] == "1", said[3] == "on", said[4] == "on", said[5]
	to.Pooled = said[6] != strconv.FormatUint(uint64(s.pg.PID()), 10)
	if err := s.room(within); err != nil {
		return err
	}
	if err := s.time(within); err != nil {
		return err
	}
	to.Reached = true
	return nil
}

// roomQuery returns the number of allowed and of free connections of the server, the database and the user. It excludes
// connections reserved for superusers. Most users may count foreign connections without seeing them.
const roomQuery = `WITH taken AS (
	SELECT count(*) AS here, count(*) FILTER (WHERE datname = current_database()) AS base, count(*) FILTER (WHERE usename = current_user) AS mine
	FROM pg_catalog.pg_stat_activity WHERE datid IS NOT NULL AND coalesce(backend_type, 'client backend') = 'client backend'
), most AS (
	SELECT current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint
			- coalesce(current_setting('reserved_connections', true), '0')::bigint AS here,
		(SELECT nullif(datconnlimit, -1) FROM pg_catalog.pg_database WHERE datname = current_database()) AS base,
		(SELECT nullif(rolconnlimit, -1) FROM pg_catalog.pg_roles WHERE rolname = current_user) AS mine
)
SELECT least(most.here, most.base, most.mine), least(most.here - taken.here, most.base - taken.base, most.mine - taken.mine)
FROM most, taken`

func (s *surveyor) room(within context.Context) error {
	n, err := s.numbers(within, roomQuery)
	if err == nil {
		s.facts.Server.Most, s.facts.Server.Free = n[0], n[1]+1 // this connection ends
	}
	return err
}

// time reads the clock of the server. It assumes that the server read the clock in the middle of the query.
func (s *surveyor) time(within context.Context) error {
	asked := time.Now()
	n, err := s.numbers(within, "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
	if err != nil {
		return err
	}
	s.facts.Server.Ahead = time.UnixMicro(n[0]).Sub(asked.Add(time.Since(asked) / 2).Round(0))
	return nil
}
