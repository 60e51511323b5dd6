package mcp_test

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/mcp"
)

// wired is a house with a plan, and a call to it. Whoever is on the other end speaks as it likes.
func wired(t testing.TB, p plot, change ...func(*mcp.Options)) (*house, *caller) {
	t.Helper()
	p.asleep = true // the one that is called runs a server of its own
	h := build(t, p)
	h.plan("tasks.md", "- [ ] 1 Cut the face\n")
	return h, h.call(change...)
}

// One bad line costs one answer and never the session.
func TestFaultBadLine(t *testing.T) {
	_, c := wired(t, plot{})
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":`: "null -32700 PARSE_ERROR",
		`hello`:                             "null -32700 PARSE_ERROR",
		`{} {}`:                             "null -32700 PARSE_ERROR",
		`Content-Length: 20`:                "null -32700 PARSE_ERROR",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xff\"}": "null -32700 INVALID_UTF8",
		`{"jsonrpc":"2.0","id":1,"method":"\ud800"}`:          "null -32700 INVALID_UTF8",
		`42`: "null -32600 INVALID_REQUEST",
		`{}`: "null -32600 INVALID_REQUEST",
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`:                 "1 -32600 INVALID_REQUEST",
		`{"jsonrpc":"2.0","id":1,"method":7}`:                      "1 -32600 INVALID_REQUEST",
		`{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`:     "1 -32600 INVALID_REQUEST",
		`{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}`: "1 -32600 DUPLICATE_KEY",
	} {
		require.Equal(t, want, c.ask(line), line)
		c.lives()
	}
	require.Empty(t, c.rest())
}

// A batch is refused as a whole, once; the protocol has had none for long.
func TestFaultBatch(t *testing.T) {
	_, c := wired(t, plot{})
	ping := inLegacy("1", "ping", "")
	for _, batch := range []string{
		"[]", "[" + ping + "]", "[" + ping + "," + note("notifications/initialized", "") + "]", "[1,2]",
		"[" + strings.Repeat(ping+",", 200) + ping + "]",
	} {
		c.send(batch)
		a := parse(t, c.hear())
		require.Equal(t, "null", string(a.ID))
		require.Equal(t, -32600, a.Error.Code)
		require.Equal(t, "INVALID_BATCH", a.Error.Data.Code)
		require.Contains(t, a.Error.Data.Hint, "line of its own")
		c.lives()
	}
}

// A line that is too long is read past in constant memory.
func TestFaultOversizedLine(t *testing.T) {
	_, c := wired(t, plot{}, func(o *mcp.Options) { o.SetMaxMessageBytes(1 << 20) })
	const size = 64 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	sent := make(chan error, 1)
	go func() { // ends when all of it was read
		_, err := io.Copy(c.in, io.MultiReader(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`), io.LimitReader(endless{}, size), strings.NewReader("\n")))
		sent <- err
	}()
	require.Equal(t, "null -32600 MESSAGE_TOO_LARGE", brief(t, c.hear()))
	require.NoError(t, <-sent)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20), "the line has 64 MiB, and up to 1 MiB was believed")
	c.lives()
}

// endless is a stream of one letter.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// A message of the size that is allowed gets through, and one byte more does not.
func TestFaultLineAtTheLimit(t *testing.T) {
	_, c := wired(t, plot{}, func(o *mcp.Options) { o.SetMaxMessageBytes(10_000) })
	request := inModern("1", "tools/call", tool("ready_items", `"plan":"tasks.md"`))
	padded := func(n int) string { return request[:len(request)-1] + strings.Repeat(" ", n-len(request)) + "}" }
	require.Equal(t, "1 complete", c.ask(padded(10_000)))
	require.Equal(t, "null -32600 MESSAGE_TOO_LARGE", c.ask(padded(10_001)))
	c.lives()
}

func TestFaultNestedTooDeep(t *testing.T) {
	_, c := wired(t, plot{})
	for _, depth := range []int{200, 20_000, 1_000_000} {
		nested := strings.Repeat("[", depth) + strings.Repeat("]", depth)
		require.Equal(t, "1 -32600 NESTING_TOO_DEEP", c.ask(inModern("1", "tools/call", tool("ready_items", `"plan":`+nested))))
		c.lives()
	}
}

// What is no id of the protocol is refused with the id as it was sent, and never answered with another.
func TestFaultIDs(t *testing.T) {
	_, c := wired(t, plot{})
	for id, want := range map[string]string{
		`1.5`: "1.5", `1.0`: "1.0", `1e3`: "1e3", `-1`: "-1", `9007199254740992`: "9007199254740992", `18446744073709551616`: "18446744073709551616",
		`null`: "null", `true`: "null", `{}`: "null", `[1]`: "null",
	} {
		require.Equal(t, want+" -32600 INVALID_REQUEST", c.ask(inModern(id, "tools/list", "")), id)
		c.lives()
	}
	for _, id := range []string{`0`, `9007199254740991`, `"a"`, `"1"`, `""`, `"\u0061\n"`, `"ä"`} {
		require.Equal(t, id+" complete", c.ask(inModern(id, "tools/list", "")), "it comes back byte for byte")
	}
}

// What a host says that answers nothing is dropped, and counted.
func TestFaultStrayResponses(t *testing.T) {
	_, c := wired(t, plot{})
	stray := []string{
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`,
		`{"jsonrpc":"2.0","id":1.5,"result":null}`, `{"jsonrpc":"2.0","result":[]}`,
	}
	c.send(stray...)
	c.lives()
	require.EqualValues(t, len(stray), c.tally.Stats().Responses)
}

// Notifications are never answered, whatever is in them.
func TestFaultNotifications(t *testing.T) {
	_, c := wired(t, plot{})
	c.send(
		note("notifications/cancelled", ""), note("notifications/cancelled", `"requestId":1.5`), note("notifications/cancelled", `"requestId":{}`),
		note("notifications/cancelled", `"requestId":"nobody"`), note("notifications/progress", `"progressToken":1,"progress":1`),
		note("notifications/roots/list_changed", ""), note("notifications/initialized", ""), note("no/such", ""), note("tools/call", `"name":"reply"`),
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}`,
	)
	c.lives()
	require.Empty(t, c.rest())
}

// The input may end in the middle of a line: what was whole before is answered, and what is cut off is told.
func TestFaultCutLine(t *testing.T) {
	h, c := wired(t, plot{})
	_, err := fmt.Fprintf(c.in, "%s\n%s", inModern("1", "tools/list", ""), `{"jsonrpc":"2.0","id":2,"meth`)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"1 complete", "null -32700 PARSE_ERROR"}, c.rest())
	require.Contains(t, h.log.String(), "in the middle of a message")

	_, c = wired(t, plot{})
	_, err = io.WriteString(c.in, inModern("1", "tools/list", ""))
	require.NoError(t, err)
	require.Equal(t, []string{"1 complete"}, c.rest(), "the last line may lack its end")
}
