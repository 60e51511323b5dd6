package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/schema"
)

// failing calls a tool, which must fail with an error of the protocol.
func (g *guest) failing(name, arguments string) error {
	g.h.t.Helper()
	_, err := g.CallTool(context.Background(), &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
	require.Error(g.h.t, err)
	return err
}

func TestAToolThatIsNotThereIsTheHostsMistake(t *testing.T) {
	for _, era := range []string{legacy, modern} {
		g := build(t, plot{asleep: true}).join(era, nil)
		ended(t, g.failing("heartbeat", `{}`), jsonrpc.CodeInvalidParams, "heartbeat")
	}
}

// What a model got wrong is told to the model, with what to do about it.
func TestWrongArgumentsAreToldToTheModel(t *testing.T) {
	h := build(t, plot{asleep: true})
	g := h.join(modern, nil)
	for _, row := range []struct{ tool, arguments, code, says string }{
		{"acknowledge", `{}`, "INVALID_PARAMS", "/instruction_id is missing"},
		{"acknowledge", `{"instruction_id":7}`, "INVALID_PARAMS", "/instruction_id must be"},
		{"acknowledge", `{"instruction_id":null}`, "INVALID_PARAMS", "/instruction_id"},
		{"acknowledge", `{"instructionid":"ins_1"}`, "UNKNOWN_FIELD", "Did you mean instruction_id?"},
		{"acknowledge", `{"quite_other":1}`, "UNKNOWN_FIELD", "It takes instruction_id."},
		{"claim_task", `{"lease_ms":3600000}`, "UNKNOWN_FIELD", "lease_ms"},
		{"claim_task", `{"wait_ms":"long"}`, "INVALID_PARAMS", "/wait_ms"},
		{"claim_task", `{"wait_ms":999999}`, "INVALID_PARAMS", "/wait_ms"},
		{"claim_task", `{"cursor":3}`, "INVALID_PARAMS", "cursor must be a string"},
		{"create_task", `{"prompt":" "}`, "EMPTY_CONTENT", "/prompt"},
		{"create_task", `{"prompt":"x","depends_on":"tsk_1"}`, "INVALID_PARAMS", "/depends_on"},
		{"finish_attempt", `{"task_id":"t","lease_token":"l","status":"error","error":7}`, "INVALID_PARAMS", "/error must be"},
		{"finish_attempt", `{"task_id":"t","lease_token":"l","status":"error","error_class":"user"}`, "INVALID_PARAMS", "/error is missing"},
		{"finish_attempt", `{"task_id":"t","lease_token":"l","status":"done"}`, "INVALID_PARAMS", "completed"},
		{"get_task", `{"task_id":"tsk_nobody"}`, "TASK_NOT_FOUND", "tsk_nobody"},
		{"init_run", `{"plan":"../secret.md","item_id":"1"}`, "PATH_OUTSIDE_WORKSPACE", "secret"},
		{"get_task", `{"task_id":"t","cursor":"rest_other0.1.0"}`, "CURSOR_EXPIRED", "call without one"},
	} {
		text := g.refused(row.tool, "%s", row.arguments)
		require.True(t, strings.HasPrefix(text, row.code+": "), "%s %s: %s", row.tool, row.arguments, text)
		require.Contains(t, text, row.says, "%s %s", row.tool, row.arguments)
		require.Regexp(t, `[.?!]$`, text)
	}
}

// The SDK refuses arguments that are no object before a tool sees them, and has nobody else to tell.
func TestArgumentsThatAreNoObjectAreRefused(t *testing.T) {
	g := build(t, plot{asleep: true}).join(modern, nil)
	for _, arguments := range []string{`[]`, `"x"`, `7`} {
		require.Contains(t, g.refused("acknowledge", "%s", arguments), "INVALID_PARAMS: the arguments must be one object")
	}
	require.Contains(t, g.refused("acknowledge", `{"instruction_id":"a","instruction_id":"b"}`), "INVALID_PARAMS")
}

func TestADefectIsAnIncidentAndNoEnd(t *testing.T) {
	h := build(t, plot{asleep: true, methods: map[string]func(starter) starter{
		"get_task": func(starter) starter { return func(context.Context, []byte, func(api.Answer)) { panic("boom") } },
		"acknowledge": func(starter) starter {
			return func(_ context.Context, _ []byte, done func(api.Answer)) {
				done(api.Answer{Err: schema.NewError(schema.Internal, "something broke"), Cause: errGone})
			}
		},
	}})
	for _, era := range []string{legacy, modern} {
		g := h.join(era, nil)
		for tool, arguments := range map[string]string{"get_task": `{"task_id":"t"}`, "acknowledge": `{"instruction_id":"i"}`} {
			err := g.failing(tool, arguments)
			ended(t, err, jsonrpc.CodeInternalError, "")
			var fault *jsonrpc.Error
			require.ErrorAs(t, err, &fault)
			incident := read(t, fault.Data).str("incident")
			require.NotEmpty(t, incident)
			require.Contains(t, h.log.String(), incident)
		}
		require.Contains(t, h.log.String(), "boom")
		require.Contains(t, h.log.String(), errGone.Error())
		g.use("ready_items", `{}`)
	}
}

func TestAClientThatCanNothingIsServed(t *testing.T) {
	for _, era := range []string{legacy, modern} {
		g := build(t, plot{asleep: true}).join(era, &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}})
		_, text := g.use("ready_items", `{}`)
		require.Contains(t, text[0], "There is no plan")
		require.NotEmpty(t, g.prompt("status", nil))
	}
}

func TestTenThousandCallsLeaveNothingBehind(t *testing.T) {
	h := build(t, plot{})
	g := h.join(modern, nil)
	g.wire.stop()
	g.use("ready_items", `{}`)
	before := runtime.NumGoroutine()
	id := h.do("create_task", `{"prompt":"Paint it."}`).str("task.task_id")
	for range 10_000 {
		r, err := g.CallTool(context.Background(), &sdk.CallToolParams{Name: "get_task", Arguments: json.RawMessage(fmt.Sprintf(`{"task_id":%q}`, id))})
		require.NoError(t, err)
		require.False(t, r.IsError)
	}
	require.Less(t, runtime.NumGoroutine(), before+10)
}
