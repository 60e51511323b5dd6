package rpc_test

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"waybill/rpc"
	"waybill/schema"
	"waybill/wire"
)

func TestBatchIsAnsweredAsOneArray(t *testing.T) {
	ping := func(n int) string {
		members := make([]string, n)
		for i := range members {
			members[i] = request(i, "ping", "")
		}
		return "[" + strings.Join(members, ",") + "]"
	}
	for _, f := range bothFramings {
		mixed := "[" + strings.Join([]string{
			request(1, "ping", ""), `7`, notification("change", "{}"), `{"id":2}`, `{"id":5,"result":1}`,
			request(`"r"`, "find", "[1]"), request(3, "no_such", ""), request(1, "ping", ""), `{"id":4,"method":"ping","method":"x"}`,
		}, " , ") + "]"
		answers := converse(t, f, mixed,
			"["+notification("change", "")+","+notification("no_such", "")+"]",
			ping(schema.MaxBatch), ping(schema.MaxBatch+1), ping(100_000), "[ ]", "["+request(1, "ping", "")+",]", `[[]]`)
		require.Len(t, answers, 7)
		// The first has a member that is read beside the others, so it may be answered at any time.
		require.Contains(t, briefs(t, answers), `[1 {"pong":true}; null -32600 INVALID_REQUEST; 2 -32600 INVALID_REQUEST; "r" [1]; `+
			`3 -32601 METHOD_NOT_FOUND; 1 -32600 DUPLICATE_ID; 4 -32600 DUPLICATE_KEY]`)
		answers = slices.DeleteFunc(answers, func(a string) bool { return strings.Contains(a, `"r"`) })
		require.Equal(t, 100, strings.Count(answers[0], "pong"))
		require.Equal(t, []string{
			"null -32600 INVALID_BATCH", "null -32600 INVALID_BATCH", "null -32600 INVALID_BATCH",
			"null -32700 PARSE_ERROR", "[null -32600 INVALID_REQUEST]",
		}, briefs(t, answers[1:]))
	}
}

func TestUnknownMethodNamesTheNearest(t *testing.T) {
	near := func(name string) any {
		answer := converse(t, wire.Lines, request(1, name, ""))[0]
		require.Equal(t, "1 -32601 METHOD_NOT_FOUND", brief(t, answer))
		return parse(t, answer).Error.Data.Details["did_you_mean"]
	}
	require.Equal(t, []any{"ping"}, near("pnig"))
	require.Equal(t, []any{"hand_out"}, near("handOut"))
	require.Empty(t, near("rpc.no_such"))
	require.Empty(t, near(strings.Repeat("x", 1<<20)))
	require.Equal(t, []string{"1 -32600 INVALID_REQUEST", "1 -32600 INVALID_REQUEST"},
		briefs(t, converse(t, wire.Lines, request(1, "", ""), `{"id":1,"method":["ping"]}`)))
	require.Equal(t, []string{`1 {"pong":true}`}, briefs(t, converse(t, wire.Lines, request(1, "are_you_there", ""))))
}

// Params reach the method byte for byte, and it says with a pointer what is wrong with them.
func TestParamsReachTheMethodUnchanged(t *testing.T) {
	verbatim := `{"z" : 1.50, "a":[ 1e5,-0 ], "<&>":"\u003c\/", "n":12345678901234567890}`
	for _, framing := range bothFramings {
		serve(t, func(t *testing.T, f *fixture, h *host) {
			h.framing = framing
			h.send(`{"params":`+verbatim+`,"method":"change"}`, request(2, "hand_out", `{"name":7,"text":"x"}`), request(3, "hand_out", `"x"`))
			require.Equal(t, []string{"change " + verbatim}, f.startedSoFar())
			answers := h.received()
			require.Equal(t, []string{"2 -32602 INVALID_PARAMS", "3 -32602 INVALID_PARAMS"}, briefs(t, answers))
			require.Contains(t, answers[0], `"pointer":"/name"`)
		})
	}
}

// The host could not tell two answers with one id apart.
func TestIDInFlightIsRefused(t *testing.T) {
	serve(t, func(t *testing.T, f *fixture, h *host) {
		h.send(request(`"a"`, "block", ""), request(7, "wait", ""))
		for _, second := range []string{request(`"\u0061"`, "ping", ""), request(7, "ping", ""), request(7, "shutdown", ""), request(7, "no_such", "")} {
			require.Equal(t, "-32600 DUPLICATE_ID", strings.SplitN(brief(t, h.ask(second)), " ", 2)[1])
		}
		require.Equal(t, `"7" {"pong":true}`, brief(t, h.ask(request(`"7"`, "ping", ""))), "a string is not a number")
		close(f.release)
		f.answerAll()
		require.ElementsMatch(t, []string{`"a" "released"`, `7 "waited"`}, briefs(t, h.received()))
		require.Equal(t, `7 {"pong":true}`, brief(t, h.ask(request(7, "ping", ""))))
	})
}

// A notification has no answer, but it is carried out; its failure is in the log.
func TestNotificationOfAChangeIsApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		h := connect(t, f)
		h.send(notification("change", `{"n":1}`), notification("fail", ""), notification("break_change", ""),
			notification("hand_out", `{"name":"nobody hears this"}`), notification("no_such", ""))
		require.Empty(t, h.received())
		require.Equal(t, []string{`change {"n":1}`, "fail"}, f.startedSoFar())
		require.Equal(t, []string{"nobody hears this"}, f.undeliveredAnswers(), "what was handed out went nowhere")
		require.Zero(t, h.end())
		log := h.log.text()
		require.Contains(t, log, "a notification failed method=fail code=INVALID_STATE")
		require.Contains(t, log, "a notification failed method=break_change code=INTERNAL")
		require.Contains(t, log, "a notification failed method=no_such code=METHOD_NOT_FOUND")
		require.Contains(t, log, "failed_notifications=3")
	})
}

func TestPartialMessageAtEndOfInputIsRefused(t *testing.T) {
	for rest, framing := range map[string]wire.Framing{
		"{" + strings.Repeat(" ", 9<<20):                        wire.Lines,
		"Content-Length: 10000000\r\n\r\n{":                     wire.Headers,
		"Content-Length: 100000\r\n\r\n" + request(2, "pi", ""): wire.Headers,
		`{"id":2,"method":`:                                     wire.Lines,
		"Content-Length: 40\r\n\r\n{\"id\":2,\"me":              wire.Headers,
		"Content-Len": wire.Headers,
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture()
			h := connect(t, f)
			h.framing = framing
			h.send(request(1, "wait", ""))
			h.sendRaw(rest)
			require.NoError(t, h.in.Close())
			require.Len(t, h.received(), 1, "the rest is told apart from silence")
			f.answerAll()
			require.Equal(t, []string{`1 "waited"`}, briefs(t, h.received()))
			require.Zero(t, <-h.exit)
			require.Regexp(t, `WARN the input ended in the middle of a message, which is discarded bytes=\d+`, h.log.text())
		})
	}
	t.Run("a last line without end is a message", func(t *testing.T) {
		text := serveAll(t, newFixture(), io.NopCloser(strings.NewReader(request(1, "ping", ""))))
		require.Equal(t, []string{`1 {"pong":true}`}, briefs(t, unframeAll(t, wire.Lines, text)))
	})
}

// A shell pipes requests in and closes the pipe: each of them is answered, and changes start in the order of their lines.
func TestRequestsBeforeEndOfInputAreAnswered(t *testing.T) {
	const n = 5000
	for _, framing := range bothFramings {
		var in bytes.Buffer
		var changes []string
		for i := range n {
			method := []string{"ping", "change", "find"}[i%3]
			in.WriteString(framed(framing, request(i, method, fmt.Sprintf(`{"x-n":%d}`, i))))
			if method == "change" {
				in.WriteString(framed(framing, notification("change", fmt.Sprint(i))))
				changes = append(changes, fmt.Sprintf(`change {"x-n":%d}`, i), fmt.Sprint("change ", i))
			}
		}
		f := newFixture()
		seen := map[string]bool{}
		for _, a := range unframeAll(t, framing, serveAll(t, f, io.NopCloser(&in))) {
			r := parse(t, a)
			require.Nil(t, r.Error, a)
			require.False(t, seen[string(r.ID)], a)
			seen[string(r.ID)] = true
		}
		require.Len(t, seen, n)
		require.Equal(t, changes, f.startedSoFar())
	}
}

// A length that is too long swallows the beginning of the next message. Both are lost, and said to be;
// the one after them is found.
func TestWrongLengthCostsTheNextMessageToo(t *testing.T) {
	serve(t, func(t *testing.T, _ *fixture, h *host) {
		h.framing = wire.Headers
		h.sendRaw("Content-Length: 50\r\n\r\n" + request(1, "ping", "") + framed(wire.Headers, request(2, "ping", "")))
		h.sendRaw(framed(wire.Headers, request(3, "ping", "")))
		require.Equal(t, []string{"null -32700 PARSE_ERROR", `3 {"pong":true}`}, briefs(t, h.received()))
	})
}

// Framing that is set does not depend on the first byte.
func TestFramingCanBeFixed(t *testing.T) {
	for _, f := range bothFramings {
		synctest.Test(t, func(t *testing.T) {
			h := connect(t, newFixture(), func(o *rpc.Options) { o.Framing = f })
			h.framing = f
			h.sendRaw("Cannot be parsed { [ \n" + framed(f, request(1, "ping", "")))
			answers := briefs(t, h.received())
			require.Len(t, answers, 2)
			require.Equal(t, `1 {"pong":true}`, answers[1])
			require.Zero(t, h.end())
		})
	}
}
