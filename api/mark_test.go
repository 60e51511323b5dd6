package api_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/plan"
	"waybill/schema"
	"waybill/store"
)

// text returns the content of a workspace file.
func (h *host) text(name string) string {
	h.t.Helper()
	text, err := os.ReadFile(filepath.Join(h.dir, name))
	require.NoError(h.t, err)
	return string(text)
}

// set sets the status of an item of tasks.md.
func (h *host) set(item, status string) object {
	h.t.Helper()
	return h.call("set_item_status", `{"plan":"tasks.md","item_id":%q,"status":%q}`, item, status)
}

func TestSetItemStatusChangesTheMark(t *testing.T) {
	p := newStoreCase(t)
	h := p.host(t)
	h.write("tasks.md", twoItems, time.Hour)
	run := h.run("1")
	hash := h.call("get_plan", `{"plan":"tasks.md"}`).str("fingerprint.hash")
	set := h.call("set_item_status", `{"plan":"tasks.md","item_id":"1","status":"completed","expected_hash":%q}`, hash)
	want := strings.Replace(twoItems, "[ ]", "[x]", 1)
	require.Equal(t, want, h.text("tasks.md"))
	set.has("1", "item.item_id")
	set.has("completed", "item.status")
	set.has(1, "changed_bytes")
	set.has(plan.Hash([]byte(want)), "fingerprint.hash")
	set.has(len(want), "fingerprint.size")
	require.Equal(t, set.at("fingerprint"), h.call("get_plan", `{"plan":"tasks.md"}`).at("fingerprint"))

	// The log has the change once, and the next prompt knows it.
	require.Equal(t, []string{"run.started", "ledger.changed"}, h.call("events_since", `{"cursor":"0"}`).each("events", "type"))
	set.has(2, "seq")
	require.Contains(t, h.compile(run).str("prompt"), "Item status: completed")

	again := h.set("1", "completed")
	again.has(0, "changed_bytes")
	require.Equal(t, set.at("fingerprint"), again.at("fingerprint"))
	h.set("1", "in_progress").has("in_progress", "item.status")
	require.Equal(t, strings.Replace(twoItems, "[ ]", "[-]", 1), h.text("tasks.md"))
	h.set("1", "pending").has("pending", "item.status")
	require.Equal(t, twoItems, h.text("tasks.md"))
}

func TestSetItemStatusKeepsTheOrderOfTheCalls(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", twoItems, time.Hour)
	last := h.begin(t.Context(), "ping", `{}`)
	for i := range 30 {
		status := []string{"in_progress", "pending", "completed"}[i%3]
		last = h.begin(t.Context(), "set_item_status", `{"plan":"tasks.md","item_id":"1","status":%q}`, status)
	}
	h.result(<-last).has("completed", "item.status")
	require.Equal(t, strings.Replace(twoItems, "[ ]", "[x]", 1), h.text("tasks.md"))
}

func TestSetItemStatusRefusesAnotherVersionOfThePlan(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", twoItems, time.Hour)
	hash := h.call("get_plan", `{"plan":"tasks.md"}`).str("fingerprint.hash")
	edited := twoItems + "- [ ] 3. Third\n"
	h.write("tasks.md", edited, time.Minute)
	h.call("get_plan", `{"plan":"tasks.md"}`)
	fault := h.refused(schema.Conflict, "set_item_status", `{"plan":"tasks.md","item_id":"1","status":"completed","expected_hash":%q}`, hash)
	fault.has(4090, "code")
	fault.has(hash, "data.details.expected_hash")
	fault.has(plan.Hash([]byte(edited)), "data.details.found_hash")
	require.Equal(t, edited, h.text("tasks.md"))
	h.call("set_item_status", `{"plan":"tasks.md","item_id":"1","status":"completed","expected_hash":%q}`,
		fault.str("data.details.found_hash")).has(1, "changed_bytes")
}

func TestSetItemStatusHappensOncePerKey(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", twoItems, time.Hour)
	const params = `{"plan":"tasks.md","item_id":"1","status":"completed","idempotency_key":"k"}`
	first := h.call("set_item_status", params)
	h.set("1", "pending")
	require.Equal(t, first.text, h.call("set_item_status", params).text)
	require.Equal(t, twoItems, h.text("tasks.md"), "the call was carried out twice")
	h.refused(schema.IdempotencyClash, "set_item_status", `{"plan":"tasks.md","item_id":"2","status":"completed","idempotency_key":"k"}`)
	// The answer is there also when the plan is not.
	h.remove("tasks.md")
	require.Equal(t, first.text, h.call("set_item_status", params).text)
}

func TestSetItemStatusSaysWhyNot(t *testing.T) {
	h := newHost(t, setup{})
	const text = "- [ ] 1. First\n- [ ] 2. Second\n- [ ] 1. First again\n> - [ ] 3. Quoted\n"
	h.write("tasks.md", text, time.Hour)
	h.write("empty.md", "nothing\n", time.Hour)
	h.call("get_plan", `{"plan":"tasks.md"}`)
	const set = `{"plan":%q,"item_id":%q,"status":"completed"}`
	twice := h.refused(schema.ItemFixed, "set_item_status", set, "tasks.md", "1")
	twice.has(4220, "code")
	twice.has("ambiguous_id", "data.details.reason")
	require.Equal(t, []any{1.0, 3.0}, twice.at("data.details.lines"))
	h.refused(schema.ItemFixed, "set_item_status", set, "tasks.md", "3").has("quoted", "data.details.reason")
	h.refused(schema.ItemGone, "set_item_status", set, "tasks.md", "4").has("4", "data.details.item_id")
	h.refused(schema.LedgerUnparsed, "set_item_status", set, "empty.md", "1")
	h.refused(schema.LedgerMissing, "set_item_status", set, "gone.md", "1")
	h.refused(schema.PlanGone, "set_item_status", set, "nobody", "1")
	h.refused(schema.PathOutside, "set_item_status", set, "../tasks.md", "1")
	fault := h.refused(schema.ItemFixed, "set_item_status", `{"plan":"tasks.md","item_id":"2","status":"blocked"}`)
	fault.has("status_not_expressible", "data.details.reason")
	h.refused(schema.InvalidParams, "set_item_status", `{"plan":"tasks.md","item_id":"2","status":"done"}`)
	h.refused(schema.InvalidParams, "set_item_status", `{"plan":"tasks.md","item_id":"2","status":"completed","line":0}`)
	require.Equal(t, text, h.text("tasks.md"))
	h.call("set_item_status", `{"plan":"tasks.md","item_id":"1","status":"completed","line":3}`).has(3, "item.line")
	require.Equal(t, strings.Replace(text, "- [ ] 1. First again", "- [x] 1. First again", 1), h.text("tasks.md"))
}

func TestSetItemStatusBlocksAndSkips(t *testing.T) {
	h := newHost(t, setup{})
	h.write("kit.md", "- [ ] T001 First\n- [ ] T002 Second\n", time.Hour)
	h.write("flow.md", "- [ ] 1. First\n- [~] 2. Second\n  - _Blocked: no paper_\n", time.Hour)
	h.write("loose.md", "[S] = skipped\n\n- [ ] First\n- ⏳ Second\n", time.Hour)
	for _, c := range []struct{ plan, item, status, before, after string }{
		{"kit.md", "T002", "skipped", "- [ ] T002", "- [-] T002"},
		{"flow.md", "1", "blocked", "- [ ] 1", "- [~] 1"},
		{"flow.md", "2", "pending", "- [~] 2", "- [ ] 2"},
		{"loose.md", "item/1", "skipped", "- [ ] First", "- [S] First"},
		{"loose.md", "item/2", "completed", "- ⏳", "- ✅"},
	} {
		want := strings.Replace(h.text(c.plan), c.before, c.after, 1)
		h.call("set_item_status", `{"plan":%q,"item_id":%q,"status":%q}`, c.plan, c.item, c.status).has(c.status, "item.status")
		require.Equal(t, want, h.text(c.plan))
	}
}

func TestPlanThatIsNotWritable(t *testing.T) {
	h, run := planned(t, setup{})
	path := filepath.Join(h.dir, "tasks.md")
	require.NoError(t, os.Chmod(path, 0o444))
	t.Cleanup(func() { _ = os.Chmod(path, 0o644) })
	fault := h.refused(schema.PlanUnwritable, "set_item_status", `{"plan":"tasks.md","item_id":"1","status":"completed"}`)
	fault.has(4220, "code")
	fault.has("permission_denied", "data.details.reason")
	fault.has("tasks.md", "data.details.path")
	fault.has(true, "data.retryable")
	require.Equal(t, twoItems, h.text("tasks.md"))
	require.Contains(t, h.compile(run).str("prompt"), "Do the first thing.")
}

// A lossyStore runs a change several times before it commits. A full one never commits.
type lossyStore struct {
	*sharedStore
	reruns int
	full   bool
}

var errLost = errors.New("forgot")

func (s *lossyStore) Update(ctx context.Context, fn func(store.Tx) error) error {
	for ; s.reruns > 0; s.reruns-- {
		if err := s.sharedStore.Update(ctx, func(tx store.Tx) error { return errors.Join(fn(tx), errLost) }); !errors.Is(err, errLost) {
			return err
		}
	}
	if s.full {
		s.full = false
		return &store.Error{Kind: store.Full, Message: "no room"}
	}
	return s.sharedStore.Update(ctx, fn)
}

// newLossyHost returns a host with a lossy store and the params of a call.
func newLossyHost(t *testing.T, s *lossyStore, full bool) (h *host, params string) {
	t.Helper()
	h = newHost(t, setup{store: s})
	h.write("tasks.md", twoItems, time.Hour)
	hash := h.call("get_plan", `{"plan":"tasks.md"}`).str("fingerprint.hash")
	s.reruns, s.full = 2, full
	return h, fmt.Sprintf(`{"plan":"tasks.md","item_id":"1","status":"completed","expected_hash":%q,"idempotency_key":"k"}`, hash)
}

func TestStatusIsWrittenOnceHoweverOftenTheChangeIsRun(t *testing.T) {
	h, params := newLossyHost(t, &lossyStore{sharedStore: newSharedStore(t)}, false)
	set := h.call("set_item_status", "%s", params)
	set.has(1, "changed_bytes")
	set.has(1, "seq")
	require.Equal(t, []string{"ledger.changed"}, h.call("events_since", `{"cursor":"0"}`).each("events", "type"))
	require.Equal(t, set.text, h.call("set_item_status", "%s", params).text)
	require.Equal(t, strings.Replace(twoItems, "[ ]", "[x]", 1), h.text("tasks.md"))
}

// The file was written, and the store has no room for the answer: the error reports both.
func TestStatusThatTheStoreForgotIsInThePlan(t *testing.T) {
	h, params := newLossyHost(t, &lossyStore{sharedStore: newSharedStore(t)}, true)
	a := <-h.begin(t.Context(), "set_item_status", "%s", params)
	require.NotNil(t, a.Err)
	require.Equal(t, schema.StoreFull, a.Err.Data.Code)
	require.Equal(t, schema.OutcomeApplied, a.Err.Data.Outcome)
	require.Equal(t, strings.Replace(twoItems, "[ ]", "[x]", 1), h.text("tasks.md"))
	require.Empty(t, h.call("events_since", `{"cursor":"0"}`).each("events", "type"))
	// What the store did not keep is made up for at the next look.
	h.call("get_plan", `{"plan":"tasks.md"}`)
	require.Equal(t, []string{"ledger.changed"}, h.call("events_since", `{"cursor":"0"}`).each("events", "type"))
}
