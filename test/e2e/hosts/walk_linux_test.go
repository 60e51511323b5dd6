package hosts_test

import (
	"bufio"
	"encoding/json"
	"io"
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
	const greeting, instruction = "Say hello.", "Run the tests before you say that you are done."
	three := slices.DeleteFunc(slices.Clone(hosts), func(h host) bool { return walked[h.name] == "" })
	held := map[string]chan struct{}{} // a host is told that the check is red; the test and the model only read the map
	for _, h := range three {
		held[h.name] = make(chan struct{}, 1)
	}
	work := func(h host) fakemodel.Call { return h.shell("touch hello.txt && go test ./...") }
	asks := func(h host, r fakemodel.Request) bool {
		return slices.Contains(r.Tools, work(h).Tool) && r.Has(greeting)
	}
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
		at := slices.IndexFunc(three, func(h host) bool { return asks(h, r) })
		switch {
		case at < 0 || r.Said(greeting) == 0:
			return fakemodel.Answer{Text: "Hello."}
		case len(r.Turns[len(r.Turns)-1].Results) > 0:
			select {
			case held[three[at].name] <- struct{}{}:
			default: // the host asks once more
			}
			return fakemodel.Answer{Text: "FINAL: the tests ran."}
		case r.Has("The check greeted is red"):
			return call(work(three[at]))
		}
		return fakemodel.Answer{Text: "There is no red check."}
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

	// The flag stands for what a person does in /hooks. In this home there are no hooks but those of waybill setup.
	require.Contains(t, hooks[2], "codex exec ")
	hooks[2] = strings.ReplaceAll(hooks[2], "codex exec ", "codex exec --dangerously-bypass-hook-trust ")
	const address = "http://127.0.0.1:4096"
	require.Contains(t, hooks[2], "--port 4096")
	require.Contains(t, hooks[2], address)
	lines := strings.Split(hooks[2], "\n")
	for _, h := range three {
		var queued schema.QueueInstructionWithAckResult
		require.NoError(t, json.Unmarshal([]byte(p.must("sh", "-c", hooks[0])), &queued))
		commands := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !strings.HasPrefix(line, walked[h.name]+" ") })
		require.NotEmpty(t, commands)
		serves := address
		for _, command := range commands {
			if strings.Contains(command, " serve ") {
				serves = p.background(strings.ReplaceAll(command, "--port 4096", "--port 0")) // another may serve at the port of the page
				continue
			}
			p.must("sh", "-c", strings.ReplaceAll(command, address, serves))
		}
		select {
		case <-held[h.name]:
		case <-time.After(patience):
			require.Fail(t, "the stop was not held", h.title)
		}
		require.NoError(t, os.Remove(filepath.Join(p.workspace, "hello.txt")))
		if h.name == "opencode" { // the page sends its reader elsewhere for instructions
			continue
		}
		require.True(t, slices.ContainsFunc(p.model.Asked(), func(r fakemodel.Request) bool {
			return asks(h, r) && r.Said(greeting) == 0 && r.Has(instruction)
		}), "%s received the instruction with the prompt", h.title)
		var list schema.InstructionList
		p.call("list_instructions", `{}`, &list)
		at := slices.IndexFunc(list.Items, func(in schema.Instruction) bool { return in.InstructionID == queued.InstructionID })
		require.GreaterOrEqual(t, at, 0)
		require.Equal(t, "acknowledged", list.Items[at].State, h.title)
	}
}

// background starts a command that serves until the test ends, waits until it listens, and returns the address that it prints.
func (p *place) background(line string) string {
	p.t.Helper()
	cmd := p.command("sh", "-c", "exec "+line)
	out, err := cmd.StdoutPipe()
	require.NoError(p.t, err)
	require.NoError(p.t, cmd.Start())
	p.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewScanner(out)
	url := ""
	for url == "" && lines.Scan() {
		url = regexp.MustCompile(`http://[0-9.]+:[0-9]+`).FindString(lines.Text())
	}
	require.NotEmpty(p.t, url, "%s printed no address", line)
	go func() { _, _ = io.Copy(io.Discard, out) }() // ends with the command
	return url
}
