package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// serveJetStream runs a NATS server that syncs every write before it answers. It writes its address to out, and ends
// with its input.
func serveJetStream(dir string, in io.Reader, out io.Writer) error {
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true,
		JetStream: true, StoreDir: dir, SyncAlways: true,
	})
	if err != nil {
		return err
	}
	s.Start()
	defer s.WaitForShutdown()
	defer s.Shutdown()
	if !s.ReadyForConnections(patience) {
		return errors.New("the NATS server accepts no connections")
	}
	if _, err := fmt.Fprintln(out, s.ClientURL()); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

// A streamQueue is a work queue of JetStream.
type streamQueue struct {
	conn     *nats.Conn
	js       jetstream.JetStream
	stream   jetstream.Stream
	consumer jetstream.Consumer
}

func joinJetStream(ctx context.Context, url string) (queue, error) {
	conn, err := nats.Connect(url)
	if err != nil {
		return nil, err
	}
	q := &streamQueue{conn: conn}
	if err := q.begin(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return q, nil
}

func (q *streamQueue) begin(ctx context.Context) (err error) {
	if q.js, err = jetstream.New(q.conn); err != nil {
		return err
	}
	q.stream, err = q.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: "ITEMS", Subjects: []string{"items"}, Storage: jetstream.FileStorage, Retention: jetstream.WorkQueuePolicy,
	})
	if err != nil {
		return err
	}
	q.consumer, err = q.stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: "workers", AckPolicy: jetstream.AckExplicitPolicy, AckWait: time.Minute,
	})
	return err
}

func (q *streamQueue) put(ctx context.Context, _ int, item string) error {
	_, err := q.js.Publish(ctx, "items", []byte(item))
	return err
}

func (q *streamQueue) serve(ctx context.Context, workers int, taken func(item string)) error {
	return each(ctx, workers, func(ctx context.Context, _ int) error {
		messages, err := q.consumer.Messages(jetstream.PullMaxMessages(1))
		if err != nil {
			return err
		}
		defer context.AfterFunc(ctx, messages.Stop)()
		for {
			m, err := messages.Next()
			if errors.Is(err, jetstream.ErrMsgIteratorClosed) {
				return nil
			}
			if err != nil {
				return err
			}
			taken(string(m.Data()))
			if err := m.DoubleAck(context.WithoutCancel(ctx)); err != nil {
				return err
			}
		}
	})
}

func (q *streamQueue) left(ctx context.Context) (int, error) {
	at, err := q.stream.Info(ctx)
	if err != nil {
		return 0, err
	}
	return int(at.State.Msgs), nil
}

func (*streamQueue) pid() int { return 0 }

func (q *streamQueue) close() error {
	q.conn.Close()
	return nil
}
