package web_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// A streamReader reads a stream in the background, or only on demand.
type streamReader struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
	head answer
	// listens is closed when it may read on.
	listens chan struct{}

	mu     sync.Mutex // guards what follows
	events []event
	alive  int  // comments
	ended  bool // the server closed the stream as it should
	over   chan struct{}
}

// An event is what a browser would make of one.
type event struct{ id, name, data string }

// stream opens a stream. Without an answer of 200 there is only its head.
func (h *harness) stream(t *testing.T, query string, headers ...string) *streamReader {
	t.Helper()
	l := h.unreadStream(t, query, headers...)
	close(l.listens)
	synctest.Wait()
	return l
}

// unreadStream is stream for a client that reads only the first event until listens is closed.
func (h *harness) unreadStream(t *testing.T, query string, headers ...string) *streamReader {
	t.Helper()
	conn := h.connect()
	l := &streamReader{t: t, conn: conn, in: bufio.NewReader(conn), listens: make(chan struct{}), over: make(chan struct{})}
	_, err := fmt.Fprintf(conn, "GET /api/events%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n%s\r\n", query, h.at, testToken,
		strings.Join(append(headers, ""), "\r\n"))
	require.NoError(t, err)
	res, err := http.ReadResponse(l.in, &http.Request{Method: "GET"})
	require.NoError(t, err)
	l.head = answer{t: t, status: res.StatusCode, header: res.Header}
	go func() { // ends with the stream
		defer close(l.over)
		l.read(res)
	}()
	t.Cleanup(l.leave)
	synctest.Wait()
	return l
}

func (l *streamReader) read(res *http.Response) {
	var ev event
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 8<<20)
	var whole bytes.Buffer
	for lines.Scan() {
		line := lines.Text()
		whole.WriteString(line)
		l.mu.Lock()
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "":
			if ev != (event{}) {
				l.events = append(l.events, ev)
				ev = event{}
				l.mu.Unlock()
				<-l.listens
				l.mu.Lock()
			}
		case name == "id":
			ev.id = value
		case name == "event":
			ev.name = value
		case name == "data":
			ev.data = value
		case name == "":
			l.alive++
		}
		l.mu.Unlock()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.head.body = whole.Bytes()
	l.ended = lines.Err() == nil
}

// leave closes the connection.
func (l *streamReader) leave() {
	_ = l.conn.Close()
	select {
	case <-l.listens:
	default:
		close(l.listens)
	}
	<-l.over
}

// received returns the events so far, once no more are on the way.
func (l *streamReader) received() []event {
	l.t.Helper()
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.events
}

// eventSeqs returns the seqs of the events of the log so far, and asserts that each says the same in its id.
func (l *streamReader) eventSeqs() (seqs []string) {
	l.t.Helper()
	for _, ev := range l.received() {
		if ev.name != "" {
			continue
		}
		var e schema.Event
		require.NoError(l.t, json.Unmarshal([]byte(ev.data), &e), ev.data)
		number, _, _ := strings.Cut(ev.id, ".")
		require.Equal(l.t, number, fmt.Sprint(e.Seq))
		seqs = append(seqs, number)
	}
	return seqs
}

// endedWith asserts that the stream has ended with the error of that code, and returns where to go on.
func (l *streamReader) endedWith(code schema.Code) (cursor string) {
	l.t.Helper()
	<-l.over
	heard := l.received()
	require.NotEmpty(l.t, heard)
	ev := heard[len(heard)-1]
	require.Equal(l.t, "end", ev.name, "%v", ev)
	o := read(l.t, []byte(ev.data))
	require.Equal(l.t, string(code), o.str("error.data.code"), ev.data)
	require.Equal(l.t, ev.id, o.str("cursor"))
	require.True(l.t, l.ended, "it was cut off")
	return ev.id
}

func numbers(from, to int) (all []string) {
	for n := from; n <= to; n++ {
		all = append(all, fmt.Sprint(n))
	}
	return all
}
