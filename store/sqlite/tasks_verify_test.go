package sqlite_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/store/sqlite"
)

// taskDamage is every kind of damage to what staffed makes: the statement that does it, the check of
// Examine that finds it, and what Verify calls it.
func taskDamage() map[string]struct{ check, what string } {
	return map[string]struct{ check, what string }{
		"UPDATE tasks SET waits = 1 WHERE position = 3":                                  {"rows", "task " + taskID(3)},
		"UPDATE tasks SET sum = x'0000000000000000' WHERE position = 3":                  {"rows", "task " + taskID(3)},
		"UPDATE task_specs SET prompt = 'other' WHERE task = 3":                          {"rows", "task " + taskID(3)},
		"DELETE FROM task_specs WHERE task = 3":                                          {"rows", "task " + taskID(3)},
		"UPDATE task_outputs SET output = 'other' WHERE task = 3":                        {"rows", "task " + taskID(3)},
		"DELETE FROM task_outputs WHERE task = 3":                                        {"rows", "task " + taskID(3)},
		"INSERT INTO task_replies SELECT 3, reply, sum FROM task_replies WHERE task = 2": {"rows", "task " + taskID(3)},
		"UPDATE task_replies SET reply = 'other' WHERE task = 2":                         {"rows", "task " + taskID(2)},
		"UPDATE replies SET text = 'other' WHERE task = 2":                               {"rows", "reply 1 to task " + taskID(2)},
		"UPDATE dependencies SET sum = x'0000000000000000' WHERE task = '" + taskID(4) + "'": {
			"rows", "the dependency of task " + taskID(4) + " on " + taskID(1),
		},
		"UPDATE breakers SET until = 9 WHERE key = 'provider/model-4'": {"rows", "the breaker of model provider/model-4"},
		"UPDATE attempts SET stale = 9 WHERE id = 'att_1_1'":           {"rows", "attempt att_1_1"},
		"UPDATE attempts SET model_key = 'x' WHERE id = 'att_3_1'":     {"rows", "attempt att_3_1"}, // read with its task, and by itself
		"UPDATE attempts SET spared = 1 WHERE id = 'att_4_2'":          {"rows", "attempt att_4_2"},
		"DELETE FROM attempts WHERE id = 'att_1_1'":                    {"rows", "task " + taskID(1)},
		"UPDATE task_counts SET running = running + 1":                 {"task counts", "the count of tasks"},
		"DELETE FROM task_counts":                                      {"task counts", "the count of tasks"},
	}
}

// TestVerifyNamesTheDamageOfTasks: whatever is altered of a task is found, by its name, and said once.
func TestVerifyNamesTheDamageOfTasks(t *testing.T) {
	source := staffed(t)
	for statement, want := range taskDamage() {
		t.Run(statement, func(t *testing.T) {
			path := path(t)
			copyFile(t, source, path)
			change(t, path, statement)
			s := open(t, sqlite.Options{Path: path})
			damage, err := s.Verify(t.Context())
			require.NoError(t, err)
			require.Len(t, damage, 1)
			require.Equal(t, want.what, damage[0].What)
			require.NotEmpty(t, damage[0].Detail)
		})
	}
}

// TestExamineFindsTheDamageOfTasks: what Verify finds is found from outside too, and said once. A count that
// the store trips over was once well with the doctor.
func TestExamineFindsTheDamageOfTasks(t *testing.T) {
	source := staffed(t)
	faults := func(path string) (found []sqlite.Finding) {
		for _, f := range sqlite.Examine(t.Context(), sqlite.Options{Path: path}) {
			if f.Level == sqlite.LevelFail {
				found = append(found, f)
			}
		}
		return found
	}
	require.Empty(t, faults(source))
	for statement, want := range taskDamage() {
		t.Run(statement, func(t *testing.T) {
			path := path(t)
			copyFile(t, source, path)
			change(t, path, statement)
			found := faults(path)
			require.Len(t, found, 1)
			require.Equal(t, want.check, found[0].Check)
			require.Contains(t, found[0].Text, want.what)
			require.NotEmpty(t, found[0].Fix)
		})
	}
}
