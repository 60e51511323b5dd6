package dialect_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/cli/hook/dialect"
	"waybill/test/golden"
)

// TestFixturesOfEachHost reads the events of each host, as its version sends them, and writes every part of an answer to each.
// The golden file has what was read and what the host gets.
func TestFixturesOfEachHost(t *testing.T) {
	for _, h := range dialect.Hosts() {
		name := h.Name + "@" + h.Version
		text, err := os.ReadFile(filepath.Join("testdata", name+".events"))
		require.NoError(t, err)
		var got strings.Builder
		seen := map[string]bool{}
		for line := range strings.Lines(string(text)) {
			in, err := h.Read([]byte(line))
			require.NoError(t, err, line)
			seen[in.Name] = true
			data, err := json.Marshal(in.Data)
			require.NoError(t, err)
			fmt.Fprintf(&got, "%s host=%s kind=%d session=%.8s agent=%q source=%q folder=%q held=%d use=%q question=%q\n  data %s\n",
				in.Name, in.Host, in.Kind, in.Session, in.Agent, in.Source, in.Folder, in.Held, in.Use, in.Question, data)
			for _, a := range []dialect.Answer{{}, {Context: "<C>"}, {Hold: "H"}, {Person: "P"}, {Context: "<C>", Hold: "H", Person: "P"}} {
				out, err := h.Write(in.Event, a)
				require.NoError(t, err)
				fmt.Fprintf(&got, "  %v → %s\n", a, strings.TrimSuffix(string(out), "\n"))
			}
		}
		for _, ev := range h.Events {
			require.True(t, seen[ev.Name], "no fixture of %s has %s", h.Name, ev.Name)
		}
		golden.Equal(t, name+".golden", got.String())
	}
}

// codexFields are the fields that Codex takes in an answer to each event; it refuses an answer with any other.
var codexFields = map[string][]string{
	"SessionStart":     {"continue", "stopReason", "suppressOutput", "systemMessage", "hookSpecificOutput"},
	"UserPromptSubmit": {"continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput"},
	"PreToolUse":       {"continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput"},
	"PostToolUse":      {"continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput"},
	"Stop":             {"continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason"},
	"SubagentStop":     {"continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason"},
	"PreCompact":       {"continue", "stopReason", "suppressOutput", "systemMessage"},
}

func TestCodexRefusesNoFieldOfAnAnswer(t *testing.T) {
	h, ok := dialect.Of("codex")
	require.True(t, ok)
	for _, ev := range h.Events {
		text, err := h.Write(ev, dialect.Answer{Context: "c", Hold: "h", Person: "p"})
		require.NoError(t, err)
		var fields map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(text, &fields))
		for name := range fields {
			require.Contains(t, codexFields[ev.Name], name, ev.Name)
		}
		if specific, ok := fields["hookSpecificOutput"]; ok {
			require.JSONEq(t, `{"hookEventName":"`+ev.Name+`","additionalContext":"c"}`, string(specific))
		}
	}
}

// Gemini CLI sets an error only where the shell could not start, so a command that ended with 1 acknowledged.
func TestAFailedCommandOfGeminiCountedAsDone(t *testing.T) {
	h, ok := dialect.Of("gemini")
	require.True(t, ok)
	for content, want := range map[string]dialect.Kind{
		"Output: ok\nProcess Group PGID: 7":                                       dialect.Tool,
		"Output: the line\nExit Code: 1\nis printed":                              dialect.Tool,
		"Output: FAIL\nExit Code: 1":                                              dialect.ToolFailed,
		"Output: FAIL\nExit Code: 127\nBackground PIDs: 8\nProcess Group PGID: 7": dialect.ToolFailed,
		"Output: (empty)\nSignal: 9\nProcess Group PGID: 7":                       dialect.ToolFailed,
		"Command was cancelled by user before it could complete.":                 dialect.ToolFailed,
		"": dialect.Tool,
	} {
		for tool, want := range map[string]dialect.Kind{"run_shell_command": want, "read_file": dialect.Tool} {
			text, err := json.Marshal(map[string]any{
				"hook_event_name": "AfterTool", "session_id": "s", "tool_name": tool,
				"tool_response": map[string]any{"llmContent": "<untrusted_context>\n" + content + "\n</untrusted_context>\n\nmore of the host"},
			})
			require.NoError(t, err)
			in, err := h.Read(text)
			require.NoError(t, err)
			require.Equal(t, want, in.Kind, "%s: %s", tool, content)
			require.Equal(t, want == dialect.ToolFailed, in.Data["error"] != nil)
		}
	}
}

// Cursor takes no text with a prompt, and an event with a member without a name looked like one of an editor that does.
func TestAMemberWithoutANameMadeAHostTakeTextWithAPrompt(t *testing.T) {
	h, ok := dialect.Of("cursor")
	require.True(t, ok)
	in, err := h.Read([]byte(`{"hook_event_name":"beforeSubmitPrompt","conversation_id":"s","":"x"}`))
	require.NoError(t, err)
	require.False(t, in.PromptTakesContext)
	require.False(t, in.Context)
}

// A hold without a limit below the host's own would end in the host's warning instead of ours.
func TestHoldsStayBelowTheLimitsOfHosts(t *testing.T) {
	gaveUp := map[string]int{"claude-code": 8, "qwen": 8, "copilot": 8, "cursor": 5}
	for _, h := range dialect.Hosts() {
		require.Positive(t, h.Holds)
		if most, ok := gaveUp[h.Name]; ok {
			require.Less(t, h.Holds, most, h.Name)
		}
	}
}

func TestEventsThatCannotBeUsed(t *testing.T) {
	h, _ := dialect.Of("claude-code")
	for input, want := range map[string]string{
		``:                             "the event is not JSON: EOF",
		"{\"session_id\":\n\"s":        "the event is not JSON: unexpected EOF",
		"\xff\xfe":                     "the event is not JSON",
		`not json`:                     "the event is not JSON",
		`{"a":NaN}`:                    "the event is not JSON",
		`{} {}`:                        "the event is more than one JSON value",
		strings.Repeat(`[`, 200_000):   "the event is not JSON",
		`["PostToolUse"]`:              "the event is not a JSON object",
		`{}`:                           "the event has no hook_event_name",
		`{"hook_event_name":["Stop"]}`: "the event has no hook_event_name",
		`{"hook_event_name":"Melt"}`:   `"Melt" of claude-code is no event that waybill has a hook for`,
		`{"hook_event_name":"Stop","session_id":"a/b\nc\u001b[2J"}`:                               `cannot be the name of a session`,
		`{"hook_event_name":"Stop","session_id":7}`:                                               `"7" cannot be the name of a session`,
		`{"hook_event_name":"Stop","session_id":"` + strings.Repeat("s", 200_000) + `"}`:          "cannot be the name of a session",
		`{"hook_event_name":"SubagentStop","session_id":"s","agent_id":{"a":"` + "\u202e" + `"}}`: "cannot be the name of a session",
	} {
		_, err := h.Read([]byte(input))
		require.ErrorContains(t, err, want)
		require.Less(t, len(err.Error()), 300)
		require.NotContains(t, err.Error(), "\n")
	}
}

// A tool may return anything; what is reported stays small and is JSON that the store takes.
func TestWhatIsReportedIsBounded(t *testing.T) {
	h, _ := dialect.Of("claude-code")
	for name, c := range map[string]struct{ response, want string }{
		"deep":             {strings.Repeat(`[`, 300) + strings.Repeat(`]`, 300), "[[[[[[[[[null]]]]]]]]]"},
		"zeros":            {`{"stdout":"\u0000ELF\u0000","\u0000":"\u0000"}`, `{"stdout":"�ELF�","�":"�"}`},
		"half a character": {`{"stdout":"\ud800"}`, `{"stdout":"�"}`},
		"without bounds":   {`{"c":1e999}`, `{"c":null}`},
		"a long number":    {`{"a":9007199254740993}`, `{"a":"9007199254740993"}`},
		"a member twice":   {`{"a":1,"a":2}`, `{"a":2}`},
		"null":             {`null`, ``},
		"wide":             {`[` + strings.Repeat(`1,`, 200) + `1]`, `[` + strings.Repeat(`1,`, 99) + `1]`},
	} {
		in, err := h.Read([]byte(`{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":` + c.response + `}`))
		require.NoError(t, err, name)
		if c.want == "" {
			require.NotContains(t, in.Data, "tool_response", name)
			continue
		}
		got, err := json.Marshal(in.Data["tool_response"])
		require.NoError(t, err, name)
		require.JSONEq(t, c.want, string(got), name)
	}
	huge := `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":[` +
		strings.Repeat(`"`+strings.Repeat("x", 4000)+`",`, 99) + `1]}`
	in, err := h.Read([]byte(huge))
	require.NoError(t, err)
	require.NotContains(t, in.Data, "tool_response")
	require.Contains(t, in.Data, "tool_input", "what does not fit is left out, and the rest is not")
}

// FuzzRead holds for every host: no panic, an error without line breaks, and data that can be encoded.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"hook_event_name":"Stop","session_id":"s","stop_hook_active":true}`))
	f.Add([]byte(`{"hook_event_name":"postToolUse","conversation_id":"s","tool_name":"Shell","tool_input":"x","loop_count":1e9}`))
	f.Add([]byte(`{"hook_event_name":"AfterTool","session_id":"s","tool_response":{"error":{}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, h := range dialect.Hosts() {
			in, err := h.Read(text)
			if err != nil {
				require.NotContains(t, err.Error(), "\n")
				continue
			}
			require.True(t, slices.ContainsFunc(h.Events, func(ev dialect.Event) bool { return ev.Name == in.Name }))
			_, err = json.Marshal(in.Data)
			require.NoError(t, err)
		}
	})
}
