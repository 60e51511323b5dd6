//go:build unix

package e2e_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// An acpAgent is a script that answers as an agent, in the order of what an editor asks first. It keeps the prompts that it
// gets, and at a prompt it does what the test wants.
func (p *project) acpAgent(prompted string) string {
	p.t.Helper()
	path := filepath.Join(p.t.TempDir(), "agent")
	writeProgram(p.t, path, `#!/bin/sh
while read -r line; do case "$line" in
*'"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}' ;;
*'"session/new"'*) printf '%s\n' "$line" > session; echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}' ;;
*'"session/prompt"'*) printf '%s\n' "$line" >> prompts; `+prompted+` ;;
esac; done
`)
	return path
}

// acp starts waybill between this test, which is the editor, and an agent. It begins a session.
func (p *project) acp(agent string) (editor *peer, stderr *os.File) {
	p.t.Helper()
	stderr, w, err := os.Pipe()
	require.NoError(p.t, err)
	cmd := p.command(p.t, "acp", "--", agent)
	cmd.Stderr = w
	editor = start(p.t, cmd)
	require.NoError(p.t, w.Close())
	p.t.Cleanup(func() { _ = stderr.Close() })
	require.NoError(p.t, stderr.SetReadDeadline(time.Now().Add(patience)))
	editor.must("initialize", `{"protocolVersion":1}`, nil)
	editor.must("session/new", `{"cwd":"`+p.workspace+`","mcpServers":[]}`, nil)
	return editor, stderr
}

const acpPrompt = `{"sessionId":"s","prompt":[{"type":"text","text":"Go."}]}`

func (p *project) read(name string) string {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.workspace, name))
	require.NoError(p.t, err)
	return string(text)
}

func TestACPHandsInstructionsOverAndHoldsATurn(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.call("queue_instruction_with_ack", `{"content":"Run the tests.","ack_on":{"event_type":"tool","match":{"tool_title":{"$contains":"go test"}}}}`, nil)
	editor, stderr := p.acp(p.acpAgent(`n=$(wc -l < prompts)
id=$(printf '%s' "$line" | sed 's/.*"id":\([^,]*\),.*/\1/')
[ "$n" -eq 2 ] && echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"1","title":"go test ./...","kind":"execute","status":"completed"}}}'
printf '{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn"}}\n' "$id"`))
	r, err := editor.call("session/prompt", acpPrompt)
	require.NoError(t, err)
	require.JSONEq(t, `{"stopReason":"end_turn"}`, string(r.Result))
	require.Contains(t, p.read("session"), `"--hooks","--workspace","`)
	prompts := p.read("prompts")
	require.Contains(t, prompts, `Run the tests."},{"type":"text","text":"Go."}]`)
	in := p.only()
	require.Equal(t, "acknowledged", in.State)
	require.Equal(t, 2, in.Sends, "with the prompt, and when the turn was to end")
	require.NoError(t, editor.in.Close())
	require.Zero(t, editor.end())
	said, err := io.ReadAll(stderr)
	require.NoError(t, err)
	require.Empty(t, string(said))
}

func TestACPAgentThatDies(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.call("queue_instruction_with_ack", `{"content":"Run the tests."}`, nil)
	editor, stderr := p.acp(p.acpAgent(`kill -9 $$`))
	r, err := editor.call("session/prompt", acpPrompt)
	require.NoError(t, err)
	require.Equal(t, "the agent ended: signal: killed", r.Error.Message)
	require.Equal(t, 1, editor.end())
	said, err := io.ReadAll(stderr)
	require.NoError(t, err)
	require.Equal(t, "waybill acp: the agent ended: signal: killed\n", string(said))
	require.Zero(t, p.only().Sends, "it did not get the text")
	var notices schema.NoticeList
	p.call("list_notices", `{"session_id":"s","peek":true}`, &notices)
	require.Len(t, notices.Items, 1)
	require.Equal(t, "an agent of acp ended in the middle of a session: signal: killed", notices.Items[0].Text)
}

// A wrapper such as npx may die and leave a process that holds the output of the agent, and so the output never ends.
func TestACPAgentThatDiesAndLeavesItsOutputOpen(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	editor, stderr := p.acp(p.acpAgent(`sleep 1000 & kill -9 $$`))
	r, err := editor.call("session/prompt", acpPrompt)
	require.NoError(t, err)
	require.Equal(t, "the agent ended: signal: killed", r.Error.Message)
	require.Equal(t, 1, editor.end())
	_, err = io.ReadAll(stderr) // the process has gone, too
	require.NoError(t, err)
}

func TestACPAgentThatDoesNotStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cmd := w.command(t, "acp", "--", filepath.Join(w.workspace, "no-agent"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	editor := start(t, cmd)
	r, err := editor.call("initialize", `{"protocolVersion":1}`)
	require.NoError(t, err)
	require.Contains(t, r.Error.Message, "no-agent\" cannot be started: ")
	require.Equal(t, 1, editor.end())
	require.Contains(t, stderr.String(), "no-agent\" cannot be started: ")
}

// The standard error of waybill is that of the agent, too, so its end comes when both have gone.
func TestACPAgentEndsWithItsEditor(t *testing.T) {
	for name, end := range map[string]func(*peer) error{
		"closed":     func(editor *peer) error { return editor.in.Close() },
		"terminated": func(editor *peer) error { return editor.cmd.Process.Signal(os.Interrupt) },
		"killed":     func(editor *peer) error { return editor.cmd.Process.Kill() },
	} {
		if name == "killed" && runtime.GOOS != "linux" {
			continue // only Linux ends a process with its parent
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			editor, stderr := p.acp(p.acpAgent(`echo '{"jsonrpc":"2.0","method":"session/update"}'; exec sleep 1000`)) // it hears nothing more
			_, err := io.WriteString(editor.in, `{"jsonrpc":"2.0","id":9,"method":"session/prompt","params":`+acpPrompt+"}\n")
			require.NoError(t, err)
			_, err = editor.out.ReadString('\n') // the agent has the prompt
			require.NoError(t, err)
			require.NoError(t, end(editor))
			_, err = io.ReadAll(stderr)
			require.NoError(t, err)
		})
	}
}
