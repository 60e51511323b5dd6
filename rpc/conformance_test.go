package rpc_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"waybill/rpc"
	"waybill/wire"
)

var bothFramings = []wire.Framing{wire.Lines, wire.Headers}

// converse sends messages to a fresh server, each in a frame of its own, and gives its answers. It
// makes sure that the session is alive afterwards.
func converse(t *testing.T, f wire.Framing, messages ...string) (answers []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := connect(t, newFixture())
		h.framing = f
		h.send(messages...)
		answers = h.hear()
		require.Equal(t, `"alive" {"pong":true}`, brief(t, h.ask(request(`"alive"`, "ping", ""))))
		require.Zero(t, h.end())
	})
	return answers
}

// What a message is worth does not depend on how it was framed. Every row is a message, or several,
// that ends or confuses a session of the library as it comes; here each gets its answer, and the
// session goes on.
func TestConformanceOfMessages(t *testing.T) {
	for _, row := range []struct {
		name     string
		messages []string
		want     []string
	}{
		{"invalid JSON", []string{`{"jsonrpc":"2.0","id":1,"method":"ping"`}, []string{"null -32700 PARSE_ERROR"}},
		{"cut after a colon", []string{`{"jsonrpc":"2.0","id":`, request(2, "ping", "")}, []string{"null -32700 PARSE_ERROR", `2 {"pong":true}`}},
		{"cut inside an array", []string{`{"id":1,"method":"echo","params":[1,`, request(2, "ping", "")}, []string{"null -32700 PARSE_ERROR", `2 {"pong":true}`}},
		{"batch", []string{`[` + request(1, "ping", "") + `,` + request(2, "echo", "[5]") + `]`}, []string{`[1 {"pong":true}; 2 [5]]`}},
		{"empty object", []string{`{}`}, []string{"null -32600 INVALID_REQUEST"}},
		{"empty array", []string{`[]`}, []string{"null -32600 INVALID_BATCH"}},
		{"number", []string{`42`}, []string{"null -32600 INVALID_REQUEST"}},
		{"null", []string{`null`}, []string{"null -32600 INVALID_REQUEST"}},
		{"string", []string{`"ping"`}, []string{"null -32600 INVALID_REQUEST"}},
		{"method and result", []string{`{"jsonrpc":"2.0","id":1,"method":"ping","result":1}`}, []string{"1 -32600 INVALID_REQUEST"}},
		{"neither method nor result", []string{`{"jsonrpc":"2.0","id":1}`}, []string{"1 -32600 INVALID_REQUEST"}},
		{"method is a number", []string{`{"jsonrpc":"2.0","id":1,"method":7}`}, []string{"1 -32600 INVALID_REQUEST"}},
		{"method is empty", []string{`{"jsonrpc":"2.0","id":"x","method":""}`}, []string{`"x" -32600 INVALID_REQUEST`}},
		{"padded with blanks", []string{request(1, "ping", "") + strings.Repeat(" ", 5000)}, []string{`1 {"pong":true}`}},
		{"exactly 512 bytes", []string{exactly(512)}, []string{"1 459"}},
		{"carriage return at the end", []string{request(1, "ping", "") + "\r"}, []string{`1 {"pong":true}`}},
		{"two values", []string{request(1, "ping", "") + request(2, "ping", "")}, []string{"null -32700 PARSE_ERROR"}},
		{"id -1", []string{request(-1, "ping", "")}, []string{"-1 -32600 INVALID_REQUEST"}},
		{"id 1.5", []string{request("1.5", "ping", "")}, []string{"1.5 -32600 INVALID_REQUEST"}},
		{"id 1.0", []string{request("1.0", "ping", "")}, []string{"1.0 -32600 INVALID_REQUEST"}},
		{"id 1e3", []string{request("1e3", "ping", "")}, []string{"1e3 -32600 INVALID_REQUEST"}},
		{"id 2^53-1", []string{request("9007199254740991", "ping", "")}, []string{`9007199254740991 {"pong":true}`}},
		{"id 2^53", []string{request("9007199254740992", "ping", "")}, []string{"9007199254740992 -32600 INVALID_REQUEST"}},
		{"id 2^64", []string{request("18446744073709551616", "ping", "")}, []string{"18446744073709551616 -32600 INVALID_REQUEST"}},
		{"id true", []string{request(true, "ping", "")}, []string{"null -32600 INVALID_REQUEST"}},
		{"id null", []string{request("null", "ping", "")}, []string{"null -32600 INVALID_REQUEST"}},
		{"jsonrpc missing", []string{`{"id":1,"method":"ping"}`}, []string{`1 {"pong":true}`}},
		{"jsonrpc 1.0", []string{`{"jsonrpc":"1.0","id":1,"method":"ping"}`}, []string{"1 -32600 INVALID_REQUEST"}},
		{"jsonrpc is a number", []string{`{"jsonrpc":2.0,"id":1,"method":"ping"}`}, []string{"1 -32600 INVALID_REQUEST"}},
		{"unknown response", []string{`{"jsonrpc":"2.0","id":99,"result":{}}`}, []string{}},
		{"error response with id null", []string{`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`}, []string{}},
		{"response without id", []string{`{"jsonrpc":"2.0","result":null}`}, []string{}},
		{"notification with unknown method", []string{notification("no_such_thing", "")}, []string{}},
		{"params are a number", []string{request(1, "ping", "7")}, []string{"1 -32602 INVALID_PARAMS"}},
		{"params are a string", []string{request(1, "ping", `"x"`)}, []string{"1 -32602 INVALID_PARAMS"}},
		{"params are null", []string{request(1, "ping", "null")}, []string{`1 {"pong":true}`}},
		{"params are an object in an array", []string{request(1, "ping", "[{}]")}, []string{`1 {"pong":true}`}},
		{"handler panics", []string{request(1, "break", "")}, []string{"1 -32603 INTERNAL"}},
		{"nested above the limit of encoding/json", []string{request(1, "echo", nested(20_000))}, []string{"1 -32600 NESTING_TOO_DEEP"}},
		{
			"a refused message, then a response",
			[]string{`{"id":1,"method":5}`, `{"id":1,"result":2}`, request(2, "ping", "")},
			[]string{"1 -32600 INVALID_REQUEST", `2 {"pong":true}`},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, f := range bothFramings {
				require.Equal(t, row.want, briefs(t, converse(t, f, row.messages...)), "framing %v", f)
			}
		})
	}
}

// exactly gives a request of n bytes that is answered with the size of its params.
func exactly(n int) string {
	empty := request(1, "measure", `""`)
	return request(1, "measure", `"`+strings.Repeat("x", n-len(empty))+`"`)
}

func nested(levels int) string {
	return strings.Repeat("[", levels) + strings.Repeat("]", levels)
}

// What is wrong with a frame is answered too, and the next frame is found.
func TestConformanceOfHeaders(t *testing.T) {
	next := framed(wire.Headers, request(2, "ping", ""))
	body := request(1, "ping", "")
	for _, row := range []struct {
		name string
		raw  string
		want []string
	}{
		{"no Content-Length", "Content-Type: text/plain\r\n\r\n" + body, []string{"null -32700 FRAMING_ERROR"}},
		{"lower case", "content-length: 40\r\n\r\n" + body, []string{`1 {"pong":true}`}},
		{"upper case", "CONTENT-LENGTH: 40\r\n\r\n" + body, []string{`1 {"pong":true}`}},
		{"no space", "Content-Length:40\r\n\r\n" + body, []string{`1 {"pong":true}`}},
		{"line feeds only", "Content-Length: 40\n\n" + body, []string{`1 {"pong":true}`}},
		{"more headers", "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 40\r\nX: y\r\n\r\n" + body, []string{`1 {"pong":true}`}},
		{"length 0", "Content-Length: 0\r\n\r\n", []string{"null -32700 FRAMING_ERROR"}},
		{"length 0 before a body", "Content-Length: 0\r\n\r\n" + body, []string{"null -32700 FRAMING_ERROR"}},
		{"length -1", "Content-Length: -1\r\n\r\n" + body, []string{"null -32700 FRAMING_ERROR"}},
		{"length in words", "Content-Length: forty\r\n\r\n" + body, []string{"null -32700 FRAMING_ERROR"}},
		{"length empty", "Content-Length:\r\n\r\n" + body, []string{"null -32700 FRAMING_ERROR"}},
		{"length above 2^32", "Content-Length: 4294967297\r\n\r\n" + body, []string{"null -32700 FRAMING_ERROR"}},
		{"length above 2^64", "Content-Length: 99999999999999999999\r\n\r\n" + body, []string{"null -32700 FRAMING_ERROR"}},
		{"two lengths", "Content-Length: 40\r\nContent-Length: 41\r\n\r\n" + body, []string{"null -32700 FRAMING_ERROR"}},
		{"twice the same length", "Content-Length: 40\r\nContent-Length: 40\r\n\r\n" + body, []string{`1 {"pong":true}`}},
		{"a line that is no header", "Content-Length: 40\r\nhello\r\n\r\n" + body, []string{"null -32700 FRAMING_ERROR"}},
		{"too many headers", "Content-Type: " + strings.Repeat("x", 9<<10) + "\r\n" + body, []string{"null -32700 FRAMING_ERROR"}},
		{"a header without end", "Content-Type: " + strings.Repeat("x", 300<<10), []string{"null -32700 FRAMING_ERROR"}},
		{"a message in a line", body + "\n", []string{"null -32700 FRAMING_ERROR"}},
		{"length too short", "Content-Length: 30\r\n\r\n" + body, []string{"null -32700 PARSE_ERROR"}},
		{"length longer than the JSON, of blanks", "Content-Length: 5040\r\n\r\n" + body + strings.Repeat(" ", 5000), []string{`1 {"pong":true}`}},
		{"the line end counted in the length", "Content-Length: 41\r\n\r\n" + body + "\n", []string{`1 {"pong":true}`}},
		{"the line end not counted in the length", "Content-Length: 40\r\n\r\n" + body + "\n", []string{`1 {"pong":true}`}},
		{"the line end counted, 512 bytes", "Content-Length: 513\r\n\r\n" + exactly(512) + "\n", []string{"1 459"}},
		{"blank body", "Content-Length: 4\r\n\r\n    ", []string{"null -32700 PARSE_ERROR"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			require.Len(t, body, 40, "the rows count on it")
			synctest.Test(t, func(t *testing.T) {
				h := connect(t, newFixture())
				h.framing = wire.Headers
				h.raw(framed(wire.Headers, request(0, "ping", "")) + row.raw + next)
				want := append([]string{`0 {"pong":true}`}, row.want...)
				require.Equal(t, append(want, `2 {"pong":true}`), briefs(t, h.hear()))
				require.Zero(t, h.end())
			})
		})
	}
}

// A length that is too long swallows the beginning of the next message. Both are lost, and said to be;
// the one after them is found.
func TestConformanceLengthIntoTheNextMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := connect(t, newFixture())
		h.framing = wire.Headers
		h.raw("Content-Length: 50\r\n\r\n" + request(1, "ping", "") + framed(wire.Headers, request(2, "ping", "")))
		h.raw(framed(wire.Headers, request(3, "ping", "")))
		require.Equal(t, []string{"null -32700 PARSE_ERROR", `3 {"pong":true}`}, briefs(t, h.hear()))
		require.Zero(t, h.end())
	})
}

func TestConformanceOfLines(t *testing.T) {
	body := request(1, "ping", "")
	for _, row := range []struct {
		name string
		raw  string
		want []string
	}{
		{"byte order mark", "\xef\xbb\xbf" + body + "\n", []string{`1 {"pong":true}`}},
		{"blank lines and CRLF", "\r\n  \n\t\n" + body + "\r\n\r\n", []string{`1 {"pong":true}`}},
		{"pretty-printed", "{\n\"id\":1,\n\"method\":\"ping\"}\n", []string{"null -32700 PARSE_ERROR", "null -32700 PARSE_ERROR", "null -32700 PARSE_ERROR"}},
		{"headers in the middle", body + "\n" + framed(wire.Headers, body) + "\n", []string{`1 {"pong":true}`, "null -32700 PARSE_ERROR", `1 {"pong":true}`}},
		{"an HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", []string{"null -32700 PARSE_ERROR", "null -32700 PARSE_ERROR"}},
		{"a second byte order mark", body + "\n\xef\xbb\xbf" + body + "\n", []string{`1 {"pong":true}`, "null -32700 PARSE_ERROR"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := connect(t, newFixture())
				h.raw(row.raw + request(2, "ping", "") + "\n")
				require.Equal(t, append(row.want, `2 {"pong":true}`), briefs(t, h.hear()))
				require.Zero(t, h.end())
			})
		})
	}
}

// Framing that is set does not depend on the first byte.
func TestFramingCanBeSet(t *testing.T) {
	for _, f := range bothFramings {
		synctest.Test(t, func(t *testing.T) {
			h := connect(t, newFixture(), func(o *rpc.Options) { o.Framing = f })
			h.framing = f
			h.raw("Cannot be parsed { [ \n" + framed(f, request(1, "ping", "")))
			answers := briefs(t, h.hear())
			require.Len(t, answers, 2)
			require.Equal(t, `1 {"pong":true}`, answers[1])
			require.Zero(t, h.end())
		})
	}
}

func TestFramingNames(t *testing.T) {
	for _, f := range []wire.Framing{wire.Auto, wire.Lines, wire.Headers} {
		got, err := wire.ParseFraming(f.String())
		require.NoError(t, err)
		require.Equal(t, f, got)
	}
	_, err := wire.ParseFraming("lines")
	require.EqualError(t, err, `framing "lines": want auto, line or header`)
	require.Equal(t, "framing(9)", wire.Framing(9).String())
}
