package acp_test

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"waybill/acp"
)

// chained plays a conversation in which one side is the conductor of a chain.
func chained(t *testing.T, p *policy, play func(conductor *side)) {
	synctest.Test(t, func(t *testing.T) {
		p.block = make(chan struct{})
		conductor, pipe := newSide(t)
		editor, agent, read := acp.Chain(pipe, slog.New(slog.DiscardHandler))
		ended, done := make(chan error, 1), make(chan struct{})
		go func() { defer close(done); read() }() // ends when Run has ended
		go func() {                               // ends when the conductor has
			ended <- acp.Run(t.Context(), acp.Options{
				Editor: editor, Agent: agent, Policy: p, Ended: func() string { return "" },
				Logger: slog.New(slog.DiscardHandler), MaxMessageBytes: acp.ChainLimit,
			})
		}()
		play(conductor)
		require.NoError(t, conductor.conn.Close())
		require.NoError(t, <-ended)
		<-done
		require.NotContains(t, strings.Join(p.heard(), "\n"), "lost")
	})
}

func TestAProxyInAChain(t *testing.T) {
	p := &policy{due: "Run the tests.", stops: []acp.Text{{Agent: "red"}}}
	chained(t, p, func(c *side) {
		c.says(`{"jsonrpc":"2.0","id":0,"method":"proxy/initialize","params":{"protocolVersion":1}}`)
		c.hears(`{"jsonrpc":"2.0","id":"agent:0","method":"proxy/successor","params":{"method":"initialize","params":{"protocolVersion":1}}}`)
		c.says(`{"jsonrpc":"2.0","id":"agent:0","result":{"protocolVersion":1}}`)
		c.hears(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`)

		c.says(`{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`)
		c.hears(`{"jsonrpc":"2.0","id":"agent:\"p\"","method":"proxy/successor","params":{"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"Run the tests."}]}}}`)

		// The agent asks the editor, with an id that the editor has used, too.
		c.says(`{"jsonrpc":"2.0","id":0,"method":"proxy/successor","params":{"method":"fs/read_text_file","params":{"path":"/a"}}}`)
		c.hears(`{"jsonrpc":"2.0","id":"editor:0","method":"fs/read_text_file","params":{"path":"/a"}}`)
		c.says(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":0}}`)
		c.hears(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"editor:0"}}`)
		c.says(`{"jsonrpc":"2.0","id":"editor:0","error":{"code":-32800,"message":"cancelled"}}`)
		c.hears(`{"jsonrpc":"2.0","id":0,"error":{"code":-32800,"message":"cancelled"}}`)

		c.says(`{"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"session/update","params":{"sessionId":"s","update":{}}}}`)
		c.hears(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{}}}`)
		c.says(`{"jsonrpc":"2.0","method":"session/cancelled","params":{}}`)
		c.hears(`{"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"session/cancelled","params":{}}}`)

		c.says(`{"jsonrpc":"2.0","id":"agent:\"p\"","result":{"stopReason":"end_turn"}}`)
		lines := c.all()
		require.Len(t, lines, 2)
		require.Equal(t, said("waybill: the turn goes on: red"), lines[0])
		require.Contains(t, lines[1], `"method":"proxy/successor","params":{"method":"session/prompt","params":{"prompt":[{"type":"text","text":"red"}],"sessionId":"s"}}}`)
		c.says(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"p"}}`)
		c.hears(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":` + idOf(t, lines[1]) + `}}`)
		c.says(`{"jsonrpc":"2.0","id":` + idOf(t, lines[1]) + `,"result":{"stopReason":"cancelled"}}`)
		c.hears(`{"jsonrpc":"2.0","id":"p","result":{"stopReason":"cancelled"}}`)
		c.says("garbage", `{"jsonrpc":"2.0","method":"proxy/successor","params":7}`)
		c.hears()
	})
}

func TestAMessageWithoutParamsHasNoneBehindAChain(t *testing.T) {
	chained(t, &policy{}, func(c *side) {
		c.says(`{"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"_agent/none"}}`)
		c.hears(`{"jsonrpc":"2.0","method":"_agent/none"}`)
		c.says(`{"jsonrpc":"2.0","method":"_editor/none"}`)
		c.hears(`{"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"_editor/none"}}`)
	})
}

func TestAProxyWithoutAChainRefusesAnEditor(t *testing.T) {
	chained(t, &policy{}, func(c *side) {
		c.says(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
		require.Contains(t, strings.Join(c.all(), "\n"), "put -- and the agent behind it")
	})
}
