package plan_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

// The word behind a title is a commit or it only looks so.
func TestTrailingCommits(t *testing.T) {
	for _, c := range []struct{ text, title, commit string }{
		{"a 7be20f1", "a", "7be20f1"},
		{"a [90ab3ce]", "a", "90ab3ce"},
		{"a (90ab3ce)", "a", "90ab3ce"},
		{"a `90ab3ce`", "a", "90ab3ce"},
		{"a [`90ab3ce`]", "a", "90ab3ce"},
		{"a\u00a07BE20F1", "a", "7BE20F1"},
		{"a " + strings.Repeat("a1", 20), "a", strings.Repeat("a1", 20)},
		{"a " + strings.Repeat("a1", 20) + "b", "a " + strings.Repeat("a1", 20) + "b", ""},
		{"a 7be20f", "a 7be20f", ""},       // too short
		{"a defaced", "a defaced", ""},     // a word of English
		{"a 20261121", "a 20261121", ""},   // a number
		{"a [defaced]", "a [defaced]", ""}, // brackets change nothing
		{"a 7be20f1.", "a 7be20f1.", ""},   // the end of a sentence
		{"a 7be20fg", "a 7be20fg", ""},
		{"a [7be20f1", "a [7be20f1", ""},
		{"7be20f1", "7be20f1", ""}, // all there is
	} {
		t.Run(c.text, func(t *testing.T) {
			r := parse(t, "- [x] Task: "+c.text+"\n- [ ] Task: b\n")
			require.Equal(t, "conductor", r.Dialect)
			it := r.Items()[0]
			require.Equal(t, c.title, it.Title)
			if c.commit == "" {
				require.Empty(t, it.Details)
				return
			}
			require.Equal(t, []string{"commit " + c.commit}, it.Details)
		})
	}
}

// A phase gets its checkpoint when it is done; that changed the ids of all that stands below.
func TestACheckpointChangesNoID(t *testing.T) {
	const plan = "## [~] Track: Choir\n## Phase 1: Dates\n- [x] Task: a\n### [x] Hall\n- [x] Task: b\n"
	before := parse(t, plan)
	after := parse(t, strings.NewReplacer("Dates", "Dates [checkpoint: 4c1d9aa]", "Hall", "Hall [checkpoint: 5d2eabb]").Replace(plan))
	require.Equal(t, idsOf(before.Items()), idsOf(after.Items()))
	require.Equal(t, []string{"choir", "choir/phase-1-dates/1", "choir/phase-1-dates/hall", "choir/phase-1-dates/hall/1"}, idsOf(after.Items()))
	require.Equal(t, []string{"checkpoint 5d2eabb"}, item(t, after, "choir/phase-1-dates/hall").Details)
}

// What a track has above it is none of its ancestors, whatever ids and indents say: that made a circle.
func TestATrackIsNeverBelowItsOwnTasks(t *testing.T) {
	r := parse(t, "- [ ] Task 1.1: a\n  - [ ] **Track: Choir**\n- [ ] Task 1: b\n## [ ] Track: Hall\n- [ ] Task 1.2: c\n")
	require.Equal(t, "", item(t, r, "choir").ParentID)
	require.Equal(t, "1", item(t, r, "1.1").ParentID)
	require.Equal(t, "choir", item(t, r, "1").ParentID)
	require.Equal(t, 2, item(t, r, "1.2").Level)
}

func TestDialectsOfWordsAndSections(t *testing.T) {
	for _, c := range []struct {
		name, text, dialect string
		items               int
	}{
		{"one word is no plan", "- [ ] Task: a\n- [ ] b\n", "loose", 2},
		{"two are", "- [ ] Task: a\n- [ ] Task: b\n- [ ] c\n", "conductor", 3},
		{"a track", "# [~] Track: a\n", "conductor", 1},
		{"a checkpoint", "## a [checkpoint: 4c1d9aa]\n- [ ] b\n", "conductor", 1},
		{"a checkpoint and a word", "## a [checkpoint: 4c1d9aa]\n- [ ] Task: b\n", "conductor", 1},
		{"numbers outweigh words", "- [ ] 1. a\n- [ ] 2. b\n- [ ] Task: c\n- [ ] Task: d\n", "spec-context", 2},
		{"words in a fence", "```\n- [ ] Task: a\n- [ ] Task: b\n```\n- [ ] c\n", "loose", 1},
		{"a story", "## Tasks / Subtasks\n- [ ] a\n", "bmad", 1},
		{"a story with numbers", "## Tasks & Subtasks\n- [x] 1. a\n  - [x] 1.1 b\n", "bmad", 2},
		{"a story by its words", "## Tasks\n- [x] Task 1: a (AC: 1)\n  - [x] 1.1 b\n", "bmad", 2},
		{"criteria without a section", "- [ ] 1. a (AC: 1)\n- [ ] 2. b (AC: 2)\n", "spec-context", 2},
		{"criteria and no numbers", "- [ ] a (AC: 1)\n- [ ] b (AC: 2)\n", "loose", 2},
		{"a story with notes on a task", "## Tasks / Subtasks\n- [ ] Task 1: a\n  - [ ] b\n## Dev Notes\n### Task 1: how\n- [ ] c\n", "bmad", 2},
		{"a story whose tasks are headings", "## Tasks / Subtasks\n### Task 1: a\n- [ ] Step 1: b\n", "superpowers", 2},
		{"a prompt is in no story", "## Tasks / Subtasks\n- [ ] 1. a\n  - _Prompt: b_\n", "spec-context", 1},
		{"files", "- [ ] 001.md - a\n", "ccpm", 1},
		{"issues", "- [ ] #4 - a (parallel: true)\n", "ccpm", 1},
		{"issues alone", "- [ ] #4 - a\n", "loose", 1},
		{"rows", "| ID | Status |\n|--|--|\n| 1 | todo |\n", "table", 1},
		{"more boxes than rows", "| ID | Status |\n|--|--|\n| 1 | todo |\n\n- [ ] a\n- [ ] b\n", "loose", 2},
		{"criteria and rows", "| ID | Status |\n|--|--|\n| 1 | todo |\n\n## Acceptance\n- [ ] a\n- [ ] b\n", "table", 1},
		{"numbers and rows", "| ID | Status |\n|--|--|\n| 1 | todo |\n| 2 | todo |\n\n- [ ] 1. a\n", "spec-context", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := parse(t, c.text)
			require.Equal(t, c.dialect, r.Dialect)
			require.Equal(t, c.items, r.Len())
			checkLaws(t, []byte(c.text))
		})
	}
}

// The dialects that were not chosen are named with what speaks for them.
func TestRunnersUpAreNamed(t *testing.T) {
	r := parse(t, "## Tasks / Subtasks\n- [ ] Task: a\n- [ ] 001.md - b (parallel: true)\n\n| ID | Status |\n|--|--|\n| 1 | todo |\n")
	var found []string
	for _, e := range r.Evidence {
		found = append(found, e.Dialect)
	}
	require.Equal(t, "bmad", r.Dialect)
	require.Equal(t, []string{"bmad", "conductor", "bmad", "ccpm", "ccpm", "table"}, found)
}

// The ids and criteria behind a box of a story.
func TestStoryLabels(t *testing.T) {
	for _, c := range []struct {
		text, id, title string
		criteria        []string
	}{
		{"Task 1: a", "1", "a", nil},
		{"Task 12 - a", "12", "a", nil},
		{"task 1.2. a", "1.2", "a", nil},
		{"Subtask 1.2: a", "1.2", "a", nil},
		{"Task T1: a", "T1", "a", nil},
		{"Task 1", "1", "", nil},
		{"Task one: a", "", "Task one: a", nil},
		{"Tasks 1: a", "", "Tasks 1: a", nil},
		{"T3. a", "T3", "a", nil},
		{"T3.1 a", "T3.1", "a", nil},
		{"T3 a", "T3", "a", nil},
		{"Three a", "", "Three a", nil},
		{"**T3. a**", "T3", "a", nil},
		{"**Task 4:** a", "4", "a", nil},
		{"1. a", "1", "a", nil},
		{"1.2 a", "1.2", "a", nil},
		{"3 columns", "", "3 columns", nil},
		{"3D a", "", "3D a", nil},
		{"Task 1: a (AC: 1, #2)", "1", "a", []string{"AC 1", "AC 2"}},
		{"Task 1 (AC: 1,2): a", "1", "a", []string{"AC 1", "AC 2"}},
		{"a (AC 3) b", "", "a b", []string{"AC 3"}},
		{"a (AC1; AC-2).", "", "a.", []string{"AC 1", "AC 2"}},
		{"a (AC: AC3) (ACs: all)", "", "a", []string{"AC 3", "AC all"}},
		{"a (AC #4, NFR2)", "", "a", []string{"AC 4", "NFR2"}},
		{"a (AC voltage)", "", "a (AC voltage)", nil},
		{"a (AC: )", "", "a (AC: )", nil},
		{"a (AC: 1", "", "a (AC: 1", nil},
		{"a (AC voltage (AC: 1)", "", "a (AC voltage", []string{"AC 1"}},
	} {
		t.Run(c.text, func(t *testing.T) {
			it := parse(t, "## Tasks / Subtasks\n- [ ] "+c.text+"\n").Items()[0]
			require.Equal(t, c.id == "", it.DerivedID, it.ID)
			if c.id != "" {
				require.Equal(t, c.id, it.ID)
			}
			require.Equal(t, c.title, it.Title)
			require.Equal(t, c.criteria, it.Requirements)
		})
	}
}

// What an epic says in brackets behind a title.
func TestEpicFlags(t *testing.T) {
	for _, c := range []struct {
		text, title     string
		parallel        bool
		waits, detailed []string
	}{
		{"a (parallel: true)", "a", true, nil, nil},
		{"a (Parallel: TRUE, S)", "a", true, nil, []string{"S"}},
		{"a (parallel: false, depends on 001, 002)", "a", false, []string{"001", "002"}, nil},
		{"a (parallel, depends_on: [#4, 001.md], M)", "a", true, []string{"4", "001"}, []string{"M"}},
		{"a (depends on: 001-003 (all of them), parallel: yes)", "a", true, []string{"001", "002", "003"}, []string{"Depends on: 001-003 (all of them)"}},
		{"a (depends on none)", "a", false, nil, nil},
		{"a (conflicts with 002, 003, parallel: true)", "a", true, nil, []string{"conflicts with 002, 003"}},
		{"a (conflicts_with: [])", "a", false, nil, nil},
		{"a (in French)", "a (in French)", false, nil, nil},
		{"a (parallels)", "a (parallels)", false, nil, nil},
		{"a (b) c", "a (b) c", false, nil, nil},
		{"a )", "a )", false, nil, nil},
	} {
		t.Run(c.text, func(t *testing.T) {
			it := item(t, parse(t, "- [ ] 009.md - "+c.text+"\n"), "009")
			require.Equal(t, c.title, it.Title)
			require.Equal(t, c.parallel, it.Parallel)
			require.Equal(t, c.waits, it.DependsOn)
			require.Equal(t, c.detailed, it.Details)
		})
	}
}

// A dialect that a comment sets is read so, whatever else speaks for another.
func TestACommentSetsTheDialectsOfWordsAndTables(t *testing.T) {
	const text = "\n## Tasks\n- [~] Task: a\n- [ ] 001.md - b\n- [ ] 1. c\n\n| Nr | Status |\n|--|--|\n| 7 | wip |\n"
	for dialect, items := range map[string]int{"conductor": 3, "bmad": 3, "ccpm": 1, "table": 1} {
		r := parse(t, "<!-- waybill: dialect="+dialect+" -->"+text)
		require.Equal(t, dialect, r.Dialect)
		require.Equal(t, items, r.Len())
		checkLaws(t, []byte("<!-- waybill: dialect="+dialect+" -->"+text))
	}
	require.Equal(t, plan.InProgress, item(t, parse(t, "<!-- waybill: dialect=conductor -->"+text), "tasks/1").Status)
}

// Headings that only begin as those of criteria and legends do took the tasks below them out of the plan.
func TestHeadingsThatOnlyBeginSoHaveTasks(t *testing.T) {
	for heading, tasks := range map[string]int{
		"Acceptance tests": 1, "Format the code": 1, "Formatting": 1, "Legend of the map": 1, "Key rotation": 1,
		"How to read a file": 1, "Acceptances": 1, "Definition of done is written": 1,
		"Acceptance": 0, "ACCEPTANCE CRITERIA": 0, "✅ **Acceptance Criteria:**": 0, "Acceptance criteria for the gate?": 0,
		"Acceptance Criteria (draft)": 0, "Definition of Done": 0, "DoD": 0,
	} {
		r := parse(t, "# P\n- [ ] b\n## "+heading+"\n- [ ] a\n")
		require.Equal(t, 1+tasks, r.Len(), heading)
		require.Len(t, diagnostics(r, "not_a_task_section"), 1-tasks, heading)
		r = parse(t, "- [ ] 1. b\n## "+heading+"\n- [ ] a\n")
		require.Len(t, diagnostics(r, "checkbox_without_id"), tasks, heading)
		r = parse(t, "- [ ] T001 b\n## "+heading+"\n- [ ] a\n- [ ] T002 c\n")
		require.Equal(t, 2, r.Len(), heading)
		require.Len(t, diagnostics(r, "not_a_task_section"), 1-tasks, heading)
	}
}

// A legend had all boxes below its heading, whether they explain anything or not.
func TestALegendHasOnlyWhatExplains(t *testing.T) {
	for _, heading := range []string{"Legend", "Format: `[ID] [P?] Title`", "Key", "How to read this list", "FORMAT"} {
		for line, item := range map[string]bool{
			"- [S] = skipped": false, "- [x] done": false, "- [ ] Not started": false, "- [~] — in progress, by somebody": false,
			"- [P] can be worked on at once": false, "- [!]: blocked": false, "- ✅ done": false,
			"- [ ] open the door": true, "- [x] paint it": true, "- [ ] run gofmt": true, "- ✅ paint it": true,
		} {
			r := parse(t, "- [ ] b\n## "+heading+"\n"+line+"\n")
			require.Equal(t, item, r.Len() == 2, "%s: %s", heading, line)
			if !item && line[2] == '[' {
				require.Len(t, diagnostics(r, "legend_line"), 1, line)
			}
			checkLaws(t, []byte("- [ ] b\n## "+heading+"\n- [ ] c\n  "+line+"\n"))
		}
	}
}

// One box that begins with a number made the plan one of numbers, and all others were dropped.
func TestACountIsNoNumber(t *testing.T) {
	for name, c := range map[string]struct{ text, path, dialect, titles string }{
		"a count":          {"# P\n- [ ] write code\n- [ ] test it\n- [x] 2 reviewers asked\n", "", "loose", "write code|test it|2 reviewers asked"},
		"a sign":           {"- [ ] a\n- [ ] b\n- [ ] 2 reviewers (P)\n", "", "loose", "a|b|2 reviewers (P)"},
		"as many":          {"- [ ] a\n- [x] 2 b\n", "", "spec-context", "b"},
		"steps of an item": {"- [ ] 1. a\n  - [ ] b\n  - [ ] c\n", "", "spec-context", "a"},
		"a field":          {"- [ ] a\n- [ ] b\n- [x] 2 c\n  - _Requirements: 1_\n", "", "spec-context", "c"},
		"a heading":        {"# Implementation Plan\n- [ ] a\n- [ ] b\n- [x] 2 c\n", "", "kiro", "c"},
		"a path":           {"- [ ] a\n- [ ] b\n- [x] 2 c\n", ".kiro/specs/a/tasks.md", "kiro", "c"},
		"another path":     {"- [ ] a\n- [ ] b\n- [x] 2 c\n", "docs/superpowers/plans/a.md", "superpowers", "a|b|2 c"},
		"criteria":         {"- [ ] 1. a\n## Acceptance\n- [ ] b\n- [ ] c\n", "", "spec-context", "a"},
	} {
		r, err := plan.Read(c.text, plan.Hints{Path: c.path})
		require.NoError(t, err)
		var titles []string
		for _, it := range r.Items() {
			titles = append(titles, it.Title)
		}
		require.Equal(t, c.dialect, r.Dialect, name)
		require.Equal(t, c.titles, strings.Join(titles, "|"), name)
	}
}

// Headings of the first level were all taken for the title, so that a box added below one renamed those of the next.
func TestPartsOfAFileHaveIDsOfTheirOwn(t *testing.T) {
	r := parse(t, "# Phase 1\n- [ ] a\n# Phase 2\n- [ ] b\n")
	require.Equal(t, []string{"phase-1/1", "phase-2/1"}, idsOf(r.Items()))
	r = parse(t, "# Phase 1\n- [ ] z\n- [ ] a\n## Walls\n- [ ] c\n# Phase 2\n- [ ] b\n")
	require.Equal(t, []string{"phase-1/1", "phase-1/2", "phase-1/walls/1", "phase-2/1"}, idsOf(r.Items()))
	r = parse(t, "# Plan\n- [ ] a\n## Walls\n- [ ] c\n```\n# make\n```\n- [ ] d\n")
	require.Equal(t, []string{"item/1", "walls/1", "walls/2"}, idsOf(r.Items()), "the only one is the title")
}
