package rpc_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/rpc"
	"waybill/schema"
	"waybill/wire"
)

// A host that does not read must not stop the server from reading: a cancellation still works, and
// what is too much is refused.
func TestFaultR18_BlockedOutputDoesNotBlockTheInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		h := deaf(t, f)
		h.send(request(`"b"`, "block", ""))
		for i := range maxInHand - 1 {
			h.raw(framed(wire.Lines, request(i, "hand_out", fmt.Sprintf(`{"name":"%d","text":"x"}`, i))))
		}
		// Nothing is read, so these wait a moment for room and are then refused.
		h.raw(framed(wire.Lines, request(`"c"`, "change", "")))
		h.raw(framed(wire.Lines, request(`"d"`, "change", "")))
		h.send(notification("$/cancelRequest", `{"id":"b"}`))
		h.listen()
		answers := briefs(t, h.hear())
		require.Len(t, answers, maxInHand+2)
		require.Contains(t, answers, `"b" -32800 CANCELLED`)
		require.Contains(t, answers, `"c" 4290 OVERLOADED`)
		require.Contains(t, answers, `"d" 4290 OVERLOADED`)
		require.Empty(t, f.startedSoFar())
		require.Equal(t, `1 {"pong":true}`, brief(t, h.ask(request(1, "ping", ""))), "there is room again")
		require.Empty(t, f.takenBack())
		require.Zero(t, h.end())
	})
}

func TestFaultR18_RefusalSaysWhenToTryAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := deaf(t, newFixture())
		for i := range maxInHand + 1 {
			h.raw(framed(wire.Lines, request(i, "echo", "1")))
		}
		time.Sleep(time.Second)
		h.listen()
		answers := h.hear()
		e := parse(t, answers[len(answers)-1]).Error
		require.Equal(t, "OVERLOADED", e.Data.Code)
		require.True(t, e.Data.Retryable)
		require.Equal(t, 100, e.Data.RetryAfterMS)
		require.Equal(t, "not_applied", e.Data.Outcome)
		require.Zero(t, h.end())
	})
}

// A host that reads slowly gets everything, and nothing is refused: the input waits for it.
func TestFaultR18_SlowReaderIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 5000
		h := deaf(t, newFixture())
		go func() { // ends when all is sent
			for i := range n {
				h.raw(framed(wire.Lines, request(i, "change", "{}")))
			}
		}()
		answers := bufio.NewReaderSize(h.out, 16)
		for range n {
			time.Sleep(50 * time.Millisecond)
			line, err := answers.ReadString('\n')
			require.NoError(t, err)
			require.NotContains(t, line, "error")
		}
		require.Zero(t, h.end())
	})
}

// Answers that nobody reads take a bounded amount of memory: what is beyond it waits in the input.
func TestFaultR18_UnreadAnswersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		h := deaf(t, f)
		sent := make(chan struct{})
		go func() { // ends when all is sent
			defer close(sent)
			for i := range 35 {
				time.Sleep(time.Millisecond)
				h.raw(framed(wire.Lines, request(i, "hand_out", fmt.Sprintf(`{"name":"%d","size":1048576}`, i))))
			}
		}()
		time.Sleep(4 * time.Second)
		h.listen()
		<-sent
		answers := briefs(t, h.hear())
		done := slices.IndexFunc(answers, func(a string) bool { return strings.Contains(a, "OVERLOADED") })
		require.GreaterOrEqual(t, done, 16)
		require.LessOrEqual(t, done, 30, "one answer is 1 MiB, and the size of those of the last 10 ms is not known")
		require.Len(t, answers, 35)
		require.Zero(t, h.end())
	})
}

// The same for a burst that is taken in before anything is answered: an answer that nobody reads counts
// for what it is at once, and no other call is begun while too much is unread.
func TestFaultR18_BurstOfLargeAnswersIsBounded(t *testing.T) {
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
	h := deaf(t, newFixture(), table(entry("large", kind, func(_ context.Context, _ []byte, done func(api.Answer)) {
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
	h.raw(strings.Join(lines, "\n") + "\n")
	time.Sleep(500 * time.Millisecond)
	require.Less(t, heap()-before, int64(150<<20))
	// Those that fill 16 MiB, one for each of 64 workers, and the few that count for little.
	require.Less(t, begun.Load(), int64(19+64+5))
	answers := bufio.NewReaderSize(h.out, 1<<20)
	for range len(lines) / 4 { // more than was begun before
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

// heap gives how much memory is in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A host that reads nothing for five seconds is gone. What was handed out is taken back.
func TestFaultR18_StalledOutputEndsTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		h := deaf(t, f)
		start := time.Now()
		h.send(request(1, "hand_out", `{"name":"first"}`), request(2, "hand_out", `{"name":"second"}`))
		require.Zero(t, <-h.exit)
		require.GreaterOrEqual(t, time.Since(start), 5*time.Second)
		require.Less(t, time.Since(start), 6*time.Second)
		require.Equal(t, []string{"first", "second"}, f.takenBack())
		require.Contains(t, h.log.text(), "the host read nothing for 5s")
	})
}

// The same where the output knows no deadlines, as with a file or a terminal.
func TestFaultR18_StalledOutputWithoutDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		h := deaf(t, f, func(o *rpc.Options) { o.Out = struct{ writeCloser }{o.Out} })
		start := time.Now()
		h.send(request(1, "hand_out", `{"name":"first"}`))
		require.Zero(t, <-h.exit)
		require.Less(t, time.Since(start), 7*time.Second)
		require.Equal(t, []string{"first"}, f.takenBack())
	})
}

type writeCloser interface {
	Write([]byte) (int, error)
	Close() error
}

// A slow host that takes a byte now and then is not gone.
func TestFaultR18_CrawlingReaderIsNotStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		h := deaf(t, f)
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
		require.Empty(t, f.takenBack())
		require.Zero(t, h.end())
	})
}

// The end of the input is seen although the output is blocked, and the way out is short.
func TestFaultR18_EndIsSeenBehindABlockedOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		h := deaf(t, f)
		const n = 14_000
		start := time.Now()
		for i := range n {
			h.raw(framed(wire.Lines, request(i, "hand_out", fmt.Sprintf(`{"name":"%d"}`, i))))
		}
		require.Zero(t, h.end())
		require.Less(t, time.Since(start), 2*time.Second)
		require.Len(t, f.takenBack(), maxInHand, "whatever was handed out was taken back")
	})
}

// Refusals take memory too. When not even they fit, the input waits, until the host counts as gone.
func TestFaultR18_RefusalsThatNobodyReadsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := deaf(t, newFixture())
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

// The way out is open for a reader that waits for room.
func TestFaultR18_WaitingForRoomEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := connect(t, newFixture())
		for i := range maxInHand {
			h.raw(framed(wire.Lines, request(i, "wait", "")))
		}
		h.send(request(`"late"`, "change", ""))
		require.Empty(t, h.hear())
		h.cancel()
		require.Equal(t, []string{`"late" 5030 SHUTTING_DOWN`}, briefs(t, h.hear()))
		require.Zero(t, <-h.exit)
		require.Len(t, h.hear(), maxInHand)
	})
}
