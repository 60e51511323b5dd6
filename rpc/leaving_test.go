package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/engine"
	"waybill/engine/workspace"
	"waybill/rpc"
	"waybill/schema"
	"waybill/store"
	"waybill/test/teststore"
	"waybill/wire"
)

// What is never answered by its method is answered in its place, with what is known of it, and the
// process ends in time whether it was asked to go by the end of the input, a signal or exit.
func TestHangingCallsAreAnsweredAtTheEnd(t *testing.T) {
	for name, leave := range map[string]func(h *host){
		"end of the input": func(h *host) { require.NoError(t, h.in.Close()) },
		"signal":           func(h *host) { h.cancel() },
		"exit":             func(h *host) { h.sendRaw(notification("exit", "") + "\n") },
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { endWithHangingCall(t, leave) }) })
	}
}

func endWithHangingCall(t *testing.T, leave func(h *host)) {
	free := make(chan struct{})
	back := 0
	var late func()
	hang := func(_ context.Context, _ []byte, done func(api.Answer)) {
		<-free
		done(api.Answer{})
	}
	h := connect(t, newFixture(), table(
		entry("lose", schema.Change, func(_ context.Context, _ []byte, done func(api.Answer)) {
			late = func() { done(api.Answer{Undelivered: func() { back++ }}) }
		}),
		entry("look", schema.Read, hang), entry("stick", schema.Change, hang)))
	h.send(request(1, "lose", ""), request(2, "look", ""), request(3, "stick", ""), request(4, "lose", ""))
	start := time.Now()
	leave(h)
	<-h.exit
	require.LessOrEqual(t, time.Since(start), 3500*time.Millisecond)
	outcomes := map[string]string{}
	for _, answer := range h.received() {
		r := parse(t, answer)
		require.Equal(t, "SHUTTING_DOWN", r.Error.Data.Code)
		outcomes[string(r.ID)] = r.Error.Data.Outcome
	}
	require.Equal(t, map[string]string{"1": "unknown", "2": "not_applied", "3": "unknown", "4": "not_applied"}, outcomes)
	late()
	require.Equal(t, 1, back, "an answer that comes after that was not delivered")
	close(free)
	synctest.Wait()
	require.NotContains(t, h.log.text(), "answered twice")
}

// An input that nothing interrupts does not keep Serve.
func TestServeEndsAlthoughItsReadIsBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := &blocked{free: make(chan struct{})}
		h := connect(t, newFixture(), func(o *rpc.Options) { o.In = in })
		synctest.Wait()
		start := time.Now()
		h.cancel()
		require.Zero(t, <-h.exit)
		require.Less(t, time.Since(start), time.Second)
		close(in.free)
	})
}

// A blocked input or output neither gives nor takes anything, and does not mind Close.
type blocked struct{ free chan struct{} }

func (b *blocked) Read([]byte) (int, error) {
	<-b.free
	return 0, io.EOF
}

func (b *blocked) Write([]byte) (int, error) {
	<-b.free
	return 0, os.ErrClosed
}

func (*blocked) Close() error { return nil }

// An input that cannot be read any more is at its end.
func TestServeEndsWhenInputFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := connect(t, newFixture(), func(o *rpc.Options) {
			o.In = io.NopCloser(io.MultiReader(
				iotest.OneByteReader(strings.NewReader(request(1, "ping", "")+"\n"+request(2, "pi", ""))),
				iotest.ErrReader(errors.New("the cable is out"))))
		})
		require.Zero(t, <-h.exit)
		require.Equal(t, []string{`1 {"pong":true}`}, briefs(t, h.received()))
		require.Contains(t, h.log.text(), "the cable is out")
	})
}

// A script pipes one change in and closes the pipe. Under load, and on slow disks, to open the store took longer than
// the way out, and the change was refused. A store that never opens does not keep the process.
func TestServeWaitsForAStoreThatIsBeingOpened(t *testing.T) {
	for _, row := range []struct {
		takes, limit time.Duration
		want         string
	}{
		{2900 * time.Millisecond, 5 * time.Second, `1 {"instruction":{`},
		{time.Hour, 4600 * time.Millisecond, "1 5030 SHUTTING_DOWN"},
	} {
		synctest.Test(t, func(t *testing.T) {
			records, ended := teststore.New(t), make(chan error, 1)
			ctx, cancel := context.WithCancel(t.Context())
			service, err := api.New(api.Options{
				Version: "test", Sources: workspace.Sources{Flag: t.TempDir()},
				Start: func(workspace.Workspace) (*engine.Engine, *engine.Plans, error) {
					e, err := engine.New(engine.Options{Open: func(context.Context) (store.Store, error) {
						time.Sleep(row.takes)
						return records, nil
					}})
					go func() { ended <- e.Run(ctx) }() // ends with ctx
					return e, nil, err
				},
			})
			require.NoError(t, err)
			start := time.Now()
			h := connect(t, newFixture(), func(o *rpc.Options) { o.Table = service.Table() })
			h.send(request(1, "queue_instruction", `{"content":"Go."}`))
			require.Zero(t, h.end())
			require.Less(t, time.Since(start), row.limit)
			answers := briefs(t, h.received())
			require.Len(t, answers, 1)
			require.True(t, strings.HasPrefix(answers[0], row.want), answers[0])
			cancel()
			require.NoError(t, <-ended)
		})
	}
}

func TestLargestBatchIsAnswered(t *testing.T) {
	serve(t, func(t *testing.T, _ *fixture, h *host) {
		members := make([]string, schema.MaxBatch)
		for i := range members {
			members[i] = request(i, "ping", "")
		}
		require.Equal(t, schema.MaxBatch, strings.Count(h.ask("["+strings.Join(members, ",")+"]"), "pong"))
	})
}

func TestPartialMessageAtEndOfInputIsRefused(t *testing.T) {
	for rest, framing := range map[string]wire.Framing{
		"{" + strings.Repeat(" ", 9<<20):                        wire.Lines,
		"Content-Length: 10000000\r\n\r\n{":                     wire.Headers,
		"Content-Length: 100000\r\n\r\n" + request(2, "pi", ""): wire.Headers,
		`{"id":2,"method":`:                                     wire.Lines,
		"Content-Length: 40\r\n\r\n{\"id\":2,\"me":              wire.Headers,
		"Content-Len": wire.Headers,
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture()
			h := connect(t, f)
			h.framing = framing
			h.send(request(1, "wait", ""))
			h.sendRaw(rest)
			require.NoError(t, h.in.Close())
			require.Len(t, h.received(), 1, "the rest is told apart from silence")
			f.answerAll()
			require.Equal(t, []string{`1 "waited"`}, briefs(t, h.received()))
			require.Zero(t, <-h.exit)
			require.Regexp(t, `WARN msg="the input ended in the middle of a message, which is discarded" bytes=\d+`, h.log.text())
		})
	}
	text := serveAll(t, newFixture(), io.NopCloser(strings.NewReader(request(1, "ping", ""))))
	require.Equal(t, []string{`1 {"pong":true}`}, briefs(t, unframeAll(t, wire.Lines, text)), "a last line without end is a message")
}

// A shell pipes requests in and closes the pipe: each of them is answered, and changes start in the order of their lines.
func TestRequestsBeforeEndOfInputAreAnswered(t *testing.T) {
	const n = 5000
	for _, framing := range bothFramings {
		var in bytes.Buffer
		var changes []string
		for i := range n {
			method := []string{"ping", "change", "find"}[i%3]
			in.WriteString(framed(framing, request(i, method, fmt.Sprintf(`{"x-n":%d}`, i))))
			if method == "change" {
				in.WriteString(framed(framing, notification("change", fmt.Sprint(i))))
				changes = append(changes, fmt.Sprintf(`change {"x-n":%d}`, i), fmt.Sprint("change ", i))
			}
		}
		f, seen := newFixture(), map[string]bool{}
		for _, a := range unframeAll(t, framing, serveAll(t, f, io.NopCloser(&in))) {
			r := parse(t, a)
			require.Nil(t, r.Error, a)
			require.False(t, seen[string(r.ID)], a)
			seen[string(r.ID)] = true
		}
		require.Len(t, seen, n)
		require.Equal(t, changes, f.startedSoFar())
	}
}

// Framing that is set does not depend on the first byte.
func TestFramingCanBeFixed(t *testing.T) {
	for _, f := range bothFramings {
		serve(t, func(t *testing.T, _ *fixture, h *host) {
			h.framing = f
			h.sendRaw("Cannot be parsed { [ \n" + framed(f, request(1, "ping", "")))
			answers := briefs(t, h.received())
			require.Len(t, answers, 2)
			require.Equal(t, `1 {"pong":true}`, answers[1])
		}, func(o *rpc.Options) { o.Framing = f })
	}
}

var seeds = []string{
	`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":[1,-0.5e+7,true,false,null,"x\u00e9\ud83d\ude00\\\"\/\b\f\n\r\t"]}}`,
	`[{"id":1,"method":"ping"},{"method":"change"},{"id":2,"result":null},7]`,
	`{"id":"\u0061","id":"a","method":"ping"}`, `{"id":1,"Method":"ping","method":"ping"}`,
	`{"id":1,"method":"echo","params":` + strings.Repeat("[", 130) + strings.Repeat("]", 130) + `}`,
	"{\"id\":1,\"method\":\"\xff\"}", `{"id":1,"method":"\ud800"}`, `{"a":"12345678\u0000123456789"}`, `"`, `{}`, `[]`, `nul`, "\xef\xbb\xbf{}", "\xff\xfe{\x00",
}

// Whatever comes in, the answers are proper frames, nothing over the limit gets through, and after a
// line there is always another one.
func FuzzStream(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s + "\n"))
		f.Add([]byte(framed(wire.Headers, s) + framed(wire.Headers, request(1, "measure", `"x"`))))
	}
	f.Add([]byte("Content-Length: -1\r\n\r\n{}content-length:40\nX: y\n\n" + request(1, "ping", "") + "rest Content-Length: 40\r\n\r\n"))
	f.Add([]byte("Content-Length: 4294967297\r\n\r\n" + strings.Repeat("C", 300)))
	const limit = 80
	f.Fuzz(func(t *testing.T, stream []byte) {
		last := "\n" + request(`"last"`, "ping", "") + "\n"
		in := io.MultiReader(bytes.NewReader(stream), strings.NewReader(last))
		text := serveAll(t, newFixture(), io.NopCloser(in), func(o *rpc.Options) { o.SetMaxMessageBytes(limit) })
		framing := wire.Lines
		if strings.HasPrefix(text, "Content-Length: ") {
			framing = wire.Headers
		}
		require.True(t, utf8.ValidString(text))
		answers := unframeAll(t, framing, text)
		for _, a := range answers {
			if a[0] == '[' {
				require.NotEmpty(t, brief(t, a))
			} else if r := parse(t, a); r.Error == nil {
				require.LessOrEqual(t, len(r.Result), limit)
			}
		}
		if framing == wire.Lines {
			require.Contains(t, answers[len(answers)-1], `"last"`)
		}
	})
}
