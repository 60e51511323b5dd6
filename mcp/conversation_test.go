package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/test/golden"
)

// The files are what a model did and was told, with names in place of what differs from one run to the next. Both eras
// say the same. A story begins with ##### and its name, and what the person does with a form. Its steps are
//
//	=== TOOL ARGUMENTS      calls a tool
//	=== prompt NAME PARAMS  gets a prompt
//	*** METHOD PARAMS       another host calls a method; *** asks TEXT lets a task ask a person
//	??? METHOD PARAMS       the same, with its answer
//	+++ PLAN                writes a plan
func TestConversationsReadAsTheFilesSay(t *testing.T) {
	for _, file := range []string{"plan.txt", "task.txt", "instructions.txt", "forms.txt", "prompts.txt", "untrusted.txt"} {
		for _, era := range []string{legacy, modern} {
			t.Run(file+" "+era, func(t *testing.T) {
				script, err := os.ReadFile(filepath.Join("testdata", file))
				require.NoError(t, err)
				text := ""
				for story := range strings.SplitSeq(strings.TrimPrefix(string(script), "##### "), "\n##### ") {
					title, steps, _ := strings.Cut(story, "\n")
					h := newHarness(t, setup{asleep: true})
					tr := &transcript{t: t, g: h.connect(era, personIn(t, title)), names: map[string]string{}, count: map[string]int{}}
					fmt.Fprintln(&tr.text, "#####", title)
					for line := range strings.SplitSeq(steps, "\n") {
						tr.step(line)
					}
					text += tr.text.String()
				}
				golden.Equal(t, file, text)
			})
		}
	}
}

// personIn returns client options by the last words of the title of a story.
func personIn(t *testing.T, title string) *sdk.ClientOptions {
	_, does, _ := strings.Cut(title, " | ")
	switch action, reply, _ := strings.Cut(does, " "); action {
	case "":
		return nil
	case "none":
		return &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}}
	case "elsewhere":
		onlyURL := &sdk.ElicitationCapabilities{URL: &sdk.URLElicitationCapabilities{}}
		return &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{Elicitation: onlyURL}}
	default:
		return clientThat(t, action, reply)
	}
}

// A transcript is a story that is held again.
type transcript struct {
	t     *testing.T
	g     *sdkClient
	text  bytes.Buffer
	names map[string]string
	count map[string]int
}

var named = regexp.MustCompile(`\b(ins|tsk|att|run|lease|rest|since)_\d+\b`)

// step does what a line says, with the real ids for their names. Other lines were told.
func (tr *transcript) step(line string) {
	kind, step, _ := strings.Cut(line, " ")
	word, rest, _ := strings.Cut(named.ReplaceAllStringFunc(step, func(name string) string {
		for found, known := range tr.names {
			if known == name {
				return found
			}
		}
		return name
	}), " ")
	switch kind {
	case "===", "***", "???", "+++":
		fmt.Fprintln(&tr.text, line)
	}
	switch {
	case kind == "===" && word == "prompt":
		tr.prompt(rest)
	case kind == "===":
		tr.call(word, rest)
	case kind == "+++":
		tr.g.h.plan(step, clockPlan)
	case kind == "***" && word == "asks":
		text, err := strconv.Unquote(rest)
		require.NoError(tr.t, err)
		tr.captured(tr.g.h.taskThatAsks(text))
	case kind == "***", kind == "???":
		raw, err := json.Marshal(tr.g.h.call(word, "%s", rest))
		require.NoError(tr.t, err)
		if text := tr.captured(string(raw)); kind == "???" {
			fmt.Fprintln(&tr.text, text)
		}
	}
}

var varying = regexp.MustCompile(`\b(ins|tsk|att|run|lease|ntc)_[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\dT[0-9:.]+Z|\b(rest|since)_[a-z0-9]{6}|\b[0-9a-f]{32,64}\b|(key:|their key) [A-Z2-7]{8}\b`)

// call calls a tool and records its answer.
func (tr *transcript) call(name, arguments string) {
	tr.t.Helper()
	r := tr.g.call(name, "%s", arguments)
	for i, text := range texts(r) {
		fmt.Fprintf(&tr.text, "--- block %d%s\n%s\n", i+1, map[bool]string{true: " (error)"}[r.IsError], tr.captured(text))
	}
	if r.StructuredContent == nil {
		return
	}
	raw, err := json.MarshalIndent(r.StructuredContent, "", "  ")
	require.NoError(tr.t, err)
	fmt.Fprintf(&tr.text, "--- structured\n%s\n", tr.captured(string(raw)))
}

// prompt gets a prompt, which is one text of the user, or an error of the protocol.
func (tr *transcript) prompt(words string) {
	name, arguments, _ := strings.Cut(words, " ")
	var p map[string]string
	if arguments != "" {
		require.NoError(tr.t, json.Unmarshal([]byte(arguments), &p))
	}
	r, err := tr.g.GetPrompt(context.Background(), &sdk.GetPromptParams{Name: name, Arguments: p})
	var fault *jsonrpc.Error
	if errors.As(err, &fault) {
		fmt.Fprintln(&tr.text, "--- error", fault.Code, fault.Message)
		return
	}
	require.NoError(tr.t, err)
	require.Len(tr.t, r.Messages, 1)
	require.Equal(tr.t, sdk.Role("user"), r.Messages[0].Role)
	text := strings.ReplaceAll(r.Messages[0].Content.(*sdk.TextContent).Text, tr.g.h.dir, "WORKSPACE")
	fmt.Fprintln(&tr.text, tr.captured(regexp.MustCompile(`(?m)^degraded: .*\n`).ReplaceAllString(text, ""))) // of the machine
}

// captured puts names in place of what varies.
func (tr *transcript) captured(text string) string {
	return varying.ReplaceAllStringFunc(text, func(found string) string {
		if tr.names[found] == "" {
			kind, _, ok := strings.Cut(found, "_")
			switch {
			case strings.HasPrefix(found, "key: "), strings.HasPrefix(found, "their key "):
				return found[:strings.LastIndex(found, " ")] + " KEY"
			case strings.HasSuffix(found, "Z"):
				return "TIME"
			case !ok:
				kind = "hash"
			}
			tr.count[kind]++
			tr.names[found] = fmt.Sprintf("%s_%d", kind, tr.count[kind])
		}
		return tr.names[found]
	})
}

// plan writes a plan into the workspace.
func (h *harness) plan(name, text string) {
	h.t.Helper()
	path := filepath.Join(h.dir, filepath.FromSlash(name))
	require.NoError(h.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(h.t, os.WriteFile(path, []byte(text), 0o644))
}

const clockPlan = `# Clock

- [x] 1. Cut the face
- [ ] 2. Make the hands
- [ ] 3. Wind it up
  - _Depends: 2_
`

// requireProtocolError fails with an error of the protocol that has this code.
func requireProtocolError(t testing.TB, err error, code int64, message string) {
	t.Helper()
	var fault *jsonrpc.Error
	require.ErrorAs(t, err, &fault)
	require.Equal(t, code, fault.Code, fault.Message)
	require.Contains(t, fault.Message, message)
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
	for _, name := range []string{"status", "next"} {
		_, err := g.GetPrompt(context.Background(), &sdk.GetPromptParams{Name: name})
		require.NoError(t, err)
	}
	require.Equal(t, before, h.call("get_status", `{}`)["counts"])
}

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

// The form of a question with options lets the person choose, and has no room for other words where they are no answer.
func TestFormOffersTheOptions(t *testing.T) {
	for _, era := range []string{legacy, modern} {
		for closed, answer := range map[bool]map[string]any{true: {"option": "oak"}, false: {"option": "elm", "reply": "oak"}} {
			h := newHarness(t, setup{})
			h.call("create_task", `{"prompt":"plant"}`)
			claim := h.call("claim_task", `{"worker":"w"}`)["claim"].(map[string]any)
			id := claim["task"].(map[string]any)["task_id"]
			h.call("finish_attempt", `{"task_id":%q,"lease_token":%q,"status":"awaiting_response","question":"which?","options":[{"label":"oak"},{"label":"elm","detail":"tall"}],
				"default":"elm","allow_text":%v}`, id, claim["lease"].(map[string]any)["token"], !closed)
			o := &sdk.ClientOptions{ElicitationHandler: func(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
				require.Equal(t, "which?\n\nelm: tall", req.Params.Message)
				raw, err := json.Marshal(req.Params.RequestedSchema)
				require.NoError(t, err)
				properties := read(t, raw)["properties"].(map[string]any)
				option := properties["option"].(map[string]any)
				require.Equal(t, []any{"oak", "elm"}, option["enum"])
				require.Equal(t, "elm", option["default"])
				_, words := properties["reply"]
				require.Equal(t, !closed, words)
				return &sdk.ElicitResult{Action: "accept", Content: answer}, nil
			}}
			got, _ := h.connect(era, o).callTool("reply", `{"task_id":%q}`, id)
			require.Equal(t, true, got["answered"])
			require.Equal(t, "oak", h.call("get_task", `{"task_id":%q}`, id)["task"].(map[string]any)["user_option"])
		}
	}
}

func TestModelAsksWithOptions(t *testing.T) {
	h := newHarness(t, setup{})
	h.call("create_task", `{"prompt":"plant"}`)
	g := h.connect(legacy, nil)
	claim, _ := g.callTool("claim_task", `{"worker":"w"}`)
	require.Contains(t, g.callRefused("finish_attempt", `{"task_id":%q,"lease_token":%q,"status":"awaiting_response","question":"which?","options":["oak","Oak"]}`,
		claim["task_id"], claim["lease_token"]), "/options/1/label")
	g.callTool("finish_attempt", `{"task_id":%q,"lease_token":%q,"status":"awaiting_response","question":"which?","options":["oak","elm"]}`, claim["task_id"], claim["lease_token"])
	got, _ := g.callTool("reply", `{}`)
	require.Equal(t, []any{"oak", "elm"}, got["questions"].([]any)[0].(map[string]any)["options"])
}
