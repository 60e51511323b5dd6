package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"

	"modernc.org/sqlite"
)

// access says what a connection may do with its file.
type access string

const (
	readWrite access = "mode=rw" // never creates the file
	readOnly  access = "mode=ro"
	// frozen reads a file that nobody writes, without locks and without its -wal. It is the only way
	// to read where neither a lock nor a -shm file can be made.
	frozen access = "mode=ro&immutable=1"
)

// conn is one connection to a database, used by one goroutine at a time. It speaks to the driver
// itself: the pool of database/sql opens and closes connections behind its caller's back, and which
// connection holds which file open is the very thing that this package must know.
type conn struct {
	raw    driver.Conn
	stmts  map[string]*stmt // prepared once, by their text
	recent recent           // of one that writes
}

// limited ends a statement whose last argument bounds its rows. A bare ? there would have SQLite prepare
// the statement anew whenever another number is bound, because it plans for the number.
const limited = " LIMIT ?+0"

type stmt struct {
	driver.Stmt
	args []driver.NamedValue // reused by each call
}

func connect(ctx context.Context, path string, mode access) (*conn, error) {
	connector, err := sqlite.NewConnector(dsn(path, mode))
	if err != nil {
		return nil, err
	}
	raw, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{raw: raw, stmts: make(map[string]*stmt)}, nil
}

// dsn gives the URI of the file. _defensive and _dqs take away what SQL text could do to the file
// and what a misspelt name could turn into; _error_rc keeps messages about the failure at hand.
func dsn(path string, mode access) string {
	slashed := filepath.ToSlash(path)
	if runtime.GOOS == "windows" && !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a drive letter follows the empty authority
	}
	u := url.URL{Scheme: "file", Path: slashed, RawQuery: string(mode) + "&_defensive=1&_dqs=0&_error_rc=1"}
	return u.String()
}

// close ends the connection. What is left open in it is rolled back.
func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.raw.Close())...)
}

// prepared gives the statement of that text with its arguments set.
func (c *conn) prepared(text string, args []any) (*stmt, error) {
	s, ok := c.stmts[text]
	if !ok {
		raw, err := c.raw.Prepare(text)
		if err != nil {
			return nil, err
		}
		s = &stmt{Stmt: raw}
		c.stmts[text] = s
	}
	s.args = s.args[:0]
	for i, arg := range args {
		s.args = append(s.args, driver.NamedValue{Ordinal: i + 1, Value: arg})
	}
	return s, nil
}

// exec runs a statement that gives no rows, and tells how many rows it changed. The arguments, here
// and below, are int64, string, []byte or nil.
func (c *conn) exec(text string, args ...any) (changed int64, err error) {
	s, err := c.prepared(text, args)
	if err != nil {
		return 0, err
	}
	result, err := s.Stmt.(driver.StmtExecContext).ExecContext(context.Background(), s.args)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// query runs a statement and gives its rows one by one.
func (c *conn) query(each func(r *row) error, text string, args ...any) error {
	return c.queryContext(context.Background(), each, text, args...)
}

// queryContext is query for statements that run long enough to be interrupted. Others do without
// ctx, because the driver starts a goroutine for one that can end.
func (c *conn) queryContext(ctx context.Context, each func(r *row) error, text string, args ...any) error {
	s, err := c.prepared(text, args)
	if err != nil {
		return err
	}
	rows, err := s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, s.args)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // says once more what Next has said
	r := &row{values: make([]driver.Value, len(rows.Columns()))}
	for {
		switch err := rows.Next(r.values); {
		case errors.Is(err, io.EOF):
			return ctx.Err() // an interrupted statement looks like one that has no more rows
		case err != nil:
			return err
		}
		r.next, r.err = 0, nil
		if err := each(r); err != nil {
			return err
		}
	}
}

// number runs a statement that gives one integer.
func (c *conn) number(text string, args ...any) (n int64, err error) {
	err = c.query(func(r *row) error {
		n = r.integer()
		return r.err
	}, text, args...)
	return n, err
}

// script runs statements one after the other, without keeping them.
func (c *conn) script(ctx context.Context, text string) error {
	_, err := c.raw.(driver.ExecerContext).ExecContext(ctx, text, nil)
	return err
}

// writable reports whether SQLite got the file open for writing: where it may not write, it opens a
// file for reading without a word.
func (c *conn) writable() (bool, error) {
	ro, err := c.raw.(interface {
		IsReadOnly(schema string) (bool, error)
	}).IsReadOnly("main")
	return !ro, err
}

// row is the row at hand of a query. Its values are taken from left to right; the first that is not
// of the type asked for sets err.
type row struct {
	values []driver.Value
	next   int
	err    error
}

func (r *row) take() driver.Value {
	v := r.values[r.next]
	r.next++
	return v
}

func (r *row) integer() int64 {
	v := r.take()
	n, ok := v.(int64)
	if !ok {
		r.fail("integer", v)
	}
	return n
}

func (r *row) text() string {
	v := r.take()
	s, ok := v.(string)
	if !ok {
		r.fail("text", v)
	}
	return s
}

func (r *row) blob() []byte {
	v := r.take()
	b, ok := v.([]byte)
	if !ok {
		r.fail("blob", v)
	}
	return b
}

// maybeInteger takes an integer or NULL, which is 0.
func (r *row) maybeInteger() int64 {
	if r.values[r.next] == nil {
		r.next++
		return 0
	}
	return r.integer()
}

// maybeText takes a text or NULL, which is "".
func (r *row) maybeText() string {
	if r.values[r.next] == nil {
		r.next++
		return ""
	}
	return r.text()
}

func (r *row) fail(want string, got driver.Value) {
	if r.err == nil {
		r.err = fmt.Errorf("column %d has a %T instead of %s", r.next, got, want)
	}
}
