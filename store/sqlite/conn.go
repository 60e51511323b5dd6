package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"modernc.org/sqlite"

	"waybill/store/sqlstore"
	"waybill/store/sqlstore/spelling"
)

// access is what a connection may do with its file.
type access string

const (
	readWrite access = "mode=rw" // never creates the file
	readOnly  access = "mode=ro"
	// frozen reads a file that no process writes, without locks and without its -wal. It is the only way
	// to read where neither a lock nor a -shm file can be made.
	frozen access = "mode=ro&immutable=1"
	// inMemory is a database without a file.
	inMemory access = "mode=memory"
)

// conn is one connection to a database, used by one goroutine at a time. It uses the driver directly, because
// database/sql opens and closes connections on its own. This package must know which connection holds which file open.
type conn struct {
	path       string
	sharedFile *sharedFile // nil for a database in memory
	raw        driver.Conn
	stmts      map[string]*stmt // prepared once, by their text
	recent     sqlstore.Recent  // of one that writes
	version    int64            // of the contents when recent was learned: it changes when another connection commits
	pageSize   int64            // of one that writes, once expect was called
	tables     int              // the version that they have to have in a transaction that writes; 0 for any
	cookie     int64            // of those: it changes with them, and when other contents take their place
	renewed    bool             // the cookie has changed
}

type stmt struct {
	driver.Stmt
	args   []driver.NamedValue // reused by each call, as are the values
	values []driver.Value
}

// connect opens the database at path. A relative path is one of the current folder: in a URI its first part would be
// taken for the name of a machine.
func connect(ctx context.Context, path string, mode access) (*conn, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	connector, err := sqlite.NewConnector(dsn(path, mode))
	if err != nil {
		return nil, err
	}
	c := &conn{path: path, stmts: make(map[string]*stmt)}
	if mode != inMemory {
		if c.sharedFile, err = openShared(path); err != nil {
			return nil, err
		}
	}
	if c.raw, err = connector.Connect(ctx); err != nil {
		return nil, errors.Join(err, c.sharedFile.release())
	}
	return c, nil
}

// dsn returns the URI of the file. _defensive limits what SQL text can do to the file, and _dqs rejects misspelt names.
// _error_rc keeps messages about the failure at hand.
func dsn(path string, mode access) string {
	slashed := filepath.ToSlash(path)
	if runtime.GOOS == "windows" && !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a drive letter follows the empty authority
	}
	u := url.URL{Scheme: "file", Path: slashed, RawQuery: string(mode) + "&_defensive=1&_dqs=0&_error_rc=1"}
	return u.String()
}

// close ends the connection and rolls back an open transaction.
func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.raw.Close(), c.sharedFile.release())...)
}

// prepared returns the statement of that text with its arguments set.
func (c *conn) prepared(text string, args []any) (*stmt, error) {
	s, ok := c.stmts[text]
	if !ok {
		raw, err := c.raw.Prepare(spelling.Alone(text))
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

// Exec runs a statement that returns no rows, and returns the number of changed rows. The arguments, here and below,
// are int64, string, []byte or nil.
func (c *conn) Exec(text string, args ...any) (changed int64, err error) {
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

// Query runs a statement and returns its rows one by one.
func (c *conn) Query(each func(r *sqlstore.Row) error, text string, args ...any) error {
	return c.queryContext(context.Background(), each, text, args...)
}

// queryContext is Query for statements that run long enough to be interrupted. Others do without
// ctx, because the driver starts a goroutine for one that can end.
func (c *conn) queryContext(ctx context.Context, each func(r *sqlstore.Row) error, text string, args ...any) error {
	s, err := c.prepared(text, args)
	if err != nil {
		return err
	}
	found, err := s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, s.args)
	if err != nil {
		return err
	}
	defer func() { _ = found.Close() }() // repeats the error of Next
	s.values = slices.Grow(s.values[:0], len(found.Columns()))[:len(found.Columns())]
	r := sqlstore.NewRow(len(s.values))
	for {
		switch err := found.Next(s.values); {
		case errors.Is(err, io.EOF):
			return ctx.Err() // an interrupted statement looks like one without more rows
		case err != nil:
			return err
		}
		into := r.Refill()
		for i, value := range s.values {
			into[i] = value
		}
		if err := each(r); err != nil {
			return err
		}
	}
}

// number runs a statement that returns one integer.
func (c *conn) number(text string, args ...any) (int64, error) {
	return sqlstore.Number(c, text, args...)
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
