//go:build unix

package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"waybill/store/postgres/pgtest"
	"waybill/test/slow"
)

// eachStore runs a test where processes meet in each kind of store. Each world that it is given has a store of its own.
func eachStore(t *testing.T, test func(t *testing.T, newWorld func(t *testing.T) world)) {
	t.Run("file", func(t *testing.T) { test(t, newWorld) })
	t.Run("database", func(t *testing.T) {
		server := pgtest.Own(t)
		in := func(options string) func(t *testing.T) world {
			return func(t *testing.T) world {
				w := newWorld(t)
				w.store = server.Database(t) + options
				return w
			}
		}
		test(t, in(""))
		t.Run("pooler", func(t *testing.T) { test(t, in("&pooler=yes")) }) // where nobody listens
	})
}

// parked returns when what was called before waits: changes of one connection take effect in their order.
func (p *peer) parked() {
	p.t.Helper()
	p.must("queue_instruction", `{"content":"x"}`, nil)
}

// What one process commits is announced by every front door of another one, which nobody has asked for anything.
func TestEventsAreAnnouncedByOtherProcesses(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	eachStore(t, func(t *testing.T, newWorld func(t *testing.T) world) {
		for door, announced := range map[string]func(t *testing.T, w world, telling *peer){
			"JSON-RPC": announcedToHosts, "page": announcedToPages,
			"MCP, to who has called nothing": announcedToGuests,
		} {
			t.Run(door, func(t *testing.T) {
				w := newWorld(t)
				telling := w.serve(t)
				telling.must("queue_instruction", `{"content":"before"}`, nil)
				announced(t, w, telling)
			})
		}
	})
}

func announcedToHosts(t *testing.T, w world, telling *peer) {
	told := w.serve(t)
	told.must("initialize", `{}`, nil)
	told.must("list_tasks", `{}`, nil)
	late := time.AfterFunc(patience, func() { _ = told.cmd.Process.Kill() })
	defer late.Stop()
	told.hears(telling.asked(), "task/updated", "attempt/updated", "task/awaiting_response", "notice/posted")
	id := telling.gets("instruction_id", "queue_instruction_with_ack", `{"content":"news"}`)
	told.hears(id, "instruction/available")
	telling.must("acknowledge", fmt.Sprintf(`{"instruction_id":%q}`, id), nil)
	told.hears(id, "instruction/updated")
	told.hears(telling.gets("run_id", "init_run", `{"plan":"tasks.md","item_id":"1"}`), "run/updated")
}

// hears returns when each of these notifications about a thing has come, in whatever order.
func (p *peer) hears(id string, methods ...string) {
	p.t.Helper()
	for len(methods) > 0 {
		method, params := p.notified()
		if i := slices.Index(methods, method); i >= 0 && strings.Contains(params, id) {
			methods = slices.Delete(methods, i, i+1)
		}
	}
}

func announcedToPages(t *testing.T, w world, telling *peer) {
	told := w.serve(t, "--http")
	told.must("list_tasks", `{}`, nil)
	next := w.portFile(t).events()
	late := time.AfterFunc(patience, func() { _ = told.cmd.Process.Kill() })
	defer late.Stop()
	id := telling.asked()
	next(`"type":"task.created"`)
	next(`"type":"attempt.finished"`)
	telling.must("reply", fmt.Sprintf(`{"task_id":%q,"reply":"elm"}`, id), nil)
	next(`"type":"task.replied"`)
}

// The defect: a guest that had called nothing was told of nothing, for no store was open.
func announcedToGuests(t *testing.T, w world, telling *peer) {
	heard := make(chan string, 100)
	g := w.visit(t, eras[0], &sdk.ClientOptions{ResourceUpdatedHandler: func(_ context.Context, req *sdk.ResourceUpdatedNotificationRequest) {
		heard <- req.Params.URI
	}})
	for _, uri := range []string{"waybill://awaiting", "waybill://ledger/progress"} {
		require.NoError(t, g.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}))
	}
	next := func() string {
		select {
		case uri := <-heard:
			return uri
		case <-time.After(patience):
			require.Fail(t, "nobody was told")
			return ""
		}
	}
	telling.asked()
	for next() != "waybill://awaiting" { // the plans may be told of before
	}
	telling.must("init_run", `{"plan":"tasks.md","item_id":"1"}`, nil)
	for next() != "waybill://ledger/progress" { // what came before may be told of once more
	}
}
