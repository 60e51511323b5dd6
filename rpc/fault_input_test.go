package rpc_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"waybill/rpc"
	"waybill/schema"
	"waybill/wire"
)

// A line or a body that is not JSON must not end the session.
func TestFaultR1_MalformedMessageIsAnsweredAndSkipped(t *testing.T) {
	for _, f := range bothFramings {
		for _, bad := range []string{
			`{`, `}`, `{"id":1,}`, `[1,2`, `nul`, `"open`, `{"a":01}`, `{"a":+1}`, `{'a':1}`, "{\"a\":\"\t\"}", `{"a":"\x"}`, `{"a":1} x`,
			`-`, `[-]`, `[1.]`, `[1e]`, `[1e+]`, `[.5]`, `["\u12g4"]`, `[tru]`, `{"a" 1}`, `{"a":1 "b":2}`, `{1:2}`, `[1 2]`, nested(130)[:200] + `"`,
		} {
			answers := converse(t, f, request(1, "ping", ""), bad, request(2, "ping", ""))
			require.Equal(t, []string{`1 {"pong":true}`, "null -32700 PARSE_ERROR", `2 {"pong":true}`}, briefs(t, answers), "%v: %s", f, bad)
			require.Contains(t, parse(t, answers[1]).Error.Message, "byte")
		}
	}
}

// Hosts frame as they like: the first byte tells, and the answers are framed in the same way.
func TestFaultR2_FramingIsTakenFromTheFirstByte(t *testing.T) {
	for _, f := range bothFramings {
		require.Equal(t, []string{`1 {"pong":true}`}, briefs(t, converse(t, f, request(1, "ping", ""))))
	}
	synctest.Test(t, func(t *testing.T) {
		h := connect(t, newFixture())
		h.framing = wire.Headers
		h.raw("content-length:40\n\n" + request(1, "ping", ""))
		require.Equal(t, `1 {"pong":true}`, brief(t, h.hear()[0]))
		require.Zero(t, h.end())
	})
}

// A Content-Length is a claim of the host. It must not make the server allocate, hang, or lose the
// next message.
func TestFaultR3_ContentLengthIsNotBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := connect(t, newFixture())
		h.framing = wire.Headers
		var before, after runtime.MemStats
		h.ask(request(1, "ping", ""))
		runtime.ReadMemStats(&before)
		h.raw(fmt.Sprintf("Content-Length: %d\r\n\r\n{", schema.MaxMessageBytes))
		synctest.Wait()
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), "the claim is not allocated")
		require.NoError(t, h.in.Close())
		require.Equal(t, []string{"null -32700 FRAMING_ERROR"}, briefs(t, h.hear()))
		require.Zero(t, <-h.exit)
		require.Contains(t, h.log.text(), "bytes=1")
	})
}

// A message over the limit is skipped; one at the limit is served.
func TestFaultR4_OversizeMessageIsSkipped(t *testing.T) {
	for _, f := range bothFramings {
		at, over := exactly(schema.MaxMessageBytes), exactly(schema.MaxMessageBytes+1)
		answers := converse(t, f, at, over, request(2, "ping", ""))
		require.Equal(t, []string{"1 8388555", "null -32600 MESSAGE_TOO_LARGE", `2 {"pong":true}`}, briefs(t, answers))
		require.EqualValues(t, schema.MaxMessageBytes, parse(t, answers[1]).Error.Data.Details["limit"])
	}
	synctest.Test(t, func(t *testing.T) {
		h := connect(t, newFixture(), func(o *rpc.Options) { o.SetMaxMessageBytes(100) })
		require.Equal(t, "1 47", brief(t, h.ask(exactly(100))))
		require.Equal(t, "null -32600 MESSAGE_TOO_LARGE", brief(t, h.ask(exactly(101))))
		require.Equal(t, "null -32600 MESSAGE_TOO_LARGE", brief(t, h.ask(exactly(100_000))))
		require.Equal(t, "1 47", brief(t, h.ask(exactly(100))))
		require.Zero(t, h.end())
	})
}

// A flood is a stream of n bytes that are never one message: one line without end, or the body behind
// a header, before one proper request. It remembers the largest heap that it saw.
type flood struct {
	head, tail []byte
	n          int64
	filled     *byte
	peak       uint64
	told       int64
}

func (f *flood) Read(p []byte) (int, error) {
	if len(f.head) > 0 {
		n := copy(p, f.head)
		f.head = f.head[n:]
		return n, nil
	}
	if f.n == 0 {
		n := copy(p, f.tail)
		if f.tail = f.tail[n:]; n == 0 {
			return 0, io.EOF
		}
		return n, nil
	}
	n := int(min(f.n, int64(len(p))))
	if f.filled != &p[0] { // or the same text is in the same place already
		for i := copy(p, "[[[[{{{{\"\"\"\"0123"); i < len(p); i *= 2 {
			copy(p[i:], p[:i])
		}
		f.filled = &p[0]
	}
	if f.n -= int64(n); f.told-f.n > 64<<20 || f.told == 0 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		f.peak, f.told = max(f.peak, m.HeapInuse+m.StackInuse), f.n
	}
	return n, nil
}

func (f *flood) Close() error { return nil }

// serveAll serves everything that is in in, and gives all that was answered.
func serveAll(t testing.TB, f *fixture, in io.ReadCloser, change ...func(*rpc.Options)) string {
	t.Helper()
	out := &sink{}
	o := rpc.Options{In: in, Out: out, Table: f.table()}
	for _, c := range change {
		c(&o)
	}
	code, err := rpc.Serve(t.Context(), o)
	require.NoError(t, err)
	require.Zero(t, code)
	return out.String()
}

// A sink is an output that always takes everything.
type sink struct{ bytes.Buffer }

func (*sink) Close() error { return nil }

// An endless message must not cost more memory than the limit.
func TestFaultR4_EndlessMessageCostsNoMemory(t *testing.T) {
	const size = 2 << 30
	for _, row := range []struct {
		framing wire.Framing
		head    string
		tail    string
		want    []string
	}{
		{wire.Lines, "{", "\n" + framed(wire.Lines, request(1, "ping", "")), []string{"null -32600 MESSAGE_TOO_LARGE", `1 {"pong":true}`}},
		{wire.Headers, fmt.Sprintf("Content-Length: %d\r\n\r\n", size), framed(wire.Headers, request(1, "ping", "")), []string{"null -32600 MESSAGE_TOO_LARGE", `1 {"pong":true}`}},
		{wire.Headers, "Content-Type: ", framed(wire.Headers, request(1, "ping", "")), []string{"null -32700 FRAMING_ERROR", `1 {"pong":true}`}},
	} {
		runtime.GC()
		var before runtime.MemStats
		runtime.ReadMemStats(&before)
		in := &flood{head: []byte(row.head), tail: []byte(row.tail), n: size}
		text := serveAll(t, newFixture(), in)
		require.Equal(t, row.want, briefs(t, split(t, row.framing, text)))
		require.Less(t, in.peak, before.HeapInuse+before.StackInuse+64<<20, "%v %q", row.framing, row.head)
	}
}

func TestFaultR5_DeepNestingIsRefusedWithItsID(t *testing.T) {
	for _, f := range bothFramings {
		deepest := nested(schema.MaxDepth - 1) // the message is a level too
		answers := converse(t, f,
			request(1, "echo", deepest),
			request(2, "echo", nested(schema.MaxDepth)),
			`{"method":"echo","params":`+nested(1_000_000)+`,"id":3}`,
			`{"method":"echo","params":`+strings.Repeat(`{"a":`, 200)+`"]}\""`+strings.Repeat("}", 200)+`,"id":4}`,
			strings.Repeat("[", 20_000),
			nested(129))
		require.Equal(t, "1 "+deepest, brief(t, answers[0]))
		require.Equal(t, []string{
			"2 -32600 NESTING_TOO_DEEP", "3 -32600 NESTING_TOO_DEEP", "4 -32600 NESTING_TOO_DEEP",
			"null -32700 PARSE_ERROR", "[null -32600 INVALID_REQUEST]",
		}, briefs(t, answers[1:]))
	}
}

// If a member occurs twice, two readers may see two different messages.
func TestFaultR6_DuplicateKeysAreRefused(t *testing.T) {
	many := `{"k0":0`
	for i := range 5000 {
		many += fmt.Sprintf(`,"k%d":0`, i+1)
	}
	for message, want := range map[string]string{
		`{"id":1,"id":1,"method":"ping"}`:                                      "null -32600 DUPLICATE_KEY",
		`{"id":1,"method":"ping","method":"ping"}`:                             "1 -32600 DUPLICATE_KEY",
		`{"id":1,"method":"echo","params":{"a":1,"b":{"c":1,"c":2}}}`:          "1 -32600 DUPLICATE_KEY",
		`{"method":"echo","params":[{"a":1,"\u0061":1}],"id":"x"}`:             `"x" -32600 DUPLICATE_KEY`,
		`{"id":1,"method":"echo","params":` + many + `}}`:                      "1 " + many + "}",
		`{"id":1,"method":"echo","params":` + many + `,"k3":1}}`:               "1 -32600 DUPLICATE_KEY",
		`{"id":1,"method":"echo","params":` + many + `,"k5000":1}}`:            "1 -32600 DUPLICATE_KEY",
		`{"id":1,"method":"echo","params":` + many + `,"k5001":{"k0":0}}}`:     "1 " + many + `,"k5001":{"k0":0}}`,
		`{"id":1,"method":"echo","params":[{"a":1},{"a":2}]}`:                  `1 [{"a":1},{"a":2}]`,
		`{"id":1,"method":"echo","params":{"a":{"b":1},"b":{"a":1}}}`:          `1 {"a":{"b":1},"b":{"a":1}}`,
		`{"id":1,"method":"echo","params":{"a":1,"A":2,"":3," ":4,"a ":5}}`:    `1 {"a":1,"A":2,"":3," ":4,"a ":5}`,
		`{"id":1,"method":"echo","params":{"":1,"":2}}`:                        "1 -32600 DUPLICATE_KEY",
		`{"id":1,"method":"echo","params":{"a":1,"a":2}`:                       "null -32700 PARSE_ERROR",
		`{"id":1,"method":"echo","params":{"\ud83d\ude00":1,"` + "😀" + `":2}}`: "1 -32600 DUPLICATE_KEY",
	} {
		require.Equal(t, []string{want}, briefs(t, converse(t, wire.Lines, message)), message)
	}
}

func TestFaultR7_NamesCountToTheLetter(t *testing.T) {
	for message, want := range map[string]string{
		`{"id":1,"Method":"ping"}`:                   "1 -32600 INVALID_REQUEST",
		`{"ID":1,"method":"ping"}`:                   "null -32600 INVALID_REQUEST",
		`{"id":1,"method":"ping","PARAMS":{}}`:       "1 -32600 INVALID_REQUEST",
		`{"id":1,"method":"ping","JsonRPC":"2.0"}`:   "1 -32600 INVALID_REQUEST",
		`{"id":1,"\u006dethod":"ping"}`:              `1 {"pong":true}`,
		`{"id":1,"method":"p\u0069ng"}`:              `1 {"pong":true}`,
		`{"id":1,"method":"Ping"}`:                   "1 -32601 METHOD_NOT_FOUND",
		`{"id":1,"method":"ping","meta":{"x":1}}`:    `1 {"pong":true}`,
		request(1, "ping", `{"_meta":{}}`):           `1 {"pong":true}`,
		request(1, "ping", `{"x-trace":"abc"}`):      `1 {"pong":true}`,
		request(1, "ping", `{"pong":true}`):          "1 -32602 UNKNOWN_FIELD",
		`{"id":1,"method":"ping","something":[1,2]}`: `1 {"pong":true}`,
	} {
		require.Equal(t, []string{want}, briefs(t, converse(t, wire.Lines, message)), message)
	}
}

// What is not text must be refused, not replaced: the host would find other words than it sent.
func TestFaultR8_InvalidTextIsRefused(t *testing.T) {
	for _, f := range bothFramings {
		for _, bad := range []string{"\xff", "\xc0\xaf", "\xed\xa0\x80", "abc\xe2\x82", `\ud800`, `\udc00`, `\ud800\ud800`, `\ud800x`, `\ud800\n`, `\udbff\u0041`} {
			answers := converse(t, f, request(1, "echo", `{"text":"`+bad+`"}`), request(2, "echo", `{"`+bad+`":1}`))
			require.Equal(t, []string{"null -32700 INVALID_UTF8", "null -32700 INVALID_UTF8"}, briefs(t, answers), "%q", bad)
		}
		for _, good := range []string{"ü€😀", `\ud83d\ude00`, `\u0000`, "\u2028", `\uffff`, "\ufffd"} {
			answers := briefs(t, converse(t, f, request(1, "echo", `"`+good+`"`)))
			require.JSONEq(t, `"`+good+`"`, strings.TrimPrefix(answers[0], "1 "))
		}
	}
	require.Equal(t, []string{`"a\u0000" -32600 INVALID_REQUEST`}, briefs(t, converse(t, wire.Lines, request(`"a\u0000"`, "ping", ""))))
}

func TestFaultR9_UTF16IsToldApart(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, mark := range []string{"\ufeff", ""} {
			synctest.Test(t, func(t *testing.T) {
				h := connect(t, newFixture())
				for _, unit := range utf16.Encode([]rune(mark + request(1, "ping", "") + "\n")) {
					h.raw(string(order.AppendUint16(nil, unit)))
				}
				h.raw("\n" + request(2, "ping", "") + "\n")
				answers := h.hear()
				require.Equal(t, "null -32700 PARSE_ERROR", brief(t, answers[0]))
				require.Contains(t, parse(t, answers[0]).Error.Data.Hint, "UTF-16")
				require.Equal(t, `2 {"pong":true}`, brief(t, answers[len(answers)-1]))
				require.Zero(t, h.end())
			})
		}
	}
}

// split takes everything that was written apart.
func split(t testing.TB, f wire.Framing, text string) (messages []string) {
	t.Helper()
	for _, m := range unframeAll(t, f, text) {
		require.True(t, json.Valid([]byte(m)), m)
		messages = append(messages, m)
	}
	return messages
}
