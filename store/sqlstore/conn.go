// Package sqlstore stores the records of a store in SQL tables: rows and their checksums, the statements, and the hash
// chain of the event log. The same code serves every database. It does not open databases, begin or end transactions, or
// know which database it uses.
package sqlstore

import (
	"waybill/internal/lazy"
	"waybill/store"
)

// A Conn is a connection with a transaction in it, used by one goroutine at a time. Statements have a ? for each
// argument, which is int64, string, []byte or nil. They are written for tables that workspaces share: see package
// spelling.
type Conn interface {
	// Exec runs a statement that returns no rows, and tells how many rows it changed.
	Exec(text string, args ...any) (changed int64, err error)
	// Try is Exec for a statement that may break a rule of the tables. If it does, Refused reports true for the error,
	// nothing has changed, and the transaction continues.
	Try(text string, args ...any) (changed int64, err error)
	// Query runs a statement and returns its rows one by one. They must not be kept.
	Query(each func(r *Row) error, text string, args ...any) error
	// Refused reports whether err says that a statement broke a rule of the tables.
	Refused(err error) bool
	// Fault turns the error of a statement, or a Damaged, into a *store.Error.
	Fault(err error) *store.Error
	// Rollback rolls the transaction back.
	Rollback()
	// Streams reports whether Query reads only the rows that its caller takes. For other connections, lists ask for no more
	// rows than they need.
	Streams() bool
}

// The statements of this package are written for tables that many workspaces share. Each row has the number of its
// workspace, for which :w stands. They name indexes where SQLite, which has no row counts, would choose another one.

// A text is a statement, or a part of one, that is put together when it is first needed.
type text = lazy.Value[string]

// limited ends a statement whose last argument bounds its rows. With a bare ?, SQLite would prepare the statement again
// for each new number, because it plans for the number.
const limited = " LIMIT ?+0"

// Number runs a statement that returns one integer.
func Number(c Conn, text string, args ...any) (n int64, err error) {
	err = c.Query(func(r *Row) error {
		n = r.Integer()
		return r.err
	}, text, args...)
	return n, err
}
