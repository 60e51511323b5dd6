package sqlite

import (
	"context"

	"waybill/store"
)

// OpenFormer is Open as the waybill of that version of the tables had it. It is inside because nothing
// else makes tables that are not the newest.
func OpenFormer(ctx context.Context, o Options, version int) (*Store, error) {
	steps, err := migrations()
	if err != nil {
		return nil, err
	}
	return open(ctx, o, steps[:version])
}

// TaskPlan tells how SQLite would carry out a query of tasks.
func (s *Store) TaskPlan(ctx context.Context, q store.TaskQuery) (plan string, err error) {
	text, args := selectingTasks(q)
	return s.plan(ctx, text, args...)
}

// TaskCountPlan tells how it would count them.
func (s *Store) TaskCountPlan(ctx context.Context, q store.TaskQuery) (plan string, err error) {
	text, args := countingTasks(q)
	return s.plan(ctx, text, args...)
}

// LeasePlan and RetryPlan tell it of the looks that are taken again and again.
func (s *Store) LeasePlan(ctx context.Context) (plan string, err error) {
	return s.plan(ctx, selectAttempts+leasedBehind, int64(1))
}

func (s *Store) RetryPlan(ctx context.Context) (plan string, err error) {
	return s.plan(ctx, selectNextReady, int64(1))
}

// LatestRunsPlan tells it of the latest runs of a plan.
func (s *Store) LatestRunsPlan(ctx context.Context) (plan string, err error) {
	return s.plan(ctx, selectLatestRuns, "tasks.md")
}

// RunPlan tells it of a list of runs.
func (s *Store) RunPlan(ctx context.Context, q store.RunQuery) (plan string, err error) {
	text, args := selectingRuns(q)
	return s.plan(ctx, text, args...)
}

func (s *Store) plan(ctx context.Context, text string, args ...any) (plan string, err error) {
	err = s.reading(ctx, func(c *conn) (bool, error) {
		return true, c.query(func(r *row) error {
			_, _, _ = r.integer(), r.integer(), r.integer()
			plan += r.text() + "\n"
			return r.err
		}, "EXPLAIN QUERY PLAN "+text, args...)
	})
	return plan, err
}
