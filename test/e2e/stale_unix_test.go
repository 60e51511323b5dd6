//go:build unix

package e2e_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// A pipe takes the place of the plan while two processes run, and makes way for it again. Nobody waits for a writer
// of the pipe, both hosts hear of it without asking, and each change of state is one event.
func TestFaultF3_PlanBecomesAPipeAndIsBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.serve(t), w.serve(t)
	for _, p := range []*peer{a, b} {
		p.must("get_plan", `{"plan":"tasks.md"}`, nil)
	}
	w.edit(t, "91")
	a.awaitChange("91")
	b.awaitChange("91") // the watches are in place

	path := filepath.Join(w.workspace, "tasks.md")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, syscall.Mkfifo(path+".pipe", 0o600))
	require.NoError(t, os.Rename(path+".pipe", path))
	for _, p := range []*peer{a, b} {
		p.await("tasks.md", func(n schema.LedgerNote) bool { return n.StaleReason == "not_regular" })
		var list schema.PlanList
		p.must("list_plans", `{}`, &list)
		require.Len(t, list.Items, 1)
		require.Equal(t, "not_regular", list.Items[0].StaleReason)
		require.NotEmpty(t, list.Items[0].StaleSince)
		require.NotEmpty(t, list.Items[0].AsOf)
	}

	require.NoError(t, os.WriteFile(path+".new", append(text, "\n- [ ] 92. Another one\n"...), 0o600))
	require.NoError(t, os.Rename(path+".new", path))
	for _, p := range []*peer{a, b} {
		p.awaitChange("92")
	}
	var log schema.EventList
	a.must("events_since", `{"cursor":"0","types":["ledger.changed"]}`, &log)
	require.Len(t, log.Events, 3, "91, the pipe, and 92")
}
