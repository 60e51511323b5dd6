package player_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/conformance/player"
)

func TestToolsOutgoing(t *testing.T) {
	got, err := player.Tools{}.Outgoing([]byte(`{"jsonrpc":"2.0","id":"a","method":"get_task","params":{"task_id":"tsk_1"}}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"get_task","arguments":{"task_id":"tsk_1"},
		"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, string(got))
	got, err = player.Tools{}.Outgoing([]byte(`{"jsonrpc":"2.0","id":1,"method":"reply"}`))
	require.NoError(t, err)
	require.Contains(t, string(got), `"arguments":{}`)
	_, err = player.Tools{}.Outgoing([]byte(`[]`))
	require.ErrorContains(t, err, "cannot be a call of a tool")
}

func TestToolsIncoming(t *testing.T) {
	for _, row := range []struct{ name, heard, want, why string }{
		{"an answer", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a: 1"}],"structuredContent":{"a":1}}}`, `{"jsonrpc":"2.0","id":1,"result":{"a":1}}`, ""},
		{
			"an error", `{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":[{"type":"text","text":"TASK_NOT_FOUND: there is no task x. Look."}]}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":4040,"message":"there is no task x. Look.","data":{"code":"TASK_NOT_FOUND","retryable":false,"outcome":"not_applied"}}}`, "",
		},
		{"an error without a code", `{"id":1,"result":{"isError":true,"content":[{"text":"oh: no"}]}}`, "", `begins with no code: "oh: no"`},
		{"an error without a text", `{"id":1,"result":{"isError":true,"content":[]}}`, "", "has 0 texts, want 1"},
		{"an error of the protocol", `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"x"}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"x"}}`, ""},
		{"a notification", `{"jsonrpc":"2.0","method":"notifications/message"}`, "", ""},
		{"not JSON", `{`, "", `heard "{"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := player.Tools{}.Incoming([]byte(row.heard))
			if row.why != "" {
				require.ErrorContains(t, err, row.why)
				return
			}
			require.NoError(t, err)
			if row.want == "" {
				require.Nil(t, got)
				return
			}
			require.JSONEq(t, row.want, string(got))
		})
	}
}
