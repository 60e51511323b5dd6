package mcp_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/mcp"
)

// A buffer is an output that is read when the server has ended.
type buffer struct{ bytes.Buffer }

func (*buffer) Close() error { return nil }

// Whatever comes in, every line that goes out is a message, and the line after it is answered.
func FuzzLines(f *testing.F) {
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`, inLegacy("1", "initialize", hello), inModern("1", "server/discover", ""),
		inModern("1", "tools/call", tool("ready_items", "")), note("notifications/cancelled", `"requestId":"last"`), `[{}]`, `{"id":1,"result":{}}`,
		inModern(`"last"`, "tools/call", `"name":["x"],"arguments":null`), inModern("1", "subscriptions/listen", `"notifications":{"resourceSubscriptions":["x"]}`),
		inModern("1", "resources/read", `"uri":"waybill://runs/%zz"`), inModern("1", "prompts/get", `"name":"next","arguments":{"plan":7}`), "\xff", `{"_meta":`,
		inLegacy("1", "logging/setLevel", `"level":"loud"`), inLegacy("1", "completion/complete", ""), `{"id":"1","method":"initialize","params":null}`,
	} {
		f.Add(line + "\n")
		f.Add(inLegacy("0", "initialize", hello) + "\n" + line + "\n" + line + "\r\n")
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := inModern(`"the last"`, "tools/list", "")
		out := &buffer{}
		code, err := mcp.Serve(context.Background(), mcp.Options{
			In: io.NopCloser(strings.NewReader(text + "\n" + last)), Out: out, Table: api.NewTable(nil),
		})
		require.NoError(t, err)
		require.Zero(t, code)
		answered := false
		for line := range strings.Lines(out.String()) {
			answered = answered || strings.Contains(brief(t, line), `"the last"`)
		}
		require.True(t, answered)
	})
}
