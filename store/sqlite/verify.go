package sqlite

import (
	"context"
	"strconv"

	sqlite3 "modernc.org/sqlite/lib"

	"waybill/internal/lazyregexp"
	"waybill/store"
	"waybill/store/sqlstore"
)

// Verify checks the structure of the file with SQLite, every row against its checksum, the hash chain of the event log,
// each task against its newest attempt, and the counts.
func (s *Store) Verify(ctx context.Context) (found []store.Damage, err error) {
	if err := s.refusal(); isKind(err, store.NewerSchema) {
		return nil, err
	}
	err = s.reading(ctx, func(c *conn) (bool, error) {
		v := verifier(ctx, c)
		if found, err = v.All(checks(v, c)); err != nil {
			return false, classify(s.place.path, err)
		}
		return true, nil
	})
	return found, err
}

// verifier returns one that reads with c, no longer than a page in one transaction.
func verifier(ctx context.Context, c *conn) *sqlstore.Verifier {
	return &sqlstore.Verifier{Conn: c, Ctx: ctx, Moment: func(fn func() error) error {
		if _, err := c.Exec("BEGIN"); err != nil {
			return err
		}
		err := fn()
		_, ended := c.Exec("ROLLBACK")
		return firstError(err, ended)
	}}
}

// checks returns all checks, for Verify and for Examine.
func checks(v *sqlstore.Verifier, c *conn) []sqlstore.Check {
	structural := sqlstore.Check{Name: "structure", Run: func() error { return structure(v, c) }}
	return append([]sqlstore.Check{structural}, v.Checks()...)
}

// structure has SQLite look at the pages of the file, and for rows that refer to others.
func structure(v *sqlstore.Verifier, c *conn) error {
	damage, err := integrity(v.Ctx, c)
	if err != nil {
		return err
	}
	for _, text := range damage {
		v.Add("the file", "%s", text)
	}
	return c.queryContext(v.Ctx, func(r *sqlstore.Row) error {
		v.Add("table "+r.Text(), "a row refers to another that is missing")
		return r.Err()
	}, "PRAGMA foreign_key_check")
}

// unreadPage matches the row of an integrity check about a page that could not be read, and SQLite's result code in it.
var unreadPage = lazyregexp.New(`unable to get the page\. error code=(\d+)`)

// integrity checks the structure of the file that c has open and returns what is damaged. A page that the disk did not
// deliver is not known to be damaged: it is an error of kind IO.
func integrity(ctx context.Context, c *conn) (damage []string, err error) {
	damage, err = listDamage(ctx, c)
	if err != nil || len(damage) == 0 {
		return nil, err
	}
	// SQLite returns the same row for pages that it could not read and for damaged pages. The readable ones are in its cache
	// now, so a second run lists only the damaged ones.
	again, err := listDamage(ctx, c)
	if err == nil && len(again) == 0 {
		err = unreadPageFault(c.path, damage[0])
	}
	return again, err
}

func listDamage(ctx context.Context, c *conn) (damage []string, err error) {
	err = c.queryContext(ctx, func(r *sqlstore.Row) error {
		text := r.Text()
		if found := unreadPage.Compiled().FindStringSubmatch(text); found != nil {
			if code, _ := strconv.Atoi(found[1]); code&0xff == sqlite3.SQLITE_IOERR {
				return unreadPageFault(c.path, found[0])
			}
		}
		if text != "ok" {
			damage = append(damage, text)
		}
		return r.Err()
	}, "PRAGMA integrity_check(20)")
	return damage, err
}

func unreadPageFault(path, row string) *store.Error {
	return fault(store.IO, errUnread, "the disk did not deliver a page of the store %s (%s): check the disk and try again", path, row)
}
