package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"waybill/internal/safetext"
)

// fields are the names of the fields in the events of a host, in the order in which they are looked for.
type fields struct {
	event, session, agent    []string
	tool, input, output, use []string
	failure                  []string
	held                     []string // a boolean: this stop was held before
	loops                    []string // a number: how often this stop was held
	folders                  []string // a list: the folders of the workspace
	status                   []string // how the turn of the agent ended
}

// usual are the names that Claude Code introduced and most hosts took over.
var usual = fields{
	event: []string{"hook_event_name"}, session: []string{"session_id"}, agent: []string{"agent_id"},
	tool: []string{"tool_name"}, input: []string{"tool_input"}, output: []string{"tool_response"}, use: []string{"tool_use_id"},
	failure: []string{"error"}, held: []string{"stop_hook_active"},
}

// An Input is one event as a host sent it, in the words of all hosts.
type Input struct {
	Event
	Host    string // the name of the host that sent it: several hosts may run one hook
	Session string // the id of the session; "" if the host sent none
	Agent   string // the id of the subagent in which it happened; "" for the main agent
	Source  string // of a session start: why the session starts
	Folder  string // the workspace, where the host names it; else ""
	// Held counts the earlier holds of this stop, or is -1 if the host does not say.
	Held int

	// PromptTakesContext reports whether the model sees a text that a hook returns before a prompt.
	PromptTakesContext bool

	Tool     string
	Use      string         // the id of the tool call; "" if the host has none
	Question string         // of the agent to the person, on one line
	Asks     []Ask          // the questions in it, each with its options
	Data     map[string]any // of a tool call, as it is reported
}

// ErrUnknownEvent says that the host sent an event that no hook is for.
var ErrUnknownEvent = errors.New("no event that waybill has a hook for")

// Bounds of what is reported about a tool call.
const (
	maxText    = 4096 // characters
	maxMembers = 100
	maxDepth   = 8
	maxData    = 200_000 // bytes

	// maxQuestion bounds the characters of a question in a notice.
	maxQuestion = 300
)

// IsID reports whether a text can be the name of a session. It is no regular expression: to compile that takes longer than all
// else in this package.
func IsID(text string) bool {
	return text != "" && len(text) <= 128 && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._:-", r)
	})
}

// Read reads an event that the host sent as JSON. The error is one sentence, and the input then names the host all the same.
func (h Host) Read(text []byte) (in Input, err error) {
	in.Host = h.Name
	var value any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // a long number keeps its digits
	if err := decoder.Decode(&value); err != nil {
		return in, fmt.Errorf("the event is not JSON: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return in, errors.New("the event is more than one JSON value")
	}
	event, ok := value.(map[string]any)
	if !ok {
		return in, errors.New("the event is not a JSON object")
	}
	editor := h.editor != nil && h.editor(event)
	if editor {
		in.Host = "vscode"
	}
	name, ok := pick(event, h.fields.event).(string)
	if !ok {
		return in, fmt.Errorf("the event has no %s: %w", h.fields.event[0], ErrUnknownEvent)
	}
	row, ok := h.Event(name)
	if !ok {
		return in, fmt.Errorf("%s of %s is %w", safetext.Quote(name, 80), in.Host, ErrUnknownEvent)
	}
	in = Input{Event: row, Host: in.Host, Source: str(event["source"]), Held: -1, PromptTakesContext: editor || h.promptTakesContext()}
	if in.Kind == Prompt {
		in.Context = in.PromptTakesContext
	}
	if in.Session, err = sessionID(event, h.fields.session); err != nil {
		return in, err
	}
	if in.Agent, err = sessionID(event, h.fields.agent); err != nil {
		return in, err
	}
	if folders, ok := pick(event, h.fields.folders).([]any); ok && len(folders) > 0 {
		in.Folder = str(folders[0])
	}
	h.readStop(event, &in)
	h.readTool(event, &in)
	return in, nil
}

func (h Host) readStop(event map[string]any, in *Input) {
	if status := str(pick(event, h.fields.status)); status != "" && status != "completed" {
		in.Kind = 0 // the person ended it, or it failed
	}
	switch held := pick(event, h.fields.held).(type) {
	case bool:
		if !held {
			in.Held = 0
		}
	default:
		if loops, ok := pick(event, h.fields.loops).(json.Number); ok {
			if n, err := loops.Int64(); err == nil && n >= 0 {
				in.Held = int(min(n, 1<<20))
			}
		}
	}
}

func (h Host) readTool(event map[string]any, in *Input) {
	if in.Kind != Tool && in.Kind != ToolFailed && in.Kind != Question {
		return
	}
	in.Tool = str(pick(event, h.fields.tool))
	if use := str(pick(event, h.fields.use)); IsID(use) {
		in.Use = use
	}
	input, output := pick(event, h.fields.input), pick(event, h.fields.output)
	if slices.Contains(h.Questions, in.Tool) {
		in.Question, in.Asks = asked(input), asksOf(input, output)
	} else if in.Kind == Question {
		in.Kind = 0 // a matcher that the host ignores
	}
	var failure any
	if in.Kind == ToolFailed {
		failure, output = pick(event, h.fields.failure), nil
	} else if in.Kind == Tool && h.failed != nil {
		if failure = h.failed(in.Tool, output); failure != nil {
			in.Kind, output = ToolFailed, nil
		}
	}
	in.Data = Reported(map[string]any{
		"tool_name": pick(event, h.fields.tool), "tool_input": input, "tool_response": output, "error": failure,
		"cwd": event["cwd"], "agent_type": event["agent_type"],
	})
}

// Reported returns what is reported of a tool call: every member that is not nil, within the bounds of the store.
func Reported(members map[string]any) map[string]any {
	data := map[string]any{}
	for name, value := range members {
		if value != nil {
			data[name] = cut(value, 0)
		}
	}
	for _, name := range []string{"tool_response", "tool_input", "error"} {
		if encoded, err := json.Marshal(data); err == nil && len(encoded) > maxData {
			delete(data, name)
		}
	}
	return data
}

// memberError returns the member error of the output of a tool.
func memberError(_ string, output any) any {
	members, _ := output.(map[string]any)
	return members["error"]
}

// geminiFailed also returns the output of a command that failed or was cancelled. Gemini CLI sets an error only where the shell
// could not start. How a command ended is on the last lines of an envelope; an exit code and a signal are there only after a failure.
func geminiFailed(tool string, output any) any {
	if err := memberError(tool, output); err != nil || tool != "run_shell_command" {
		return err
	}
	members, _ := output.(map[string]any)
	content := str(members["llmContent"])
	inside, _, _ := strings.Cut(strings.TrimPrefix(content, "<untrusted_context>\n"), "\n</untrusted_context>")
	if strings.HasPrefix(inside, "Command was cancelled ") || strings.HasPrefix(inside, "Command was automatically cancelled ") {
		return content
	}
	for _, line := range slices.Backward(strings.Split(inside, "\n")) {
		name, _, _ := strings.Cut(line, ": ")
		switch name {
		case "Process Group PGID", "Background PIDs":
		case "Exit Code", "Signal":
			return content
		default:
			return nil
		}
	}
	return nil
}

// asked returns the questions in the input of a tool that asks a person.
func asked(input any) string {
	members, _ := input.(map[string]any)
	var texts []string
	for _, key := range []string{"question", "message", "prompt", "title"} {
		if text := str(members[key]); text != "" {
			texts = append(texts, text)
		}
	}
	questions, _ := members["questions"].([]any)
	for _, q := range questions {
		if text := asked(q); text != "" {
			texts = append(texts, text)
		}
	}
	return safetext.OneLine(strings.Join(texts, " "), maxQuestion)
}

// An Ask is one question of an agent to a person.
type Ask struct {
	Text    string
	Options []Option
	Answer  string // of the person in the dialog of the host; "" if the event has none
}

// An Option is an answer that the dialog offers.
type Option struct{ Label, Detail string }

// Bounds of one question, in characters, and of the questions in one call.
const (
	maxAsk     = 4000
	maxAsks    = 8
	maxOptions = 20
)

// asksOf returns the questions in the input of a tool, with the answers in its output.
func asksOf(input, output any) (asks []Ask) {
	members, _ := input.(map[string]any)
	all, ok := members["questions"].([]any)
	if !ok {
		all = []any{input}
	}
	answers, _ := output.(map[string]any)
	if inner, ok := answers["answers"].(map[string]any); ok {
		answers = inner
	}
	for _, one := range all[:min(len(all), maxAsks)] {
		q, _ := one.(map[string]any)
		text := str(pick(q, []string{"question", "message", "prompt", "title"}))
		if strings.TrimSpace(text) == "" {
			continue
		}
		ask := Ask{Text: shown(text, maxAsk), Answer: shown(str(answers[text]), maxAsk)}
		list, _ := pick(q, []string{"options", "choices"}).([]any)
		for _, o := range list[:min(len(list), maxOptions)] {
			option, _ := o.(map[string]any)
			label := str(o) + str(option["label"])
			ask.Options = append(ask.Options, Option{shown(label, 200), shown(str(option["description"]), 1000)})
		}
		asks = append(asks, ask)
	}
	return asks
}

// shown returns the text of an agent as a person may see it.
func shown(text string, limit int) string { return strings.TrimSpace(safetext.Verbatim(text, limit)) }

// pick returns the value of the first of the names that the event has.
func pick(event map[string]any, names []string) any {
	for _, name := range names {
		if value, ok := event[name]; ok {
			return value
		}
	}
	return nil
}

func str(value any) string {
	text, _ := value.(string)
	return text
}

// sessionID returns an id, or "" if the event has none.
func sessionID(event map[string]any, names []string) (string, error) {
	value := pick(event, names)
	if value == nil || value == "" {
		return "", nil
	}
	text, ok := value.(string)
	if !ok || !IsID(text) {
		return "", fmt.Errorf("%s cannot be the name of a session", safetext.Quote(fmt.Sprint(value), 80))
	}
	return text, nil
}

// number returns a number as the store takes it: an integer that JavaScript cannot hold as text, and one without bounds as nil.
func number(n json.Number) any {
	f, err := n.Float64()
	switch {
	case err != nil:
		return nil
	case f == math.Trunc(f) && math.Abs(f) >= 1<<53:
		return safetext.Truncate(n.String(), maxText)
	}
	return n
}

// cut returns a value as it can be reported: long texts, lists and objects lose their ends, and what the store refuses is
// replaced, such as U+0000.
func cut(value any, depth int) any {
	if depth > maxDepth {
		return nil
	}
	switch v := value.(type) {
	case json.Number:
		return number(v)
	case string:
		return strings.ReplaceAll(safetext.Truncate(v, maxText), "\x00", "\ufffd")
	case []any:
		list := make([]any, 0, min(len(v), maxMembers))
		for _, element := range v[:min(len(v), maxMembers)] {
			list = append(list, cut(element, depth+1))
		}
		return list
	case map[string]any:
		object := make(map[string]any, min(len(v), maxMembers))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if len(object) == maxMembers {
				break
			}
			object[cut(key, 0).(string)] = cut(v[key], depth+1)
		}
		return object
	}
	return value
}
