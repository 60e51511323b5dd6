package api_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// degraded asserts that a prompt was compiled from the last good reading, and returns it.
func (h *host) degraded(run, reason string) object {
	h.t.Helper()
	prompt := h.compile(run)
	prompt.has("ledger_plus_fallback", "ledger_mode")
	prompt.has(reason, "fallback_reason")
	require.NotEmpty(h.t, prompt.str("fallback_detail"))
	require.Contains(h.t, prompt.str("prompt"), "Do the first thing.")
	prompt.has(false, "rebuilt")
	return prompt
}

// The plan is missing when a run is started, and appears later.
func TestMissingPlan(t *testing.T) {
	h := newHost(t, setup{})
	for _, method := range []string{"get_plan", "init_run"} {
		item := map[string]string{"get_plan": "", "init_run": `,"item_id":"1"`}[method]
		fault := h.refused(schema.LedgerMissing, method, `{"plan":"specs/login/tasks.md"%s}`, item)
		fault.has(4220, "code")
		fault.has("progress_ledger_missing_tasks", "data.code")
		fault.has("missing", "data.details.reason")
		fault.has("specs/login/tasks.md", "data.details.path")
		fault.has(true, "data.retryable")
	}
	h.write("specs/login/tasks.md", twoItems, time.Hour)
	h.call("init_run", `{"plan":"specs/login/tasks.md","item_id":"1"}`).has(true, "created")
}

func TestPlanMissingAfterInit(t *testing.T) {
	dir, st, now := t.TempDir(), newSharedStore(t), time.Now()
	still := func() time.Time { return now } // so that the plan is not found to be gone for good, which is recorded
	h, run := planned(t, setup{dir: dir, store: st, now: still})
	h.remove("tasks.md")
	h.degraded(run, "rebuild_failed")
	h.stop()
	h = newHost(t, setup{dir: dir, store: st, now: still}) // which never read the file
	h.degraded(run, "rebuild_failed")
	h.refused(schema.LedgerMissing, "init_run", `{"plan":"tasks.md","item_id":"1"}`)
	ledgers := h.call("get_ledger", `{"run_id":%q}`, run)
	ledgers.has("First", "progress_ledger.current_item.title")
	ledgers.has("ledger_plus_fallback", "ledger_mode")
	ledgers.has("rebuild_failed", "fallback_reason")
	h.write("tasks.md", twoItems, time.Hour)
	ledgers = h.call("get_ledger", `{"run_id":%q}`, run)
	ledgers.has("ledger_only", "ledger_mode")
	ledgers.lacks("fallback_reason")
	h.compile(run).has("ledger_only", "ledger_mode")
}

// An editor truncates the file before it writes it.
func TestHalfWrittenPlan(t *testing.T) {
	c := newClock(time.Now())
	h, run := planned(t, setup{now: c.now})
	h.write("tasks.md", "", 0)
	h.degraded(run, "settling")
	list := h.call("list_plans", `{}`)
	list.has("settling", "items.0.error.reason")
	h.call("init_run", `{"plan":"tasks.md","item_id":"2"}`).has(true, "created")
	c.move(time.Second)
	h.degraded(run, "empty") // the file wins, and says nothing
	fault := h.refused(schema.LedgerUnparsed, "init_run", `{"plan":"tasks.md","item_id":"1"}`)
	fault.has("empty", "data.details.reason")
	h.write("tasks.md", twoItems+"- [ ] 3. Third\n", 0)
	h.compile(run).has("ledger_only", "ledger_mode")
}

// unusable asserts that an unreadable plan is reported with its reason, and that its run uses the last good reading.
func unusable(t *testing.T, reason string, damage func(h *host)) (fault object) {
	t.Helper()
	h, run := planned(t, setup{})
	h.remove("tasks.md")
	damage(h)
	h.degraded(run, "rebuild_failed")
	h.call("get_plan", `{"plan":"tasks.md"}`).has("rebuild_failed", "stale")
	h.call("get_plan", `{"plan":"tasks.md"}`).has(reason, "stale_reason")
	h.call("ready_items", `{"plan":"tasks.md"}`).has(reason, "stale_reason")

	h = newHost(t, setup{})
	damage(h)
	fault = h.refused(schema.LedgerUnparsed, "get_plan", `{"plan":"tasks.md"}`)
	fault.has("progress_ledger_parse_failed", "data.code")
	fault.has(reason, "data.details.reason")
	return fault
}

func TestAPlanThatCannotBeReadIsNotComplete(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", "- [x] 1. First\n", time.Hour)
	h.call("ready_items", `{"plan":"tasks.md"}`).has(true, "completed")
	h.call("ready_items", `{"plan":"tasks.md"}`).lacks("stale_reason")
	h.write("tasks.md", "nothing to do\n", time.Hour)
	ready := h.call("ready_items", `{"plan":"tasks.md"}`)
	ready.has(false, "completed")
	ready.has("rebuild_failed", "stale")
	ready.has("no_items", "stale_reason")
	h.remove("tasks.md")
	require.NoError(t, os.Mkdir(filepath.Join(h.dir, "tasks.md"), 0o755))
	ready = h.call("ready_items", `{"plan":"tasks.md"}`)
	ready.has(false, "completed")
	ready.has("not_regular", "stale_reason")
}

func TestNotAFile(t *testing.T) {
	unusable(t, "not_regular", func(h *host) { require.NoError(h.t, os.Mkdir(filepath.Join(h.dir, "tasks.md"), 0o755)) })
}

func TestTooLarge(t *testing.T) {
	fault := unusable(t, "too_large", func(h *host) { h.write("tasks.md", strings.Repeat("x", 65<<10), time.Hour) })
	fault.has(65<<10, "data.details.size")
	fault.has(64<<10, "data.details.limit")
}

func TestNotText(t *testing.T) {
	unusable(t, "not_text", func(h *host) { h.write("tasks.md", "a\x00\x01\x02", time.Hour) })
	unusable(t, "invalid_utf8", func(h *host) { h.write("tasks.md", "- [ ] 1. a\xff\n", time.Hour) }).
		has(1, "data.details.line")
}

func TestPlanWithoutItems(t *testing.T) {
	unusable(t, "no_items", func(h *host) { h.write("tasks.md", "```\n- [ ] 1. sample\n```\n", time.Hour) }).
		has(1, "data.details.checkboxes")
}

func TestPathOutsideTheWorkspace(t *testing.T) {
	h := newHost(t, setup{})
	for _, path := range []string{"../tasks.md", "a/../../tasks.md", "/etc/passwd", `C:\\tasks.md`, "CON.md", "tasks.md."} {
		fault := h.refused(schema.PathOutside, "get_plan", `{"plan":"%s"}`, path)
		fault.has(-32602, "code")
		fault.has("PATH_OUTSIDE_WORKSPACE", "data.code")
	}
}

func TestChangeWithPreservedTime(t *testing.T) {
	h, run := planned(t, setup{})
	path := filepath.Join(h.dir, "tasks.md")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(twoItems, "first", "other", 1)), 0o644))
	require.NoError(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
	again, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, info.ModTime(), again.ModTime())
	require.Equal(t, info.Size(), again.Size())
	prompt := h.compile(run)
	prompt.has(true, "rebuilt")
	require.Contains(t, prompt.str("prompt"), "Do the other thing.")
	h.call("get_snapshot", `{"run_id":%q}`, run).has(2, "revision")
}

func TestWorkspaceDeleted(t *testing.T) {
	h, run := planned(t, setup{})
	if err := os.RemoveAll(h.dir); err != nil {
		t.Skipf("this system does not remove a folder that is open: %v", err)
	}
	h.degraded(run, "rebuild_failed")
	h.refused(schema.NoWorkspace, "list_plans", `{}`).has(4240, "code")
	h.refused(schema.NoWorkspace, "get_plan", `{"plan":"login"}`)
	status := h.call("get_status", `{}`)
	require.Contains(t, status.text, "find plans")
	h.call("queue_instruction", `{"content":"the store is intact"}`)
	require.Equal(t, []string{"the store is intact"}, h.pass().sent())
}
