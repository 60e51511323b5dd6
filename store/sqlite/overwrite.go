package sqlite

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"waybill/store"
	"waybill/store/rows"
)

// A store that somebody has open keeps its file: who has it open would go on with a file without a name. Other contents
// are written into it, page by page and in one transaction, as if somebody had changed every row. Whoever reads keeps his
// moment, and whoever writes finds at his next transaction that somebody else has committed. A crash leaves the old
// contents or the new ones.

// overwrite puts the new store into the file of the old one, whose pages are copied before. What is too damaged for
// that is left to busy, which says who has it open.
func (r *replacement) overwrite(ctx context.Context, busy error) (aside string, err error) {
	if r.place.fresh || r.place.volume.remote { // somebody has a file that has no name any more, or has it for himself
		return "", busy
	}
	c, err := connect(ctx, r.place.path, readWrite)
	if err != nil {
		return "", err
	}
	defer func() { _ = c.close() }() // what is committed is committed
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
		return "", errors.Join(rows.GaveUp(err), removeAny(aside))
	}
	return aside, r.fillFrom(ctx, c, aside)
}

// fit makes sure that the new store can be written over the old one, and gives it pages of the same size, which is the
// one thing about a database that cannot change while it is open.
func (r *replacement) fit(ctx context.Context, c *conn) error {
	if err := c.script(ctx, r.place.writerSettings(r.patience)); err != nil {
		return err
	}
	version, err := c.number("PRAGMA user_version") // of the first page alone: the others may be damaged
	switch {
	case err != nil:
		return err
	case version > int64(r.latest.version):
		return newerSchema(r.place.path, version, r.latest.version)
	}
	size, err := c.number("PRAGMA page_size")
	if err != nil {
		return err
	}
	return repage(ctx, r.temp, size)
}

// repage gives a database, which nobody else has open, pages of that size.
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
	defer func() { _ = removeAny(temp) }() // after it was moved there is none
	if err := copyPages(c.raw.(pages).NewBackup(dsn(temp, readWrite))); err != nil {
		return err
	}
	if err := syncFile(temp); err != nil {
		return err
	}
	return moveDurably(temp, aside)
}

// fillFrom writes the new store over the one that c sees. If that was certainly not done, what was set aside is still in
// its place, and the copy of it goes.
func (r *replacement) fillFrom(ctx context.Context, c *conn, aside string) error {
	r.record.commits++ // also if nobody can say whether it took effect
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
	// The log has all of it. Whoever commits next would have to move it into the file, if it is not done now.
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
