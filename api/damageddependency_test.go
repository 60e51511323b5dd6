package api_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/store/sqlite"
)

// The dependents of a damaged task are listed, and the damaged one is named.
func TestDamagedDependencyIsListed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	st, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	require.NoError(t, err)
	h := newHost(t, setup{store: st})
	damaged, sound := h.create(""), h.create("")
	id := h.create(`"depends_on": [%q, %q]`, damaged, sound)

	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), "UPDATE task_specs SET prompt = 'other' WHERE task = (SELECT position FROM tasks WHERE id = ?)", damaged)
	require.NoError(t, err)
	require.NoError(t, db.Close())

	list := h.call("list_tasks", `{}`)
	require.Equal(t, []string{sound, id}, list.each("items", "task_id"))
	for _, name := range []string{"items.1.waiting_for", "task.waiting_for"} {
		o := list
		if name == "task.waiting_for" {
			o = h.task(id)
		}
		o.has("unreadable", name+".0.status")
		o.has(damaged, name+".0.task_id")
		o.has("QUEUED", name+".1.status")
	}
}
