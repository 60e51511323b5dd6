package sqlite

import (
	"context"

	"waybill/store"
	"waybill/store/rows"
)

// Verify has SQLite check the structure of the file, and checks every row against its checksum, the
// chain of the event log from its oldest record to its newest, each task against its newest attempt, and
// the counts.
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

// verifier gives one that reads with c, no longer than a page in one transaction.
func verifier(ctx context.Context, c *conn) *rows.Verifier {
	return &rows.Verifier{Conn: c, Ctx: ctx, Moment: func(fn func() error) error {
		if _, err := c.Exec("BEGIN"); err != nil {
			return err
		}
		err := fn()
		_, ended := c.Exec("ROLLBACK")
		return firstError(err, ended)
	}}
}

// checks gives all checks, for Verify and for Examine.
func checks(v *rows.Verifier, c *conn) []rows.Check {
	structural := rows.Check{Name: "structure", Run: func() error { return structure(v, c) }}
	return append([]rows.Check{structural}, v.Checks()...)
}

// structure has SQLite look at the pages of the file, and for rows that refer to others.
func structure(v *rows.Verifier, c *conn) error {
	err := c.queryContext(v.Ctx, func(r *rows.Row) error {
		if text := r.Text(); text != "ok" {
			v.Add("the file", "%s", text)
		}
		return r.Err()
	}, "PRAGMA integrity_check(20)")
	if err != nil {
		return err
	}
	return c.queryContext(v.Ctx, func(r *rows.Row) error {
		v.Add("table "+r.Text(), "a row refers to another that is missing")
		return r.Err()
	}, "PRAGMA foreign_key_check")
}
