package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// redisConns is the connection limit of a Redis client: enough for all callers and workers.
const redisConns = 160

// A redisStream is a stream of Redis with a consumer group.
type redisStream struct{ client *redis.Client }

const (
	streamKey   = "items"
	streamGroup = "workers"
)

func joinRedisStream(ctx context.Context, address string) (queue, error) {
	q := &redisStream{redis.NewClient(&redis.Options{Addr: address, PoolSize: redisConns})}
	err := q.client.XGroupCreateMkStream(ctx, streamKey, streamGroup, "0").Err()
	if err != nil && !redis.HasErrorPrefix(err, "BUSYGROUP") { // another process has created it
		return nil, errors.Join(err, q.client.Close())
	}
	return q, nil
}

func (q *redisStream) put(ctx context.Context, _ int, item string) error {
	return q.client.XAdd(ctx, &redis.XAddArgs{Stream: streamKey, Values: []string{"item", item}}).Err()
}

func (q *redisStream) serve(ctx context.Context, workers int, taken func(item string)) error {
	return each(ctx, workers, func(ctx context.Context, worker int) error {
		// A read is not cancelled when ctx ends, because its items would stay assigned to its consumer.
		asking := context.WithoutCancel(ctx)
		read, err := q.client.XReadGroup(asking, &redis.XReadGroupArgs{
			Group: streamGroup, Consumer: fmt.Sprint("w", worker), Streams: []string{streamKey, ">"}, Count: 1,
			Block: 200 * time.Millisecond,
		}).Result()
		if errors.Is(err, redis.Nil) {
			return nil
		}
		if err != nil {
			return err
		}
		m := read[0].Messages[0]
		taken(m.Values["item"].(string))
		_, err = q.client.TxPipelined(asking, func(p redis.Pipeliner) error {
			p.XAck(asking, streamKey, streamGroup, m.ID)
			p.XDel(asking, streamKey, m.ID)
			return nil
		})
		return err
	})
}

func (q *redisStream) left(ctx context.Context) (int, error) {
	n, err := q.client.XLen(ctx, streamKey).Result()
	return int(n), err
}

func (*redisStream) pid() int       { return 0 }
func (q *redisStream) close() error { return q.client.Close() }

// An asynqQueue is asynq on Redis. interval is how often it polls an empty queue, or 0 for asynq's default.
type asynqQueue struct {
	server    asynq.RedisClientOpt
	client    *asynq.Client
	inspector *asynq.Inspector
	interval  time.Duration
}

const asynqName = "default"

func joinAsynq(address string, interval time.Duration) (queue, error) {
	at := asynq.RedisClientOpt{Addr: address, PoolSize: redisConns}
	q := &asynqQueue{at, asynq.NewClient(at), asynq.NewInspector(at), interval}
	return q, q.client.Ping()
}

func (q *asynqQueue) put(ctx context.Context, _ int, item string) error {
	_, err := q.client.EnqueueContext(ctx, asynq.NewTask("item", []byte(item)), asynq.Queue(asynqName))
	return err
}

func (q *asynqQueue) serve(ctx context.Context, workers int, taken func(item string)) error {
	s := asynq.NewServer(q.server, asynq.Config{
		Concurrency: workers, TaskCheckInterval: q.interval, LogLevel: asynq.FatalLevel,
		Queues: map[string]int{asynqName: 1},
	})
	err := s.Start(asynq.HandlerFunc(func(_ context.Context, task *asynq.Task) error {
		taken(string(task.Payload()))
		return nil
	}))
	if err != nil {
		return err
	}
	<-ctx.Done()
	s.Shutdown()
	return nil
}

func (q *asynqQueue) left(context.Context) (int, error) {
	at, err := q.inspector.GetQueueInfo(asynqName)
	if err != nil {
		return 0, err
	}
	return at.Size, nil
}

func (*asynqQueue) pid() int { return 0 }

func (q *asynqQueue) close() error { return errors.Join(q.client.Close(), q.inspector.Close()) }
