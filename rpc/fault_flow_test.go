package rpc_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/rpc"
	"waybill/schema"
	"waybill/wire"
)

// maxInFlight is what the package promises.
const maxInFlight = 1024

// A panic costs one answer. The log has its cause under the incident id of the answer.
func TestPanicIsOneAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		h := connect(t, f)
		for i, row := range []struct{ method, outcome, log string }{
			{"break", "not_applied", "control broke"},
			{"break_read", "not_applied", "read broke"},
			{"break_change", "unknown", "change broke"},
			{"forget", "not_applied", "forget returned no answer"},
			{"garble", "applied", "an answer cannot be encoded"},
			{"mumble", "unknown", "an answer cannot be encoded"},
			{"blow_up", "not_applied", "encoding broke"},
			{"internal", "not_applied", "the disk said no"},
		} {
			answer := h.ask(request(i, row.method, ""))
			require.Equal(t, fmt.Sprintf("%d -32603 INTERNAL", i), brief(t, answer))
			e := parse(t, answer).Error.Data
			require.Equal(t, fmt.Sprintf("inc_%d", i+1), e.Incident)
			require.Equal(t, row.outcome, e.Outcome, row.method)
			require.Contains(t, h.log.text(), "incident="+e.Incident)
			require.Contains(t, h.log.text(), row.log)
		}
		require.Contains(t, h.log.text(), "fixture_test.go", "the stack is in the log")
		require.Equal(t, []string{"garbled"}, f.undeliveredAnswers(), "what could not be encoded was not delivered")
		require.Equal(t, "8 1", brief(t, h.ask(request(8, "repeat", ""))))
		require.Contains(t, h.log.text(), "answered twice")
		require.Equal(t, `9 {}`, brief(t, h.ask(request(9, "change", "{}"))), "later changes still run")
		require.Zero(t, h.end())
		require.Contains(t, h.log.text(), "incidents=8")
	})
}

// Read methods run beside each other and beside changes, but not more than 64 of them.
func TestReadsRunConcurrently(t *testing.T) {
	serve(t, func(t *testing.T, f *fixture, h *host) {
		for i := range 100 {
			h.sendRaw(framed(wire.Lines, request(i, "block", "")))
		}
		synctest.Wait()
		require.Len(t, f.running, 64)
		require.Equal(t, `"c" {}`, brief(t, h.ask(request(`"c"`, "change", "{}"))), "a change passes them")
		close(f.release)
		require.Len(t, h.received(), 100)
	})
}

// Calls that wait for something hold no place in the order, but a place in hand. When all places are
// taken for long, the next is refused, and there is room again as soon as one of them is answered.
func TestWaitingCallsAreLimited(t *testing.T) {
	serve(t, func(t *testing.T, f *fixture, h *host) {
		for i := range maxInFlight - 1 {
			h.sendRaw(framed(wire.Lines, request(i, "wait", "")))
		}
		require.Equal(t, `"c" {}`, brief(t, h.ask(request(`"c"`, "change", "{}"))))
		h.send(request(5000, "wait", ""), request(5001, "ping", ""))
		require.Empty(t, h.received(), "the reader waits for room")
		time.Sleep(3100 * time.Millisecond)
		require.Equal(t, []string{"5001 4290 OVERLOADED"}, briefs(t, h.received()))
		start := time.Now()
		require.Equal(t, "5002 4290 OVERLOADED", brief(t, h.ask(request(5002, "change", ""))))
		require.Zero(t, time.Since(start), "the next one is refused at once")
		h.send(notification("$/cancelRequest", `{"id":5}`))
		require.Equal(t, []string{"5 -32800 CANCELLED"}, briefs(t, h.received()))
		require.Equal(t, `5003 {"pong":true}`, brief(t, h.ask(request(5003, "ping", ""))))
		f.answerAll()
		require.Len(t, h.received(), maxInFlight-1)
	})
}

// A burst after a long silence is no reason to refuse anything.
func TestBurstAfterIdleTimeIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answers []func()
		slow := entry("slow", schema.Change, func(_ context.Context, _ []byte, done func(api.Answer)) {
			answers = append(answers, func() { done(api.Answer{}) })
		})
		h := connect(t, newFixture(), table(slow))
		h.send(request(0, "slow", ""))
		time.Sleep(time.Hour)
		go func() { // ends when all is sent
			for i := range maxInFlight + 10 {
				h.sendRaw(framed(wire.Lines, request(i+1, "slow", "")))
			}
		}()
		synctest.Wait()
		time.Sleep(900 * time.Millisecond) // a disk that takes its time
		require.Empty(t, h.received())
		for len(answers) > 0 {
			now := answers
			answers = nil
			for _, answer := range now {
				answer()
			}
			synctest.Wait()
		}
		require.Len(t, h.received(), maxInFlight+11)
		require.NotContains(t, h.log.text(), "OVERLOADED")
		require.Zero(t, h.end())
	})
}

// The params of unanswered calls are limited too.
func TestParamsInFlightAreLimited(t *testing.T) {
	serve(t, func(t *testing.T, f *fixture, h *host) {
		large := `"` + strings.Repeat("x", 7<<20) + `"`
		for i := range 9 {
			h.sendRaw(framed(wire.Lines, request(i, "block", large)))
		}
		h.sendRaw(framed(wire.Lines, request(9, "block", large)))
		time.Sleep(3100 * time.Millisecond)
		require.Equal(t, []string{"9 4290 OVERLOADED"}, briefs(t, h.received()))
		close(f.release)
		require.Len(t, h.received(), 9)
	})
}

// A cancelled request is answered CANCELLED if nothing was applied, and as usual otherwise.
func TestRunningCallCanBeCancelled(t *testing.T) {
	for _, cancel := range []struct{ method, member string }{
		{"$/cancelRequest", "id"}, {"$/cancel_request", "requestId"}, {"notifications/cancelled", "requestId"},
	} {
		for _, id := range []string{`7`, `"seven"`, `"\u0073even"`} {
			serve(t, func(t *testing.T, f *fixture, h *host) {
				for _, method := range []string{"block", "wait"} {
					h.send(request(id, method, ""), notification(cancel.method, fmt.Sprintf(`{%q:%s,"reason":"no longer needed"}`, cancel.member, id)))
					require.Equal(t, []string{id + " -32800 CANCELLED"}, briefs(t, h.received()))
				}
				require.Equal(t, id+` {"n":1}`, brief(t, h.ask(request(id, "change", `{"n":1}`))))
				h.send(notification(cancel.method, fmt.Sprintf(`{%q:%s}`, cancel.member, id)))
				require.Empty(t, h.received(), "what was applied is not cancelled")
			})
		}
	}
}

// A call that is cancelled in the queue does not start.
func TestQueuedCallCanBeCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		var applied []string
		h := connect(t, newFixture(), table(entry("change", schema.Change, func(_ context.Context, params []byte, done func(api.Answer)) {
			<-free
			applied = append(applied, string(params))
			done(api.Answer{Result: len(applied)})
		})))
		h.send(request(1, "change", `{"n":1}`), request(2, "change", `{"n":2}`), request(3, "change", `{"n":3}`),
			notification("$/cancelRequest", `{"id":2}`), notification("$/cancelRequest", `{"id":99}`),
			notification("$/cancelRequest", `{"id":null}`), notification("$/cancelRequest", ""), notification("$/cancelRequest", `[7]`))
		close(free)
		require.Equal(t, []string{"1 1", "2 -32800 CANCELLED", "3 2"}, briefs(t, h.received()))
		require.Equal(t, []string{`{"n":1}`, `{"n":3}`}, applied)
		require.Equal(t, "4 null", brief(t, h.ask(request(4, "$/cancelRequest", `{"id":1}`))))
		require.Zero(t, h.end())
	})
}

// What was taken in and given out is not kept: after many requests, small ones and large ones,
// and some that were refused, the memory in use is what it was.
func TestMemoryIsReleasedAfterManyRequests(t *testing.T) {
	const small, large, bound = 20_000, 400, 4 << 20
	in, out, exit := servePipes(t, newFixture())
	answers := bufio.NewReaderSize(out, 1<<20)
	rounds := func(n int, message func(i int) string) {
		for first := 0; first < n; first += 100 {
			for i := range 100 {
				_, err := fmt.Fprintln(in, message(first+i))
				require.NoError(t, err)
				_, err = answers.ReadSlice('\n')
				require.NoError(t, err)
			}
		}
	}
	text := `"` + strings.Repeat("x", 64<<10) + `"` // 64 of these are over the bound
	many := func(times int) {
		rounds(small*times/10, func(i int) string { return request(i, []string{"find", "ping", "no_such_method"}[i%3], "{}") })
		rounds(large*times/10, func(i int) string { return request(i, "echo", text) })
		rounds(large*times/10, func(i int) string { return request(i, "hand_out", `{"size":65536}`) })
	}
	many(1) // buffers grow and workers are hired
	before := heap()
	many(10)
	require.Less(t, heap()-before, int64(bound))
	require.NoError(t, in.Close())
	require.Zero(t, <-exit)
	require.NoError(t, out.Close())
}

// Every method of the connection that is declared is known here, by all of its names.
func TestEveryConnectionMethodIsHandled(t *testing.T) {
	for _, m := range schema.Methods {
		if m.Kind != schema.Connection {
			continue
		}
		for _, name := range append([]string{m.Name}, m.Aliases...) {
			synctest.Test(t, func(t *testing.T) {
				h := connect(t, newFixture())
				h.send(request(1, name, "{}"))
				require.Equal(t, []string{"1 null"}, briefs(t, h.received()), name)
				_ = h.in.Close()
				<-h.exit
			})
		}
	}
}

func TestServeNeedsItsOptions(t *testing.T) {
	in, out := net.Pipe()
	defer func() { _, _ = in.Close(), out.Close() }()
	good := rpc.Options{In: in, Out: out, Table: newFixture().table()}
	for want, change := range map[string]func(*rpc.Options){
		"rpc: Options.In is missing":         func(o *rpc.Options) { o.In = nil },
		"rpc: Options.Out is missing":        func(o *rpc.Options) { o.Out = nil },
		"rpc: Options.Table is missing":      func(o *rpc.Options) { o.Table = nil },
		"rpc: Options.Framing is framing(3)": func(o *rpc.Options) { o.Framing = 3 },
	} {
		o := good
		change(&o)
		code, err := rpc.Serve(t.Context(), o)
		require.EqualError(t, err, want)
		require.Equal(t, 2, code)
	}
}
