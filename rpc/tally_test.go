package rpc_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/rpc"
	"waybill/schema"
	"waybill/wire"
)

// Every byte of both directions is counted once, whoever writes it: the answers to few requests are written on the
// spot, those to many by the writer.
func TestTallyCountsBytes(t *testing.T) {
	for _, f := range bothFramings {
		tally := new(wire.Tally)
		serve(t, func(t *testing.T, _ *fixture, h *host) {
			h.framing = f
			in, out := 0, 0
			converse := func(messages ...string) {
				for _, m := range messages {
					in += len(framed(f, m))
				}
				h.send(messages...)
				for _, answer := range h.received() {
					out += len(framed(f, answer))
				}
				stats := tally.Stats()
				require.EqualValues(t, in, stats.BytesIn)
				require.EqualValues(t, out, stats.BytesOut)
			}
			converse(request(1, "ping", ""))
			converse(request(2, "find", `"`+strings.Repeat("x", 300_000)+`"`))
			converse("["+strings.Repeat(request(3, "ping", "")+",", 9)+request(4, "ping", "")+"]", request(5, "ping", ""))
		}, func(o *rpc.Options) { o.Tally = tally })
	}
}

// What no method gets is counted by the code that it is refused with. What a method refuses is not.
func TestTallyCountsRefusedRequests(t *testing.T) {
	tally := new(wire.Tally)
	serve(t, func(t *testing.T, _ *fixture, h *host) {
		h.send(request(1, "ping", ""))
		h.send(request(1, "mumble", ""))
		h.send(`{"id":`, `{"id":1}`, request(1, "pong", ""), notification("pong", ""),
			"["+request(2, "pong", "")+",7,"+notification("pong", "")+"]", `{"jsonrpc":"2.0","id":1,"result":null}`)
		stats := tally.Stats()
		require.Equal(t, map[schema.Code]int64{schema.ParseError: 1, schema.InvalidRequest: 2, schema.MethodNotFound: 4}, stats.Refused)
		require.EqualValues(t, 1, stats.Responses)
	}, func(o *rpc.Options) { o.Tally = tally })
}
