package plan_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every spelling of a dependency means the same in every dialect in which items have ids and lines below them.
func TestEverySpellingOfADependencyInEveryDialect(t *testing.T) {
	forEachShape(t, withoutSentences, func(t *testing.T, dialect string, s shape) {
		for _, c := range spelled {
			line, want := s.spell(c.line, c.named, c.want)
			items := s.nine(nil)
			items[8].below = line + "\n"
			r := parse(t, s.plan(dialect, items))
			require.Equal(t, want, item(t, r, s.idOf(9)).DependsOn, "%s: %q", dialect, line)
			require.Empty(t, diagnostics(r, "dependency_unresolved"), line)
		}
	})
}

// spell puts the ids of items into a line.
func (s shape) spell(line string, named, meant []int) (text string, want []string) {
	var ids []any
	for _, n := range named {
		ids = append(ids, s.idOf(n))
	}
	for _, n := range meant {
		want = append(want, s.idOf(n))
	}
	return fmt.Sprintf(line, ids...), want
}

// Where what an item waits for has a field or a cell of its own, lists mean the same in each of these dialects.
func TestEverySpellingOfADependencyInAFieldOfItsOwn(t *testing.T) {
	for dialect := range withoutSentences {
		if withoutIDs[dialect] != "" {
			continue
		}
		t.Run(dialect, func(t *testing.T) {
			s := shapeOf(t, dialect)
			for _, c := range []struct {
				field       string
				named, want []int
			}{
				{"", nil, nil},
				{"%s", []int{1}, []int{1}},
				{"%s, %s", []int{1, 4}, []int{1, 4}},
				{"%s,%s, %s", []int{3, 1, 2}, []int{3, 1, 2}},
			} {
				items := s.nine(nil)
				field, want := s.spell(c.field, c.named, c.want)
				items[8].waits = field
				r := parse(t, s.plan(dialect, items))
				require.Equal(t, want, item(t, r, s.idOf(9)).DependsOn, "%q", field)
				require.Empty(t, diagnostics(r, "dependency_unresolved"), field)
			}
		})
	}
}

// spelled are lines below an item, with the numbers of the items that they name and of those that are meant.
var spelled = []struct {
	line  string
	named []int
	want  []int
}{
	{"  - _Depends: %s_", []int{1}, []int{1}},
	{"  - _Depends: %s, %s_", []int{1, 2}, []int{1, 2}},
	{"  - _Depends on: %s_", []int{1}, []int{1}},
	{"  - _Dependencies: %s, %s_", []int{1, 4}, []int{1, 4}},
	{"  - **Depends on:** %s", []int{1}, []int{1}},
	{"  - **Depends on**: %s, %s", []int{1, 2}, []int{1, 2}},
	{"  **Dependencies:** %s", []int{3}, []int{3}},
	{"  - Dependencies: Task %s, Task %s", []int{1, 4}, []int{1, 4}},
	{"  - Depends on: Task %s and %s", []int{1, 2}, []int{1, 2}},
	{"  - Depends on: Task %s & Task %s", []int{1, 2}, []int{1, 2}},
	{"  - Depends on: Tasks %s, %s and %s", []int{1, 2, 3}, []int{1, 2, 3}},
	{"  - Depends on: %s, and %s", []int{1, 2}, []int{1, 2}},
	{"  - Depends on: %s-%s", []int{1, 3}, []int{1, 2, 3}},
	{"  - Depends on: %s–%s", []int{1, 3}, []int{1, 2, 3}},
	{"  - Depends on: %s - %s", []int{1, 3}, []int{1, 2, 3}},
	{"  - Depends on: Tasks %s to %s", []int{2, 4}, []int{2, 3, 4}},
	{"  - Depends on: Task %s through Task %s, %s", []int{2, 3, 7}, []int{2, 3, 7}},
	{"  - Depends on: Task Groups %s-%s", []int{1, 5}, []int{1, 2, 3, 4, 5}},
	{"  - Dependencies: Task Group %s", []int{1}, []int{1}},
	{"  - Dependencies: Task %s (the model, and its check)", []int{1}, []int{1}},
	{"  - Dependencies: Task %s (the model), Task %s (its check)", []int{1, 2}, []int{1, 2}},
	{"  - Depends on: `%s`, `%s`", []int{1, 2}, []int{1, 2}},
	{"  - Depends on: **%s**, *%s*", []int{1, 2}, []int{1, 2}},
	{"  - Depends on: `%s`-`%s`", []int{1, 3}, []int{1, 2, 3}},
	{"  - Depends on: %s.", []int{1}, []int{1}},
	{"  - Depends on: [%s, %s]", []int{1, 2}, []int{1, 2}},
	{"  - Depends on: [\"%s\", \"%s\"]", []int{1, 2}, []int{1, 2}},
	{"  - Depends on Task %s", []int{1}, []int{1}},
	{"  - Depends on Tasks %s, %s and %s", []int{1, 2, 3}, []int{1, 2, 3}},
	{"  - depends on %s", []int{1}, []int{1}},
	{"  (depends on %s)", []int{1}, []int{1}},
	{"  - **Depends on** %s", []int{1}, []int{1}},
	{"  - _Depends: -_", nil, nil},
	{"  - _Depends: none_", nil, nil},
	{"  - **Depends on:** None", nil, nil},
	{"  - **Dependencies:** none (it is the first)", nil, nil},
	{"  - Depends on: n/a", nil, nil},
	{"  - Depends on: N/A.", nil, nil},
	{"  - Depends on: —", nil, nil},
	{"  - Depends on: []", nil, nil},
	{"  - Depends on the weather", nil, nil},
	{"  - Depends on 3 teams", nil, nil},
}

// A sentence in a title says it, too, where the dialect reads titles.
func TestOpenSpecReadsDependenciesInALineBelow(t *testing.T) {
	r := parse(t, "## 1. Bread\n- [ ] 1.1 Parse\n- [ ] 1.2 Reject\n  Depends on 1.1 and the oven\n- [ ] 1.3 Print\n  - Depends on 1.1, 1.2\n")
	require.Equal(t, "openspec", r.Dialect)
	require.Equal(t, "1.2:1.1 1.3:1.1,1.2", waiting(r))
	require.Equal(t, []string{"Depends on 1.1 and the oven"}, item(t, r, "1.2").Details, "the words around are kept")
}

// Words in a title counted in some dialects, and in others they were only words.
func TestATitleSaysWhatAnItemWaitsForInEveryDialectWithIDs(t *testing.T) {
	for dialect, text := range map[string]string{
		"spec-context":  "- [ ] 1. a\n- [ ] 1.2 b (depends on 1)\n  - _Prompt: c_\n",
		"spec-workflow": "### Task 1: a\n- [ ] **Files**: b\n### Task 1.2: c (depends on 1)\n- [ ] **Files**: d\n  - _Blocked: e_\n",
		"kiro":          "# Implementation Plan\n- [ ] 1. a\n- [ ]* 1.2 b, DEPENDS ON 1\n",
		"cc-sdd":        "- [ ] 1. a (P)\n- [ ] 1.2 b Depends on: 1 (P)\n",
		"conductor":     "## a [checkpoint: 4c1d9aa]\n- [ ] Task 1: b\n- [ ] Task 1.2: c (depends on Task 1)\n- [ ] Task: d\n<!-- waybill: dialect=conductor -->\n",
		"bmad":          "## Tasks / Subtasks\n- [ ] Task 1: a (AC: 1)\n- [ ] Task 1.2: b (depends on 1) (AC: 2)\n",
		"openspec":      "## 1. a\n- [ ] 1 b\n- [ ] 1.2 c (depends on 1)\n",
		"ai-dev-tasks":  "- [ ] 1.0 a\n- [ ] 2.0 b\n- [ ] 1 c\n- [ ] 1.2 b (depends on 1)\n",
		"superpowers":   "### Task 1: a\n### Task 1.2: b (depends on 1)\n- [ ] **Step 1: c**\n",
	} {
		r := parse(t, text)
		require.Equal(t, dialect, r.Dialect, "%q", text)
		require.Equal(t, "1.2:1", waiting(r), "%q", text)
	}
	r := parse(t, "- [ ] 1. a\n- [ ] 2. b _Prompt: say what it depends on 1 and why_\n- [ ] 3. it depends on 3 teams\n")
	require.Empty(t, waiting(r), "neither the words of a prompt nor a count")
}

// A sign that stands alone is a part of what was named, so that "none ]" is reported and not taken for none.
func TestHalfABracketIsNoBracket(t *testing.T) {
	r := parse(t, "- [ ] 1 a\n  - _Depends: none \"]_\n")
	require.Equal(t, []string{`none "]`}, item(t, r, "1").DependsOn)
	require.Len(t, diagnostics(r, "dependency_unresolved"), 1)
}
