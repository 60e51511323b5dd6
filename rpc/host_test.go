package rpc_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/api"
	"waybill/rpc"
	"waybill/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A host is the peer of a server over two net.Pipes, inside a bubble of synctest: it can tell when the
// server has nothing left to do.
type host struct {
	t       testing.TB
	in      net.Conn // to the server
	out     net.Conn // from the server
	log     *logBuffer
	framing wire.Framing // that it speaks
	cancel  context.CancelFunc

	mu     sync.Mutex // guards what follows
	buffer bytes.Buffer

	exit chan int
}

// connect starts a server with the fixture's table, or with what change makes of the options.
func connect(t testing.TB, f *fixture, change ...func(*rpc.Options)) *host {
	h := connectUnread(t, f, change...)
	h.listen()
	return h
}

// connectUnread is connect for a host that does not read what the server writes, until listen.
func connectUnread(t testing.TB, f *fixture, change ...func(*rpc.Options)) *host {
	serverIn, in := net.Pipe()
	out, serverOut := net.Pipe()
	h := &host{t: t, in: in, out: out, log: &logBuffer{}, framing: wire.Lines, exit: make(chan int, 1)}
	incidents := 0
	o := rpc.Options{
		In: serverIn, Out: serverOut, Table: f.table(), Logger: slog.New(slog.NewTextHandler(h.log, nil)),
	}
	o.SetIncident(func() string {
		h.mu.Lock()
		defer h.mu.Unlock()
		incidents++
		return fmt.Sprintf("inc_%d", incidents)
	})
	for _, c := range change {
		c(&o)
	}
	ctx, cancel := context.WithCancel(context.Background())
	h.cancel = cancel
	t.Cleanup(func() { // for a test that fails half-way
		cancel()
		_, _ = in.Close(), out.Close()
	})
	go func() { // ends when the server does
		code, err := rpc.Serve(ctx, o)
		if err != nil {
			panic(err)
		}
		cancel()
		h.exit <- code
	}()
	return h
}

// serve runs a test with a host that leaves at its end, in a bubble.
func serve(t *testing.T, test func(t *testing.T, f *fixture, h *host), change ...func(*rpc.Options)) {
	t.Helper()
	serveUnread(t, func(t *testing.T, f *fixture, h *host) {
		h.listen()
		test(t, f, h)
	}, change...)
}

// serveUnread is serve for a host that does not read until listen.
func serveUnread(t *testing.T, test func(t *testing.T, f *fixture, h *host), change ...func(*rpc.Options)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		h := connectUnread(t, f, change...)
		test(t, f, h)
		require.Zero(t, h.end())
	})
}

// listen reads everything that the server writes from now on.
func (h *host) listen() {
	go func() { // ends when the server closes its output
		buffer := make([]byte, 1<<20)
		for {
			n, err := h.out.Read(buffer)
			h.mu.Lock()
			h.buffer.Write(buffer[:n])
			h.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
}

// send writes messages in the framing of the host, and waits until the server has nothing to do.
func (h *host) send(messages ...string) {
	for _, m := range messages {
		h.sendRaw(framed(h.framing, m))
	}
	synctest.Wait()
}

// sendRaw writes bytes as they are.
func (h *host) sendRaw(text string) {
	_, err := io.WriteString(h.in, text)
	require.NoError(h.t, err, "the server does not read %q", text)
}

// received returns the messages since the last call.
func (h *host) received() []string {
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	text := h.buffer.String()
	h.buffer.Reset()
	return unframeAll(h.t, h.framing, text)
}

// ask sends a message and returns the only answer.
func (h *host) ask(message string) string {
	h.send(message)
	answers := h.received()
	require.Len(h.t, answers, 1, "answers to %s", message)
	return answers[0]
}

// end closes the input and returns the exit code.
func (h *host) end() int {
	require.NoError(h.t, h.in.Close())
	return <-h.exit
}

func framed(f wire.Framing, message string) string {
	if f == wire.Headers {
		return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(message), message)
	}
	return message + "\n"
}

// unframed reads one message, strictly.
func unframed(f wire.Framing, r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return "", err
	}
	if f != wire.Headers {
		return strings.TrimSuffix(line, "\n"), nil
	}
	n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(line, "Content-Length: "), "\r\n"))
	if err != nil {
		return "", err
	}
	body := make([]byte, n+2)
	_, err = io.ReadFull(r, body)
	return string(body[2:]), err
}

// A reply is what a test looks at in an answer.
type reply struct {
	ID     json.RawMessage `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    struct {
			Code         string         `json:"code"`
			Retryable    bool           `json:"retryable"`
			Outcome      string         `json:"outcome"`
			RetryAfterMS int            `json:"retry_after_ms"`
			Hint         string         `json:"hint"`
			Details      map[string]any `json:"details"`
			Incident     string         `json:"incident"`
		} `json:"data"`
	} `json:"error"`
}

func parse(t testing.TB, answer string) reply {
	t.Helper()
	var r reply
	require.NoError(t, json.Unmarshal([]byte(answer), &r), answer)
	require.NotEmpty(t, r.ID, answer)
	return r
}

// brief says an answer in a few words: its id, and the result or the code. A batch is in brackets.
func brief(t testing.TB, answer string) string {
	t.Helper()
	if strings.HasPrefix(answer, "[") {
		var members []json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(answer), &members))
		return "[" + strings.Join(briefs(t, members), "; ") + "]"
	}
	r := parse(t, answer)
	if r.Error != nil {
		require.Nil(t, r.Result, answer)
		return fmt.Sprintf("%s %d %s", r.ID, r.Error.Code, r.Error.Data.Code)
	}
	return fmt.Sprintf("%s %s", r.ID, r.Result)
}

func briefs[S ~[]E, E ~string | ~[]byte](t testing.TB, answers S) []string {
	t.Helper()
	out := []string{}
	for _, a := range answers {
		out = append(out, brief(t, string(a)))
	}
	return out
}

// A logBuffer is a log that is read while it is written.
type logBuffer struct {
	mu     sync.Mutex // guards buffer
	buffer bytes.Buffer
}

func (r *logBuffer) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buffer.Write(p)
}

func (r *logBuffer) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buffer.String()
}

// table is for options that need another one than the fixture's.
func table(entries ...api.Entry) func(*rpc.Options) {
	return func(o *rpc.Options) { o.Table = api.NewTable(entries) }
}

func unframeAll(t testing.TB, f wire.Framing, text string) (messages []string) {
	t.Helper()
	for r := bufio.NewReader(strings.NewReader(text)); ; {
		m, err := unframed(f, r)
		if err != nil {
			require.ErrorIs(t, err, io.EOF, "after %q", messages)
			return messages
		}
		require.True(t, json.Valid([]byte(m)), m)
		messages = append(messages, m)
	}
}

var bothFramings = []wire.Framing{wire.Lines, wire.Headers}

// serveAll serves everything that is in in, and returns all that was answered.
func serveAll(t testing.TB, f *fixture, in io.ReadCloser, change ...func(*rpc.Options)) string {
	t.Helper()
	out := &sink{}
	o := rpc.Options{In: in, Out: out, Table: f.table()}
	for _, c := range change {
		c(&o)
	}
	code, err := rpc.Serve(t.Context(), o)
	require.NoError(t, err)
	require.Zero(t, code)
	return out.String()
}

// A sink is an output that always takes everything.
type sink struct{ bytes.Buffer }

func (*sink) Close() error { return nil }

// servePipes serves a pair of real pipes until the first is closed.
func servePipes(t *testing.T, f *fixture) (in, out *os.File, exit chan int) {
	t.Helper()
	serverIn, in, err := os.Pipe()
	require.NoError(t, err)
	out, serverOut, err := os.Pipe()
	require.NoError(t, err)
	exit = make(chan int, 1)
	go func() { // ends with the input
		code, err := rpc.Serve(context.Background(), rpc.Options{In: serverIn, Out: serverOut, Table: f.table()})
		if err != nil {
			panic(err)
		}
		exit <- code
	}()
	return in, out, exit
}
