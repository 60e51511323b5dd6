package rpc_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/rpc"
	"waybill/schema"
	"waybill/test/slow"
	"waybill/wire"
)

// An answer that was not written in full is undelivered, once.
func TestUndeliveredIsCalledForUnwrittenAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		h := connectUnread(t, f)
		h.send(request(1, "hand_out", `{"name":"read"}`))
		out := bufio.NewReaderSize(h.out, 16)
		_, err := out.ReadString('\n')
		require.NoError(t, err)
		h.send(request(2, "hand_out", `{"name":"half read"}`),
			"["+request(3, "hand_out", `{"name":"in a batch"}`)+","+request(4, "hand_out", `{"name":"in it too"}`)+"]",
			"["+request(5, "hand_out", `{"name":"in half a batch"}`)+","+request(6, "block", "")+"]")
		_, err = out.ReadByte()
		require.NoError(t, err)
		require.NoError(t, h.out.Close())
		require.Zero(t, <-h.exit)
		require.ElementsMatch(t, []string{"half read", "in a batch", "in it too", "in half a batch"}, f.undeliveredAnswers())
		require.NoError(t, h.in.Close())
	})
}

// A batch with a member that hangs is completed on the way out. If it cannot be written, what is in it
// was not delivered, nor is what comes too late.
func TestUndeliveredIsCalledForAnIncompleteBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free, start := make(chan struct{}), time.Now()
		var mu sync.Mutex
		var back []string
		give := entry("give", schema.Change, func(_ context.Context, params []byte, done func(api.Answer)) {
			name := string(params)
			done(api.Answer{Undelivered: func() {
				mu.Lock()
				defer mu.Unlock()
				back = append(back, name)
			}})
		})
		hang := entry("hang", schema.Read, func(_ context.Context, params []byte, done func(api.Answer)) {
			<-free
			give.Start(context.Background(), params, done)
		})
		h := connectUnread(t, newFixture(), table(give, hang))
		h.send("[" + request(1, "give", `{"n":1}`) + "," + request(2, "hang", `{"n":2}`) + "]")
		require.Zero(t, h.end())
		require.LessOrEqual(t, time.Since(start), 3500*time.Millisecond)
		require.Equal(t, []string{`{"n":1}`}, back)
		close(free)
		synctest.Wait()
		require.Equal(t, []string{`{"n":1}`, `{"n":2}`}, back)
	})
}

// Serve ends although Close does not end the write.
func TestUndeliveredIsCalledWhenOutputIsBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		out := &blocked{free: make(chan struct{})}
		h := connect(t, f, func(o *rpc.Options) { o.Out = out })
		for i := range 3 {
			h.send(request(i, "hand_out", fmt.Sprintf(`{"name":"%d"}`, i)))
		}
		start := time.Now()
		require.Zero(t, h.end())
		require.Less(t, time.Since(start), 2*time.Second)
		require.Equal(t, []string{"0", "1", "2"}, f.undeliveredAnswers())
		close(out.free)
		synctest.Wait()
		require.Len(t, f.undeliveredAnswers(), 3)
	})
}

// A host that does not read must not stop the server from reading: a cancellation still works, and
// what is too much is refused.
func TestBlockedOutputDoesNotBlockTheInput(t *testing.T) {
	serveUnread(t, func(t *testing.T, f *fixture, h *host) {
		h.send(request(`"b"`, "block", ""))
		for i := range maxInFlight - 1 {
			h.sendRaw(framed(wire.Lines, request(i, "hand_out", fmt.Sprintf(`{"name":"%d","text":"x"}`, i))))
		}
		// Nothing is read, so these wait a moment for room and are then refused.
		h.sendRaw(framed(wire.Lines, request(`"c"`, "change", "")))
		h.sendRaw(framed(wire.Lines, request(`"d"`, "change", "")))
		h.send(notification("$/cancelRequest", `{"id":"b"}`))
		h.listen()
		heard := h.received()
		answers := briefs(t, heard)
		require.Len(t, answers, maxInFlight+2)
		require.Contains(t, answers, `"b" -32800 CANCELLED`)
		require.Contains(t, answers, `"c" 4290 OVERLOADED`)
		require.Contains(t, answers, `"d" 4290 OVERLOADED`)
		refused := parse(t, heard[slices.Index(answers, `"c" 4290 OVERLOADED`)]).Error.Data
		require.True(t, refused.Retryable)
		require.Equal(t, 100, refused.RetryAfterMS)
		require.Equal(t, "not_applied", refused.Outcome)
		require.Empty(t, f.startedSoFar())
		require.Equal(t, `1 {"pong":true}`, brief(t, h.ask(request(1, "ping", ""))), "there is room again")
		require.Empty(t, f.undeliveredAnswers())
	})
}

// A host that reads slowly gets everything, and nothing is refused: the input waits for it.
func TestReaderWaitsForASlowHost(t *testing.T) {
	serveUnread(t, func(t *testing.T, _ *fixture, h *host) {
		const n = 5000
		go func() { // ends when all is sent
			for i := range n {
				h.sendRaw(framed(wire.Lines, request(i, "change", "{}")))
			}
		}()
		answers := bufio.NewReaderSize(h.out, 16)
		for range n {
			time.Sleep(50 * time.Millisecond)
			line, err := answers.ReadString('\n')
			require.NoError(t, err)
			require.NotContains(t, line, "error")
		}
	})
}

// Unread answers take a limited amount of memory; further requests wait in the input.
func TestUnreadAnswersAreLimited(t *testing.T) {
	serveUnread(t, func(t *testing.T, f *fixture, h *host) {
		sent := make(chan struct{})
		go func() { // ends when all is sent
			defer close(sent)
			for i := range 35 {
				time.Sleep(time.Millisecond)
				h.sendRaw(framed(wire.Lines, request(i, "hand_out", fmt.Sprintf(`{"name":"%d","size":1048576}`, i))))
			}
		}()
		time.Sleep(4 * time.Second)
		h.listen()
		<-sent
		answers := briefs(t, h.received())
		done := slices.IndexFunc(answers, func(a string) bool { return strings.Contains(a, "OVERLOADED") })
		require.GreaterOrEqual(t, done, 16)
		require.LessOrEqual(t, done, 30, "one answer is 1 MiB, and the size of those of the last 10 ms is not known")
		require.Len(t, answers, 35)
	})
}

// The same for a burst that is taken in before anything is answered: an answer that nobody reads counts
// for what it is at once, and no other call is begun while too much is unread.
func TestBurstOfLargeAnswersIsLimited(t *testing.T) {
	slow.Test(t)
	for _, kind := range []schema.Kind{schema.Read, schema.Change} {
		for _, shape := range []string{"one by one", "batch"} {
			t.Run(fmt.Sprint(kind, " ", shape), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { burst(t, kind, shape == "batch") })
			})
		}
	}
}

func burst(t *testing.T, kind schema.Kind, batch bool) {
	const n, size = 400, 900_000 // together more than twice what may be in memory
	begun := atomic.Int64{}
	h := connectUnread(t, newFixture(), table(entry("large", kind, func(_ context.Context, _ []byte, done func(api.Answer)) {
		begun.Add(1)
		done(api.Answer{Result: strings.Repeat("x", size)})
	})))
	before := heap()
	requests := make([]string, n)
	for i := range requests {
		requests[i] = request(i, "large", "")
	}
	lines := requests
	if batch {
		lines = nil
		for members := range slices.Chunk(requests, 50) {
			lines = append(lines, "["+strings.Join(members, ",")+"]")
		}
	}
	h.sendRaw(strings.Join(lines, "\n") + "\n")
	time.Sleep(500 * time.Millisecond)
	require.Less(t, heap()-before, int64(150<<20))
	// 16 MiB hold 19 answers. How many calls begin before the writer encodes those is up to the scheduler.
	require.Less(t, begun.Load(), int64(n/2))
	answers := bufio.NewReaderSize(h.out, 1<<20)
	for range len(lines) / 4 {
		_, err := answers.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = answers.ReadSlice('\n')
		}
		require.NoError(t, err)
	}
	require.NoError(t, h.out.Close())
	require.Zero(t, <-h.exit)
	require.NoError(t, h.in.Close())
}

// heap returns how much memory is in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A host that reads nothing for five seconds is gone, and its unread answers are undelivered. A file or a terminal has no
// deadlines.
func TestStalledOutputEndsTheConnection(t *testing.T) {
	for _, deadlines := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture()
			h := connectUnread(t, f, func(o *rpc.Options) {
				if !deadlines {
					o.Out = struct{ io.WriteCloser }{o.Out}
				}
			})
			start := time.Now()
			h.send(request(1, "hand_out", `{"name":"first"}`), request(2, "hand_out", `{"name":"second"}`))
			require.Zero(t, <-h.exit)
			require.GreaterOrEqual(t, time.Since(start), 5*time.Second)
			require.Less(t, time.Since(start), 7*time.Second)
			require.Equal(t, []string{"first", "second"}, f.undeliveredAnswers())
			require.Contains(t, h.log.text(), "the host read nothing for 5s")
		})
	}
}

// A slow host that takes a byte now and then is not gone.
func TestSlowHostIsNotTakenForGone(t *testing.T) {
	serveUnread(t, func(t *testing.T, f *fixture, h *host) {
		h.send(request(1, "hand_out", `{"name":"first","text":"xxxxxxxx"}`))
		line := ""
		for !strings.HasSuffix(line, "\n") {
			time.Sleep(4 * time.Second)
			one := make([]byte, 1)
			_, err := h.out.Read(one)
			require.NoError(t, err)
			line += string(one)
		}
		require.Equal(t, `1 "xxxxxxxx"`, brief(t, line))
		require.Empty(t, f.undeliveredAnswers())
	})
}

// The end of the input is seen although the output is blocked, and the way out is short.
func TestEndOfInputIsSeenWhileOutputIsBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		h := connectUnread(t, f)
		const n = 14_000
		start := time.Now()
		for i := range n {
			h.sendRaw(framed(wire.Lines, request(i, "hand_out", fmt.Sprintf(`{"name":"%d"}`, i))))
		}
		require.Zero(t, h.end())
		require.Less(t, time.Since(start), 2*time.Second)
		require.Len(t, f.undeliveredAnswers(), maxInFlight, "whatever was handed out was taken back")
	})
}

// Refusals take memory too. When not even they fit, the input waits, until the host counts as gone.
func TestUnreadRefusalsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := connectUnread(t, newFixture())
		taken := 0
		go func() { // ends with the connection
			for {
				if _, err := fmt.Fprintln(h.in, "garbage"); err != nil {
					return
				}
				taken++
			}
		}()
		start := time.Now()
		require.Zero(t, <-h.exit)
		require.Less(t, time.Since(start), 6*time.Second)
		synctest.Wait()
		require.Greater(t, taken, 30_000)
		require.Less(t, taken, 120_000, "at least 150 bytes are said about each, and 16 MiB are kept")
	})
}
