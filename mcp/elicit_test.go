package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// clientWithPerson returns client options that answer forms by a function.
func clientWithPerson(t *testing.T, answer func() (*sdk.ElicitResult, error)) *sdk.ClientOptions {
	return &sdk.ClientOptions{ElicitationHandler: func(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		lintForm(t, req.Params)
		return answer()
	}}
}

// clientThat returns client options whose person does something with each form.
func clientThat(t *testing.T, action, reply string) *sdk.ClientOptions {
	return clientWithPerson(t, func() (*sdk.ElicitResult, error) {
		return &sdk.ElicitResult{Action: action, Content: map[string]any{"reply": reply}}, nil
	})
}

// lintForm keeps a form to what every host can show: the question, and an object of plain properties.
func lintForm(t *testing.T, form *sdk.ElicitParams) {
	t.Helper()
	require.Equal(t, "form oak or elm?", form.Mode+" "+form.Message)
	raw, err := json.Marshal(form.RequestedSchema)
	require.NoError(t, err)
	s := read(t, raw)
	require.Equal(t, "object", s["type"])
	for name, each := range s["properties"].(map[string]any) {
		require.Equal(t, "string", each.(map[string]any)["type"], name)
	}
	require.Equal(t, []any{"reply"}, s["required"])
}

func TestFailedFormLetsTheModelAsk(t *testing.T) {
	h := newHarness(t, setup{asleep: true})
	id := h.taskThatAsks("oak or elm?")
	o := clientWithPerson(t, func() (*sdk.ElicitResult, error) { return nil, errors.New("no window to show it in") })
	got, text := h.connect(legacy, o).callTool("reply", `{"task_id":%q}`, id)
	require.Equal(t, false, got["answered"])
	require.Contains(t, got["host_said"], "no window")
	require.Contains(t, text[0], "Ask the user")
}

// The call must not wait forever for an unanswered form.
func TestUnansweredFormLetsTheModelAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, setup{asleep: true})
		id := h.taskThatAsks("oak or elm?")
		taken := make(chan struct{})
		g := h.connect(legacy, &sdk.ClientOptions{ElicitationHandler: func(ctx context.Context, _ *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			defer close(taken)
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		began := time.Now()
		got, text := g.callTool("reply", `{"task_id":%q}`, id)
		require.Equal(t, time.Hour, time.Since(began))
		<-taken
		require.Equal(t, false, got["answered"])
		require.Equal(t, "oak or elm?", got["question"])
		require.Equal(t, "the form was open for too long", got["host_said"])
		require.Contains(t, text[0], "Ask the user, then call reply")
		got, _ = g.callTool("reply", `{"task_id":%q,"attempt_id":%q,"reply":"oak"}`, id, got["attempt_id"])
		require.Equal(t, true, got["answered"])
	})
}

// While a form is open, the task may be answered elsewhere and ask something new. What the person wrote was meant for
// the older question.
func TestReplyDoesNotReachANewerQuestion(t *testing.T) {
	for _, era := range []string{legacy, modern} {
		h := newHarness(t, setup{asleep: true})
		id := h.taskThatAsks("oak or elm?")
		o := clientWithPerson(t, func() (*sdk.ElicitResult, error) {
			h.call("reply", `{"task_id":%q,"reply":"elm"}`, id)
			claim := h.call("claim_task", `{"worker":"w"}`)
			h.call("finish_attempt", `{"task_id":%q,"lease_token":%q,"status":"awaiting_response","question":"Sink it?"}`, id, claim.str("claim.lease.token"))
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"reply": "yes, oak"}}, nil
		})
		require.Contains(t, h.connect(era, o).callRefused("reply", `{"task_id":%q}`, id), "ALREADY_RESOLVED")
		require.Equal(t, "Sink it?", h.call("get_task", `{"task_id":%q}`, id).str("task.question"))
	}
}

// The host carries what ties the form to its question. It may bring back anything.
func TestFormWithForeignStateIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, setup{asleep: true})
		first, second := h.taskThatAsks("oak or elm?"), h.taskThatAsks("brass or steel?")
		o := clientThat(t, "accept", "oak")
		o.MultiRoundTrip = &sdk.MultiRoundTripOptions{Disabled: true}
		g := h.connect(modern, o)
		r := g.call("reply", `{"task_id":%q}`, first)
		require.True(t, r.NeedsInput())
		require.Len(t, r.InputRequests, 1)
		forged := []byte(r.RequestState)
		forged[len(forged)/2] ^= 1
		bring := func(id, state string, answer *sdk.ElicitResult) string {
			p := &sdk.CallToolParams{Name: "reply", Arguments: json.RawMessage(fmt.Sprintf(`{"task_id":%q}`, id)), RequestState: state}
			if answer != nil {
				p.InputResponses = sdk.InputResponseMap{"answer": answer}
			}
			r, err := g.CallTool(context.Background(), p)
			require.NoError(t, err)
			return texts(r)[0]
		}
		accepted := &sdk.ElicitResult{Action: "accept", Content: map[string]any{"reply": "oak"}}
		require.Contains(t, bring(first, string(forged), accepted), "INVALID_PARAMS: this process did not issue requestState")
		require.Contains(t, bring(first, "", accepted), "INVALID_PARAMS: this process did not issue requestState")
		require.Contains(t, bring(second, r.RequestState, accepted), "ALREADY_RESOLVED")
		require.Contains(t, bring(first, r.RequestState, nil), "INVALID_PARAMS: inputResponses has no answer")
		time.Sleep(time.Hour + time.Second)
		require.Contains(t, bring(first, r.RequestState, accepted), "INVALID_PARAMS: the form was open for too long")
		r = g.call("reply", `{"task_id":%q}`, first)
		require.Contains(t, bring(first, r.RequestState, accepted), "answered: true")
		require.Contains(t, bring(first, r.RequestState, accepted), "INVALID_STATE")
		require.Equal(t, "AWAITING_RESPONSE", h.call("get_task", `{"task_id":%q}`, second).str("task.status"))
	})
}

func TestQuestionsAreListedByPages(t *testing.T) {
	h := newHarness(t, setup{asleep: true})
	g := h.connect(modern, nil)
	for i := range 12 {
		h.taskThatAsks(fmt.Sprintf("plank %d?", i))
	}
	page, text := g.callTool("reply", `{}`)
	require.Len(t, page["questions"], 10)
	require.Contains(t, text[0], "plank 0?")
	page, text = g.callTool("reply", `{"cursor":%q}`, page["next_cursor"])
	require.Len(t, page["questions"], 2)
	require.Contains(t, text[0], "plank 11?")
	require.NotContains(t, page, "next_cursor")
}
