package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
	dialects "waybill/plan/dialect"
)

// planned is an item that a test wants to have in a plan.
type planned struct {
	n            int
	title        string
	mark         string // what stands for its status
	waits, below string // what it waits for, in the field of the dialect, and a line below it
	again        bool   // whether the plan has one with its id already
}

// A shape is how the plans of a dialect look.
type shape struct {
	id     string // of the item n; empty where ids are made from what stands around
	head   string
	item   func(p planned) string
	open   string // the mark of an item that has not begun
	worded bool   // whether marks are words
	named  string // of the file of an item, where each has its own
	levels int    // items that one that is planned makes, if more than one
}

// line returns items that are one line: of a number, a mark and a title. What one waits for stands in a line below.
func line(format string) func(planned) string {
	return func(p planned) string {
		waits := ""
		if p.waits != "" {
			waits = "  - _Depends: " + p.waits + "_\n"
		}
		return fmt.Sprintf(format, p.n, p.mark, p.title) + "\n" + waits + p.below
	}
}

// record returns items that are the lines of a file: of a number, a mark, a title and what it waits for.
func record(format string) func(planned) string {
	return func(p planned) string { return fmt.Sprintf(format, p.n, p.mark, p.title, p.waits) + p.below }
}

var (
	numbered = shape{id: "%d", item: line("- [%[2]s] %[1]d. %[3]s"), open: " "}
	headed   = shape{id: "%d", item: line("### [%[2]s] Task %[1]d: %[3]s"), open: " "}
)

// shapes has one for each dialect that there is.
var shapes = map[string]shape{
	"spec-context":  numbered,
	"spec-workflow": numbered,
	"kiro":          numbered,
	"cc-sdd":        numbered,
	"ai-dev-tasks":  numbered,
	"openspec":      numbered,

	"spec-kit":    {id: "T%03d", item: line("- [%[2]s] T%03[1]d %[3]s"), open: " "},
	"superpowers": headed,
	"tina":        headed,
	"agent-os":    {id: "%d", item: line("#### [%[2]s] Task Group %[1]d: %[3]s"), open: " "},
	"bmad":        {id: "%d", item: line("- [%[2]s] Task %[1]d: %[3]s"), open: " "},
	"ccpm":        {id: "%03d", item: line("- [%[2]s] %03[1]d.md - %[3]s (parallel: false)"), open: " "},
	"conductor":   {id: "%d", item: line("- [%[2]s] Task %[1]d: %[3]s"), open: " "},
	"loose":       {item: line("- [%[2]s] %[3]s"), open: " "},
	"table": {
		id: "%d", head: "| ID | Title | Status | Depends on |\n|---|---|---|---|\n",
		item: record("| %[1]d | %[3]s | %[2]s | %[4]s |\n"), open: "todo", worded: true,
	},
	"backlog": {
		id: "BACK-%d", item: record("---\nid: BACK-%d\nstatus: '%s'\ntitle: %s\ndependencies: [%s]\n---\n"),
		open: "To Do", worded: true, named: "back-%d - %s.md",
	},
	"task-master": {
		id: "%d", item: record("# Task ID: %d\n# Status: %s\n# Title: %s\n# Dependencies: %s\n"), open: "pending", worded: true,
	},
	"ccpm-files": {
		id: "%03d", item: record("---\nparallel: false # %d\nstatus: '%s'\nname: %s\ndepends_on: [%s]\n---\n"),
		open: "open", worded: true, named: "%03d%.0s.md",
	},
	"gsd": {
		id: "01-%02d", named: "01-%02d-%s-PLAN.md", levels: 2,
		item: record("---\nphase: 01-loft\nplan: \"%02d\" %.0s\nwave: 1\ndepends_on: [%[4]s]\n---\n<task type=\"auto\">\n<name>Task 1: %[3]s</name>\n</task>\n"),
	},
}

// shapeOf returns the shape of a dialect, and fails where there is none.
func shapeOf(t require.TestingT, dialect string) shape {
	s, ok := shapes[dialect]
	require.True(t, ok, "no test knows what a plan of the dialect %s looks like", dialect)
	if s.levels == 0 {
		s.levels = 1
	}
	return s
}

// idOf is the id of the item n.
func (s shape) idOf(n int) string { return fmt.Sprintf(s.id, n) }

// plan writes the items as a plan that says its dialect, or, if each has a file, as a folder of them.
func (s shape) plan(dialect string, items []planned) string {
	var b strings.Builder
	b.WriteString(inDialect(dialect, "## Tasks\n\n"+s.head))
	var files []plan.PlanFile
	for _, p := range items {
		if p.title == "" {
			p.title = "Do it"
		}
		if p.mark == "" {
			p.mark = s.open
		}
		if s.named == "" {
			b.WriteString(s.item(p))
			continue
		}
		name := fmt.Sprintf(s.named, p.n, map[bool]string{true: "again", false: "once"}[p.again])
		files = append(files, plan.PlanFile{Name: name, Text: s.item(p)})
	}
	if s.named != "" {
		return plan.JoinFiles(files)
	}
	return b.String()
}

// nine returns nine items, of which some say what they wait for.
func (s shape) nine(waits map[int]int) (items []planned) {
	for n := 1; n <= 9; n++ {
		p := planned{n: n}
		if on, ok := waits[n]; ok {
			p.waits = s.idOf(on)
		}
		items = append(items, p)
	}
	return items
}

// withoutIDs, withoutTwins, withoutMarks and withoutSentences are the dialects in which a law has nothing to hold of,
// and why.
var (
	withoutIDs = map[string]string{
		"loose": "its ids are made from headings and places, and nobody writes those",
	}
	withoutTwins = map[string]string{
		"loose":      withoutIDs["loose"],
		"ccpm-files": "the id is the name of the file, and no folder has two files of one name",
	}
	withoutMarks = map[string]string{
		"gsd": "no plan says what has been done",
	}
	withoutSentences = map[string]string{
		"loose":       withoutIDs["loose"],
		"table":       "what a row waits for stands in its cell",
		"backlog":     "what a file waits for stands in its front matter",
		"ccpm-files":  "what a file waits for stands in its front matter",
		"gsd":         "what a file waits for stands in its front matter",
		"task-master": "what a task waits for stands in its own field",
	}
)

// forEachShape runs a test for each dialect, but for those of which it cannot hold for a reason.
func forEachShape(t *testing.T, without map[string]string, test func(t *testing.T, dialect string, s shape)) {
	t.Helper()
	for dialect := range without {
		require.Contains(t, dialects.Names(), dialect, "an exception of no dialect")
	}
	forEachDialect(t, func(t *testing.T, dialect string) {
		s := shapeOf(t, dialect)
		if reason, ok := without[dialect]; ok {
			t.Log(reason)
			return
		}
		test(t, dialect, s)
	})
}

// The laws of this package that speak of every dialect hold of no dialect whose shape reads as something else.
func TestEachDialectHasAShapeThatReads(t *testing.T) {
	require.Len(t, shapes, len(dialects.Names()))
	forEachDialect(t, func(t *testing.T, dialect string) {
		s := shapeOf(t, dialect)
		text := s.plan(dialect, s.nine(nil))
		checkRecordLaws(t, text)
		r := parse(t, text)
		require.Equal(t, dialect, r.Dialect)
		require.Equal(t, 9*s.levels, r.Len(), "%s", text)
		if withoutIDs[dialect] != "" {
			return
		}
		require.NotEmpty(t, s.id)
		for n := 1; n <= 9; n++ {
			require.Equal(t, plan.Pending, item(t, r, s.idOf(n)).Status)
		}
	})
}
