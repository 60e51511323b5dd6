//go:build unix

package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// A project is a workspace in which a host runs the hooks of waybill.
type project struct {
	world
	t      *testing.T
	binary string // of hooks, if it is not the test binary
}

func newProject(t *testing.T) *project {
	t.Helper()
	return &project{world: newWorld(t), t: t}
}

// hook runs the real program for an event of Claude Code, in another folder than the project.
func (p *project) hook(input string) (stdout, stderr string) {
	p.t.Helper()
	cmd := p.command(p.t, "hook", "claude-code", "--timeout", "60s")
	if p.binary != "" {
		cmd.Path = p.binary
	}
	cmd.Env = append(cmd.Env, "CLAUDE_PROJECT_DIR="+p.workspace)
	var out, wrong bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.t.TempDir(), strings.NewReader(input), &out, &wrong
	require.NoError(p.t, cmd.Run(), "a hook that fails stops an agent: %s", wrong.String())
	return out.String(), wrong.String()
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

// TestHooksOfTheDocs plays what docs/hooks.md says to type first, and what it says comes of it.
func TestHooksOfTheDocs(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	page, err := os.ReadFile("docs/hooks.md")
	require.NoError(t, err)
	_, block, found := strings.Cut(string(page), "```sh\nwaybill ")
	require.True(t, found)
	block, _, _ = strings.Cut(block, "```")
	self, err := os.Executable()
	require.NoError(t, err)
	shell := exec.CommandContext(t.Context(), "sh", "-c", `"$0" `+block, self)
	shell.Env, shell.Dir = p.command(t).Env, p.workspace
	out, err := shell.CombinedOutput()
	require.NoError(t, err, string(out))
	told, stderr := p.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"Go on."}`)
	require.Contains(t, told, "Run the tests before you say that you are done.")
	require.Empty(t, stderr)
	told, _ = p.hook(`{"session_id":"s","hook_event_name":"Stop","stop_hook_active":false}`)
	require.Contains(t, told, `{"decision":"block","reason":"**REMINDER:** Run the tests`)
	p.hook(`{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"cd . && go test ./... 2>&1 | tail"},"tool_response":"ok"}`)
	require.Equal(t, "acknowledged", p.only().State)
}

// TestFiftyHookProcessesAtOnce has 50 processes acknowledge 50 instructions and ask for what is due: nothing is lost, and nothing is
// handed over twice.
func TestFiftyHookProcessesAtOnce(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	binary, err := build() // with the race detector, fifty processes exceed the time limit of a hook on a loaded machine
	require.NoError(t, err)
	p.binary = binary
	host := p.serve(t)
	for i := range 50 {
		host.must("queue_instruction_with_ack", fmt.Sprintf(
			`{"content":"number %d","session_id":"other","ack_on":{"event_type":"tool","match":{"tool_input.command":"make %d"}}}`, i, i), nil)
		host.must("queue_instruction", fmt.Sprintf(`{"content":"once %d.","session_id":"s"}`, i), nil)
	}
	var mu sync.Mutex // guards told and wrong
	var told, wrong string
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			_, faults := p.hook(fmt.Sprintf(`{"session_id":"other","hook_event_name":"PostToolUse","tool_use_id":"t%d","tool_name":"Bash","tool_input":{"command":"make %d"}}`, i, i))
			text, more := p.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"Go on."}`)
			mu.Lock()
			defer mu.Unlock()
			told, wrong = told+text, wrong+faults+more
		})
	}
	all.Wait()
	require.Empty(t, wrong)
	for i := range 50 {
		require.Equal(t, 1, strings.Count(told, fmt.Sprintf("once %d.", i)))
	}
	var list schema.InstructionList
	p.call("list_instructions", `{"session_id":"other","limit":100}`, &list)
	for _, in := range list.Items {
		require.Equal(t, "acknowledged", in.State, in.Content)
	}
	var notices schema.NoticeList
	p.call("list_notices", `{"peek":true}`, &notices)
	require.Empty(t, notices.Items)
}
