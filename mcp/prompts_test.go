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
func (g *guest) prompt(name string, arguments map[string]string) string {
	g.h.t.Helper()
	r, err := g.GetPrompt(context.Background(), &sdk.GetPromptParams{Name: name, Arguments: arguments})
	require.NoError(g.h.t, err)
	require.Len(g.h.t, r.Messages, 1)
	require.Equal(g.h.t, sdk.Role("user"), r.Messages[0].Role)
	return r.Messages[0].Content.(*sdk.TextContent).Text
}

// ended fails with an error of the protocol that has this code.
func ended(t testing.TB, err error, code int64, message string) {
	t.Helper()
	var fault *jsonrpc.Error
	require.ErrorAs(t, err, &fault)
	require.Equal(t, code, fault.Code, fault.Message)
	require.Contains(t, fault.Message, message)
}

func TestTheStatusPromptSaysWhatWaitsWhatFailedAndWhatRuns(t *testing.T) {
	for _, era := range []string{legacy, modern} {
		h := build(t, plot{asleep: true})
		h.asked("oak or elm?")
		h.do("create_task", `{"prompt":"Paint it."}`)
		h.do("claim_task", `{"worker":"w"}`)
		id := h.do("queue_instruction_with_ack", `{"content":"Mind the paint.","max_retries":0}`).str("instruction_id")
		h.do("dispatch_instructions", `{}`)
		h.do("dispatch_instructions", `{}`)
		g := h.join(era, nil)
		text := g.prompt("status", nil)
		require.Contains(t, text, "question: oak or elm?")
		require.Contains(t, text, "kind: instruction.failed")
		require.Contains(t, text, "Mind the paint.")
		require.Contains(t, text, "prompt: Paint it.")
		require.NotContains(t, text, id, "a person has no use for it")
		require.Equal(t, text, g.prompt("status", nil))
	}
}

// What a prompt shows has not been delivered to anybody by that.
func TestPromptsChangeNothing(t *testing.T) {
	reads := map[string]bool{
		"get_status": true, "list_awaiting": true, "list_notices": true, "list_tasks": true, "list_plans": true, "ready_items": true, "get_plan": true,
	}
	methods := map[string]func(starter) starter{}
	for _, name := range build(t, plot{asleep: true}).table.Names() {
		if !reads[name] {
			methods[name] = func(starter) starter {
				return func(context.Context, []byte, func(api.Answer)) { panic(name + " was called") }
			}
		}
	}
	h := build(t, plot{asleep: true, methods: methods})
	h.plan("tasks.md", clockPlan)
	g := h.join(modern, nil)
	before := h.do("get_status", `{}`)["counts"]
	require.Contains(t, g.prompt("status", nil), "questions: none")
	require.Contains(t, g.prompt("next", nil), "- item_id: 2, title: Make the hands")
	require.Equal(t, before, h.do("get_status", `{}`)["counts"])
}

func TestNoticesThatAPromptShowsAreNotDelivered(t *testing.T) {
	h := build(t, plot{asleep: true})
	h.asked("oak or elm?")
	require.Contains(t, h.join(modern, nil).prompt("status", nil), "notices_open: 1")
	notice := h.do("list_notices", `{"peek":true}`)["items"].([]any)[0].(map[string]any)
	require.Equal(t, float64(0), notice["deliveries"])
}

func TestTheNextPromptKnowsTheOnlyPlan(t *testing.T) {
	h := build(t, plot{asleep: true})
	g := h.join(legacy, nil)
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

func TestAPromptThatCannotBeGivenSaysWhy(t *testing.T) {
	h := build(t, plot{asleep: true})
	g := h.join(modern, nil)
	_, err := g.GetPrompt(context.Background(), &sdk.GetPromptParams{Name: "next", Arguments: map[string]string{"plan": "nowhere.md"}})
	ended(t, err, jsonrpc.CodeInvalidParams, "nowhere.md")
	_, err = g.GetPrompt(context.Background(), &sdk.GetPromptParams{Name: "nobody"})
	ended(t, err, jsonrpc.CodeInvalidParams, "nobody")
}
