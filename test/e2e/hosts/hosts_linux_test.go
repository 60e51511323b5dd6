package hosts_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/test/fakemodel"
)

// connect makes waybill known to the host, as docs/hosts.md says.
func (p *place) connect() {
	p.t.Helper()
	entry := func() map[string]any { // that of most hosts
		var all struct{ MCPServers map[string]map[string]any }
		require.NoError(p.t, json.Unmarshal([]byte(p.must(p.waybill, "mcp", "install", "--print", "cursor")), &all))
		return all.MCPServers["waybill"]
	}
	switch p.host.name {
	case "qwen":
		p.writeJSON("work/.qwen/settings.json", map[string]any{"mcpServers": map[string]any{"waybill": entry()}})
	case "copilot":
		server := entry()
		server["type"], server["tools"] = "local", []string{"*"}
		p.writeJSON("home/.copilot/mcp-config.json", map[string]any{"mcpServers": map[string]any{"waybill": server}})
	default:
		p.must(p.waybill, "mcp", "install", p.host.name)
	}
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

// TestHostCallsATool has each host list the tools of waybill, and call one.
func TestHostCallsATool(t *testing.T) {
	each(t, func(t *testing.T, h host) {
		p := newPlace(t, h, func(r fakemodel.Request) fakemodel.Answer {
			if a, more := h.tour(r); more {
				return a
			}
			return fakemodel.Answer{Text: "FINAL: it is about the fence."}
		})
		p.connect()
		require.Contains(t, p.run(prompt), "FINAL: it is about the fence.")
		asked := p.model.Asked()
		require.Len(t, ours(asked[len(asked)-1]), 12)
		require.Empty(t, p.model.Lost())
	})
}

// TestKilledHostLeavesNoWaybillBehind kills each host with -9 while waybill serves it. No input ends then, if something
// else holds the pipe, and no signal comes.
func TestKilledHostLeavesNoWaybillBehind(t *testing.T) {
	each(t, func(t *testing.T, h host) {
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
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }() // ends with the host, which is killed at the latest when its context ends
		select {
		case <-held:
		case <-ended:
			require.Fail(t, "the host ended by itself", out.String())
		}
		serving := p.processes(p.waybill + "\x00mcp")
		require.NotEmpty(t, serving)
		require.NoError(t, cmd.Process.Kill())
		for _, pid := range serving {
			require.True(t, gone(pid), "waybill outlived its host")
		}
		<-ended
		require.Empty(t, p.processes(p.waybill))
	})
}

// TestHostWorksThroughAPlan has each host be the agent of `waybill work --plan`, with the command that docs/work.md lists.
// Its model claims at first that all is done, and writes the file when a check has refused that.
func TestHostWorksThroughAPlan(t *testing.T) {
	each(t, func(t *testing.T, h host) {
		var workspace string
		p := newPlace(t, h, func(r fakemodel.Request) fakemodel.Answer {
			const task = "Task id: "
			if strings.Contains(r.Raw, "exit status") && r.Said(task) == 0 {
				return call(h.write(filepath.Join(workspace, "fence.txt"), "painted"))
			}
			key := regexp.MustCompile(`Result key: (\w+)`).FindStringSubmatch(r.Raw)
			if key == nil {
				return fakemodel.Answer{Text: "The prompt has no key."}
			}
			return fakemodel.Answer{Text: "role: worker\ntask_id: 1\nkey: " + key[1] + "\nstatus: pass\ngit_range: HEAD..HEAD\n\nAll is done."}
		})
		workspace = p.workspace
		args := append([]string{p.waybill, "work", "--plan", "tasks.md", "--no-wait", "--tick", "--facts", "off", "--check", "painted=test -e fence.txt", "--"}, p.program...)
		out := p.must(append(args, h.worker...)...)
		require.Contains(t, out, "1 proven, 0 only said")
		require.FileExists(t, filepath.Join(p.workspace, "fence.txt"))
		var receipts schema.ReceiptList
		p.call("list_receipts", `{}`, &receipts)
		require.Len(t, receipts.Items, 2)
		require.Equal(t, "red", receipts.Items[0].Outcome)
		require.Equal(t, "green", receipts.Items[1].Outcome)
	})
}

// each runs a test for each host.
func each(t *testing.T, test func(*testing.T, host)) {
	t.Helper()
	for _, h := range hosts {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			test(t, h)
		})
	}
}
