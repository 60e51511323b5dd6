package sqlite_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/instruction"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/store"
	"waybill/store/sqlite"
)

// asks returns a reading of a query.
func asks[Q, R any](read func(store.Tx, Q) (R, error), q Q) func(store.Tx) error {
	return func(tx store.Tx) error { _, err := read(tx, q); return err }
}

// Each query is answered from an index, in its order, and reads no other row.
func TestQueryPlans(t *testing.T) {
	no := false
	type row struct {
		read func(store.Tx) error
		want string
	}
	rows := map[string]row{
		"claim":          {asks(store.Tx.Tasks, store.TaskQuery{ReadyAt: 5, Limit: 1}), "INDEX tasks_ready"},
		"claim, role":    {asks(store.Tx.Tasks, store.TaskQuery{ReadyAt: 5, Role: "worker", Except: []string{"a", "b"}, Limit: 1}), "INDEX tasks_ready"},
		"claim, run":     {asks(store.Tx.Tasks, store.TaskQuery{RunID: "run", ReadyAt: 5, Limit: 1}), "INDEX tasks_run (run_id=?)"},
		"leases":         {func(tx store.Tx) error { _, err := tx.Leased(1, 1); return err }, "INDEX attempts_leased (expires_at>?)"},
		"retries":        {func(tx store.Tx) error { _, err := tx.NextReady(1); return err }, "COVERING INDEX tasks_due (not_before>?)"},
		"defaults":       {asks(store.Tx.Tasks, store.TaskQuery{DefaultBy: 5, Limit: 1}), "INDEX tasks_due (not_before>? AND not_before<?)"},
		"count, live":    {asks(store.Tx.CountTasks, store.TaskQuery{Parent: "ses", Live: true}), "COVERING INDEX tasks_parent (parent=? AND status=?)"},
		"count, parent":  {asks(store.Tx.CountTasks, store.TaskQuery{Parent: "ses"}), "COVERING INDEX tasks_parent (parent=?)"},
		"count, both":    {asks(store.Tx.CountTasks, store.TaskQuery{Parent: "ses", Status: task.StatusError}), "COVERING INDEX tasks_parent (parent=? AND status=?)"},
		"count, status":  {asks(store.Tx.CountTasks, store.TaskQuery{Status: task.StatusRunning}), "COVERING INDEX tasks_status (status=?)"},
		"count, ready":   {asks(store.Tx.CountTasks, store.TaskQuery{ReadyAt: 5}), "COVERING INDEX tasks_ready"},
		"runs":           {asks(store.Tx.Runs, store.RunQuery{}), "SCAN runs\n"},
		"runs behind":    {asks(store.Tx.Runs, store.RunQuery{Behind: "r"}), "SEARCH runs USING INTEGER PRIMARY KEY (rowid<?)"},
		"runs, state":    {asks(store.Tx.Runs, store.RunQuery{State: run.Done, Behind: "r"}), "USING INDEX runs_state (state=? AND number<?)"},
		"runs, plan":     {asks(store.Tx.Runs, store.RunQuery{Plan: "p", Behind: "r"}), "USING INDEX runs_plan (plan=? AND state=? AND number<?)"},
		"runs, both":     {asks(store.Tx.Runs, store.RunQuery{Plan: "p", State: run.Done, Behind: "r"}), "USING INDEX runs_plan (plan=? AND state=? AND number<?)"},
		"a whole plan":   {asks(store.Tx.Runs, store.RunQuery{Plan: "p"}), "USING INDEX runs_plan (plan=? AND state=?)"},
		"a whole state":  {asks(store.Tx.Runs, store.RunQuery{State: run.Done}), "USING INDEX runs_state (state=?)"},
		"latest run":     {func(tx store.Tx) error { _, _, err := tx.LatestRun("tasks.md", "1"); return err }, "runs USING INDEX runs_item (plan=? AND item_id=?)"},
		"history":        {func(tx store.Tx) error { _, err := tx.EventsOf("r", 1, 1); return err }, "INDEX events_subject (subject=? AND seq>?)"},
		"token":          {func(tx store.Tx) error { _, _, err := tx.AttemptUnder("t"); return err }, "INDEX attempts_token (token=?)"},
		"session":        {func(tx store.Tx) error { _, _, err := tx.AttemptOf("s"); return err }, "INDEX attempts_session (session=?)"},
		"old records":    {func(tx store.Tx) error { _, _ = tx.Prune(1, 1); return nil }, "INDEX instructions_over (<expr><?)"},
		"latest runs":    {func(tx store.Tx) error { _, err := tx.LatestRuns("tasks.md"); return err }, "SEARCH runs USING COVERING INDEX runs_item (plan=?)"},
		"urgency":        {asks(store.Tx.Instructions, store.InstructionQuery{Session: "a", State: instruction.StateQueued, Order: store.ByUrgency}), "instructions_queued (session=?)"},
		"repeats":        {asks(store.Tx.Instructions, store.InstructionQuery{Session: "a", State: instruction.StateSent, Order: store.ByLastSend, SentBefore: 9, Now: 9, Exhausted: &no}), "instructions_sent (session=?)"},
		"rules":          {asks(store.Tx.Instructions, store.InstructionQuery{AckEvent: "tool.done"}), "instructions_rule (ack_event=?)"},
		"rules behind":   {asks(store.Tx.Instructions, store.InstructionQuery{AckEvent: "tool.done", After: 10}), "instructions_rule (ack_event=? AND "},
		"triggers":       {asks(store.Tx.Instructions, store.InstructionQuery{Session: "a", Trigger: "tool", After: 10}), "instructions_trigger (trigger_event=? AND session=? AND position>?)"},
		"failures":       {asks(store.Tx.Instructions, store.InstructionQuery{State: instruction.StateFailed}), "USING INDEX instructions_failed"},
		"a page of them": {asks(store.Tx.Instructions, store.InstructionQuery{After: 10}), "INTEGER PRIMARY KEY (rowid>?)"},
	}
	for name, page := range map[string]struct {
		q    store.TaskQuery
		want string
	}{
		"all":                {store.TaskQuery{}, "SEARCH tasks USING INTEGER PRIMARY KEY (rowid>?)"},
		"status":             {store.TaskQuery{Status: task.StatusError}, "INDEX tasks_status (status=? AND "},
		"run":                {store.TaskQuery{RunID: "run"}, "INDEX tasks_run (run_id=? AND position>?)"},
		"status of a run":    {store.TaskQuery{RunID: "run", Status: task.StatusError}, "INDEX tasks_run (run_id=? AND position>?)"},
		"parent":             {store.TaskQuery{Parent: "ses"}, "INDEX tasks_parent (parent=? AND status=? AND position>?)"},
		"status of a parent": {store.TaskQuery{Parent: "ses", Status: task.StatusError}, "INDEX tasks_parent (parent=? AND status=? AND position>?)"},
		"live of a parent":   {store.TaskQuery{Parent: "ses", Live: true}, "INDEX tasks_parent (parent=? AND status=? AND position>?)"},
		"live":               {store.TaskQuery{Live: true}, "INDEX tasks_status (status=? AND "},
	} {
		page.q.After = 9
		rows["tasks, "+name] = row{asks(store.Tx.Tasks, page.q), page.want}
		page.q.Newest = true
		rows["newest tasks, "+name] = row{asks(store.Tx.Tasks, page.q), strings.NewReplacer("position>?", "position<?", "rowid>?", "rowid<?").Replace(page.want)}
	}
	s := open(t, sqlite.Options{Path: path(t)})
	plans := ""
	for name, row := range rows {
		plan, err := s.Plan(t.Context(), row.read)
		require.NoError(t, err)
		require.Contains(t, plan, row.want, name)
		require.Equal(t, name == "defaults", strings.Contains(plan, "TEMP B-TREE"), name) // a few that are due at once are sorted
		require.NotContains(t, plan, "SCAN attempts", name)
		plans += plan
	}
	for name := range indexes(t) {
		if purpose[name] == "" {
			require.True(t, strings.Contains(plans, "INDEX "+name+" ") || strings.Contains(plans, "INDEX "+name+"\n"), "no query needs %s, and each change pays for it", name)
		}
	}
}

// purpose has the indexes that no query of the store needs.
var purpose = map[string]string{
	"attempts_open":     "refuses a second attempt that is not finished",
	"dependencies_task": "the removal of a task finds what it waits for",
}

// indexes returns the names of the indexes that the schema declares.
func indexes(t *testing.T) map[string]bool {
	names := map[string]bool{}
	for _, declared := range regexp.MustCompile(`INDEX (\w+) ON`).FindAllSubmatch(fileText(t, "schema.sql"), -1) {
		names[string(declared[1])] = true
	}
	require.Contains(t, names, "attempts_leased")
	return names
}
