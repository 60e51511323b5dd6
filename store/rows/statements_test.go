package rows_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/store"
	"waybill/store/rows"
)

// TestStatementsAreSpelledForEachDatabase: one text, with and without the column of the workspace.
func TestStatementsAreSpelledForEachDatabase(t *testing.T) {
	for _, row := range []struct{ text, alone, shared string }{
		{
			"SELECT a FROM runs WHERE runs.workspace = :w AND\n\tid = ? ORDER BY a LIMIT ?+0",
			"SELECT a FROM runs WHERE id = ? ORDER BY a LIMIT ?+0",
			"SELECT a FROM runs WHERE runs.workspace = $1 AND\n\tid = $2 ORDER BY a LIMIT $3",
		},
		{
			"SELECT count(*) FROM runs WHERE runs.workspace = :w", "SELECT count(*) FROM runs",
			"SELECT count(*) FROM runs WHERE runs.workspace = $1",
		},
		{
			"INSERT INTO said (workspace, task, sum) VALUES (:w, ?, ?) ON CONFLICT (workspace, task) DO UPDATE SET sum = excluded.sum",
			"INSERT INTO said (task, sum) VALUES (?, ?) ON CONFLICT (task) DO UPDATE SET sum = excluded.sum",
			"INSERT INTO said (workspace, task, sum) VALUES ($1, $2, $3) ON CONFLICT (workspace, task) DO UPDATE SET sum = excluded.sum",
		},
		{
			"SELECT 1 FROM tasks INDEXED BY tasks_run LEFT JOIN said ON said.task = position AND said.workspace = tasks.workspace WHERE tasks.workspace = :w AND x = ?",
			"SELECT 1 FROM tasks INDEXED BY tasks_run LEFT JOIN said ON said.task = position WHERE x = ?",
			"SELECT 1 FROM tasks LEFT JOIN said ON said.task = position AND said.workspace = tasks.workspace WHERE tasks.workspace = $1 AND x = $2",
		},
		{
			"SELECT 1 FROM breakers WHERE breakers.workspace = :w AND key = ?", "SELECT 1 FROM breakers WHERE key = ?",
			"SELECT 1 FROM breakers WHERE breakers.workspace = $1 AND sha256(key) = sha256($2)",
		},
	} {
		require.Equal(t, row.alone, rows.Alone(row.text))
		require.Equal(t, row.shared, rows.Shared(row.text))
	}
}

// TestEveryStatementNamesItsWorkspace: a statement that forgets it would read what belongs to others.
func TestEveryStatementNamesItsWorkspace(t *testing.T) {
	for _, streams := range []bool{true, false} {
		c := &listener{t: t, streams: streams}
		askEverything(c)
		require.Greater(t, c.heard, 60)
	}
}

func askEverything(c *listener) {
	tx := rows.Begin(rows.Options{Conn: c, Recent: &rows.Recent{}})
	truth := true
	for _, q := range []store.InstructionQuery{
		{},
		{Session: "s", State: core.StateQueued, Order: store.ByUrgency},
		{Tracked: true, SentBefore: 1, Order: store.ByLastSend},
		{Exhausted: &truth, AckEvent: "e", After: 1},
	} {
		_, _ = tx.Instructions(q)
		_, _ = tx.CountInstructions(q)
	}
	for _, q := range []store.TaskQuery{
		{},
		{Live: true},
		{RunID: "r", Role: "worker"},
		{Parent: "p", Status: core.StatusQueued},
		{ReadyAt: 1, Except: []string{"a", "b"}},
		{Newest: true, After: 2},
	} {
		_, _ = tx.Tasks(q)
		_, _ = tx.CountTasks(q)
	}
	for _, q := range []store.RunQuery{{}, {Plan: "p"}, {State: core.RunDone, Behind: "r"}} {
		_, _ = tx.Runs(q)
	}
	for _, verb := range []func(){
		func() { _, _, _ = tx.Instruction("i") }, func() { _, _, _ = tx.Run("r") }, func() { _, _, _ = tx.LatestRun("p", "i") },
		func() { _, _ = tx.LatestRuns("p") }, func() { _, _ = tx.RunCounts() }, func() { _, _ = tx.Facts("r") },
		func() { _, _ = tx.Tallies("") }, func() { _, _ = tx.Tallies("r") }, func() { _, _, _ = tx.Prompt("r", core.Worker) },
		func() { _, _, _ = tx.Task("t") }, func() { _, _ = tx.NextReady(1) }, func() { _, _ = tx.TaskCounts() },
		func() { _, _ = tx.Dependents("t", "", 1) }, func() { _, _, _ = tx.Attempt("a") }, func() { _, _ = tx.Attempts("t", 0, 1) },
		func() { _, _, _ = tx.AttemptOf("s") }, func() { _, _, _ = tx.AttemptUnder("x") }, func() { _, _ = tx.Leased(1, 1) },
		func() { _, _ = tx.Replies("t", 0, 1) }, func() { _, _, _ = tx.Breaker("b") }, func() { _, _ = tx.OpenedBreakers() },
		func() { _, _ = tx.Events(0, 1, []core.EventType{"a", "b"}) }, func() { _, _ = tx.EventsOf("s", 0, 1) },
		func() { _, _, _ = tx.Notice("n") }, func() { _, _ = tx.Notices("s", 0, 1) }, func() { _, _ = tx.CountNotices() },
		func() { _, _ = tx.ConsumeNotice("n") }, func() { _, _, _ = tx.Answered("k") },
		func() { _ = tx.PutAnswer(store.Answer{Key: "k"}) }, func() { _ = tx.PutNotice(store.Notice{ID: "n", Position: 1}) },
		func() { _ = tx.PutBreaker(core.Breaker{Key: "b"}) }, func() { _ = tx.AddDependency("a", "b") },
		func() { _ = tx.PutRun(core.Run{ID: "r"}) }, func() { _ = tx.PutFacts("r", []store.Fact{{Key: "k"}}) },
		func() { _, _ = tx.Answers("k", 1) }, func() { _, _ = tx.Breakers("b", 1) },
		func() { _, _ = rows.ReadHead(c) }, func() { _ = rows.Found(c) },
	} {
		verb()
	}
}

// A listener is a connection to a database in which nothing is found.
type listener struct {
	t       *testing.T
	heard   int
	streams bool
}

func (l *listener) hear(text string) {
	l.heard++
	require.Contains(l.t, text, ":w", text)
	require.NotRegexp(l.t, "workspace|:w", rows.Alone(text), text)
	require.NotRegexp(l.t, `INDEXED|\?|:w|CROSS`, rows.Shared(text), text)
}

func (l *listener) Exec(text string, _ ...any) (int64, error) { l.hear(text); return 1, nil }
func (l *listener) Try(text string, _ ...any) (int64, error)  { l.hear(text); return 1, nil }
func (l *listener) Query(_ func(*rows.Row) error, text string, _ ...any) error {
	l.hear(text)
	return nil
}
func (l *listener) Refused(error) bool { return false }
func (l *listener) Fault(err error) *store.Error {
	return &store.Error{Kind: store.IO, Message: err.Error()}
}
func (l *listener) Rollback()     {}
func (l *listener) Streams() bool { return l.streams }
