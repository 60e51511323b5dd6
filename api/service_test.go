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
	"waybill/core/instruction"
	"waybill/engine"
	"waybill/engine/workspace"
	planfile "waybill/plan/file"
	"waybill/schema"
	"waybill/store"
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
	greeting.has(1, "protocol_version", "waybill", "server_info.name", "1.2.3", "server_info.version")
	greeting.has(os.Getpid(), "server_info.pid", "--workspace", "workspace.resolved_by")
	greeting.has(schema.MaxMessageBytes, "limits.max_message_bytes", schema.MaxContentBytes, "limits.max_content_bytes")
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

func TestVersionThatIsNotServedIsRefused(t *testing.T) {
	h := newHost(t, setup{})
	fault := h.refused(schema.BadVersion, "initialize", `{"protocol_version":0}`)
	fault.has(1, "data.details.min", 1, "data.details.max")
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

func TestFolderOfInitializeIsTheWorkspace(t *testing.T) {
	a, b := folders(t)
	newHost(t, setup{sources: workspace.Sources{Flag: a}}).call("initialize", `{"workspace_folders":[{"uri":%q}]}`, b).has(a, "workspace.root")
	h := newHost(t, setup{sources: workspace.Sources{Cwd: t.TempDir()}})
	h.call("initialize", `{}`).lacks("workspace")
	h.call("initialize", `{"root_uri":%q}`, b).has(b, "workspace.root")
	greeting := h.call("initialize", `{"workspace_folders":[{"uri":%q},{"uri":%q}],"root_uri":%q}`, a, b, b)
	greeting.has(a, "workspace.root", "initialize", "workspace.resolved_by")
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
		h.call("queue_instruction", `{"content":"plain"}`)
		h.pass()
		h.call("queue_instruction", `{"content":"x"}`)
		status := h.call("get_status", `{}`)
		for path, want := range map[string]any{
			"version": "1.2.3", "uptime_ms": 1500, "workspace.resolved_by": "--workspace", "store.kind": "sqlite", "store.mode": "read_write",
			"watcher.mode": "polling", "watcher.plans": 1, "counts.notices_open": 1,
			"counts.instructions.queued": 1, "counts.instructions.sent": 0, "counts.instructions.delivered": 1, "counts.instructions.failed": 1,
			"counts.instructions.acknowledged": 0, "counts.instructions.cancelled": 0, "counts.runs.running": 1, "counts.runs.done": 0,
			"moves.first_sends": 2, "moves.repeats": 0, "moves.acknowledged": 0, "moves.failed": 1,
		} {
			status.has(want, path)
		}
		for _, task := range []string{"QUEUED", "RUNNING", "COMPLETE", "AWAITING_RESPONSE", "ERROR", "CANCELLED", "BLOCKED"} {
			status.has(0, "counts.tasks."+task)
		}
		require.Len(t, status.at("counts.tasks"), 7)
		require.Contains(t, status.at("degraded"), "the file system sends no notifications")
		require.Contains(t, fmt.Sprint(status.at("degraded")), "plan specs/broken/tasks.md: ")
	})
}

func TestUnknownParamsAreRefusedByName(t *testing.T) {
	h := newHost(t, setup{})
	fault := h.refused(schema.UnknownField, "queue_instruction", `{"content":"x","prioritiy":true}`)
	fault.has("prioritiy", "data.details.field", "priority", "data.details.did_you_mean.0")
	h.call("queue_instruction", `{"content":"x","_meta":{"a":1}}`)
}

func TestUnheardNotificationsAreInTheStatus(t *testing.T) {
	connection := &schema.ConnectionStatus{}
	h := newHost(t, setup{connection: func() *schema.ConnectionStatus { return connection }})
	status := h.call("get_status", `{}`)
	status.has(0, "connection.notifications_failed")
	require.NotContains(t, fmt.Sprint(status.at("degraded")), "notifications")
	connection = &schema.ConnectionStatus{NotificationsFailed: 3, NotificationsDropped: 41}
	status = h.call("get_status", `{}`)
	status.has(3, "connection.notifications_failed", 41, "connection.notifications_dropped")
	degraded := fmt.Sprint(status.at("degraded"))
	require.Contains(t, degraded, "failed: 3;")
	require.Contains(t, degraded, "in time: 41;")
	newHost(t, setup{}).call("get_status", `{}`).lacks("connection")
}

// Calls that finish work use reserved space; calls that begin work wait for a larger disk.
func TestFullDiskLetsWorkBeFinished(t *testing.T) {
	st := newSharedStore(t)
	h, run := planned(t, setup{store: st})
	acked, cancelled := h.track(`{"content":"a","ack_on":{"event_type":"e"}}`), h.track(`{"content":"b"}`)
	reported := h.track(`{"content":"c","ack_on":{"event_type":"e"}}`)
	h.track(`{"content":"d","max_retries":0}`)
	for range 2 {
		h.pass()
	}
	notice := h.call("list_notices", `{}`).str("items.0.notice_id")
	_, working := h.leased(run, "worker")
	_, plain := h.in("RUNNING")
	queued := h.create(``)
	st.fail(&store.Error{Kind: store.Full, Message: "no space left on the disk"})
	for method, params := range map[string]string{
		"queue_instruction": `{"content":"x"}`, "queue_instruction_with_ack": `{"content":"x"}`, "dispatch_instructions": `{}`,
		"create_task": `{"prompt":"x"}`, "claim_task": `{"worker":"w"}`, "init_run": `{"plan":"tasks.md","item_id":"2"}`,
	} {
		fault := h.refused(schema.StoreFull, method, "%s", params)
		fault.has(5070, "code", true, "data.retryable")
	}
	h.call("acknowledge", `{"instruction_id":%q}`, acked).has("acknowledged", "instruction.state")
	h.call("cancel_instruction", `{"instruction_id":%q}`, cancelled).has(1, "cancelled")
	h.call("report_event", `{"type":"e"}`).has([]any{reported}, "acknowledged")
	h.call("consume_notices", `{"notice_ids":[%q]}`, notice).has([]any{notice}, "consumed")
	h.call("cancel_task", `{"task_id":%q}`, queued).has("CANCELLED", "task.status")
	h.beat(plain, ``).has(true, "applied")
	h.bind(plain, "s").has(true, "applied")
	h.finish(plain, completed).has(true, "applied")
	h.ingest(run, "worker", worked(), lease(working)).has("COMPLETE", "task.status")
	st.fail(nil)
	h.call("queue_instruction", `{"content":"x"}`)
}

func TestStoreErrorsHaveCodes(t *testing.T) {
	st := newSharedStore(t)
	h := newHost(t, setup{store: st})
	h.call("get_status", `{}`)
	for kind, code := range map[store.Kind]schema.Code{
		store.Full: schema.StoreFull, store.IO: schema.StoreIO, store.ReadOnly: schema.StoreReadOnly,
		store.Corrupt: schema.StoreCorrupt, store.NewerSchema: schema.StoreNewer, store.Busy: schema.StoreBusy,
		store.Lost: schema.StoreLost, store.Unsafe: schema.StoreUnsafe, store.Cancelled: schema.Cancelled,
		store.Closed: schema.ShuttingDown,
	} {
		st.fail(&store.Error{Kind: kind, Message: "it is " + kind.String()})
		h.refused(code, "queue_instruction", `{"content":"x"}`)
	}
	st.fail(&store.Error{Kind: store.IO, Outcome: store.Unknown, Message: "lost"})
	a := <-h.begin(t.Context(), "queue_instruction", `{"content":"x"}`)
	require.Equal(t, schema.OutcomeUnknown, a.Err.Data.Outcome)
	require.Contains(t, a.Err.Data.Hint, "idempotency_key")
	st.fail(fmt.Errorf("the flux is out of tune"))
	a = <-h.begin(t.Context(), "queue_instruction", `{"content":"x"}`)
	require.Equal(t, schema.Internal, a.Err.Data.Code)
	require.EqualError(t, a.Cause, "the flux is out of tune")
	require.NotContains(t, a.Err.Message, "the flux is out of tune")
}

// An odd store is read-only, and other processes use it.
type odd struct{ *sharedStore }

func (s odd) Status(ctx context.Context) store.Status {
	status := s.sharedStore.Status(ctx)
	status.ReadOnly, status.Path, status.SizeBytes, status.SchemaVersion = true, "/x/store.db", 4096, 3
	status.Peers = []store.Peer{{PID: 41, Version: "1.0.0"}, {PID: 42, Version: "1.1.0", Host: "build-7"}}
	return status
}

// A process of an older version that still uses the store is a reason for concern.
func TestStatusDescribesTheStore(t *testing.T) {
	status := newHost(t, setup{store: odd{newSharedStore(t)}, version: "1.1.0"}).call("get_status", `{}`)
	status.has("read_only", "store.mode", "/x/store.db", "store.path", 4096, "store.size_bytes")
	status.has(3, "store.schema_version")
	require.Contains(t, status.at("degraded"),
		"a waybill process of version 1.0.0 (process 41) uses this store, and this is version 1.1.0; restart the older one")
	status = newHost(t, setup{store: odd{newSharedStore(t)}, version: "1.0.0"}).call("get_status", `{}`)
	degraded := fmt.Sprint(status.at("degraded"))
	require.Contains(t, degraded, "(process 42 on build-7)")
	require.NotContains(t, degraded, "(process 41)")
}

// A panic is INTERNAL, and only the log has its stack.
func TestPanicInAChangeIsInternal(t *testing.T) {
	st := newSharedStore(t)
	h := newHost(t, setup{store: st})
	h.call("queue_instruction", `{"content":"before"}`)
	st.set(func(s *sharedStore) {
		s.inUpdate = func(tx store.Tx, fn func(store.Tx) error) error {
			tx.InstructionRecords = panickingRecords{tx.InstructionRecords}
			return fn(tx)
		}
	})
	a := <-h.begin(t.Context(), "queue_instruction", `{"content":"lost","idempotency_key":"k"}`)
	require.Equal(t, schema.Internal, a.Err.Data.Code)
	require.Equal(t, -32603, a.Err.Code)
	require.Equal(t, schema.OutcomeNotApplied, a.Err.Data.Outcome)
	require.NotContains(t, a.Err.Message, "trap", "what is inside stays inside")
	require.ErrorContains(t, a.Cause, "caught in the trap")
	require.ErrorContains(t, a.Cause, "service_test.go", "the stack is missing")
	st.set(func(s *sharedStore) { s.inUpdate = nil })
	h.call("queue_instruction", `{"content":"after","idempotency_key":"k"}`)
	require.Equal(t, []string{"before", "after"}, h.pass().sent())
}

type panickingRecords struct{ store.InstructionRecords }

func (panickingRecords) PutInstruction(instruction.Instruction) error { panic("caught in the trap") }

// The error says whether the plan was written, and names the file with the saved text.
func TestErrorOfAPlanSaysWhatBecameOfIt(t *testing.T) {
	failed := errors.New("the disk failed")
	for name, row := range map[string]struct {
		err     error
		code    schema.Code
		outcome string
		kept    any
	}{
		"not written":            {&planfile.WriteError{Err: failed}, schema.PlanUnwritable, schema.OutcomeNotApplied, nil},
		"not confirmed":          {&planfile.WriteError{Swapped: true, Err: failed}, schema.PlanUnwritable, schema.OutcomeUnknown, nil},
		"not confirmed and kept": {&planfile.WriteError{Swapped: true, Kept: "a/b.saved", Err: failed}, schema.PlanUnwritable, schema.OutcomeUnknown, "a/b.saved"},
		"leftover":               {&planfile.WriteError{Swapped: true, Left: "b.tmp", Err: failed}, schema.PlanUnwritable, schema.OutcomeApplied, nil},
		"saved before":           {&planfile.ConflictError{}, schema.Conflict, schema.OutcomeNotApplied, nil},
		"saved before and kept":  {&planfile.ConflictError{Kept: "a/b.saved"}, schema.Conflict, schema.OutcomeNotApplied, "a/b.saved"},
		"saved afterwards":       {&planfile.ConflictError{Swapped: true}, schema.Conflict, schema.OutcomeUnknown, nil},
	} {
		t.Run(name, func(t *testing.T) {
			fault := api.Fault(row.err)
			require.Equal(t, row.code, fault.Data.Code)
			require.Equal(t, row.outcome, fault.Data.Outcome)
			require.Equal(t, row.kept, fault.Data.Details["kept"])
			if row.kept != nil {
				require.Contains(t, fault.Message, `kept in "a/b.saved"`)
				require.NotEmpty(t, fault.Data.Hint)
			}
		})
	}
}

// A table counts the results, durations and running calls of each called method. A panic counts as ended.
func TestCallsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var late func(api.Answer)
		entry := func(name string, start func(done func(api.Answer))) api.Entry {
			return api.Entry{Method: schema.Method{Name: name}, Start: func(_ context.Context, _ []byte, done func(api.Answer)) { start(done) }}
		}
		table := api.NewTable([]api.Entry{
			entry("quick", func(done func(api.Answer)) { done(api.Answer{}) }),
			entry("refused", func(done func(api.Answer)) {
				time.Sleep(time.Second)
				done(api.Answer{Err: schema.NewError(schema.TaskGone, "no")})
			}),
			entry("late", func(done func(api.Answer)) { late = done }),
			entry("panics", func(func(api.Answer)) { panic("no") }),
			entry("unused", func(func(api.Answer)) {}),
			{Method: schema.Method{Name: "no_start"}},
		})
		answers := 0
		call := func(name string) {
			e, ok := table.Entry(name)
			require.True(t, ok)
			e.Start(t.Context(), nil, func(api.Answer) { answers++ })
		}
		require.Empty(t, table.Calls())
		call("quick")
		call("quick")
		call("refused")
		call("late")
		require.Panics(t, func() { call("panics") })
		require.Equal(t, 3, answers)
		codes := func(code schema.Code, n int64) map[schema.Code]int64 { return map[schema.Code]int64{code: n} }
		want := []api.Calls{
			{Method: "quick", Codes: codes("", 2), Within: [len(api.CallBounds)]int64{2}, Count: 2},
			{Method: "refused", Codes: codes(schema.TaskGone, 1), Within: [len(api.CallBounds)]int64{5: 1}, Count: 1, Total: time.Second},
			{Method: "late", InFlight: 1, Codes: map[schema.Code]int64{}},
			{Method: "panics", Codes: codes(schema.Internal, 1), Within: [len(api.CallBounds)]int64{1}, Count: 1},
		}
		require.Equal(t, want, table.Calls())

		time.Sleep(time.Minute)
		late(api.Answer{})
		want[2] = api.Calls{Method: "late", Codes: codes("", 1), Count: 1, Total: time.Minute}
		require.Equal(t, want, table.Calls())
	})
}
