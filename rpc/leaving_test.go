package rpc_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/rpc"
	"waybill/schema"
	"waybill/wire"
)

// shutdown is answered after the accepted calls, and later calls are refused.
func TestShutdownFinishesAcceptedCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		h := connect(t, f)
		h.send(request(1, "wait", ""), request(2, "shutdown", ""), request(3, "change", ""), notification("change", ""))
		require.Equal(t, []string{"3 5030 SHUTTING_DOWN"}, briefs(t, h.received()))
		f.answerAll()
		require.Equal(t, []string{`1 "waited"`, "2 null"}, briefs(t, h.received()))
		require.Equal(t, []string{"wait"}, f.startedSoFar())
		h.send(notification("exit", ""))
		require.Zero(t, <-h.exit)
		require.Contains(t, h.log.text(), "method=change code=SHUTTING_DOWN")
	})
}

// A host waits two seconds for the answer to shutdown. Calls that still wait after one second are cancelled.
func TestShutdownCancelsWaitingCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := connect(t, newFixture())
		h.send(request(1, "wait", ""), request(2, "block", ""))
		time.Sleep(time.Hour)
		start := time.Now()
		h.send(request(3, "shutdown", ""))
		require.Empty(t, h.received())
		time.Sleep(time.Second)
		answers := briefs(t, h.received())
		require.ElementsMatch(t, []string{"1 -32800 CANCELLED", "2 -32800 CANCELLED", "3 null"}, answers)
		require.Equal(t, "3 null", answers[2])
		require.Zero(t, h.end())
		require.Equal(t, time.Second, time.Since(start))
	})
}

// shutdown does not wait for a call that ignores its cancellation.
func TestShutdownIsAnsweredWhileACallHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		h := connect(t, newFixture(), table(entry("hang", schema.Read, func(_ context.Context, _ []byte, done func(api.Answer)) {
			<-free
			done(api.Answer{})
		})))
		h.send(request(1, "hang", ""), request(2, "shutdown", ""))
		time.Sleep(1500 * time.Millisecond)
		require.Equal(t, []string{"1 5030 SHUTTING_DOWN", "2 null"}, briefs(t, h.received()))
		start := time.Now()
		require.Zero(t, h.end())
		require.Less(t, time.Since(start), 1700*time.Millisecond)
		require.Contains(t, h.log.text(), "and was abandoned")
		close(free)
	})
}

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
	require.LessOrEqual(t, time.Since(start), 1500*time.Millisecond)
	outcomes := map[string]string{}
	for _, answer := range h.received() {
		r := parse(t, answer)
		require.Equal(t, "SHUTTING_DOWN", r.Error.Data.Code)
		require.Equal(t, 5030, r.Error.Code)
		outcomes[string(r.ID)] = r.Error.Data.Outcome
	}
	require.Equal(t, map[string]string{"1": "unknown", "2": "not_applied", "3": "unknown", "4": "not_applied"}, outcomes)
	late()
	require.Equal(t, 1, back, "an answer that comes after that was not delivered")
	close(free)
	synctest.Wait()
	require.NotContains(t, h.log.text(), "answered twice")
}

// A hanging call does not delay the exit more when the output is blocked too.
func TestServeEndsInTimeWhileOutputIsBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lose := entry("lose", schema.Change, func(context.Context, []byte, func(api.Answer)) {})
		h := connectUnread(t, newFixture(), table(lose))
		h.send(request(1, "lose", ""))
		start := time.Now()
		require.Zero(t, h.end())
		require.LessOrEqual(t, time.Since(start), 1500*time.Millisecond)
	})
}

func TestShutdownMayBeANotification(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := connect(t, newFixture())
		h.send(notification("shutdown", ""), notification("exit", ""))
		require.Zero(t, <-h.exit)
	})
}

// Requests before exit are answered; those after it are not read.
func TestExitFinishesEarlierCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		h := connect(t, f)
		h.send(request(1, "wait", ""))
		h.sendRaw(request(2, "change", "{}") + "\n" + notification("exit", "") + "\n" + request(3, "change", "{}") + "\n")
		f.answerAll()
		require.Equal(t, 1, <-h.exit)
		require.ElementsMatch(t, []string{`1 "waited"`, "2 {}"}, briefs(t, h.received()))
	})
}

// At the end of the input everything that was read is carried out, however long it takes, as long as
// something moves.
func TestEndOfInputRunsEveryRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := entry("slow", schema.Change, func(ctx context.Context, _ []byte, done func(api.Answer)) {
			time.Sleep(900 * time.Millisecond)
			done(api.Answer{Result: ctx.Err() == nil})
		})
		h := connect(t, newFixture(), table(slow))
		for i := range 100 {
			h.sendRaw(framed(wire.Lines, request(i, "slow", "")))
		}
		require.Zero(t, h.end())
		answers := briefs(t, h.received())
		require.Len(t, answers, 100)
		require.Equal(t, "99 true", answers[99])
	})
}

// The end of the context is as the end of the input: nothing more is read, the rest is answered.
func TestServeEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		h := connect(t, f)
		h.send(request(1, "wait", ""), request(2, "wait", ""))
		h.cancel()
		synctest.Wait()
		go func() { _, _ = io.WriteString(h.in, request(3, "change", "")+"\n") }() // ends with the connection
		synctest.Wait()
		f.answerAll()
		require.Zero(t, <-h.exit)
		require.Equal(t, []string{`1 "waited"`, `2 "waited"`}, briefs(t, h.received()))
		require.NotContains(t, f.startedSoFar(), "change")
	})
}

// An input that nothing interrupts does not keep Serve.
func TestServeEndsAlthoughItsReadIsBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := &blockedInput{free: make(chan struct{})}
		h := connect(t, newFixture(), func(o *rpc.Options) { o.In = in })
		synctest.Wait()
		start := time.Now()
		h.cancel()
		require.Zero(t, <-h.exit)
		require.Less(t, time.Since(start), time.Second)
		close(in.free)
	})
}

// A blockedInput is an input whose Read does not mind Close.
type blockedInput struct{ free chan struct{} }

func (s *blockedInput) Read([]byte) (int, error) {
	<-s.free
	return 0, io.EOF
}

func (*blockedInput) Close() error { return nil }

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
