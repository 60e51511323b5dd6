package rpc_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/rpc"
	"waybill/schema"
)

// handOverAfter is how long the reader may run a call itself.
const handOverAfter = 2 * time.Millisecond

// Another reader replaces one that runs a long call, and so reads the cancellation of that call.
func TestReaderBusyWithALongCallIsReplaced(t *testing.T) {
	serve(t, func(t *testing.T, f *fixture, h *host) {
		h.send(request(1, "block", ""))
		require.Len(t, f.running, 1)
		start := time.Now()
		h.send(request(2, "ping", "")) // accepted once another reader has started
		require.Equal(t, handOverAfter, time.Since(start), "the reader runs the call itself")
		require.Equal(t, []string{`2 {"pong":true}`}, briefs(t, h.received()))
		h.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`)
		require.Equal(t, []string{"1 -32800 CANCELLED"}, briefs(t, h.received()))
		require.Equal(t, handOverAfter, time.Since(start), "the new reader goes on")
	})
}

// A call that ends just when its reader is replaced gets one answer, and so do the calls behind it.
func TestCallThatEndsDuringHandOverIsAnsweredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nap := api.NewTable([]api.Entry{entry("nap", schema.Read, func(_ context.Context, _ []byte, done func(api.Answer)) {
			time.Sleep(handOverAfter)
			done(api.Answer{Result: "rested"})
		})})
		h := connect(t, newFixture(), func(o *rpc.Options) { o.Table = nap })
		for i := range 500 {
			h.send(request(i, "nap", ""), request(1000+i, "nap", ""))
			time.Sleep(2 * handOverAfter)
			require.ElementsMatch(t, []string{fmt.Sprintf(`%d "rested"`, i), fmt.Sprintf(`%d "rested"`, 1000+i)}, briefs(t, h.received()))
		}
		require.Zero(t, h.end())
	})
}

// The call is answered during shutdown.
func TestEndOfInputIsSeenWhileTheReaderRunsACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		h := connect(t, f)
		h.send(request(1, "block", ""))
		require.NoError(t, h.in.Close())
		require.Zero(t, <-h.exit)
		require.Equal(t, []string{"1 -32800 CANCELLED"}, briefs(t, h.received()))
	})
}

// The reader runs none of them itself.
func TestReadsOfOneWriteRunConcurrently(t *testing.T) {
	serve(t, func(t *testing.T, f *fixture, h *host) {
		start := time.Now()
		h.sendRaw(request(1, "block", "") + "\n" + request(2, "block", "") + "\n" + request(3, "ping", "") + "\n")
		require.Equal(t, []string{`3 {"pong":true}`}, briefs(t, h.received()))
		require.Len(t, f.running, 2)
		require.Zero(t, time.Since(start))
		close(f.release)
		require.ElementsMatch(t, []string{`1 "released"`, `2 "released"`}, briefs(t, h.received()))
	})
}

// An answer is written before the reader runs the next call itself.
func TestAnswerDoesNotWaitForTheNextCall(t *testing.T) {
	serve(t, func(t *testing.T, f *fixture, h *host) {
		start := time.Now()
		h.sendRaw(request(1, "ping", "") + "\n" + request(2, "block", "") + "\n")
		require.Equal(t, []string{`1 {"pong":true}`}, briefs(t, h.received()))
		require.Zero(t, time.Since(start))
		close(f.release)
		require.Equal(t, []string{`2 "released"`}, briefs(t, h.received()))
	})
}
