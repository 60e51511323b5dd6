package sqlite

import (
	"context"

	sqlite3 "modernc.org/sqlite/lib"

	"waybill/store"
	"waybill/store/sqlstore"
)

// begin starts a transaction. A writing transaction takes SQLite's write lock at once. A transaction that began with a
// read could not become a writer after another process wrote.
func begin(ctx context.Context, c *conn, o sqlstore.Options, writable bool) (*sqlstore.Tx, error) {
	o.Conn, o.Cancelled = c, ctx.Err
	text := "BEGIN"
	if writable {
		text = "BEGIN IMMEDIATE"
	}
	if _, err := c.Exec(text); err != nil {
		return nil, c.Fault(err)
	}
	if !writable {
		return sqlstore.Begin(o), nil
	}
	if err := c.refresh(); err != nil {
		c.Rollback()
		return nil, c.Fault(err)
	}
	o.Recent = &c.recent
	return sqlstore.Begin(o), nil
}

// commit ends a transaction durably. Only an error of kind IO leaves open whether the transaction took effect: the
// write-ahead log may hold all of it although the sync failed.
func commit(t *sqlstore.Tx, c *conn) error {
	return t.Commit(func() error {
		if t.Pruned() {
			if err := c.Query(func(*sqlstore.Row) error { return nil }, "PRAGMA incremental_vacuum(1024)"); err != nil {
				return c.Fault(err)
			}
		}
		_, err := c.Exec("COMMIT")
		if err == nil {
			return nil
		}
		failed := c.Fault(err)
		if code(err)&0xff == sqlite3.SQLITE_IOERR {
			failed.Kind, failed.Outcome = store.IO, store.Unknown
		}
		return failed
	})
}

// Try is Exec: a statement that SQLite refuses changes nothing, and its transaction continues.
func (c *conn) Try(text string, args ...any) (changed int64, err error) { return c.Exec(text, args...) }

// Refused reports whether a statement broke a rule of the schema.
func (c *conn) Refused(err error) bool { return refused(err) }

// Fault turns an error of SQLite into a *store.Error.
func (c *conn) Fault(err error) *store.Error { return classify(c.path, err) }

// Rollback may fail, because SQLite rolls some failed transactions back by itself. A connection that
// is left in a transaction shows it at the next begin.
func (c *conn) Rollback() { _, _ = c.Exec("ROLLBACK") }

// Streams is true: SQLite reads a row when it is asked for.
func (c *conn) Streams() bool { return true }

// refresh forgets everything if another connection has committed, and makes sure that it has not changed the tables. A
// transaction that writes has begun.
func (c *conn) refresh() error {
	version, err := c.number("PRAGMA data_version")
	if err != nil || version == c.version {
		return err
	}
	c.recent.Forget()
	if err := c.compareTables(); err != nil {
		return err
	}
	c.version = version
	return nil
}
