package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"waybill/store"
	"waybill/store/rows"
)

// fault makes a *store.Error.
func fault(kind store.Kind, cause error, format string, args ...any) *store.Error {
	return &store.Error{Kind: kind, Message: fmt.Sprintf(format, args...), Err: cause}
}

// code gives SQLite's result code of err, or 0.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// refused reports whether err says that a statement broke a rule of the schema. Such a statement
// changes nothing, and its transaction goes on.
func refused(err error) bool { return code(err)&0xff == sqlite3.SQLITE_CONSTRAINT }

// classify turns what SQLite or the system said while the store at path was in use into a
// *store.Error with the outcome NotApplied. A *store.Error stays as it is.
func classify(path string, err error) *store.Error {
	var already *store.Error
	if errors.As(err, &already) {
		return already
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return rows.GaveUp(err)
	}
	if row, ok := errors.AsType[rows.Damaged](err); ok {
		return fault(store.Corrupt, nil, "%v: the store %s was left as it is; put a copy back, or move it away to begin anew", row, path)
	}
	switch kindOf(err) {
	case store.Full:
		return fault(store.Full, err, "no space is left for the store %s: free some and try again", path)
	case store.ReadOnly:
		return fault(store.ReadOnly, err, "the store %s cannot be written: check the permissions of the file and its directory", path)
	case store.Corrupt:
		return fault(store.Corrupt, err, "the store %s is damaged or not a database, and was left as it is: put a copy back, or move it away to begin anew", path)
	case store.Busy:
		return fault(store.Busy, err, "the store %s is locked by a program that takes no turns with waybill: try again", path)
	case store.Lost:
		return fault(store.Lost, err, "the store %s was moved or replaced while it was open: restart", path)
	case store.Cancelled:
		return rows.GaveUp(err)
	case store.IO, store.NewerSchema, store.Unsafe, store.Closed:
	}
	return fault(store.IO, err, "reading or writing the store %s did not work: check the disk", path)
}

func kindOf(err error) store.Kind {
	switch c := code(err); c {
	case sqlite3.SQLITE_IOERR_SHMSIZE: // the index of the write-ahead log could not grow
		return store.Full
	case sqlite3.SQLITE_READONLY_DBMOVED:
		return store.Lost
	default:
		switch c & 0xff {
		case sqlite3.SQLITE_FULL:
			return store.Full
		case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
			return store.ReadOnly
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT,
			sqlite3.SQLITE_ERROR: // our statements are right, so it is the tables that are not
			return store.Corrupt
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
			return store.Busy
		case sqlite3.SQLITE_INTERRUPT:
			return store.Cancelled
		}
	}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return store.Full
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return store.ReadOnly
	}
	return store.IO
}
