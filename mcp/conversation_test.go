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
	requireFact(tr.t, map[string]any(structured(tr.t, r)), strings.Join(texts(r), "\n"))
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
