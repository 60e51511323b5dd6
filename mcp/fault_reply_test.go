package mcp_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/api"
)

const helloWithForms = `"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"test","version":"1"}`

// A reply looks at its question first, and lets the changes behind it go while the person thinks. If it does so before
// its own turn has come, the person's words must still get their turn.
func TestPersonsReplyBehindASlowChangeIsApplied(t *testing.T) {
	running, release := make(chan struct{}), make(chan struct{})
	slow := func(start startFunc) startFunc {
		return func(ctx context.Context, params []byte, done func(api.Answer)) {
			close(running)
			<-release
			start(ctx, params, done)
		}
	}
	h, c := connectRaw(t, setup{methods: map[string]func(startFunc) startFunc{"queue_instruction_with_ack": slow}})
	id := h.taskThatAsks("oak or elm?")
	require.Equal(t, "0 version 2025-11-25", c.ask(inLegacy("0", "initialize", helloWithForms)))
	c.send(note("notifications/initialized", ""))
	c.send(inLegacy("1", "tools/call", tool("queue_instruction_with_ack", `"content":"x"`)))
	<-running
	c.send(inLegacy("2", "tools/call", tool("reply", fmt.Sprintf(`"task_id":%q`, id))))
	form := parse(t, c.nextAnswer())
	require.Equal(t, "elicitation/create", form.Method)
	close(release)
	require.Equal(t, "1 result", brief(t, c.nextAnswer()))
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"reply":"oak"}}}`, form.ID))
	require.Equal(t, "2 result", brief(t, c.nextAnswer()))
	require.Equal(t, "QUEUED", h.status(id))
	require.Empty(t, c.remaining())
}

// A form that is not wanted any more is taken back, and what comes back of it all the same answers nothing. It was
// remembered for ever that the host had to answer it.
func TestCancelledFormIsForgotten(t *testing.T) {
	h, c := connectRaw(t, setup{})
	id := h.taskThatAsks("oak or elm?")
	require.Equal(t, "0 version 2025-11-25", c.ask(inLegacy("0", "initialize", helloWithForms)))
	c.send(note("notifications/initialized", ""))
	c.send(inLegacy("1", "tools/call", tool("reply", fmt.Sprintf(`"task_id":%q`, id))))
	form := parse(t, c.nextAnswer())
	require.Equal(t, "elicitation/create", form.Method)
	c.send(note("notifications/cancelled", `"requestId":1`))
	taken := parse(t, c.nextAnswer())
	require.Equal(t, "notifications/cancelled", taken.Method)
	require.EqualValues(t, string(form.ID), fmt.Sprint(read(t, taken.Params)["requestId"]))
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"reply":"oak"}}}`, form.ID))
	c.requireAlive()
	require.EqualValues(t, 1, c.tally.Stats().Responses)
	require.Equal(t, "AWAITING_RESPONSE", h.status(id))
	require.Empty(t, c.remaining())
}
