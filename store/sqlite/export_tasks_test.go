package sqlite

import (
	"context"

	"waybill/store"
	"waybill/store/sqlstore"
)

// Plan tells how SQLite would carry out the statements of a verb.
func (s *Store) Plan(ctx context.Context, verb func(tx store.Tx) error) (plan string, err error) {
	err = s.reading(ctx, func(c *conn) (bool, error) {
		p := planner{conn: c}
		err := verb(sqlstore.Contracts(sqlstore.Begin(sqlstore.Options{Conn: &p, Recent: new(sqlstore.Recent)})))
		plan = p.plan
		return true, err
	})
	return plan, err
}

// A planner asks SQLite for the plan of each statement that it is to carry out, and finds nothing.
type planner struct {
	*conn
	plan string
}

func (p *planner) Query(_ func(*sqlstore.Row) error, text string, args ...any) error {
	return p.conn.Query(func(r *sqlstore.Row) error {
		_, _, _ = r.Integer(), r.Integer(), r.Integer()
		p.plan += r.Text() + "\n"
		return r.Err()
	}, "EXPLAIN QUERY PLAN "+text, args...)
}

func (p *planner) Exec(text string, args ...any) (changed int64, err error) {
	return 0, p.Query(nil, text, args...)
}

func (p *planner) Rollback() {}
