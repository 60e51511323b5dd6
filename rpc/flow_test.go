package rpc_test

import (
	"bufio"
	"context"
	"encoding/json"
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
	serve(t, func(t *testing.T, f *fixture, h *host) {
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
	})
}

// A burst after a long silence is no reason to refuse anything.
func TestBurstAfterIdleTimeIsServed(t *testing.T) {
	serve(t, func(t *testing.T, f *fixture, h *host) {
		h.send(request(0, "wait", ""))
		time.Sleep(time.Hour)
		go func() { // ends when all is sent
			for i := range maxInFlight + 10 {
				h.sendRaw(framed(wire.Lines, request(i+1, "wait", "")))
			}
		}()
		synctest.Wait()
		time.Sleep(900 * time.Millisecond) // a disk that takes its time
		require.Empty(t, h.received())
		f.answerAll()
		synctest.Wait()
		f.answerAll()
		require.NotContains(t, strings.Join(h.received(), "\n"), "OVERLOADED")
		require.Len(t, f.startedSoFar(), maxInFlight+11)
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
				answer, err := answers.ReadSlice('\n')
				require.NoError(t, err)
				require.True(t, json.Valid(answer))
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
				require.Equal(t, "1 null", brief(t, h.ask(request(1, name, "{}"))), name)
				_ = h.in.Close()
				<-h.exit
			})
		}
	}
}

// A call that ends just when its reader is replaced gets one answer, and so do the calls behind it.
func TestCallThatEndsDuringHandOverIsAnsweredOnce(t *testing.T) {
	const handOverAfter = 2 * time.Millisecond // how long the reader may run a call itself
	serve(t, func(t *testing.T, _ *fixture, h *host) {
		for i := range 500 {
			h.send(request(i, "nap", ""), request(1000+i, "nap", ""))
			time.Sleep(2 * handOverAfter)
			require.ElementsMatch(t, []string{fmt.Sprintf(`%d "rested"`, i), fmt.Sprintf(`%d "rested"`, 1000+i)}, briefs(t, h.received()))
		}
	}, table(entry("nap", schema.Read, func(_ context.Context, _ []byte, done func(api.Answer)) {
		time.Sleep(handOverAfter)
		done(api.Answer{Result: "rested"})
	})))
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
