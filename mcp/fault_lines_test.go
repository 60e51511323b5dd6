package mcp_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/mcp"
)

// connectRaw starts a harness with a plan and connects a rawClient, which can send any line.
func connectRaw(t testing.TB, p setup, change ...func(*mcp.Options)) (*harness, *rawClient) {
	t.Helper()
	p.asleep = true // the one that is called runs a server of its own
	h := newHarness(t, p)
	h.plan("tasks.md", "- [ ] 1 Cut the face\n")
	return h, h.connectRaw(change...)
}

// One bad line costs one answer and never the session. Package wire tests all that can be wrong with a message.
func TestBadLineIsRefused(t *testing.T) {
	_, c := connectRaw(t, setup{}, func(o *mcp.Options) { o.SetMaxMessageBytes(10_000) })
	good := readyItems("1")
	padded := func(n int) string { return good[:len(good)-1] + strings.Repeat(" ", n-len(good)) + "}" }
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":`:          "null -32700 PARSE_ERROR",
		`{"jsonrpc":"2.0","id":1,"method":"\ud800"}`: "null -32700 INVALID_UTF8",
		`{}`:                                  "null -32600 INVALID_REQUEST",
		`{"jsonrpc":"2.0","id":1,"method":7}`: "1 -32600 INVALID_REQUEST",
		`{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}`: "1 -32600 DUPLICATE_KEY",
		inModern(`1.5`, "tools/list", ""):                          "1.5 -32600 INVALID_REQUEST",
		padded(10_000):                                             "1 complete",
		padded(10_001):                                             "null -32600 MESSAGE_TOO_LARGE",
	} {
		require.Equal(t, want, c.ask(line), line)
		c.requireAlive()
	}
	for _, id := range []string{`0`, `9007199254740991`, `"a"`, `"1"`, `""`, `"\u0061\n"`, `"ä"`} {
		require.Equal(t, id+" complete", c.ask(inModern(id, "tools/list", "")), "it comes back byte for byte")
	}
	require.Empty(t, c.remaining())
}

// A batch is refused as a whole, once; the protocol has had none for long.
func TestBatchIsRefused(t *testing.T) {
	_, c := connectRaw(t, setup{})
	ping := inLegacy("1", "ping", "")
	for _, batch := range []string{
		"[]", "[" + ping + "]", "[" + ping + "," + note("notifications/initialized", "") + "]", "[1,2]",
		"[" + strings.Repeat(ping+",", 200) + ping + "]",
	} {
		c.send(batch)
		a := parse(t, c.nextAnswer())
		require.Equal(t, "null", string(a.ID))
		require.Equal(t, -32600, a.Error.Code)
		require.Equal(t, "INVALID_BATCH", a.Error.Data.Code)
		require.Contains(t, a.Error.Data.Hint, "line of its own")
		c.requireAlive()
	}
}

// A response to no request is dropped and counted.
func TestStrayResponsesAreDropped(t *testing.T) {
	_, c := connectRaw(t, setup{})
	stray := []string{
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`,
		`{"jsonrpc":"2.0","id":1.5,"result":null}`, `{"jsonrpc":"2.0","result":[]}`,
	}
	c.send(stray...)
	c.requireAlive()
	require.EqualValues(t, len(stray), c.tally.Stats().Responses)
}

// Notifications are never answered, whatever is in them.
func TestUnknownNotificationsAreDropped(t *testing.T) {
	_, c := connectRaw(t, setup{})
	c.send(
		note("notifications/progress", `"progressToken":1,"progress":1`),
		note("notifications/roots/list_changed", ""), note("notifications/initialized", ""), note("no/such", ""), note("tools/call", `"name":"reply"`),
	)
	c.requireAlive()
	require.Empty(t, c.remaining())
}

// The input may end in the middle of a line: what was whole before is answered, and what is cut off is told.
func TestPartialLineIsDiscarded(t *testing.T) {
	h, c := connectRaw(t, setup{})
	_, err := fmt.Fprintf(c.in, "%s\n%s", inModern("1", "tools/list", ""), `{"jsonrpc":"2.0","id":2,"meth`)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"1 complete", "null -32700 PARSE_ERROR"}, c.remaining())
	require.Contains(t, h.log.String(), "in the middle of a message")

	_, c = connectRaw(t, setup{})
	_, err = io.WriteString(c.in, inModern("1", "tools/list", ""))
	require.NoError(t, err)
	require.Equal(t, []string{"1 complete"}, c.remaining(), "the last line may lack its end")
}
