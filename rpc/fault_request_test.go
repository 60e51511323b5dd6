package rpc_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"waybill/rpc"
	"waybill/schema"
	"waybill/wire"
)

func TestLargestBatchIsAnswered(t *testing.T) {
	serve(t, func(t *testing.T, _ *fixture, h *host) {
		members := make([]string, schema.MaxBatch)
		for i := range members {
			members[i] = request(i, "ping", "")
		}
		require.Equal(t, schema.MaxBatch, strings.Count(h.ask("["+strings.Join(members, ",")+"]"), "pong"))
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
	text := serveAll(t, newFixture(), io.NopCloser(strings.NewReader(request(1, "ping", ""))))
	require.Equal(t, []string{`1 {"pong":true}`}, briefs(t, unframeAll(t, wire.Lines, text)), "a last line without end is a message")
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
		f, seen := newFixture(), map[string]bool{}
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

// Framing that is set does not depend on the first byte.
func TestFramingCanBeFixed(t *testing.T) {
	for _, f := range bothFramings {
		serve(t, func(t *testing.T, _ *fixture, h *host) {
			h.framing = f
			h.sendRaw("Cannot be parsed { [ \n" + framed(f, request(1, "ping", "")))
			answers := briefs(t, h.received())
			require.Len(t, answers, 2)
			require.Equal(t, `1 {"pong":true}`, answers[1])
		}, func(o *rpc.Options) { o.Framing = f })
	}
}
