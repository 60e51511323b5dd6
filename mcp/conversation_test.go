package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/test/golden"
)

// A transcript is what a model did and was told, with names in place of what differs from one run to the next.
type transcript struct {
	t     *testing.T
	g     *sdkClient
	text  bytes.Buffer
	names map[string]string
	count map[string]int
}

func newTranscript(t *testing.T, era string, o *sdk.ClientOptions) (*harness, *transcript) {
	t.Helper()
	h := newHarness(t, setup{asleep: true})
	return h, &transcript{t: t, g: h.connect(era, o), names: map[string]string{}, count: map[string]int{}}
}

var varying = regexp.MustCompile(`\b(ins|tsk|att|run|lease)_[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\dT[0-9:.]+Z|\b(rest|since)_[a-z0-9]{6}|\b[0-9a-f]{32,64}\b|(key:|their key) [A-Z2-7]{8}\b`)

// call calls a tool and records its answer.
func (tr *transcript) call(name, arguments string, values ...any) object {
	tr.t.Helper()
	r := tr.g.call(name, arguments, values...)
	fmt.Fprintf(&tr.text, "=== %s %s\n", name, tr.captured(fmt.Sprintf(arguments, values...)))
	for i, text := range texts(r) {
		fmt.Fprintf(&tr.text, "--- block %d%s\n%s\n", i+1, map[bool]string{true: " (error)"}[r.IsError], tr.captured(text))
	}
	if r.StructuredContent == nil {
		return nil
	}
	raw, err := json.MarshalIndent(r.StructuredContent, "", "  ")
	require.NoError(tr.t, err)
	fmt.Fprintf(&tr.text, "--- structured\n%s\n", tr.captured(string(raw)))
	o := structured(tr.t, r)
	requireFact(tr.t, map[string]any(o), strings.Join(texts(r), "\n"))
	return o
}

// requireFact checks that a text has all values of an object, because hosts show a model only one of the two.
func requireFact(t *testing.T, value any, text string) {
	t.Helper()
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			require.Contains(t, text, strings.TrimSuffix(name, "_cursor"))
			requireFact(t, inner, text)
		}
	case []any:
		for _, inner := range v {
			requireFact(t, inner, text)
		}
	default:
		require.Contains(t, oneLine(text), oneLine(fmt.Sprint(v)))
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

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

func TestModelCanWorkThroughAPlan(t *testing.T) {
	h, tr := newTranscript(t, modern, nil)
	h.plan("tasks.md", clockPlan)
	tr.call("ready_items", `{}`)
	tr.call("ready_items", `{"plan":"tasks.md"}`)
	run := tr.call("init_run", `{"plan":"tasks.md","item_id":"2"}`).str("run_id")
	tr.call("compile_prompt", `{"run_id":%q,"role":"worker"}`, run)
	tr.call("ingest_output", `{"run_id":%q,"role":"worker","output":"I think that it works."}`, run)
	tr.call("ingest_output", `{"run_id":%q,"role":"worker","output":%q}`, run,
		"role: worker\ntask_id: 2\nstatus: pass\ngit_range: a1..b2\nissues: none\nfiles_changed: hands.go")
	tr.call("init_run", `{"plan":"tasks.md","item_id":"9"}`)
	golden.Equal(t, "plan.txt", tr.text.String())
}

func TestModelCanWorkOnATask(t *testing.T) {
	_, tr := newTranscript(t, modern, nil)
	tr.call("claim_task", `{}`)
	tr.call("create_task", `{"prompt":"Migrate the loans.","description":"loans"}`)
	claim := tr.call("claim_task", `{}`)
	id, token := claim.str("task_id"), claim.str("lease_token")
	tr.call("create_task", `{"prompt":"Check them.","depends_on":[%q]}`, id)
	tr.call("finish_attempt", `{"task_id":%q,"lease_token":%q,"status":"awaiting_response","output":"I looked.","question":"Keep the old column?"}`, id, token)
	tr.call("reply", `{}`)
	tr.call("reply", `{"task_id":%q}`, id)
	tr.call("reply", `{"task_id":%q,"reply":"Drop it."}`, id)
	tr.call("reply", `{"task_id":%q,"reply":"Keep it."}`, id)
	claim = tr.call("claim_task", `{"worker":"other"}`)
	tr.call("finish_attempt", `{"task_id":%q,"lease_token":%q,"status":"error","error":"429 Too Many Requests","error_class":"user"}`, id, claim.str("lease_token"))
	tr.call("finish_attempt", `{"task_id":%q,"lease_token":%q,"status":"completed"}`, id, token)
	tr.call("get_task", `{"task_id":%q}`, id)
	golden.Equal(t, "task.txt", tr.text.String())
}

func TestModelReceivesInstructions(t *testing.T) {
	_, tr := newTranscript(t, legacy, nil)
	tr.call("dispatch_instructions", `{}`)
	id := tr.call("queue_instruction_with_ack", `{"content":"Run the tests.","max_retries":1}`).str("instruction_id")
	tr.call("queue_instruction_with_ack", `{"content":"Commit.\nThen push.","max_retries":0,"priority":true}`)
	tr.call("dispatch_instructions", `{}`)
	tr.call("acknowledge", `{"instruction_id":%q}`, id)
	tr.call("acknowledge", `{"instruction_id":%q}`, id)
	tr.call("dispatch_instructions", `{}`)
	tr.call("acknowledge", `{"instruction_id":"ins_nobody"}`)
	golden.Equal(t, "instructions.txt", tr.text.String())
}

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
