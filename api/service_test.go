package api_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/engine"
	"waybill/engine/workspace"
	"waybill/schema"
)

func TestNewNeedsAWayToStart(t *testing.T) {
	_, err := api.New(api.Options{})
	require.ErrorContains(t, err, "Options.Start")
}

// Every method is in the table once. Methods of the front door have no handler.
func TestTableHasEveryMethod(t *testing.T) {
	h := newHost(t, setup{})
	require.Len(t, h.table.Names(), len(schema.Methods))
	for _, m := range schema.Methods {
		entry, ok := h.table.Entry(m.Name)
		require.True(t, ok, m.Name)
		require.Equal(t, m.Kind == schema.Connection, entry.Start == nil, m.Name)
		for _, alias := range m.Aliases {
			same, ok := h.table.Entry(alias)
			require.True(t, ok, alias)
			require.Same(t, entry, same)
		}
	}
	_, ok := h.table.Entry("Ping")
	require.False(t, ok)
	require.Panics(t, func() {
		api.NewTable([]api.Entry{{Method: schema.Method{Name: "a"}}, {Method: schema.Method{Name: "b", Aliases: []string{"a"}}}})
	})
}

func TestInitialize(t *testing.T) {
	var pids []int64
	h := newHost(t, setup{version: "1.2.3", heard: func(pid int64) { pids = append(pids, pid) }})
	greeting := h.call("initialize", `{"protocol_version":1,"process_id":77,"client_info":{"name":"host"},"capabilities":{"any":1}}`)
	greeting.has(1, "protocol_version")
	greeting.has("waybill", "server_info.name")
	greeting.has("1.2.3", "server_info.version")
	greeting.has(os.Getpid(), "server_info.pid")
	greeting.has("--workspace", "workspace.resolved_by")
	greeting.has(schema.MaxMessageBytes, "limits.max_message_bytes")
	greeting.has(schema.MaxContentBytes, "limits.max_content_bytes")
	greeting.has(schema.MaxPending, "limits.max_pending")
	require.Contains(t, greeting.at("capabilities.methods"), "compile_prompt")
	require.Contains(t, greeting.at("capabilities.notifications"), "notice/posted")
	require.Equal(t, []int64{77}, pids)
	again := h.call("initialize", `{}`)
	for _, part := range []string{"protocol_version", "server_info", "workspace", "capabilities", "limits"} {
		require.Equal(t, greeting.at(part), again.at(part), part)
	}
	h.call("ping", `{}`).has(true, "pong")
	h.call("rpc.discover", `{}`).has("1.2.3", "info.version")
}

func TestVersionThatIsNotServed(t *testing.T) {
	h := newHost(t, setup{})
	fault := h.refused(schema.BadVersion, "initialize", `{"protocol_version":0}`)
	fault.has(4260, "code")
	fault.has(1, "data.details.min")
	fault.has(1, "data.details.max")
	h.call("initialize", `{"protocol_version":2}`).has(1, "protocol_version") // the host may step down
	h.refused(schema.InvalidParams, "initialize", `{"protocol_version":"1"}`)
}

// folders returns two existing folders.
func folders(t *testing.T) (a, b string) {
	t.Helper()
	a, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	b, err = filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return a, b
}

func TestFlagBeatsTheFolderOfInitialize(t *testing.T) {
	a, b := folders(t)
	h := newHost(t, setup{sources: workspace.Sources{Flag: a}})
	h.call("initialize", `{"workspace_folders":[{"uri":%q}]}`, b).has(a, "workspace.root")
	h.call("get_status", `{}`).has(a, "workspace.root")
}

func TestFolderOfInitializeIsTheWorkspace(t *testing.T) {
	a, b := folders(t)
	h := newHost(t, setup{sources: workspace.Sources{Cwd: t.TempDir()}})
	greeting := h.call("initialize", `{}`)
	greeting.lacks("workspace")
	h.call("initialize", `{"root_uri":%q}`, b).has(b, "workspace.root")
	greeting = h.call("initialize", `{"workspace_folders":[{"uri":%q},{"uri":%q}],"root_uri":%q}`, a, b, b)
	greeting.has(a, "workspace.root")
	greeting.has("initialize", "workspace.resolved_by")
	h.call("initialize", `{}`).has(a, "workspace.root")
	h.call("queue_instruction", `{"content":"x"}`)
	h.call("initialize", `{"root_uri":%q}`, b).has(a, "workspace.root") // it is in use by now
}

func TestNoWorkspace(t *testing.T) {
	h := newHost(t, setup{sources: workspace.Sources{Cwd: t.TempDir()}})
	for method, params := range map[string]string{
		"get_status": `{}`, "list_plans": `{}`, "queue_instruction": `{"content":"x"}`, "list_instructions": `{}`,
		"init_run": `{"plan":"p","item_id":"1"}`, "compile_prompt": `{"run_id":"r","role":"worker"}`,
		"explain": `{"subject_id":"x"}`, "events_since": `{"cursor":"0"}`,
	} {
		fault := h.refused(schema.NoWorkspace, method, "%s", params)
		fault.has(4240, "code")
		require.Contains(t, fault.str("message"), "--workspace", method)
	}
	_, _, err := h.Subscribe()
	var lost *workspace.UnresolvedError
	require.ErrorAs(t, err, &lost)
	h.call("ping", `{}`)
	h.call("initialize", `{"root_uri":%q}`, t.TempDir())
	h.call("get_status", `{}`)
}

func TestStartIsTriedAgain(t *testing.T) {
	tries := 0
	h := newHost(t, setup{start: func(workspace.Workspace) (*engine.Engine, *engine.Plans, error) {
		tries++
		return nil, nil, errors.New("not yet")
	}})
	for range 2 {
		a := <-h.begin(t.Context(), "get_status", `{}`)
		require.Equal(t, schema.Internal, a.Err.Data.Code)
		require.EqualError(t, a.Cause, "not yet")
	}
	require.Equal(t, 2, tries)
}

func TestStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, setup{version: "1.2.3", watcher: func(context.Context) schema.WatcherStatus {
			return schema.WatcherStatus{Mode: "polling", Reason: "the file system sends no notifications"}
		}})
		time.Sleep(1500 * time.Millisecond)
		h.write("tasks.md", twoItems, time.Hour)
		h.write("specs/broken/tasks.md", "# Title\n", time.Hour)
		h.run("1")
		failed(t, h, 1)
		h.call("queue_instruction", `{"content":"x"}`)
		status := h.call("get_status", `{}`)
		status.has("1.2.3", "version")
		status.has(1500, "uptime_ms")
		status.has("--workspace", "workspace.resolved_by")
		status.has("sqlite", "store.kind")
		status.has("read_write", "store.mode")
		status.has("polling", "watcher.mode")
		status.has(1, "watcher.plans")
		status.has(1, "counts.instructions.queued")
		status.has(0, "counts.instructions.sent")
		status.has(1, "counts.instructions.failed")
		status.has(0, "counts.instructions.acknowledged")
		status.has(0, "counts.instructions.cancelled")
		status.has(1, "counts.runs.running")
		status.has(0, "counts.runs.done")
		for _, task := range []string{"QUEUED", "RUNNING", "COMPLETE", "AWAITING_RESPONSE", "ERROR", "CANCELLED", "BLOCKED"} {
			status.has(0, "counts.tasks."+task)
		}
		require.Len(t, status.at("counts.tasks"), 7)
		status.has(1, "counts.notices_open")
		require.Contains(t, status.at("degraded"), "the file system sends no notifications")
		require.Contains(t, fmt.Sprint(status.at("degraded")), "plan specs/broken/tasks.md: ")
	})
}

func TestUnknownParamsAreRefusedByName(t *testing.T) {
	h := newHost(t, setup{})
	fault := h.refused(schema.UnknownField, "queue_instruction", `{"content":"x","prioritiy":true}`)
	fault.has("prioritiy", "data.details.field")
	fault.has("priority", "data.details.did_you_mean.0")
	h.call("queue_instruction", `{"content":"x","_meta":{"a":1}}`)
}
