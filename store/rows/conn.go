// Package rows keeps the records of a store in the tables of an SQL database: what a row says, the checksum that it
// carries, the statements that read and write it, and the chain of the event log. It is the same for every database.
// It refuses to open a database, to begin and end transactions, and to know which database it is.
package rows

import (
	"waybill/store"
)

// A Conn is a connection with a transaction in it, used by one goroutine at a time. The statements have a ? for each
// argument, which is int64, string, []byte or nil, and are written for tables that workspaces share: see Alone and
// Shared.
type Conn interface {
	// Exec runs a statement that gives no rows, and tells how many rows it changed.
	Exec(text string, args ...any) (changed int64, err error)
	// Try is Exec for a statement that may break a rule of the tables. If it does, Refused reports that of the error,
	// nothing has changed, and the transaction goes on.
	Try(text string, args ...any) (changed int64, err error)
	// Query runs a statement and gives its rows one by one. They must not be kept.
	Query(each func(r *Row) error, text string, args ...any) error
	// Refused reports whether err says that a statement broke a rule of the tables.
	Refused(err error) bool
	// Fault turns the error of a statement, or a Damaged, into a *store.Error.
	Fault(err error) *store.Error
	// Rollback gives up the transaction.
	Rollback()
	// Streams reports whether Query reads no more of the database than the rows that it gives. Of other connections,
	// lists ask for no more rows than they need.
	Streams() bool
}

// Number runs a statement that gives one integer.
func Number(c Conn, text string, args ...any) (n int64, err error) {
	err = c.Query(func(r *Row) error {
		n = r.Integer()
		return r.err
	}, text, args...)
	return n, err
}
