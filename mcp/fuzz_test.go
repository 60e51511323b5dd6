package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// Whatever a model sends, it is answered, and never with a defect.
func FuzzArguments(f *testing.F) {
	tools := []string{"acknowledge", "compile_prompt", "create_task", "finish_attempt", "get_task", "ingest_output", "init_run", "ready_items", "reply"}
	for i, arguments := range []string{
		`{}`, `{"instruction_id":"ins_1"}`, `{"run_id":"r","role":"worker","since":"since_x.1"}`, `{"prompt":"p","depends_on":["t"]}`,
		`{"task_id":"t","lease_token":"l","status":"error","error":"e","error_class":"user"}`, `{"task_id":"t","cursor":"rest_x.1.1"}`,
		`{"run_id":"r","role":"worker","output":"\u0000"}`, `{"plan":"a","item_id":"1"}`, `{"error":{"message":null}}`, `[{}]`, `{"a":1,"a":2}`,
	} {
		f.Add(i, arguments)
	}
	g := newHarness(f, setup{asleep: true}).connect(modern, nil)
	f.Fuzz(func(t *testing.T, i int, arguments string) {
		if !json.Valid([]byte(arguments)) {
			return // the transport refuses it
		}
		tool := tools[uint(i)%uint(len(tools))]
		r, err := g.CallTool(context.Background(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
		var fault *jsonrpc.Error
		if errors.As(err, &fault) {
			require.NotEqual(t, int64(jsonrpc.CodeInternalError), fault.Code, "%s %s: %v", tool, arguments, fault)
			return
		}
		require.NoError(t, err)
		require.NotEmpty(t, r.Content)
		require.Equal(t, r.IsError, r.StructuredContent == nil)
		require.LessOrEqual(t, len(strings.Join(texts(r), "")), 64<<10)
	})
}
