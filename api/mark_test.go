package api_test

import (
	"errors"
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
	h := newHost(t, setup{})
	h.write("tasks.md", twoItems, time.Hour)
	run := h.run("1")
	hash := h.call("get_plan", `{"plan":"tasks.md"}`).str("fingerprint.hash")
	set := h.call("set_item_status", `{"plan":"tasks.md","item_id":"1","status":"completed","expected_hash":%q}`, hash)
	want := strings.Replace(twoItems, "[ ]", "[x]", 1)
	require.Equal(t, want, h.text("tasks.md"))
	set.has("1", "item.item_id", "completed", "item.status", 1, "changed_bytes")
	set.has(plan.Hash(want), "fingerprint.hash", len(want), "fingerprint.size")
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

func TestSetItemStatusRefusesAnotherVersionOfThePlan(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", twoItems, time.Hour)
	hash := h.call("get_plan", `{"plan":"tasks.md"}`).str("fingerprint.hash")
	edited := twoItems + "- [ ] 3. Third\n"
	h.write("tasks.md", edited, time.Minute)
	h.call("get_plan", `{"plan":"tasks.md"}`)
	fault := h.refused(schema.Conflict, "set_item_status", `{"plan":"tasks.md","item_id":"1","status":"completed","expected_hash":%q}`, hash)
	fault.has(4090, "code", hash, "data.details.expected_hash", plan.Hash(edited), "data.details.found_hash")
	require.Equal(t, edited, h.text("tasks.md"))
	h.call("set_item_status", `{"plan":"tasks.md","item_id":"1","status":"completed","expected_hash":%q}`,
		fault.str("data.details.found_hash")).has(1, "changed_bytes")
}

func TestSetItemStatusSaysWhyItCannot(t *testing.T) {
	h := newHost(t, setup{})
	const text = "- [ ] 1. First\n- [ ] 2. Second\n- [ ] 1. First again\n> - [ ] 3. Quoted\n"
	h.write("tasks.md", text, time.Hour)
	h.call("get_plan", `{"plan":"tasks.md"}`)
	const set = `{"plan":%q,"item_id":%q,"status":"completed"}`
	twice := h.refused(schema.ItemFixed, "set_item_status", set, "tasks.md", "1")
	twice.has(4220, "code", "ambiguous_id", "data.details.reason")
	require.Equal(t, []any{1.0, 3.0}, twice.at("data.details.lines"))
	h.refused(schema.ItemFixed, "set_item_status", set, "tasks.md", "3").has("quoted", "data.details.reason")
	h.refused(schema.ItemGone, "set_item_status", set, "tasks.md", "4").has("4", "data.details.item_id")
	fault := h.refused(schema.ItemFixed, "set_item_status", `{"plan":"tasks.md","item_id":"2","status":"blocked"}`)
	fault.has("status_not_expressible", "data.details.reason")
	h.refused(schema.InvalidParams, "set_item_status", `{"plan":"tasks.md","item_id":"2","status":"done"}`)
	h.refused(schema.InvalidParams, "set_item_status", `{"plan":"tasks.md","item_id":"2","status":"completed","line":0}`)
	require.Equal(t, text, h.text("tasks.md"))
	h.call("set_item_status", `{"plan":"tasks.md","item_id":"1","status":"completed","line":3}`).has(3, "item.line")
	require.Equal(t, strings.Replace(text, "- [ ] 1. First again", "- [x] 1. First again", 1), h.text("tasks.md"))
}

func TestSetItemStatusOfAReadOnlyFile(t *testing.T) {
	h, _ := planned(t, setup{})
	path := filepath.Join(h.dir, "tasks.md")
	require.NoError(t, os.Chmod(path, 0o444))
	t.Cleanup(func() { _ = os.Chmod(path, 0o644) })
	fault := h.refused(schema.PlanUnwritable, "set_item_status", `{"plan":"tasks.md","item_id":"1","status":"completed"}`)
	fault.has("permission_denied", "data.details.reason", "tasks.md", "data.details.path", true, "data.retryable")
	require.Equal(t, twoItems, h.text("tasks.md"))
}

// A transaction that runs again writes the file once. If the answer cannot be stored, the error says that the file was
// written, and the next reading records the change.
func TestSetItemStatusWritesTheFileOnce(t *testing.T) {
	lost := errors.New("the connection broke")
	for _, full := range []bool{false, true} {
		st := newSharedStore(t)
		h := newHost(t, setup{store: st})
		h.write("tasks.md", twoItems, time.Hour)
		hash := h.call("get_plan", `{"plan":"tasks.md"}`).str("fingerprint.hash")
		lossy := true
		st.set(func(s *sharedStore) {
			s.inUpdate = func(tx store.Tx, fn func(store.Tx) error) error {
				if lossy {
					return errors.Join(fn(tx), lost)
				}
				return fn(tx)
			}
			s.around = func(commit func() error) error {
				for range 2 {
					if err := commit(); !errors.Is(err, lost) {
						return err
					}
				}
				lossy = false
				st.set(func(s *sharedStore) { s.around, s.inUpdate = nil, nil })
				if full {
					return &store.Error{Kind: store.Full, Message: "no room"}
				}
				return commit()
			}
		})
		a := <-h.begin(t.Context(), "set_item_status", `{"plan":"tasks.md","item_id":"1","status":"completed","expected_hash":%q,"idempotency_key":"k"}`, hash)
		require.Equal(t, strings.Replace(twoItems, "[ ]", "[x]", 1), h.text("tasks.md"))
		if full {
			require.Equal(t, schema.StoreFull, a.Err.Data.Code)
			require.Equal(t, schema.OutcomeApplied, a.Err.Data.Outcome)
			require.Zero(t, h.seq())
			h.call("get_plan", `{"plan":"tasks.md"}`)
		} else {
			h.result(a).has(1, "changed_bytes")
		}
		require.Equal(t, []string{"ledger.changed"}, h.call("events_since", `{"cursor":"0"}`).each("events", "type"))
	}
}
