package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// riverConns is the connection limit of River: four times that of a waybill process. Other numbers were
// not tried.
const riverConns = 16

// A riverQueue is River in a database. cooldown is the least time between two fetches, or 0 for River's default.
type riverQueue struct {
	pool     *pgxpool.Pool
	inserts  *river.Client[pgx.Tx]
	cooldown time.Duration
}

// riverArgs are the arguments of a job.
type riverArgs struct {
	Item string `json:"item"`
}

// Kind returns the name of the job in the database.
func (riverArgs) Kind() string { return "item" }

// quiet is the log of the libraries.
var quiet = slog.New(slog.DiscardHandler)

// migrateRiver creates River's tables.
func migrateRiver(ctx context.Context, url string) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	m, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: quiet})
	if err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

func joinRiver(ctx context.Context, url string, cooldown time.Duration) (queue, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = riverConns
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	inserts, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: quiet})
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &riverQueue{pool: pool, inserts: inserts, cooldown: cooldown}, nil
}

func (q *riverQueue) put(ctx context.Context, _ int, item string) error {
	_, err := q.inserts.Insert(ctx, riverArgs{item}, nil)
	return err
}

func (q *riverQueue) serve(ctx context.Context, workers int, taken func(item string)) error {
	all := river.NewWorkers()
	river.AddWorker(all, river.WorkFunc(func(_ context.Context, job *river.Job[riverArgs]) error {
		taken(job.Args.Item)
		return nil
	}))
	client, err := river.NewClient(riverpgxv5.New(q.pool), &river.Config{
		Logger: quiet, Workers: all, FetchCooldown: q.cooldown,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: workers}},
	})
	if err != nil {
		return err
	}
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	<-ctx.Done()
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return client.Stop(within)
}

func (q *riverQueue) left(ctx context.Context) (n int, err error) {
	err = q.pool.QueryRow(ctx, "SELECT count(*) FROM river_job WHERE state <> 'completed'").Scan(&n)
	return n, err
}

func (*riverQueue) pid() int { return 0 }

func (q *riverQueue) close() error {
	q.pool.Close()
	return nil
}

// A bareQueue is a table with one inserted row per transaction, the least work of an item on PostgreSQL. Its rows are
// never taken.
type bareQueue struct{ pool *pgxpool.Pool }

func joinBare(ctx context.Context, url string, conns int) (*bareQueue, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(conns)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	_, err = pool.Exec(ctx, "CREATE TABLE IF NOT EXISTS items (id bigserial PRIMARY KEY, item text NOT NULL)")
	return &bareQueue{pool}, err
}

func (q *bareQueue) put(ctx context.Context, _ int, item string) error {
	_, err := q.pool.Exec(ctx, "INSERT INTO items (item) VALUES ($1)", item)
	return err
}

func (*bareQueue) serve(context.Context, int, func(string)) error { return errors.ErrUnsupported }
func (*bareQueue) left(context.Context) (int, error)              { return 0, errors.ErrUnsupported }
func (*bareQueue) pid() int                                       { return 0 }

func (q *bareQueue) close() error {
	q.pool.Close()
	return nil
}
