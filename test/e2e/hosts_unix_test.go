//go:build unix

package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/test/slow"
)

const hostsFolder = "test/e2e/hosts/testdata/npm"

// hostProgram returns the path of a real host that npm has installed. The package of the host has a part for each
// platform; where npm has installed none for this one, the test is skipped.
func hostProgram(t *testing.T, pattern string) string {
	t.Helper()
	slow.Test(t)
	needNode(t, hostsFolder)
	found, err := filepath.Glob(filepath.Join(hostsFolder, "node_modules", pattern))
	require.NoError(t, err)
	if len(found) == 0 {
		missing := fmt.Sprintf("npm has no %s for %s/%s", pattern, runtime.GOOS, runtime.GOARCH)
		require.NotEqual(t, "required", os.Getenv(nodeRequired), missing)
		t.Skip(missing)
	}
	program, err := filepath.Abs(found[0])
	require.NoError(t, err)
	return program
}

// A model is a language model that plays a script. It speaks as much of the Anthropic Messages and OpenAI Chat
// Completions protocols as the hosts of these tests need.
type model struct {
	*httptest.Server
	next func(request string, said int) turn // what it says after so many turns of its own

	mu    sync.Mutex // guards what follows
	asked []string   // the bodies of the requests that offer tools
}

// A turn is one answer of a model: a text, or a call of a tool.
type turn struct {
	text string
	tool string
	args string // JSON
	call string // an id, by which hosts tell turns apart
}

// newModel returns a model that says the turns of a script in order, and then repeats the last one.
func newModel(t *testing.T, script ...turn) *model {
	t.Helper()
	return newScriptedModel(t, func(_ string, said int) turn { return script[min(said, len(script)-1)] })
}

func newScriptedModel(t *testing.T, next func(request string, said int) turn) *model {
	t.Helper()
	m := &model{next: next}
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(m.Close)
	return m
}

// saw returns how many requests carried the text.
func (m *model) saw(text string) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, body := range m.asked {
		if strings.Contains(body, text) {
			n++
		}
	}
	return n
}

func (m *model) serve(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	var body struct {
		Tools    []any
		Messages []struct{ Role string }
	}
	isMessages := strings.HasSuffix(r.URL.Path, "/messages")
	if json.Unmarshal(raw, &body) != nil || !isMessages && !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.NotFound(w, r)
		return
	}
	say := turn{text: "a title"}
	if len(body.Tools) > 0 {
		said := 0
		for _, message := range body.Messages {
			if message.Role == "assistant" {
				said++
			}
		}
		say = m.next(string(raw), said)
		say.call = fmt.Sprintf("call_%d", said)
		m.mu.Lock()
		m.asked = append(m.asked, string(raw))
		m.mu.Unlock()
	}
	w.Header().Set("Content-Type", "text/event-stream")
	write := writeCompletion
	if isMessages {
		write = writeMessage
	}
	write(say, func(event string, data map[string]any) {
		text, _ := json.Marshal(data)
		if event != "" {
			_, _ = fmt.Fprintf(w, "event: %s\n", event)
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", text)
	})
	if !isMessages {
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}
}

// writeCompletion streams a turn as OpenAI Chat Completions do.
func writeCompletion(say turn, event func(string, map[string]any)) {
	delta, reason := map[string]any{"role": "assistant", "content": say.text}, "stop"
	if say.tool != "" {
		function := map[string]any{"name": say.tool, "arguments": say.args}
		delta = map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"index": 0, "id": say.call, "type": "function", "function": function}}}
		reason = "tool_calls"
	}
	chunk := func(delta map[string]any, reason any) {
		choice := map[string]any{"index": 0, "delta": delta, "finish_reason": reason}
		event("", map[string]any{"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": []any{choice}})
	}
	chunk(delta, nil)
	chunk(map[string]any{}, reason)
}

// writeMessage streams a turn as Anthropic Messages do.
func writeMessage(say turn, event func(string, map[string]any)) {
	send := func(kind string, data map[string]any) {
		data["type"] = kind
		event(kind, data)
	}
	block, delta := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": say.text}
	reason, usage := "end_turn", map[string]any{"input_tokens": 1, "output_tokens": 1}
	if say.tool != "" {
		block = map[string]any{"type": "tool_use", "id": say.call, "name": say.tool, "input": map[string]any{}}
		delta, reason = map[string]any{"type": "input_json_delta", "partial_json": say.args}, "tool_use"
	}
	send("message_start", map[string]any{"message": map[string]any{
		"id": "msg_" + say.call, "type": "message", "role": "assistant", "model": "scripted", "content": []any{}, "usage": usage,
	}})
	send("content_block_start", map[string]any{"index": 0, "content_block": block})
	send("content_block_delta", map[string]any{"index": 0, "delta": delta})
	send("content_block_stop", map[string]any{"index": 0})
	send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": reason}, "usage": usage})
	send("message_stop", map[string]any{})
}

// run runs a host in the workspace, with a home that is the same for each run, and returns what it printed.
func (w world) run(t *testing.T, program string, env []string, args ...string) string {
	t.Helper()
	self, home := w.command(t), filepath.Join(w.state, "home")
	require.NoError(t, os.MkdirAll(home, 0o700))
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir, cmd.WaitDelay = w.workspace, patience
	cmd.Env = append(self.Env, "HOME="+home, "PWD="+w.workspace, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home, "WAYBILL_BIN="+self.Path, "WAYBILL="+self.Path)
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %s\n%s", program, strings.Join(args, " "), out)
	return string(out)
}

// TestRealOpenCodeIsHandedAnInstruction runs OpenCode from npm, which runs on Bun, with the plugin as it is built.
func TestRealOpenCodeIsHandedAnInstruction(t *testing.T) {
	t.Parallel()
	program := hostProgram(t, "opencode-"+runtime.GOOS+"-"+npmArch()+"/bin/opencode")
	w := newWorld(t)
	plugin := w.packOpenCode(t)
	m := newModel(t, turn{text: "I have seen it."})
	config, err := json.Marshal(map[string]any{
		"autoupdate": false, "model": "scripted/scripted", "plugin": []string{"file://" + plugin},
		"provider": map[string]any{"scripted": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "options": map[string]any{"baseURL": m.URL + "/v1", "apiKey": "none"},
			"models": map[string]any{"scripted": map[string]any{"name": "scripted"}},
		}},
	})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(w.workspace, "opencode.json"), config, 0o600))
	env := []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1"}
	out := w.run(t, program, env, "run", "--format", "json", "Say something.")
	session := regexp.MustCompile(`ses_\w+`).FindString(out)
	require.NotEmpty(t, session, out)
	w.pipe(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"queue_instruction_with_ack","params":{"content":"Mind the gap.","session_id":%q}}`, session))
	w.run(t, program, env, "run", "--session", session, "Go on.")
	require.Equal(t, 1, m.saw("Mind the gap."), "the turn did not carry the instruction")
	in := w.onlyInstruction(t)
	require.Equal(t, "sent", in.State)
	require.Equal(t, 1, in.Sends, "OpenCode ended at the end of the turn, and no model got a second send")
}

// onlyInstruction returns the one instruction of the workspace.
func (w world) onlyInstruction(t *testing.T) schema.Instruction {
	t.Helper()
	var list struct{ Result schema.InstructionList }
	require.NoError(t, json.Unmarshal([]byte(w.pipe(t, `{"jsonrpc":"2.0","id":1,"method":"list_instructions"}`)), &list))
	require.Len(t, list.Result.Items, 1)
	return list.Result.Items[0]
}

// npmArch returns the name that npm packages have for the architecture.
func npmArch() string {
	if runtime.GOARCH == "amd64" {
		return "x64"
	}
	return runtime.GOARCH
}

// claudeCode returns Claude Code as npm has installed it, and the environment in which it talks to the model.
func claudeCode(t *testing.T) (program string, env func(*model) []string) {
	t.Helper()
	program = hostProgram(t, "@anthropic-ai/claude-code-"+runtime.GOOS+"-"+npmArch()+"/claude")
	return program, func(m *model) []string {
		return []string{
			"ANTHROPIC_BASE_URL=" + m.URL, "ANTHROPIC_API_KEY=none",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1",
		}
	}
}

// TestRealClaudeCodeIsHandedAnInstructionOfOneSend runs Claude Code from npm with the hooks of waybill. An instruction
// with max_retries 0 had failed before the model ran, because two hooks did a dispatch pass before the first turn.
func TestRealClaudeCodeIsHandedAnInstructionOfOneSend(t *testing.T) {
	t.Parallel()
	program, reaching := claudeCode(t)
	p := newProject(t)
	require.NoError(t, os.Mkdir(filepath.Join(p.workspace, ".claude"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(p.workspace, ".claude", "settings.json"), p.settings(), 0o600))
	p.call("queue_instruction_with_ack", `{"content":"Mind the gap.","max_retries":0,"ack_on":{"event_type":"tool","match":{"tool_name":"Bash"}}}`, nil)
	m := newModel(t, turn{tool: "Bash", args: `{"command":"echo minded","description":"d"}`}, turn{text: "I have minded it."})
	env := append(p.env, reaching(m)...)
	out := p.run(t, program, env, "-p", "Go on.", "--allowedTools", "Bash(echo:*)")
	require.Contains(t, out, "I have minded it.")
	require.NotZero(t, m.saw("Mind the gap."))
	require.Equal(t, "acknowledged", p.only().State)
	require.Equal(t, 1, p.only().Sends)
}
