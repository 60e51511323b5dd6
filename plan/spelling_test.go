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
