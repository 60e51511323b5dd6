package hosts_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/test/fakemodel"
	"waybill/test/golden"
)

// The columns of the table.
const (
	listed   = "tools offered"
	received = "instruction arrives"
	held     = "stop with a red check"
	killed   = "killed with -9"
	works    = "`waybill work --plan`"
	packaged = "package"
)

var columns = []string{listed, received, held, killed, works, packaged}

// cells are what a test saw of a host, by column.
type cells map[string]string

// TestHosts runs each host through each test. If all of them ran, the table in docs/hosts.md must be what they saw.
func TestHosts(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex // guards seen
	seen := map[string]cells{}
	tests := map[string]func(*testing.T, host) cells{"call": callsATool, "hold": isHeld, "kill": isKilled, "package": isInstalled, "work": worksThroughAPlan}
	t.Run("all", func(t *testing.T) { // ends when its parallel tests have ended
		t.Run(vsCode.name, func(t *testing.T) {
			t.Parallel()
			saw := runsInEditor(t)
			mu.Lock()
			defer mu.Unlock()
			seen[vsCode.name] = saw
		})
		for _, name := range slices.Sorted(maps.Keys(tests)) {
			for _, h := range hosts {
				t.Run(name+"/"+h.name, func(t *testing.T) {
					t.Parallel()
					saw := tests[name](t, h)
					mu.Lock()
					defer mu.Unlock()
					if seen[h.name] == nil {
						seen[h.name] = cells{}
					}
					maps.Copy(seen[h.name], saw)
				})
			}
		}
	})
	table := "| host | " + strings.Join(columns, " | ") + " |\n|" + strings.Repeat("---|", len(columns)+1) + "\n"
	for _, h := range append(slices.Clone(hosts), vsCode) {
		table += "| " + h.title + " " + h.version(t)
		for _, column := range columns {
			if seen[h.name][column] == "" {
				t.Skipf("the table needs every test of every host, and no %s of %s was seen", column, h.title)
			}
			table += " | " + seen[h.name][column]
		}
		table += " |\n"
	}
	golden.Parts(t, "../../../docs/hosts.md", map[string]string{"seen": table})
}

// The table is of the hosts that package.json pins.
func TestTableIsOfThePinnedHosts(t *testing.T) {
	page, err := os.ReadFile("../../../docs/hosts.md")
	require.NoError(t, err)
	for _, h := range append(slices.Clone(hosts), vsCode) {
		require.Contains(t, string(page), "\n| "+h.title+" "+h.version(t)+" | ", "run the tests of this package with -update")
	}
}

// connect makes waybill known to the host, as docs/hosts.md says.
func (p *place) connect() {
	p.t.Helper()
	p.must(p.waybill, "setup", p.host.name, "--yes")
}

// find returns a call that offers hidden tools of waybill to the model.
func find() fakemodel.Call {
	return fakemodel.Call{Tool: "tool_search", Args: map[string]any{"query": "+waybill plan item instruction task", "max_results": 20}}
}

// ours returns the tools of waybill among those that are offered.
func ours(r fakemodel.Request) (names []string) {
	for _, tool := range r.Tools {
		if strings.Contains(tool, "waybill") {
			names = append(names, tool)
		}
	}
	return names
}

// tour answers as the model does in the first turns of a conversation: it searches for hidden tools, and calls ready_items
// of waybill. It reports whether there is more to say for it.
func (h host) tour(r fakemodel.Request) (a fakemodel.Answer, more bool) {
	switch ready := r.Tool("ready_items"); {
	case r.Has(item):
		return a, false
	case r.Said(prompt) == 0 && h.hidden:
		return call(find()), true
	case ready == "" || r.Said(prompt) > 2:
		return fakemodel.Answer{Text: "There is no ready_items, or no answer of it, among " + strings.Join(r.Tools, " ")}, true
	default:
		return call(fakemodel.Call{Tool: ready, Args: map[string]any{"plan": "tasks.md"}}), true
	}
}

func call(calls ...fakemodel.Call) fakemodel.Answer { return fakemodel.Answer{Calls: calls} }

const (
	prompt = "Take the tour." // what the person says
	item   = "Paint the fence"
)

// callsATool has the host list the tools of waybill, and call one.
func callsATool(t *testing.T, h host) cells {
	tools, searched := h.lists(t, (*place).connect)
	if searched {
		return cells{listed: fmt.Sprintf("%d, after a search", tools)}
	}
	return cells{listed: strconv.Itoa(tools)}
}

// isInstalled has the host install waybill from its package, without a network, and call a tool.
func isInstalled(t *testing.T, h host) cells {
	if h.install == nil {
		return cells{packaged: "none"}
	}
	folder, err := filepath.Abs("../../../packages")
	require.NoError(t, err)
	h.lists(t, func(p *place) {
		for _, args := range h.install {
			args = append(slices.Clone(p.program), args...)
			for i := range args {
				args[i] = strings.Replace(args[i], packages, folder, 1)
			}
			p.must(args...)
		}
	})
	return cells{packaged: "installed"}
}

// lists has a host that was connected call a tool. It returns how many tools of waybill its model was offered, and whether the
// model had to search for them.
func (h host) lists(t *testing.T, connect func(*place)) (tools int, searched bool) {
	t.Helper()
	p := newPlace(t, h, func(r fakemodel.Request) fakemodel.Answer {
		if a, more := h.tour(r); more {
			return a
		}
		return fakemodel.Answer{Text: "FINAL: it is about the fence."}
	})
	connect(p)
	require.Contains(t, p.run(prompt), "FINAL: it is about the fence.")
	asked := p.model.Asked()
	tools = len(ours(asked[len(asked)-1]))
	require.Equal(t, 12, tools)
	require.Empty(t, p.model.Lost())
	return tools, len(ours(asked[0])) == 0
}

const (
	instruction     = "Mind the gap."
	minded, painted = "minded-42", "painted-42" // outputs that no command line has
	final           = "FINAL: the fence is painted."
)

// believed answers as a model that receives the instruction, runs a command that acknowledges it, and claims that all is done.
// When it is held because a check is red, it does the work.
func (h host) believed(r fakemodel.Request) fakemodel.Answer {
	switch {
	case r.Has(painted):
		return fakemodel.Answer{Text: final}
	case r.Has("The check painted is red"):
		return call(h.shell("touch fence.txt && printf %s-%s painted 42"))
	case r.Has(minded):
		return fakemodel.Answer{Text: "All is done."}
	case r.Has(instruction):
		return call(h.shell("printf %s-%s minded 42"))
	case r.Said(prompt) == 0:
		return call(h.shell("true")) // some hosts show a hook's text only after a tool
	}
	return fakemodel.Answer{Text: "FINAL: no instruction came."}
}

// check declares a check, and trusts it. The trust is asked for at a terminal.
func (p *place) check() {
	p.t.Helper()
	p.write("work/.waybill.toml", "[[check]]\nname = \"painted\"\nrun = \"test -e fence.txt\"\n")
	trust := p.command("script", "--quiet", "--return", "--command", p.waybill+" check trust", os.DevNull)
	trust.Stdin = strings.NewReader("y\n")
	out, err := trust.CombinedOutput()
	require.NoError(p.t, err, "%s", out)
}

// queue queues the instruction for a session. It may be sent once.
func (p *place) queue(session, event, command string) {
	p.t.Helper()
	p.call("queue_instruction_with_ack", fmt.Sprintf(
		`{"content":%q,"session_id":%q,"max_retries":0,"ack_on":{"event_type":%q,"match":{%q:{"$contains":"minded"}}}}`,
		instruction, session, event, command), nil)
}

// done asserts what must be true when the model has said its last word.
func (p *place) done() cells {
	p.t.Helper()
	require.FileExists(p.t, filepath.Join(p.workspace, "fence.txt"))
	var list schema.InstructionList
	p.call("list_instructions", `{}`, &list)
	require.Len(p.t, list.Items, 1)
	require.Equal(p.t, "acknowledged", list.Items[0].State)
	require.Equal(p.t, 1, list.Items[0].Sends)
	require.Empty(p.t, p.model.Lost())
	saw := cells{received: "after the next tool", held: "held, then done"}
	if p.model.Asked()[0].Has(instruction) {
		saw[received] = "with the prompt"
	}
	return saw
}

// isHeld has the host receive an instruction by a hook, acknowledge it by running a command, claim that all is done, and be
// held because a check is red. It stops when the check is green.
func isHeld(t *testing.T, h host) cells {
	if h.name == "opencode" {
		return isHeldByPlugin(t, h)
	}
	p := newPlace(t, h, h.believed)
	p.connect()
	p.check()
	p.queue("default", "tool", "tool_input.command")
	require.Contains(t, p.run(prompt), final)
	return p.done()
}

// isHeldByPlugin does the same with OpenCode's server, which stays when a session is idle. A plugin is there in place of
// hooks.
func isHeldByPlugin(t *testing.T, h host) cells {
	ended := make(chan struct{}, 10)
	p := newPlace(t, h, func(r fakemodel.Request) fakemodel.Answer {
		a := h.believed(r)
		if strings.HasPrefix(a.Text, "FINAL") {
			ended <- struct{}{}
		}
		return a
	})
	p.connect()
	p.check()
	server := p.command(append(p.program, "serve", "--port", "0")...)
	out, err := server.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	address := ""
	for lines := bufio.NewScanner(out); address == "" && lines.Scan(); {
		address = regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(lines.Text())
	}
	require.NotEmpty(t, address)
	go func() { _, _ = io.Copy(io.Discard, out) }() // ends with the server
	post := func(path, body string) (answer struct{ ID string }) {
		got, err := http.Post(address+path, "application/json", strings.NewReader(body))
		require.NoError(t, err)
		defer func() { _ = got.Body.Close() }()
		require.Equal(t, http.StatusOK, got.StatusCode)
		require.NoError(t, json.NewDecoder(got.Body).Decode(&answer))
		return answer
	}
	session := post("/session", `{}`).ID
	p.queue(session, "tool.execute.after", "args.command")
	post("/session/"+session+"/message", fmt.Sprintf(`{"parts":[{"type":"text","text":%q}]}`, prompt))
	select {
	case <-ended:
	case <-time.After(patience):
		require.Fail(t, "the session was not held")
	}
	return p.done()
}

// `opencode run` ends when its session is idle. The plugin once used up the sends of an instruction then, and no model got it.
func TestOpenCodeRunUsesUpNoSend(t *testing.T) {
	t.Parallel()
	at := slices.IndexFunc(hosts, func(h host) bool { return h.name == "opencode" })
	p := newPlace(t, hosts[at], func(fakemodel.Request) fakemodel.Answer { return fakemodel.Answer{Text: "I have seen it."} })
	p.connect()
	session := regexp.MustCompile(`ses_\w+`).FindString(p.must(append(p.program, "run", "--format", "json", prompt)...))
	require.NotEmpty(t, session)
	p.queue(session, "none", "none")
	p.must(append(p.program, "run", "--session", session, "Go on.")...)
	carried := slices.DeleteFunc(p.model.Asked(), func(r fakemodel.Request) bool { return !r.Has(instruction) })
	require.Len(t, carried, 1, "the next turn carries the instruction")
	var list schema.InstructionList
	p.call("list_instructions", `{}`, &list)
	require.Len(t, list.Items, 1)
	require.Equal(t, "sent", list.Items[0].State)
	require.Equal(t, 1, list.Items[0].Sends)
}

// isKilled kills the host with -9 while waybill serves it. No input ends then, if something
// else holds the pipe, and no signal comes.
func isKilled(t *testing.T, h host) cells {
	held := make(chan struct{}, 10)
	p := newPlace(t, h, func(r fakemodel.Request) fakemodel.Answer {
		if a, more := h.tour(r); more {
			return a
		}
		held <- struct{}{}
		return fakemodel.Answer{Hold: true}
	})
	p.connect()
	cmd := p.command(append(p.program, h.prompt(prompt)...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	ended := make(chan struct{})
	go func() { // ends with the host, which is killed at the latest when its context ends
		_ = cmd.Wait() // a host that is killed fails
		close(ended)
	}()
	select {
	case <-held:
	case <-ended:
		require.Fail(t, "the host ended by itself", out.String())
	}
	require.NotEmpty(t, p.processes(p.waybill+"\x00mcp"))
	serving := p.processes(p.waybill) // the plugin of OpenCode has a process of its own
	require.NoError(t, cmd.Process.Kill())
	for _, pid := range serving {
		require.True(t, gone(pid), "waybill outlived its host")
	}
	<-ended
	require.Empty(t, p.processes(p.waybill))
	return cells{killed: "nothing left"}
}

// worksThroughAPlan has the host be the agent of `waybill work --plan`, with the command that docs/work.md lists.
// Its model claims at first that all is done, and writes the file when a check has refused that.
func worksThroughAPlan(t *testing.T, h host) cells {
	var workspace atomic.Value // a string, which a goroutine of the model reads
	p := newPlace(t, h, func(r fakemodel.Request) fakemodel.Answer {
		const task = "Task id: "
		if strings.Contains(r.Raw, "exit status") && r.Said(task) == 0 {
			return call(h.write(filepath.Join(workspace.Load().(string), "fence.txt"), "painted"))
		}
		key := regexp.MustCompile(`Result key: (\w+)`).FindStringSubmatch(r.Raw)
		if key == nil {
			return fakemodel.Answer{Text: "The prompt has no key."}
		}
		return fakemodel.Answer{Text: "role: worker\ntask_id: 1\nkey: " + key[1] + "\nstatus: pass\ngit_range: HEAD..HEAD\n\nAll is done."}
	})
	workspace.Store(p.workspace)
	args := append([]string{p.waybill, "work", "--plan", "tasks.md", "--no-wait", "--tick", "--facts", "off", "--check", "painted=test -e fence.txt", "--"}, p.program...)
	out := p.must(append(args, h.worker...)...)
	require.Contains(t, out, "1 proven, 0 only said")
	require.FileExists(t, filepath.Join(p.workspace, "fence.txt"))
	var receipts schema.ReceiptList
	p.call("list_receipts", `{}`, &receipts)
	require.Len(t, receipts.Items, 2)
	require.Equal(t, "red", receipts.Items[0].Outcome)
	require.Equal(t, "green", receipts.Items[1].Outcome)
	return cells{works: "proven"}
}
