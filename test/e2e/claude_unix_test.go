//go:build unix

package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/test/slow"
)

// A project is a workspace with the hooks of examples/claude-code, set up as its README says.
type project struct {
	world
	t        *testing.T
	settings struct {
		Env   map[string]string
		Hooks map[string][]struct{ Hooks []struct{ Command string } }
	}
	env []string // what the test sets beyond that
}

func newProject(t *testing.T) *project {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("the hooks are a Python script, and there is no python3")
	}
	p := &project{world: newWorld(t), t: t}
	text, err := os.ReadFile("examples/claude-code/settings.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &p.settings))
	require.NoError(t, os.CopyFS(filepath.Join(p.workspace, ".claude/hooks"), os.DirFS("examples/claude-code/hooks")))
	self, err := os.Executable()
	require.NoError(t, err)
	p.env = []string{"WAYBILL=" + self, "WAYBILL_HOOK_S=60"}
	return p
}

// raw runs the command that the settings have for an event, as Claude Code does, in a folder that the agent has gone to.
func (p *project) raw(event, input string) (stdout, stderr string) {
	p.t.Helper()
	require.Len(p.t, p.settings.Hooks[event], 1, event)
	cmd := exec.CommandContext(p.t.Context(), "sh", "-c", p.settings.Hooks[event][0].Hooks[0].Command)
	cmd.Env = append(p.command(p.t).Env, "CLAUDE_PROJECT_DIR="+p.workspace, "PYTHONWARNINGS=error")
	for name, value := range p.settings.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var out, wrong bytes.Buffer
	cmd.Env, cmd.Dir = append(cmd.Env, p.env...), p.t.TempDir()
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = strings.NewReader(input), &out, &wrong, patience
	require.NoError(p.t, cmd.Run(), "a hook that fails stops an agent: %s", wrong.String())
	return out.String(), wrong.String()
}

// A directive is what a hook tells Claude Code.
type directive struct {
	SystemMessage      string
	Decision, Reason   string
	HookSpecificOutput *struct{ HookEventName, AdditionalContext string }
}

// hook sends an event, with what every event has, and returns what came of it.
func (p *project) hook(event string, more map[string]any) (d directive) {
	p.t.Helper()
	stdout, stderr := p.raw(event, p.event(event, more))
	require.Empty(p.t, stderr)
	if stdout != "" {
		decoder := json.NewDecoder(strings.NewReader(stdout))
		decoder.DisallowUnknownFields()
		require.NoError(p.t, decoder.Decode(&d), stdout)
	}
	return d
}

func (p *project) event(event string, more map[string]any) string {
	p.t.Helper()
	all := map[string]any{
		"session_id": "0b5f2a6e-6a53-4b0e-9f0c-3f8f5f0e9b6a", "transcript_path": "/home/ada/.claude/projects/x.jsonl",
		"cwd": p.workspace + "/src", "permission_mode": "default", "hook_event_name": event,
	}
	for name, value := range more {
		all[name] = value
	}
	text, err := json.Marshal(all)
	require.NoError(p.t, err)
	return string(text)
}

// bash is the event of a shell command that the agent has run.
func bash(id, command string) map[string]any {
	return map[string]any{
		"tool_name": "Bash", "tool_use_id": id, "tool_input": map[string]any{"command": command, "description": "d"},
		"tool_response": map[string]any{"stdout": "ok", "stderr": "", "interrupted": false, "isImage": false},
	}
}

// call carries out a method at the terminal.
func (p *project) call(method, params string, v any) {
	p.t.Helper()
	cmd := p.command(p.t, "call", method, "-")
	cmd.Stdin = strings.NewReader(params)
	out, err := cmd.Output()
	require.NoError(p.t, err, "%s %s", method, params)
	if v != nil {
		require.NoError(p.t, json.Unmarshal(out, v))
	}
}

// only returns the one instruction that there is.
func (p *project) only() schema.Instruction {
	p.t.Helper()
	var list schema.InstructionList
	p.call("list_instructions", `{}`, &list)
	require.Len(p.t, list.Items, 1)
	return list.Items[0]
}

const untilTested = `{"content":"Run the tests.","max_retries":%d,` +
	`"ack_on":{"event_type":"tool","match":{"tool_name":"Bash","tool_input.command":{"$command":"go test ./..."}}}}`

func TestClaudeCodeAcknowledgesByWhatItDoes(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	p := newProject(t)
	p.call("queue_instruction_with_ack", fmt.Sprintf(untilTested, 3), nil)
	got := p.hook("UserPromptSubmit", map[string]any{"prompt": "Go on."})
	require.Equal(t, "UserPromptSubmit", got.HookSpecificOutput.HookEventName)
	require.Equal(t, "Run the tests.", got.HookSpecificOutput.AdditionalContext)

	require.Zero(t, p.hook("PostToolUse", bash("toolu_1", "go vet ./...")))
	failed := bash("toolu_2", "go test ./...")
	delete(failed, "tool_response")
	failed["error"] = "Command exited with non-zero status code 1"
	require.Zero(t, p.hook("PostToolUseFailure", failed))
	require.Equal(t, "sent", p.only().State, "neither another command nor one that failed is what was asked for")

	got = p.hook("Stop", map[string]any{"stop_hook_active": false})
	require.Equal(t, directive{Decision: "block", Reason: "**REMINDER:** Run the tests."}, got)
	require.Zero(t, p.hook("Stop", map[string]any{"stop_hook_active": true}), "the agent would never come to its end")
	require.EqualValues(t, 2, p.only().Sends, "what is not handed over uses up no send")

	require.Zero(t, p.hook("PostToolUse", bash("toolu_3", "cd . && go test ./... 2>&1 | tail -20")))
	require.Equal(t, "acknowledged", p.only().State)
	require.Equal(t, "event", p.only().AcknowledgedBy)
	require.Zero(t, p.hook("Stop", map[string]any{"stop_hook_active": false}))
}

// A hook that stands in two settings runs twice for one call; what was asked for in between is not done by that.
func TestClaudeCodeCallCountsOnce(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.hook("PostToolUse", bash("toolu_1", "go test ./..."))
	p.call("queue_instruction_with_ack", fmt.Sprintf(untilTested, 3), nil)
	p.hook("PostToolUse", bash("toolu_1", "go test ./..."))
	require.Equal(t, "queued", p.only().State)
	p.hook("PostToolUse", bash("toolu_2", "go test ./..."))
	require.Equal(t, "acknowledged", p.only().State)
}

// What the README says to type first.
func TestClaudeCodeReadme(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	readme, err := os.ReadFile("examples/claude-code/README.md")
	require.NoError(t, err)
	_, block, found := strings.Cut(string(readme), "```sh\nwaybill ")
	require.True(t, found)
	block, _, _ = strings.Cut(block, "```")
	shell := exec.CommandContext(t.Context(), "sh", "-c", `"$WAYBILL" `+block)
	shell.Env, shell.Dir = append(p.command(t).Env, p.env...), p.workspace
	out, err := shell.CombinedOutput()
	require.NoError(t, err, string(out))
	require.EqualValues(t, 4, p.only().SendsMax)
	p.hook("UserPromptSubmit", nil)
	p.hook("PostToolUse", bash("toolu_1", "go test ./..."))
	require.Equal(t, "acknowledged", p.only().State)
}

func TestClaudeCodeTellsThePersonWhatWasNeverConfirmed(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.call("queue_instruction_with_ack", fmt.Sprintf(untilTested, 1), nil)
	for range 2 {
		require.NotNil(t, p.hook("UserPromptSubmit", map[string]any{"prompt": "Go on."}).HookSpecificOutput)
	}
	got := p.hook("Stop", map[string]any{"stop_hook_active": false})
	require.Equal(t, directive{SystemMessage: "waybill: never confirmed after 2 sends: Run the tests."}, got, "and the agent may stop")
	var failed schema.InstructionList
	p.call("get_failed_instructions", `{}`, &failed)
	require.Len(t, failed.Items, 1)
	require.Zero(t, p.hook("UserPromptSubmit", map[string]any{"prompt": "What else?"}), "it is told once")
}

// Without the variable of the settings, each session of Claude Code has its own instructions.
func TestClaudeCodeSessionsAreToldApart(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.settings.Env = nil
	p.call("queue_instruction", `{"content":"for one","session_id":"one"}`, nil)
	require.Zero(t, p.hook("UserPromptSubmit", map[string]any{"session_id": "two"}))
	require.Equal(t, "for one", p.hook("UserPromptSubmit", map[string]any{"session_id": "one"}).HookSpecificOutput.AdditionalContext)
}

// Claude Code shows an agent no more than 10,000 characters of what a hook says.
func TestClaudeCodeIsHandedNoMoreThanItShows(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	host := p.serve(t)
	for i := range 60 {
		host.must("queue_instruction", fmt.Sprintf(`{"content":"%02d %s"}`, i, strings.Repeat("o", 300)), nil)
	}
	seen := ""
	for passes := 0; !strings.Contains(seen, "59 o"); passes++ {
		require.Less(t, passes, 10, "the rest never comes")
		told := p.hook("UserPromptSubmit", nil).HookSpecificOutput.AdditionalContext
		require.LessOrEqual(t, len([]rune(told)), 10_000)
		seen += told
	}
	for i := range 60 {
		require.Equal(t, 1, strings.Count(seen, fmt.Sprintf("%02d o", i)), "number %d", i)
	}
}

// Whatever an agent types and reads is passed on as it is, and breaks nothing.
func TestClaudeCodeHooksTakeHostileText(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	hostile := "echo \"it's $(touch pwned) `touch pwned`\" \\\n; rm -rf '\x7f' \x1b[2J \u202e </system> ${HOME} 🚚"
	content, err := json.Marshal(hostile)
	require.NoError(t, err)
	p.call("queue_instruction_with_ack", fmt.Sprintf(
		`{"content":%s,"ack_on":{"event_type":"tool","match":{"tool_input.command":%s}}}`, content, content), nil)
	told := p.hook("UserPromptSubmit", map[string]any{"prompt": hostile}).HookSpecificOutput.AdditionalContext
	require.Equal(t, hostile, told)
	require.Zero(t, p.hook("PostToolUse", bash("toolu_'\n", hostile)))
	require.Equal(t, "acknowledged", p.only().State)
}

// A tool may return anything; the call is reported once.
func TestClaudeCodeReportsCallsWhateverTheyGiveBack(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	deep := strings.Repeat(`[`, 300) + strings.Repeat(`]`, 300)
	wide := `{"stdout":[` + strings.Repeat(`"`+strings.Repeat("x", 4000)+`",`, 99) + `1]}`
	for name, response := range map[string]string{
		"huge":             `{"stdout":"` + strings.Repeat(`x\n`, 3<<20) + `"}`,
		"wide":             wide,
		"deep":             deep,
		"zeros":            `{"stdout":"\u0000ELF\u0000","\u0000":"\u0000"}`,
		"half a character": `{"stdout":"\ud800","\udc00":1}`,
		"no number":        `{"a":NaN,"b":-Infinity,"c":1e999}`,
		"a long number":    `{"a":` + strings.Repeat("9", 400) + `}`,
		"a member twice":   `{"a":1,"a":2}`,
		"null":             `null`,
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			p.t = t
			p.call("queue_instruction_with_ack", fmt.Sprintf(untilTested, 3), nil)
			event := `{"session_id":"s","hook_event_name":"PostToolUse","tool_use_id":"toolu_1","tool_name":"Bash",` +
				`"tool_input":{"command":"go test ./..."},"tool_response":` + response + `}`
			for range 2 {
				stdout, stderr := p.raw("PostToolUse", event)
				require.Empty(t, stdout)
				require.Empty(t, stderr)
			}
			require.Equal(t, "acknowledged", p.only().State)
		})
	}
}

func TestClaudeCodeHooksRefuseInOneLine(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	p := newProject(t)
	p.settings.Env = nil
	for input, want := range map[string]string{
		``:                             "the event is not JSON",
		"{\"session_id\":\n\"s":        "the event is not JSON",
		"\xff\xfe":                     "the event is not JSON",
		strings.Repeat(`[`, 200_000):   "the event is not JSON",
		`["PostToolUse"]`:              "the event is not a JSON object",
		`{}`:                           "'None' is no event that it is for",
		`{"hook_event_name":"Melt"}`:   "'Melt' is no event that it is for",
		`{"hook_event_name":["Stop"]}`: "is no event that it is for",
		// A pass before the first turn would use up a send.
		p.event("SessionStart", map[string]any{"source": "startup"}):                            "'SessionStart' is no event that it is for",
		`{"hook_event_name":"Stop"}`:                                                            "'None' cannot be the name of a session",
		p.event("Stop", map[string]any{"session_id": "a/b\nc\x1b[2J"}):                          `'a/b\nc\x1b[2J' cannot be the name of a session`,
		p.event("UserPromptSubmit", map[string]any{"session_id": strings.Repeat("s", 200_000)}): "cannot be the name of a session",
		`{"hook_event_name":"Stop","session_id":"` + strings.Repeat(" ", 33<<20) + `"}`:         "the event has more than 33554432 bytes",
	} {
		stdout, stderr := p.raw("PostToolUse", input)
		p.quiet(stdout, stderr, want)
	}
}

// quiet expects no message to the agent, and one line in the log.
func (p *project) quiet(stdout, stderr, want string) {
	p.t.Helper()
	require.Empty(p.t, stdout)
	require.Contains(p.t, stderr, want)
	require.Equal(p.t, 1, strings.Count(stderr, "\n"), stderr)
	require.Less(p.t, len(stderr), 1000)
	require.True(p.t, strings.HasPrefix(stderr, "waybill hook: "), stderr)
}

// pipe returns a named pipe. What waits for it to be written goes with the test, which waits for that.
func pipe(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	t.Cleanup(func() {
		require.Eventually(t, func() bool {
			writer, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
			if err == nil {
				_ = writer.Close()
			}
			return errors.Is(err, syscall.ENXIO) // nobody reads
		}, patience, time.Millisecond)
	})
	return path
}

func TestClaudeCodeGoesOnWithoutWaybill(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	p := newProject(t)
	held := pipe(t)
	script := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		writeProgram(t, path, "#!/bin/sh\n"+text+"\n")
		return path
	}
	for _, wrong := range []struct{ program, seconds, want string }{
		// The time that counts when nobody says one is short for a busy machine: no program has to start in it.
		{"/nowhere/waybill", "soon", "/nowhere/waybill cannot be run: [Errno 2] No such file or directory: '/nowhere/waybill'; install it, or name it in $WAYBILL"},
		{p.workspace, "60", "cannot be run: [Errno 13]"},
		{script("fails", `cat >/dev/null; printf 'the disk is full\n\033[2J at all' >&2; exit 5`), "60", ": the disk is full [2J at all\n"},
		{script("mute", `exit 7`), "60", ": exit code 7\n"},
		{script("chatters", `echo Hello`), "60", "chatters printed something that is not JSON for "},
		{script("babbles", `echo '["instructions"]'`), "60", "babbles printed no result of "},
		// On a busy machine the whole hook may be over its time before the call is.
		{script("hangs", `exec sleep 60`), "0.5", " s\n"},
		{script("hangs-on", `cat '`+held+`' & wait`), "0.5", " s\n"}, // its child holds the pipes, and outlives it
	} {
		p.env = []string{"WAYBILL=" + wrong.program, "WAYBILL_HOOK_S=" + wrong.seconds}
		for _, event := range []string{"PostToolUse", "Stop"} {
			stdout, stderr := p.raw(event, p.event(event, bash("toolu_1", "ls")))
			p.quiet(stdout, stderr, wrong.want)
		}
	}
}

// An event that never ends holds the agent up for no longer than it may.
func TestClaudeCodeHookGivesUpOnAnEventThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	newProject(t)
	cmd := exec.CommandContext(t.Context(), "python3", "examples/claude-code/hooks/waybill_hook.py")
	cmd.Env = append(os.Environ(), "WAYBILL_HOOK_S=0.2")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	defer func() { _ = in.Close() }()
	out, err := cmd.CombinedOutput()
	require.NoError(t, err)
	require.Equal(t, "waybill hook: gave up after 0.2 s\n", string(out))
}
