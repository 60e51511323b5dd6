package rpc_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"waybill/rpc"
	"waybill/schema"
	"waybill/wire"
)

// Every byte of both directions is counted once, whoever writes it: the answers to few requests are written on the
// spot, those to many by the writer.
func TestTallyCountsBytes(t *testing.T) {
	for _, f := range bothFramings {
		synctest.Test(t, func(t *testing.T) {
			tally := new(wire.Tally)
			h := connect(t, newFixture(), func(o *rpc.Options) { o.Tally = tally })
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
			require.Zero(t, h.end())
		})
	}
}

// What no method gets is counted by the code that it is refused with. What a method refuses is not.
func TestTallyCountsRefusedRequests(t *testing.T) {
	for _, row := range []struct {
		name, message string
		want          map[schema.Code]int64
		responses     int64
	}{
		{"a request", request(1, "ping", ""), nil, 0},
		{"a request that its method refuses", request(1, "mumble", ""), nil, 0},
		{"no JSON", `{"id":`, map[schema.Code]int64{schema.ParseError: 1}, 0},
		{"no request", `{"id":1}`, map[schema.Code]int64{schema.InvalidRequest: 1}, 0},
		{"no method", request(1, "pong", ""), map[schema.Code]int64{schema.MethodNotFound: 1}, 0},
		{"no method for a notification", notification("pong", ""), map[schema.Code]int64{schema.MethodNotFound: 1}, 0},
		{"members of a batch", `[` + request(1, "pong", "") + `,7,` + notification("pong", "") + `]`, map[schema.Code]int64{
			schema.MethodNotFound: 2, schema.InvalidRequest: 1,
		}, 0},
		{"an answer", `{"jsonrpc":"2.0","id":1,"result":null}`, nil, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tally := new(wire.Tally)
				h := connect(t, newFixture(), func(o *rpc.Options) { o.Tally = tally })
				h.send(row.message)
				require.Zero(t, h.end())
				stats := tally.Stats()
				require.Equal(t, row.want, stats.Refused)
				require.Equal(t, row.responses, stats.Responses)
			})
		})
	}
}
