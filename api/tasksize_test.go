package api_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/task"
	"waybill/store"
)

// A frugal store records how many tasks a read asked for at once.
type frugal struct {
	*sharedStore
	atOnce atomic.Int64
}

func (s *frugal) View(ctx context.Context, fn func(store.Tx) error) error {
	return s.sharedStore.View(ctx, func(tx store.Tx) error { return fn(frugalTx{tx, s}) })
}

type frugalTx struct {
	store.Tx
	store *frugal
}

func (tx frugalTx) Tasks(q store.TaskQuery) ([]task.Task, error) {
	found, err := tx.Tx.Tasks(q)
	tx.store.atOnce.Store(max(tx.store.atOnce.Load(), int64(len(found))))
	return found, err
}

// A list must not load all tasks of a page at once.
func TestListReadsFewTasksAtOnce(t *testing.T) {
	st := &frugal{sharedStore: newSharedStore(t)}
	h := newHost(t, setup{store: st})
	const tasks = 60
	for range tasks {
		h.call("create_task", `{"prompt": "x"}`)
	}
	require.Len(t, h.call("list_tasks", `{"limit": 500}`).at("items"), tasks)
	require.Len(t, h.call("list_tasks", `{"limit": 50}`).at("items"), 50)
	h.call("list_tasks", `{"limit": 60}`).lacks("next_cursor")
	require.LessOrEqual(t, st.atOnce.Load(), int64(8))
}

func TestRepliesAreCountedAndPaged(t *testing.T) {
	h := newHost(t, setup{})
	id := h.call("create_task", `{"prompt": "ask"}`).str("task.task_id")
	const replies = 60
	for i := range replies {
		h.finish(h.claim("w"), `"status": "awaiting_response", "question": "and?"`)
		h.call("reply", `{"task_id": %q, "reply": "%d"}`, id, i+1)
	}
	task := h.call("get_task", `{"task_id": %q}`, id)
	task.has(replies, "replies_total")
	task.has(replies+1, "attempts_total")
	require.Len(t, task.at("replies"), 50)
	task.has(11, "replies.0.number")
	task.has("60", "replies.49.reply")
	first := h.call("get_task", `{"task_id": %q, "replies_after": 0}`, id)
	require.Len(t, first.at("replies"), 50)
	first.has("1", "replies.0.reply")
	rest := h.call("get_task", `{"task_id": %q, "replies_after": 50}`, id)
	require.Len(t, rest.at("replies"), 10)
	rest.has(51, "replies.0.number")
}
