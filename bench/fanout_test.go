package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkPageFanOut measures the time from the change of an instruction being sent on standard input until each
// of twenty streams has its event. It has a durable commit in it. The probes are twenty bare connections to which
// the same bytes are written one after the other, and the answer on standard output, which comes after the commit.
func BenchmarkPageFanOut(b *testing.B) {
	h, d := servedPage(b)
	streams, bare := newCrowd(b), newCrowd(b)
	for range crowdSize {
		streams.join(b, d.stream(b))
		bare.joinBare(b)
	}
	for range crowdSize {
		<-streams.begun
	}
	h.call(b, queueOne)
	event := streams.hear(b)
	var ours, answered, writes series
	for b.Loop() {
		start := time.Now()
		h.call(b, queueOne)
		answered = append(answered, micros(time.Since(start)))
		streams.hear(b)
		ours = append(ours, micros(time.Since(start)))

		start = time.Now()
		for _, conn := range bare.far {
			if _, err := conn.Write(event); err != nil {
				b.Fatal(err)
			}
		}
		bare.hear(b)
		writes = append(writes, micros(time.Since(start)))
	}
	reportOnly(b)
	b.ReportMetric(ours.median(), "p50-µs")
	b.ReportMetric(ours.quantile(0.99), "p99-µs")
	b.ReportMetric(answered.median(), "p50-µs-answered")
	b.ReportMetric(writes.median(), "p50-µs-20-writes")
	b.ReportMetric(ours.over(answered), "x-answered")
	b.ReportMetric(ours.over(writes), "x-20-writes")
}

const (
	crowdSize = 20
	queueOne  = `{"jsonrpc":"2.0","id":1,"method":"queue_instruction","params":{"content":"look again"}}`
)

// A crowd is many connections, each with a reader that says when it has an event.
type crowd struct {
	listener net.Listener
	far      []net.Conn // the writing ends of bare connections
	size     int
	begun    chan struct{} // has one for each stream that has begun; closed by nobody, as events
	events   chan []byte   // has each event for each reader
}

func newCrowd(b *testing.B) *crowd {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, listener.Close()) })
	return &crowd{listener: listener, begun: make(chan struct{}, crowdSize), events: make(chan []byte, crowdSize)}
}

// join adds a connection on which events come.
func (c *crowd) join(b *testing.B, conn net.Conn) {
	c.size++
	ended := make(chan struct{})
	go func() { // ends with the connection
		defer close(ended)
		c.listen(bufio.NewReader(conn))
	}()
	b.Cleanup(func() {
		require.NoError(b, conn.Close())
		<-ended
	})
}

// joinBare adds a connection on which the benchmark writes.
func (c *crowd) joinBare(b *testing.B) {
	near, err := net.Dial("tcp", c.listener.Addr().String())
	require.NoError(b, err)
	far, err := c.listener.Accept()
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, far.Close()) })
	c.far = append(c.far, far)
	c.join(b, near)
}

// listen hands on every event of the log.
func (c *crowd) listen(stream *bufio.Reader) {
	var event []byte
	for {
		line, err := stream.ReadSlice('\n')
		if err != nil {
			return
		}
		event = append(event, line...)
		if len(line) > 1 {
			continue
		}
		switch {
		case bytes.Contains(event, []byte("event: ready\n")):
			c.begun <- struct{}{}
		case bytes.Contains(event, []byte(`"instruction.queued"`)):
			c.events <- bytes.Clone(event)
		}
		event = event[:0]
	}
}

// hear waits until everybody has heard of one event, which it gives.
func (c *crowd) hear(b *testing.B) (event []byte) {
	for range c.size {
		select {
		case event = <-c.events:
		case <-time.After(patience):
			b.Fatal("an event is missing")
		}
	}
	return event
}

// stream opens a stream of events.
func (d door) stream(b *testing.B) net.Conn {
	at := strings.TrimPrefix(d.URL, "http://")
	conn, err := net.Dial("tcp", at)
	require.NoError(b, err)
	_, err = fmt.Fprintf(conn, "GET /api/events HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", at, d.Token)
	require.NoError(b, err)
	return conn
}
