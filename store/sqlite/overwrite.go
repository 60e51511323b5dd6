package sqlite

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"waybill/store"
	"waybill/store/sqlstore"
)

// An open store keeps its file, because its process would continue with an unlinked file. The new contents are written
// into it page by page in one transaction, as if every row had changed. A reader keeps its snapshot, and a writer finds
// at its next transaction that another process has committed. A crash leaves the old contents or the new ones.

// overwrite copies the new store into the file of the old one, whose pages it copies first. A file too damaged for that
// leads to the error busy, which names the processes that use it.
func (r *replacement) overwrite(ctx context.Context, busy error) (aside string, err error) {
	if r.place.fresh || r.place.volume.remote { // a process has a file without a name, or has it alone
		return "", busy
	}
	c, err := connect(ctx, r.place.path, readWrite)
	if err != nil {
		return "", err
	}
	defer func() { _ = c.close() }() // the commit is complete
	if err := r.fit(ctx, c); err != nil {
		if code(err) != 0 && kindOf(err) == store.Corrupt {
			err = busy
		}
		return "", err
	}
	aside = r.place.replacedName()
	if err := r.setAside(c, aside); err != nil {
		return "", err
	}
	if err := ctx.Err(); err != nil {
		return "", errors.Join(sqlstore.GaveUp(err), removeAny(aside))
	}
	return aside, r.fillFrom(ctx, c, aside)
}

// fit checks that the new store can be written over the old one, and sets the same page size in it. The page size of an
// open database cannot change.
func (r *replacement) fit(ctx context.Context, c *conn) error {
	if err := c.script(ctx, r.place.writerSettings(r.patience)); err != nil {
		return err
	}
	version, err := c.number("PRAGMA user_version") // of the first page alone: the others may be damaged
	switch {
	case err != nil:
		return err
	case version > schemaVersion:
		return newerSchema(r.place.path, version)
	}
	size, err := c.number("PRAGMA page_size")
	if err != nil {
		return err
	}
	return repage(ctx, r.temp, size)
}

// repage sets the size of the pages of a database that no other process has open.
func repage(ctx context.Context, path string, size int64) (err error) {
	c, err := connect(ctx, path, readWrite)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, c.close()) }()
	if had, err := c.number("PRAGMA page_size"); err != nil || had == size {
		return err
	}
	return c.script(ctx, settings+fmt.Sprintf("PRAGMA page_size = %d; VACUUM;", size))
}

// setAside copies the database that c sees to another file, durably. The pages are copied as they are, also those that
// are damaged.
func (r *replacement) setAside(c *conn, aside string) (err error) {
	temp, err := r.place.makeRestoring()
	if err != nil {
		return err
	}
	defer func() { _ = removeAny(temp) }() // no longer exists after the move
	if err := copyPages(c.raw.(pages).NewBackup(dsn(temp, readWrite))); err != nil {
		return err
	}
	if err := syncFile(temp); err != nil {
		return err
	}
	return moveDurably(temp, aside)
}

// fillFrom writes the new store over the one that c sees. If that certainly did not happen, the old store is still in
// place, and fillFrom removes its copy.
func (r *replacement) fillFrom(ctx context.Context, c *conn, aside string) error {
	r.record.commits++ // also if its effect is unknown
	if err := copyPages(c.raw.(pages).NewRestore(dsn(r.temp, readOnly))); err != nil {
		failed := classify(r.place.path, err)
		if code(err)&0xff == sqlite3.SQLITE_IOERR {
			failed.Kind, failed.Outcome = store.IO, store.Unknown
			failed.Message += "; what was there before is in " + aside
			return failed
		}
		return errors.Join(failed, removeAny(aside))
	}
	r.record.newest = r.newest
	// The log has all of it. The next commit would have to move it into the file, if it is not done now.
	_ = c.script(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
	return nil
}

// pages is how the driver copies a database as it is, in one transaction: its own to another, or another to its own.
type pages interface {
	NewBackup(to string) (*sqlite.Backup, error)
	NewRestore(from string) (*sqlite.Backup, error)
}

// copyPages copies all pages.
func copyPages(b *sqlite.Backup, err error) error {
	if err != nil {
		return err
	}
	_, err = b.Step(-1)
	return firstError(err, b.Finish())
}
