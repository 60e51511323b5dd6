//go:build unix

package hook_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/cli"
	"waybill/cli/hook/dialect"
	"waybill/schema"
)

// A world is a workspace with its state folder, and one session of a host.
type world struct {
	t         *testing.T
	workspace string
	state     string
	host      string
	flags     []string
	in, out   *os.File // instead of files, if not nil
}

// newWorld returns a workspace in which Claude Code works. The environment belongs to the test.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, workspace: t.TempDir(), state: t.TempDir(), host: "claude-code"}
	for _, name := range []string{"WAYBILL_STORE", "WAYBILL_WORKSPACE", "CLAUDE_PROJECT_DIR", "WAYBILL_TASK_ID"} {
		t.Setenv(name, "")
	}
	t.Setenv("XDG_STATE_HOME", w.state)
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	w.write("tasks.md", "- [ ] 1. Write it\n")
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	require.NoError(w.t, os.WriteFile(filepath.Join(w.workspace, name), []byte(text), 0o700)) //nolint:gosec // some are programs
}

// run runs the command line with an input.
func (w *world) run(input string, args ...string) (code int, stdout, stderr string) {
	w.t.Helper()
	file := func(text string) *os.File {
		f, err := os.CreateTemp(w.t.TempDir(), "stream")
		require.NoError(w.t, err)
		_, err = f.WriteString(text)
		require.NoError(w.t, err)
		_, err = f.Seek(0, io.SeekStart)
		require.NoError(w.t, err)
		w.t.Cleanup(func() { _ = f.Close() })
		return f
	}
	in, out, wrong := file(input), file(""), file("")
	streams := cli.Streams{In: in, Out: out, Err: wrong}
	if w.in != nil {
		streams.In = w.in
	}
	if w.out != nil {
		streams.Out = w.out
	}
	code = cli.Main(append([]string{"--workspace", w.workspace}, args...), streams, "dev")
	text := func(f *os.File) string {
		b, err := os.ReadFile(f.Name())
		require.NoError(w.t, err)
		return string(b)
	}
	return code, text(out), text(wrong)
}

// call carries out a method.
func (w *world) call(method, params string, result any) {
	w.t.Helper()
	code, stdout, stderr := w.run(params, "call", method, "-")
	require.Zero(w.t, code, stderr)
	if result != nil {
		require.NoError(w.t, json.Unmarshal([]byte(stdout), result))
	}
}

// raw sends an event, and expects that the host goes on.
func (w *world) raw(input string) (stdout, stderr string) {
	w.t.Helper()
	code, stdout, stderr := w.run(input, append([]string{"hook", w.host}, w.flags...)...)
	require.Zero(w.t, code, stderr)
	return stdout, stderr
}

// A directive is what a hook tells a host.
type directive struct {
	SystemMessage      string
	Decision, Reason   string
	HookSpecificOutput *struct{ HookEventName, AdditionalContext string }
}

func (d directive) context() string {
	if d.HookSpecificOutput == nil {
		return ""
	}
	return d.HookSpecificOutput.AdditionalContext
}

// hook sends an event of session s, and returns what came of it.
func (w *world) hook(event string, more map[string]any) (d directive) {
	w.t.Helper()
	stdout, stderr := w.raw(w.event(event, more))
	require.Empty(w.t, stderr)
	if stdout != "" {
		decoder := json.NewDecoder(strings.NewReader(stdout))
		decoder.DisallowUnknownFields()
		require.NoError(w.t, decoder.Decode(&d), stdout)
	}
	return d
}

func (w *world) event(event string, more map[string]any) string {
	w.t.Helper()
	all := map[string]any{"session_id": "s", "cwd": w.workspace + "/src", "hook_event_name": event}
	for name, value := range more {
		all[name] = value
	}
	text, err := json.Marshal(all)
	require.NoError(w.t, err)
	return string(text)
}

// bash is a shell command that the agent has run.
func bash(id, command string) map[string]any {
	return map[string]any{
		"tool_name": "Bash", "tool_use_id": id, "tool_input": map[string]any{"command": command},
		"tool_response": map[string]any{"stdout": "ok"},
	}
}

// only returns the one instruction that there is.
func (w *world) only() schema.Instruction {
	w.t.Helper()
	var list schema.InstructionList
	w.call("list_instructions", `{}`, &list)
	require.Len(w.t, list.Items, 1)
	return list.Items[0]
}

// notices returns the texts of the open notices.
func (w *world) notices() (texts []string) {
	w.t.Helper()
	var list schema.NoticeList
	w.call("list_notices", `{"peek":true}`, &list)
	for _, n := range list.Items {
		texts = append(texts, n.Text)
	}
	return texts
}

// stopped is the event of an agent that would stop, for the first time or after holds.
func (w *world) stopped(again bool) directive {
	w.t.Helper()
	return w.hook("Stop", map[string]any{"stop_hook_active": again})
}

// holds is how often a stop of the host is held.
func (w *world) holds() int {
	host, ok := dialect.Of(w.host)
	require.True(w.t, ok)
	return host.Holds
}

// stores returns the files of stores in the state folder.
func (w *world) stores() []string {
	w.t.Helper()
	found, err := filepath.Glob(filepath.Join(w.state, "waybill", "*", "store.db*"))
	require.NoError(w.t, err)
	return found
}
