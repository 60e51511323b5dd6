package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"waybill/internal/ownfile"
	"waybill/store"
	"waybill/store/sqlstore"
)

// fault makes a *store.Error.
func fault(kind store.Kind, cause error, format string, args ...any) *store.Error {
	return &store.Error{Kind: kind, Message: fmt.Sprintf(format, args...), Err: cause}
}

// code returns SQLite's result code of err, or 0.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// errUnread is the cause of an error about a page that the disk did not deliver and that has no result code of SQLite.
var errUnread = errors.New("disk I/O error")

// unread reports whether err means that the disk did not deliver data or that the index of the write-ahead log could not
// be made. Other I/O errors may concern a lock, or a file that cannot be created.
func unread(err error) bool {
	c := code(err)
	return c == sqlite3.SQLITE_IOERR_READ || c == sqlite3.SQLITE_IOERR_CORRUPTFS || indexFault(err) || errors.Is(err, errUnread)
}

// indexFault reports whether err is about the index of the write-ahead log: it could not grow, or a page of it, the only
// file that is mapped, could not be used. SQLite does not tell a full disk from one that fails then.
func indexFault(err error) bool {
	c := code(err)
	return c == sqlite3.SQLITE_IOERR_SHMSIZE || c == sqlite3.SQLITE_IOERR_IN_PAGE
}

// conclusive reports whether an attempt to read the store at path that ended with err needs no other one, without the
// write-ahead log: it worked, or another one would miss what the log has.
func conclusive(path string, err error) bool {
	if err == nil || unread(err) {
		return true
	}
	kind := classify(path, err).Kind
	return kind == store.Corrupt || kind == store.Full
}

// refused reports whether a statement broke a rule of the schema. Such a statement changes nothing, and its transaction
// continues.
func refused(err error) bool { return code(err)&0xff == sqlite3.SQLITE_CONSTRAINT }

// classify turns an error of SQLite or the system about the store at path into a *store.Error with the outcome
// NotApplied. It returns a *store.Error unchanged.
func classify(path string, err error) *store.Error {
	var already *store.Error
	if errors.As(err, &already) {
		return already
	}
	if refusal, ok := errors.AsType[*ownfile.Refusal](err); ok {
		return unsafe(refusal)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return sqlstore.GaveUp(err)
	}
	if row, ok := errors.AsType[sqlstore.Damaged](err); ok {
		return fault(store.Corrupt, nil, "%v: the store %s was left as it is; put a copy back, or move it away to begin anew", row, path)
	}
	kind := kindOf(err)
	if indexFault(err) && withoutSpace(filepath.Dir(path)) {
		kind = store.Full
	}
	if kind == store.Corrupt && code(err) != 0 {
		if failed := undelivered(path, code(err)); failed != nil {
			kind, err = store.IO, failed
		}
	}
	switch kind {
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
		return sqlstore.GaveUp(err)
	case store.IO, store.NewerSchema, store.Unsafe, store.Closed:
	}
	return fault(store.IO, err, "reading or writing the store %s did not work: check the disk", path)
}

// withoutSpace reports whether the disk of a folder has no room for the index of a write-ahead log.
func withoutSpace(dir string) bool {
	v, err := volumeOf(dir)
	return err == nil && v.free < indexSpace
}

// undelivered returns the error of the disk if a database is not known to be damaged that SQLite called so. A disk that
// fails for a moment delivers the same page at the next attempt.
func undelivered(path string, said int) error {
	if err := readThrough(path); err != nil || said&0xff != sqlite3.SQLITE_CORRUPT {
		return err
	}
	mode := frozen // creates no files beside a copy
	if exists(path + "-wal") {
		mode = readOnly
	}
	return lookAgain(path, func() (damage []string, err error) {
		err = readFile(context.Background(), path, mode, 0, func(c *conn) (err error) {
			damage, err = integrity(context.Background(), c)
			return err
		})
		return damage, err
	})
}

// lookAgain looks at the pages of a database up to three times, because the disk may fail during a look, too. It returns
// the error of the disk, or nil if the database is damaged.
func lookAgain(path string, look func() (damage []string, err error)) error {
	for range 3 {
		damage, err := look()
		switch {
		case err == nil && len(damage) == 0:
			return unreadPageFault(path, "at the first attempt")
		case isKind(err, store.IO) || unread(err):
			return err
		case len(damage) > 0:
			return nil
		}
	}
	return nil
}

// readThrough reads the files of a database and returns the error of the disk if it does not deliver all of them. SQLite
// calls a database malformed, too, of which it cannot read a page.
func readThrough(path string) error {
	g, err := openShared(path)
	if err != nil {
		return nil // it is not there, which is no error of the disk
	}
	defer func() { _ = g.release() }()
	if f, err := g.file(path); err == nil {
		if _, err := io.Copy(io.Discard, io.NewSectionReader(f, 0, math.MaxInt64)); err != nil {
			return fmt.Errorf("%w: %w", errUnread, err)
		}
	}
	wal, err := openOwn(path+"-wal", os.O_RDONLY) // SQLite locks no part of it, so that closing it loses no lock
	if err != nil {
		return nil
	}
	defer func() { _ = wal.Close() }()
	if _, err := io.Copy(io.Discard, wal); err != nil {
		return fmt.Errorf("%w: %w", errUnread, err)
	}
	return nil
}

func kindOf(err error) store.Kind {
	switch c := code(err); c {
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
