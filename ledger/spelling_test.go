package ledger_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
)

// shapes are how an item with an id looks, in one dialect or another.
var shapes = []struct{ item, id string }{
	{"- [ ] %s. Do it\n", "%d"},
	{"- [ ] T%s Do it\n", "T%03d"},
	{"### Task %s: Do it\n", "%d"},
	{"- [ ] Task %s: Do it\n", "%d"},
	{"#### Task Group %s: Do it\n", "%d"},
}

// ids gives a plan of nine items in a dialect, and how it writes the id of one; nil where items have no ids that an
// author could refer to.
func nineItems(t *testing.T, dialect string) (plan func(below string) string, id func(n int) string) {
	for _, shape := range shapes {
		id = func(n int) string { return fmt.Sprintf(shape.id, n) }
		plan = func(below string) string {
			var b strings.Builder
			fmt.Fprintf(&b, "<!-- waybill: dialect=%s -->\n## Tasks\n\n", dialect)
			for i := range 9 {
				fmt.Fprintf(&b, shape.item, strings.TrimPrefix(id(i+1), "T"))
			}
			return b.String() + below
		}
		r, err := ledger.Parse([]byte(plan("")))
		if err != nil {
			continue
		}
		if _, known := r.Item(id(9)); known {
			return plan, id
		}
	}
	t.Logf("%s: no item has an id of its author's", dialect)
	return nil, nil
}

// Every spelling of a dependency means the same in every dialect in which items have ids.
func TestEverySpellingOfADependencyInEveryDialect(t *testing.T) {
	for _, dialect := range ledger.Dialects() {
		plan, id := nineItems(t, dialect)
		if plan == nil {
			continue
		}
		t.Run(dialect, func(t *testing.T) {
			for _, c := range spelled {
				var named []any
				for _, n := range c.named {
					named = append(named, id(n))
				}
				line := fmt.Sprintf(c.line, named...)
				var want []string
				for _, n := range c.want {
					want = append(want, id(n))
				}
				r := parse(t, plan(line+"\n"))
				require.Equal(t, want, item(t, r, id(9)).DependsOn, "%s: %q", dialect, line)
				require.Empty(t, diagnostics(r, "dependency_unresolved"), line)
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

// A sign that stands alone is a part of what was named, so that "none ]" is reported and not taken for none.
func TestHalfABracketIsNoBracket(t *testing.T) {
	r := parse(t, "- [ ] 1 a\n  - _Depends: none \"]_\n")
	require.Equal(t, []string{`none "]`}, item(t, r, "1").DependsOn)
	require.Len(t, diagnostics(r, "dependency_unresolved"), 1)
}
