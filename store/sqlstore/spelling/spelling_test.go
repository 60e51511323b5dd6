package spelling_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/store/sqlstore/spelling"
)

// TestStatementsAreSpelledForEachDatabase: one text, with and without the column of the workspace.
func TestStatementsAreSpelledForEachDatabase(t *testing.T) {
	for _, row := range []struct{ text, alone, shared string }{
		{ // what an update sets is no condition
			"UPDATE runs SET plan = ? WHERE runs.workspace = :w AND plan = ?",
			"UPDATE runs SET plan = ? WHERE plan = ?",
			"UPDATE runs SET plan = $2 WHERE runs.workspace = $1 AND sha256(plan) = sha256($3)",
		},
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
			"INSERT INTO task_specs (workspace, task, sum) VALUES (:w, ?, ?) ON CONFLICT (workspace, task) DO UPDATE SET sum = excluded.sum",
			"INSERT INTO task_specs (task, sum) VALUES (?, ?) ON CONFLICT (task) DO UPDATE SET sum = excluded.sum",
			"INSERT INTO task_specs (workspace, task, sum) VALUES ($1, $2, $3) ON CONFLICT (workspace, task) DO UPDATE SET sum = excluded.sum",
		},
		{
			"SELECT 1 FROM tasks INDEXED BY tasks_run LEFT JOIN task_specs ON task_specs.task = position AND task_specs.workspace = tasks.workspace WHERE tasks.workspace = :w AND x = ?",
			"SELECT 1 FROM tasks INDEXED BY tasks_run LEFT JOIN task_specs ON task_specs.task = position WHERE x = ?",
			"SELECT 1 FROM tasks LEFT JOIN task_specs ON task_specs.task = position AND task_specs.workspace = tasks.workspace WHERE tasks.workspace = $1 AND x = $2",
		},
		{
			"SELECT 1 FROM breakers WHERE breakers.workspace = :w AND key = ?", "SELECT 1 FROM breakers WHERE key = ?",
			"SELECT 1 FROM breakers WHERE breakers.workspace = $1 AND sha256(key) = sha256($2)",
		},
	} {
		require.Equal(t, row.alone, spelling.Alone(row.text))
		require.Equal(t, row.shared, spelling.Shared(row.text))
	}
}
