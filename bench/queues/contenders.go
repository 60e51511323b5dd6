package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// A place is an empty store for the items of a contender, with its server.
type place struct {
	address string
	pid     int // of the server that syncs, or 0 if a client does
	end     func() error
}

// A contender is a queue to compare.
type contender struct {
	key, name string
	calls     string // the calls for one item
	kept      string // the durability when put, take and acknowledge return
	missing   func(h *house) error
	place     func(ctx context.Context, h *house) (*place, error)
	join      func(ctx context.Context, address string) (queue, error)
	postgres  bool // it uses PostgreSQL, whose probe applies too
	ours      bool // it is waybill, whose client is another process already
	wakeOnly  bool // a variant with other settings, for the waits only
}

// The least and the usual poll interval, for contenders that poll.
const (
	riverCooldown = time.Millisecond
	asynqInterval = 2 * time.Millisecond
)

const (
	onCommit  = "put, take and acknowledge: synced (a transaction each, or shared)"
	riverKeep = "put and take: synced. Acknowledgements are batched for at least 50 ms, after the worker continues"
	redisKeep = "put, take and acknowledge: synced before the answer"
)

// contenders returns all contenders, in the order of the tables.
func contenders() []contender {
	tasks, instructions := asTasks, asInstructions
	return []contender{
		waybill("waybill-sqlite-instructions", "waybill on SQLite, instructions", instructions),
		waybill("waybill-sqlite-tasks", "waybill on SQLite, tasks", tasks),
		onPostgres(waybill("waybill-postgres-instructions", "waybill on PostgreSQL, instructions", instructions)),
		onPostgres(waybill("waybill-postgres-tasks", "waybill on PostgreSQL, tasks", tasks)),
		riverContender("river", "River, FetchCooldown 1 ms", riverCooldown),
		wakeOnly(riverContender("river-default", "River, default settings", 0)),
		jetStreamContender(),
		redisContender("redis-streams", "Redis Streams (go-redis)", "XADD, XREADGROUP, XACK + XDEL", joinRedisStream),
		redisContender("asynq", "asynq on Redis, TaskCheckInterval 2 ms", asynqCalls, asynqEvery(asynqInterval)),
		wakeOnly(redisContender("asynq-default", "asynq, default settings", asynqCalls, asynqEvery(0))),
	}
}

// find returns the contender with that key.
func find(key string) (contender, error) {
	for _, c := range contenders() {
		if c.key == key {
			return c, nil
		}
	}
	return contender{}, fmt.Errorf("there is no contender %q", key)
}

func wakeOnly(c contender) contender {
	c.wakeOnly = true
	return c
}

func always(*house) error { return nil }

func noPostgres(h *house) error { return h.pgError }

func noRedis(h *house) error { return h.redisErr }

// A way is one of the two methods to use waybill as a queue.
type way struct {
	calls string
	queue func(h *host) queue
}

var (
	asTasks        = way{"create_task, claim_task, finish_attempt", func(h *host) queue { return taskQueue{h} }}
	asInstructions = way{"queue_instruction_with_ack, dispatch_instructions, acknowledge", func(h *host) queue { return instructionQueue{h} }}
)

func waybill(key, name string, w way) contender {
	return contender{
		key: key, name: name, calls: w.calls, kept: onCommit, ours: true, missing: always,
		place: func(_ context.Context, h *house) (*place, error) { return h.desk("") },
		join: func(ctx context.Context, address string) (queue, error) {
			var d desk
			if err := json.Unmarshal([]byte(address), &d); err != nil {
				return nil, err
			}
			h, err := d.begin(ctx)
			if err != nil {
				return nil, err
			}
			return w.queue(h), nil
		},
	}
}

// onPostgres returns a contender of waybill with PostgreSQL as its store.
func onPostgres(c contender) contender {
	c.postgres, c.missing = true, noPostgres
	c.place = func(ctx context.Context, h *house) (*place, error) {
		url, err := h.database(ctx)
		if err != nil {
			return nil, err
		}
		p, err := h.desk(url)
		if err != nil {
			return nil, err
		}
		p.pid, err = h.postmaster(ctx)
		return p, err
	}
	return c
}

// desk creates a place for waybill, whose address is the encoded desk.
func (h *house) desk(store string) (*place, error) {
	dir, err := h.folder()
	if err != nil {
		return nil, err
	}
	d, err := newDesk(h.program, dir, store)
	if err != nil {
		return nil, err
	}
	address, err := json.Marshal(d)
	return &place{address: string(address), end: func() error { return nil }}, err
}

// postmaster returns the process id of PostgreSQL's main process.
func (h *house) postmaster(ctx context.Context) (pid int, err error) {
	c, err := pgx.Connect(ctx, h.cluster.Admin())
	if err != nil {
		return 0, err
	}
	err = c.QueryRow(ctx, "SELECT split_part(pg_read_file('postmaster.pid'), chr(10), 1)::int").Scan(&pid)
	return pid, errors.Join(err, c.Close(ctx))
}

func riverContender(key, name string, cooldown time.Duration) contender {
	return contender{
		key: key, name: name, calls: "Insert, a worker that returns nil", kept: riverKeep, postgres: true,
		missing: noPostgres,
		place: func(ctx context.Context, h *house) (*place, error) {
			url, err := h.database(ctx)
			if err != nil {
				return nil, err
			}
			pid, err := h.postmaster(ctx)
			if err != nil {
				return nil, err
			}
			return &place{address: url, pid: pid, end: func() error { return nil }}, migrateRiver(ctx, url)
		},
		join: func(ctx context.Context, address string) (queue, error) { return joinRiver(ctx, address, cooldown) },
	}
}

func jetStreamContender() contender {
	return contender{
		key: "jetstream", name: "NATS JetStream, embedded, sync always", calls: "Publish, Messages, DoubleAck on a work queue",
		kept:    "put and acknowledge: synced before the answer. A take is stored within 100 ms; else the item is delivered again",
		missing: always,
		place: func(_ context.Context, h *house) (*place, error) {
			dir, err := h.folder()
			if err != nil {
				return nil, err
			}
			c, err := startChild("jetstream", dir)
			if err != nil {
				return nil, err
			}
			address, err := c.line()
			if err != nil {
				return nil, errors.Join(err, c.end())
			}
			return &place{address: address, pid: c.cmd.Process.Pid, end: c.end}, nil
		},
		join: joinJetStream,
	}
}

func redisContender(key, name, calls string, join func(context.Context, string) (queue, error)) contender {
	return contender{
		key: key, name: name, calls: calls, kept: redisKeep, missing: noRedis, join: join,
		place: func(ctx context.Context, h *house) (*place, error) {
			dir, err := h.folder()
			if err != nil {
				return nil, err
			}
			return startRedis(ctx, h.redis, dir)
		},
	}
}

const asynqCalls = "Enqueue, a handler that returns nil"

func asynqEvery(interval time.Duration) func(context.Context, string) (queue, error) {
	return func(_ context.Context, address string) (queue, error) { return joinAsynq(address, interval) }
}
