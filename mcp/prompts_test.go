package mcp_test

import (
	"context"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"waybill/api"
)

// prompt gets a prompt, which is one text of the user.
func (g *sdkClient) prompt(name string, arguments map[string]string) string {
	g.h.t.Helper()
	r, err := g.GetPrompt(context.Background(), &sdk.GetPromptParams{Name: name, Arguments: arguments})
	require.NoError(g.h.t, err)
	require.Len(g.h.t, r.Messages, 1)
	require.Equal(g.h.t, sdk.Role("user"), r.Messages[0].Role)
	return r.Messages[0].Content.(*sdk.TextContent).Text
}

// requireProtocolError fails with an error of the protocol that has this code.
func requireProtocolError(t testing.TB, err error, code int64, message string) {
	t.Helper()
	var fault *jsonrpc.Error
	require.ErrorAs(t, err, &fault)
	require.Equal(t, code, fault.Code, fault.Message)
	require.Contains(t, fault.Message, message)
}

func TestStatusPromptListsQuestionsFailuresAndRunningTasks(t *testing.T) {
	for _, era := range []string{legacy, modern} {
		h := newHarness(t, setup{asleep: true})
		h.taskThatAsks("oak or elm?")
		h.call("create_task", `{"prompt":"Paint it."}`)
		h.call("claim_task", `{"worker":"w"}`)
		id := h.call("queue_instruction_with_ack", `{"content":"Mind the paint.","max_retries":0}`).str("instruction_id")
		h.call("dispatch_instructions", `{}`)
		h.call("dispatch_instructions", `{}`)
		g := h.connect(era, nil)
		text := g.prompt("status", nil)
		require.Contains(t, text, "question: oak or elm?")
		require.Contains(t, text, "kind: instruction.failed")
		require.Contains(t, text, "Mind the paint.")
		require.Contains(t, text, "prompt: Paint it.")
		require.NotContains(t, text, id, "a person has no use for it")
		require.Equal(t, text, g.prompt("status", nil))
		require.Contains(t, text, "notices_open: 2")
		for _, notice := range h.call("list_notices", `{"peek":true}`)["items"].([]any) {
			require.Equal(t, float64(0), notice.(map[string]any)["deliveries"], "a notice that is shown is not delivered")
		}
	}
}

func TestPromptsChangeNothing(t *testing.T) {
	reads := map[string]bool{
		"get_status": true, "list_awaiting": true, "list_notices": true, "list_tasks": true, "list_plans": true, "ready_items": true, "get_plan": true,
	}
	methods := map[string]func(startFunc) startFunc{}
	for _, name := range newHarness(t, setup{asleep: true}).table.Names() {
		if !reads[name] {
			methods[name] = func(startFunc) startFunc {
				return func(context.Context, []byte, func(api.Answer)) { panic(name + " was called") }
			}
		}
	}
	h := newHarness(t, setup{asleep: true, methods: methods})
	h.plan("tasks.md", clockPlan)
	g := h.connect(modern, nil)
	before := h.call("get_status", `{}`)["counts"]
	require.Contains(t, g.prompt("status", nil), "questions: none")
	require.Contains(t, g.prompt("next", nil), "- item_id: 2, title: Make the hands")
	require.Equal(t, before, h.call("get_status", `{}`)["counts"])
}

func TestNextPromptUsesTheOnlyPlan(t *testing.T) {
	h := newHarness(t, setup{asleep: true})
	g := h.connect(legacy, nil)
	require.Contains(t, g.prompt("next", nil), "There is no plan")
	h.plan("tasks.md", clockPlan)
	text := g.prompt("next", nil)
	require.Contains(t, text, "plan: tasks.md")
	require.Contains(t, text, "3: depends_on 2")
	require.Contains(t, text, "init_run")
	h.plan("specs/boat/tasks.md", clockPlan)
	require.Contains(t, g.prompt("next", nil), "plans_total: 2")
	require.Contains(t, g.prompt("next", map[string]string{"plan": "specs/boat/tasks.md"}), "- item_id: 2, title: Make the hands")
}

func TestFailedPromptSaysWhy(t *testing.T) {
	h := newHarness(t, setup{asleep: true})
	g := h.connect(modern, nil)
	_, err := g.GetPrompt(context.Background(), &sdk.GetPromptParams{Name: "next", Arguments: map[string]string{"plan": "nowhere.md"}})
	requireProtocolError(t, err, jsonrpc.CodeInvalidParams, "nowhere.md")
	_, err = g.GetPrompt(context.Background(), &sdk.GetPromptParams{Name: "nobody"})
	requireProtocolError(t, err, jsonrpc.CodeInvalidParams, "nobody")
}
