package sqlstore_test

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	driver "modernc.org/sqlite"

	"waybill/store"
	"waybill/store/sqlite"
	"waybill/store/sqlstore"
	"waybill/store/sqlstore/spelling"
)

// The tables of a statement, and where it names the workspace of one.
var (
	tables = regexp.MustCompile(`\b((FROM|JOIN|INTO) \w+|UPDATE \w+ SET)\b`)
	named  = regexp.MustCompile(`\bworkspace = |INTO \w+ \(workspace, `)
)

// What no statement has that is spelled for one database: what only the other knows.
var (
	ofShared = regexp.MustCompile(`workspace|:w`)
	ofAlone  = regexp.MustCompile(`INDEXED|\?|:w|CROSS`)
)

// bracketed finds the parts of a union that have a LIMIT of their own.
var bracketed = regexp.MustCompile(`(\(|UNION ALL )\(SELECT`)

// heard has the statements that were run, as SQLite takes them, and the functions of this package that ran them.
type heard struct {
	t         *testing.T
	mu        sync.Mutex // guards what follows
	texts     map[string]string
	functions map[string]bool
	stacks    map[[32]uintptr]bool // from which the functions are known
}

func newHeard(t *testing.T) *heard {
	return &heard{t: t, texts: map[string]string{}, functions: map[string]bool{}, stacks: map[[32]uintptr]bool{}}
}

// hear notes a statement, which has to name the workspace that it is for, and returns it as this SQLite takes it, also one
// that is made for PostgreSQL.
func (h *heard) hear(text string) (spelled string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.noteCallers()
	spelled, known := h.texts[text]
	if known {
		return spelled
	}
	spelled = spelling.Alone(text)
	if len(tables.FindAllString(text, -1)) > len(named.FindAllString(text, -1)) ||
		ofShared.MatchString(spelled) || ofAlone.MatchString(spelling.Shared(text)) {
		h.t.Errorf("it does not name its workspace, or it cannot be spelled for each database: %s", text)
	}
	spelled = bracketed.ReplaceAllString(spelled, "${1}SELECT * FROM (SELECT")
	h.texts[text] = spelled
	return spelled
}

// noteCallers notes the functions that run a statement.
func (h *heard) noteCallers() {
	var stack [32]uintptr
	frames := runtime.CallersFrames(stack[:runtime.Callers(4, stack[:])])
	if h.stacks[stack] {
		return
	}
	h.stacks[stack] = true
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		if name, ours := strings.CutPrefix(frame.Function, "waybill/store/sqlstore."); ours {
			h.functions[name] = true
		}
	}
}

// An overheard store is one of SQLite, with the verbs of this package, and promises nothing of what a disk may do.
type overheard struct {
	heard   *heard
	streams bool
	db      *sql.DB
	mu      sync.Mutex // held by the Update under way
	recent  sqlstore.Recent
}

// empty returns the file of an empty store.
func empty(t *testing.T) []byte {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	return file
}

// overhear opens a store, which is a copy of the file.
func overhear(t *testing.T, h *heard, file []byte, streams bool) *overheard {
	path := filepath.Join(t.TempDir(), "store.db")
	require.NoError(t, os.WriteFile(path, file, 0o600))
	at := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: "_pragma=synchronous(0)&_pragma=foreign_keys(1)&_pragma=busy_timeout(60000)"}
	db, err := sql.Open("sqlite", at.String())
	require.NoError(t, err)
	s := &overheard{heard: h, streams: streams, db: db}
	t.Cleanup(func() { _ = s.Close() }) // a second time, after the law
	return s
}

func (s *overheard) Close() error                        { return s.db.Close() }
func (s *overheard) Changed() <-chan struct{}            { return nil }
func (s *overheard) Status(context.Context) store.Status { return store.Status{Kind: "overheard"} }

func (s *overheard) UpdateReserved(ctx context.Context, fn func(store.Tx) error) error {
	return s.Update(ctx, fn)
}

func (s *overheard) Update(ctx context.Context, fn func(store.Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.write(ctx, func(_ *conn, t *sqlstore.Tx) error { return fn(sqlstore.Contracts(t)) })
}

// write runs fn in a transaction that is committed. The turn is held.
func (s *overheard) write(ctx context.Context, fn func(*conn, *sqlstore.Tx) error) error {
	return s.transact(ctx, &s.recent, "IMMEDIATE", func(c *conn, t *sqlstore.Tx) error {
		err := fn(c, t)
		switch lost := t.Lost(); {
		case lost != nil:
			return lost
		case err == nil:
			err = t.Incoherent()
		}
		if err != nil {
			return err
		}
		return t.Commit(func() error { return c.raw("COMMIT") })
	})
}

func (s *overheard) View(ctx context.Context, fn func(store.Tx) error) error {
	return s.transact(ctx, nil, "", func(_ *conn, t *sqlstore.Tx) error { return fn(sqlstore.Contracts(t)) })
}

// transact runs fn in a transaction on a connection of its own, which writes if there is something recent.
func (s *overheard) transact(ctx context.Context, recent *sqlstore.Recent, kind string, fn func(*conn, *sqlstore.Tx) error) error {
	sqlConn, err := s.db.Conn(context.Background())
	if err != nil {
		return &store.Error{Kind: store.Closed, Message: err.Error()}
	}
	if err := ctx.Err(); err != nil {
		_ = sqlConn.Close() // back into the pool
		return sqlstore.GaveUp(err)
	}
	c := &conn{Conn: sqlConn, heard: s.heard, streams: s.streams}
	defer func() { _ = c.Close() }() // back into the pool
	if err := c.raw("BEGIN " + kind); err != nil {
		return c.Fault(err)
	}
	t := sqlstore.Begin(sqlstore.Options{Conn: c, Cancelled: ctx.Err, Recent: recent})
	defer t.End(sqlstore.ErrOver)
	return fn(c, t)
}

// Verify runs the checks that are the same for every database.
func (s *overheard) Verify(ctx context.Context) (damage []store.Damage, err error) {
	err = s.transact(ctx, nil, "", func(c *conn, _ *sqlstore.Tx) (err error) {
		v := sqlstore.Verifier{Conn: c, Ctx: ctx, Moment: func(fn func() error) error { return fn() }}
		damage, err = v.All(v.Checks())
		return err
	})
	return damage, err
}

// A conn is a sqlstore.Conn on a connection to an SQLite database.
type conn struct {
	*sql.Conn
	heard   *heard
	streams bool
}

// raw runs a statement of the test itself.
func (c *conn) raw(text string) error {
	_, err := c.ExecContext(context.Background(), text)
	return err
}

func (c *conn) Exec(text string, args ...any) (int64, error) {
	result, err := c.ExecContext(context.Background(), c.heard.hear(text), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (c *conn) Try(text string, args ...any) (int64, error) { return c.Exec(text, args...) }

func (c *conn) Query(each func(*sqlstore.Row) error, text string, args ...any) error {
	found, err := c.QueryContext(context.Background(), c.heard.hear(text), args...)
	if err != nil {
		return err
	}
	defer func() { _ = found.Close() }() // says once more what Err says
	columns, err := found.Columns()
	if err != nil {
		return err
	}
	r, into := sqlstore.NewRow(len(columns)), make([]any, len(columns))
	values := r.Refill()
	for i := range into {
		into[i] = &values[i]
	}
	for found.Next() {
		r.Refill()
		if err := found.Scan(into...); err != nil {
			return err
		}
		if err := each(r); err != nil {
			return err
		}
	}
	return found.Err()
}

func (c *conn) Refused(err error) bool {
	const constraint = 19 // SQLITE_CONSTRAINT
	said, ok := errors.AsType[*driver.Error](err)
	return ok && said.Code()&0xff == constraint
}

func (c *conn) Fault(err error) *store.Error {
	if fault, ok := errors.AsType[*store.Error](err); ok {
		return fault
	}
	kind := store.IO
	if _, damaged := errors.AsType[sqlstore.Damaged](err); damaged {
		kind = store.Corrupt
	}
	return &store.Error{Kind: kind, Message: err.Error()}
}

func (c *conn) Rollback()     { _ = c.raw("ROLLBACK") } // it may have been rolled back
func (c *conn) Streams() bool { return c.streams }
