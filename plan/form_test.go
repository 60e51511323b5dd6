package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

// The first reason for a dialect named the dialect again, or a number where none stood.
func TestTheFirstReasonForADialectIsWhatStandsThere(t *testing.T) {
	for text, want := range map[string]string{
		"- [ ] 1. a":                        "box with a number",
		"### Task 1: a\n- [ ] **Files**: b": "box below a heading such as Task 1",
		"- [ ] T001 a":                      "box with an id such as T001",
		"## 1. a\n- [ ] 1.1 b":              "box with a number",
		"- [ ] a":                           "box without id",
		"- ✅ a":                             "line that begins with a sign such as ✅",
		"### Task 1: a":                     "heading such as Task 1",
		"#### Task Group 1: a":              "heading such as Task Group 1",
		"# Implementation Plan\n## 1. a\n- [ ] b":                  "heading such as 1.1",
		"- [ ] Task: a\n## b [checkpoint: 4c1d9aa]\n- [ ] c":       "Task: after a box",
		"- [ ] **Track: a**":                                       "Track: after a box",
		"## Tasks / Subtasks\n- [ ] Task 1: a (AC: 1)":             "box with a number such as Task 1",
		"- [ ] 001.md - a":                                         "box with a file such as 001.md",
		"| ID | Title | Status |\n|---|---|---|\n| 1 | a | done |": "row of a table with an id and a status",
		"---\nid: B-1\nstatus: To Do\npriority: high\n---\n":       "file that is a task",
	} {
		r := parse(t, text+"\n")
		require.Equal(t, want, r.Evidence[0].Signal, "%q", text)
		require.Equal(t, r.Dialect, r.Evidence[0].Dialect)
	}
}

// In the folder of spec-workflow, fields that both have were said to speak for spec-context.
func TestSharedFieldsSpeakForSpecWorkflowInItsFolder(t *testing.T) {
	const text = "- [ ] 1. a\n  - _Prompt: b_\n  - _Leverage: c_\n"
	for path, dialect := range map[string]string{".spec-workflow/specs/x/tasks.md": "spec-workflow", "tasks.md": "spec-context"} {
		r, err := plan.Read(text, plan.Hints{Path: path})
		require.NoError(t, err)
		require.Equal(t, dialect, r.Dialect)
		for _, e := range r.Evidence {
			require.Equal(t, dialect, e.Dialect, e.Signal)
		}
	}
}
