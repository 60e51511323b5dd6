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

// relief is how long the reader is at a call itself.
const relief = 2 * time.Millisecond

// The reader that carries a call out by itself is relieved, so that what is behind it is read: here what cancels it.
func TestReaderAtALongCallIsRelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		h := connect(t, f)
		h.send(request(1, "block", ""))
		require.Len(t, f.running, 1)
		start := time.Now()
		h.send(request(2, "ping", "")) // it is taken when there is who reads
		require.Equal(t, relief, time.Since(start), "it is the reader who is at the call")
		require.Equal(t, []string{`2 {"pong":true}`}, briefs(t, h.hear()))
		h.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`)
		require.Equal(t, []string{"1 -32800 CANCELLED"}, briefs(t, h.hear()))
		require.Equal(t, relief, time.Since(start), "who relieved it reads on")
		require.Zero(t, h.end())
	})
}

// A call that is as long as the time until its reader is relieved gets one answer, whichever is first, and so do those
// behind it.
func TestReliefAtTheEndOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nap := api.NewTable([]api.Entry{entry("nap", schema.Read, func(_ context.Context, _ []byte, done func(api.Answer)) {
			time.Sleep(relief)
			done(api.Answer{Result: "rested"})
		})})
		h := connect(t, newFixture(), func(o *rpc.Options) { o.Table = nap })
		for i := range 500 {
			h.send(request(i, "nap", ""), request(1000+i, "nap", ""))
			time.Sleep(2 * relief)
			require.ElementsMatch(t, []string{fmt.Sprintf(`%d "rested"`, i), fmt.Sprintf(`%d "rested"`, 1000+i)}, briefs(t, h.hear()))
		}
		require.Zero(t, h.end())
	})
}

// The end of the input is seen behind a call that its reader is at, which is answered on the way out.
func TestInputEndsBehindACallOfTheReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		h := connect(t, f)
		h.send(request(1, "block", ""))
		require.NoError(t, h.in.Close())
		require.Zero(t, <-h.exit)
		require.Equal(t, []string{"1 -32800 CANCELLED"}, briefs(t, h.hear()))
	})
}

// Reads that came in one write run beside each other at once: the reader is at none of them.
func TestReadsOfOneWriteRunBesideEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		h := connect(t, f)
		start := time.Now()
		h.raw(request(1, "block", "") + "\n" + request(2, "block", "") + "\n" + request(3, "ping", "") + "\n")
		require.Equal(t, []string{`3 {"pong":true}`}, briefs(t, h.hear()))
		require.Len(t, f.running, 2)
		require.Zero(t, time.Since(start))
		close(f.release)
		require.ElementsMatch(t, []string{`1 "released"`, `2 "released"`}, briefs(t, h.hear()))
		require.Zero(t, h.end())
	})
}

// What was answered on the spot is not kept back by the call behind it, which the reader is at.
func TestAnswerDoesNotWaitForTheNextCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		h := connect(t, f)
		start := time.Now()
		h.raw(request(1, "ping", "") + "\n" + request(2, "block", "") + "\n")
		require.Equal(t, []string{`1 {"pong":true}`}, briefs(t, h.hear()))
		require.Zero(t, time.Since(start))
		close(f.release)
		require.Equal(t, []string{`2 "released"`}, briefs(t, h.hear()))
		require.Zero(t, h.end())
	})
}
