package hosts_test

import (
	"bufio"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/test/fakemodel"
)

// walked are the hosts that the walk through the documentation takes, with the names by which a person starts them.
var walked = map[string]string{"claude-code": "claude", "codex": "codex", "opencode": "opencode"}

// shellBlocks returns the shell commands of a page, a string for each block.
func shellBlocks(t *testing.T, page string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../../docs", page))
	require.NoError(t, err)
	for _, found := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, found[1])
	}
	require.NotEmpty(t, blocks)
	return blocks
}

// TestWalkThroughTheDocumentation goes from three hosts that npm installed in a new home to a stop that is held in each. It runs the
// commands of docs/hosts.md and docs/hooks.md as they stand there, and what the person must do by hand is what these pages say.
func TestWalkThroughTheDocumentation(t *testing.T) {
	t.Parallel()
	const greeting = "Say hello."
	three := slices.DeleteFunc(slices.Clone(hosts), func(h host) bool { return walked[h.name] == "" })
	ended := make(chan struct{}, 10)
	together := three[0]
	together.env = func(m *fakemodel.Model) (all []string) {
		for _, h := range three {
			all = append(all, h.env(m)...)
		}
		return all
	}
	together.configure = func(p *place) {
		for _, h := range three {
			h.configure(p)
		}
	}
	p := newPlace(t, together, func(r fakemodel.Request) fakemodel.Answer {
		last := r.Turns[len(r.Turns)-1]
		switch {
		case len(last.Results) > 0:
			ended <- struct{}{}
			return fakemodel.Answer{Text: "FINAL: the tests ran."}
		case r.Said(greeting) == 0:
			return fakemodel.Answer{Text: "Hello."}
		}
		for _, h := range three {
			if work := h.shell("touch hello.txt && go test ./..."); slices.Contains(r.Tools, work.Tool) && r.Has("The check greeted is red") {
				return call(work)
			}
		}
		return fakemodel.Answer{Text: "There is no shell, or no red check."}
	})
	p.write("work/go.mod", "module shop\n\ngo 1.22\n")
	p.write("work/shop.go", "package shop\n")
	for _, h := range three {
		require.NoError(t, os.Symlink(h.installed(t)[0], filepath.Join(filepath.Dir(p.waybill), walked[h.name])))
	}

	confirmed := func(commands string) string { // by a person at a terminal
		terminal := p.command("script", "--quiet", "--return", "--command", commands, os.DevNull)
		terminal.Stdin = strings.NewReader("y\n")
		out, err := terminal.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	hooks := shellBlocks(t, "hooks.md")
	out := confirmed(shellBlocks(t, "hosts.md")[0])
	confirmed(hooks[1])
	for _, h := range three {
		require.Contains(t, out, h.title)
	}
	require.Contains(t, out, "/hooks", "Codex wants its hooks trusted")

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	// The flag stands for what a person does in /hooks. In this home there are no hooks but those of waybill setup.
	require.Contains(t, hooks[2], "codex exec ")
	hooks[2] = strings.ReplaceAll(hooks[2], "codex exec ", "codex exec --dangerously-bypass-hook-trust ")
	require.Contains(t, hooks[2], "4096")
	lines := strings.Split(strings.ReplaceAll(hooks[2], "4096", port), "\n") // another OpenCode may serve at the port of the page
	for i, h := range three {
		p.must("sh", "-c", hooks[0])
		asked := len(p.model.Asked())
		commands := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !strings.HasPrefix(line, walked[h.name]+" ") })
		require.NotEmpty(t, commands)
		for _, command := range commands {
			if line, background := strings.CutSuffix(command, " &"); background {
				p.background(line)
				continue
			}
			p.must("sh", "-c", command)
		}
		select {
		case <-ended:
		case <-time.After(patience):
			require.Fail(t, "the stop was not held", h.title)
		}
		require.NoError(t, os.Remove(filepath.Join(p.workspace, "hello.txt")))
		if h.name == "opencode" { // the page sends its reader elsewhere for instructions
			continue
		}
		require.True(t, p.model.Asked()[asked].Has("Run the tests before you say that you are done."), "%s received the instruction", h.title)
		var list schema.InstructionList
		p.call("list_instructions", `{}`, &list)
		require.Equal(t, "acknowledged", list.Items[i].State, h.title)
	}
}

// background starts a command that serves until the test ends, and waits until it listens.
func (p *place) background(line string) {
	p.t.Helper()
	cmd := p.command("sh", "-c", "exec "+line)
	out, err := cmd.StdoutPipe()
	require.NoError(p.t, err)
	require.NoError(p.t, cmd.Start())
	p.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), "http://") {
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // ends with the command
}
