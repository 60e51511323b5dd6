// Package pgtest starts a PostgreSQL server for tests. It refuses to touch any server that was there before,
// unless WAYBILL_TEST_POSTGRES names one.
package pgtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"waybill/test/slow"
)

// A Server is a running server.
type Server struct {
	dir  string // "" of a server that is not ours
	url  string // a database whose user may create others
	bin  string
	port int
}

var made atomic.Int64

// Main runs the tests of a package with a server, and ends it. Without the programs of PostgreSQL the tests that need a
// server are skipped, or fail where WAYBILL_POSTGRES_TESTS is "required". Under -short no server is started.
func Main(m *testing.M) int {
	if flag.Parse(); testing.Short() {
		return m.Run()
	}
	s, err := start()
	if err == nil {
		shared = s
		defer s.Stop()
	} else {
		errMissing = err
	}
	return m.Run()
}

var (
	shared     *Server
	errMissing = errors.New("TestMain does not call pgtest.Main")
)

// Shared returns the server that the tests of the package have in common.
func Shared(t testing.TB) *Server {
	t.Helper()
	slow.Test(t)
	if shared == nil {
		skip(t, errMissing)
	}
	return shared
}

// Own starts a server that a test may stop and break.
func Own(t testing.TB, settings ...string) *Server {
	t.Helper()
	slow.Test(t)
	s, err := private(settings...)
	if err != nil {
		skip(t, err)
	}
	t.Cleanup(s.Stop)
	return s
}

// Start starts a server for a program that is no test. Who starts it stops it.
func Start(settings ...string) (*Server, error) { return private(settings...) }

func skip(t testing.TB, why error) {
	t.Helper()
	if os.Getenv("WAYBILL_POSTGRES_TESTS") == "required" {
		require.NoError(t, why, "WAYBILL_POSTGRES_TESTS is required")
	}
	t.Skipf("there is no PostgreSQL to test with: %v", why)
}

// Database makes an empty database, with these options, and returns its URL.
func (s *Server) Database(t testing.TB, options ...string) string {
	t.Helper()
	name := fmt.Sprintf("waybill_test_%d_%d", os.Getpid(), made.Add(1))
	s.Run(t, s.url, "CREATE DATABASE "+name+" TEMPLATE template0 ENCODING 'UTF8' "+strings.Join(options, " "))
	t.Cleanup(func() { _, _ = s.Query(s.url, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") })
	u, err := url.Parse(s.url)
	require.NoError(t, err)
	u.Path = "/" + name
	return u.String()
}

// Admin returns the URL of a database whose user may do everything.
func (s *Server) Admin() string { return s.url }

// Run runs SQL in a database.
func (s *Server) Run(t testing.TB, database, sql string) {
	t.Helper()
	s.Ask(t, database, sql)
}

// Ask runs a query and returns the first value of its first row, or "".
func (s *Server) Ask(t testing.TB, database, sql string) string {
	t.Helper()
	value, err := s.Query(database, sql)
	require.NoError(t, err)
	return value
}

// Query is Ask for a server that may be away.
func (s *Server) Query(database, sql string) (value string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := pgconn.Connect(ctx, database)
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close(ctx) }() // the query has ended
	results, err := c.Exec(ctx, sql).ReadAll()
	if err != nil {
		return "", err
	}
	for _, result := range results {
		for _, row := range result.Rows {
			return string(row[0]), nil
		}
	}
	return "", nil
}

// A Conn is a connection of a test, which ends with it at the latest.
type Conn struct {
	*pgconn.PgConn
	Heard []string // notifications in order of arrival
}

// Connect makes a connection.
func (s *Server) Connect(t testing.TB, database string) *Conn {
	t.Helper()
	config, err := pgconn.ParseConfig(database)
	require.NoError(t, err)
	c := &Conn{}
	config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) { c.Heard = append(c.Heard, n.Payload) }
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c.PgConn, err = pgconn.ConnectConfig(ctx, config)
	require.NoError(t, err)
	t.Cleanup(func() { c.Hang() })
	return c
}

// Hang ends the connection. Twice is once.
func (c *Conn) Hang() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_ = c.Close(ctx) // it may have been ended by the server
}

// start returns the server that is named, or starts one.
func start() (*Server, error) {
	if named := os.Getenv("WAYBILL_TEST_POSTGRES"); named != "" {
		s := &Server{url: named}
		_, err := s.Query(named, "SELECT 1")
		return s, err
	}
	return private()
}

// binaries finds the folder of the newest programs of PostgreSQL.
func binaries() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	version := func(path string) int {
		n, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		if err != nil {
			return 0
		}
		return n
	}
	sort.Slice(found, func(i, j int) bool { return version(found[i]) > version(found[j]) })
	if len(found) > 0 {
		return filepath.Dir(found[0]), nil
	}
	path, err := exec.LookPath("initdb")
	return filepath.Dir(path), err
}

// Name returns the name of a workspace that no other test has.
func Name(testing.TB) string { return fmt.Sprintf("workspace-%d-%d", os.Getpid(), made.Add(1)) }
