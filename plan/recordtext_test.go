package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Of a file that is a task, the parts below other headings than the description were once dropped, elements of GSD that
// have no name here as well, and code had lost its indent.
func TestTheTextOfARecordStandsInItsDetailsWhole(t *testing.T) {
	for _, c := range []struct {
		name, plan, id string
		want           []string
	}{
		{
			"backlog",
			"---\nid: BACK-1\ntitle: a\nstatus: To Do\npriority: high\n---\n## Description\n\nDo:\n\n```py\nif x:\n    y\n```\n\n| b | c |\n|---|---|\n\n> d\n\n## Acceptance Criteria\n" +
				"<!-- AC:BEGIN -->\n- [ ] #1 e\n      f\n<!-- AC:END -->\ng\n## Implementation Plan\n1. h\n   i\n## Empty\n",
			"BACK-1",
			[]string{"Priority: high", "Do:\n\n```py\nif x:\n    y\n```\n\n| b | c |\n|---|---|\n\n> d", "Criterion: #1 e\n    f\ng", "Implementation Plan:", "1. h\n   i"},
		},
		{
			"ccpm-files",
			"---\nname: a\nstatus: open\nparallel: true\n---\n# Task: a\nb\n## Technical Details\n- c\n  ```go\n  func d() {\n  \te()\n  }\n  ```\n",
			"item/1",
			[]string{"b", "Technical Details:", "c\n```go\nfunc d() {\n\te()\n}\n```"},
		},
		{
			"task-master",
			"# Task ID: 7\n# Title: a\n# Status: pending\n# Details:\nb\n\n```py\nif c:\n    d\n```\n# Test Strategy:\ne\n# Subtasks:\n## 1. f [pending]\n### Details:\ng:\n    h\n",
			"7",
			[]string{"b\n\n```py\nif c:\n    d\n```", "Test Strategy:", "e"},
		},
		{
			"gsd task",
			"---\nphase: 1\nplan: 2\n---\n<objective>\na\nb\n</objective>\n<tasks>\n<task type=\"auto\">\n  <name>Task 1: c</name>\n  <read_first>d.go</read_first>\n  <action>\ne\n  f\n</action>\n" +
				"  <done>g</done>\n  h\n</task>\n</tasks>\n<verification>\n- i\n</verification>\n",
			"1-2/1",
			[]string{"Action: e\n  f", "Done: g", "<read_first>d.go</read_first>", "h"},
		},
		{
			"gsd plan",
			"---\nphase: 1\nplan: 2\n---\n<objective>\na\nb\n</objective>\n<tasks>\n<task type=\"auto\">\n  <name>Task 1: c</name>\n</task>\n</tasks>\n<verification>\n- i\n</verification>\n",
			"1-2",
			[]string{"Objective: a\nb", "<verification>", "i\n</verification>"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, item(t, parse(t, c.plan), c.id).Details)
		})
	}
}
