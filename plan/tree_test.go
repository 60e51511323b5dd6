package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
	"waybill/plan"
)

// What the children of a parent add up to, and whether that contradicts its
// own mark. In a row of marks "?" stands for an optional child nobody began.
func TestParentsAddUpTheirChildren(t *testing.T) {
	for _, c := range []struct {
		parent, children string
		want             plan.Status
		conflict         bool
	}{
		{" ", "  ", plan.Pending, false},
		{" ", "x ", plan.InProgress, false},
		{" ", "- ", plan.InProgress, false},
		{"-", "--", plan.InProgress, false},
		{"x", "xx", plan.Completed, false},
		{" ", "xx", plan.Completed, true},
		{"-", "xx", plan.Completed, true},
		{"x", "x ", plan.InProgress, true},
		{"x", "x-", plan.InProgress, true},
		{"x", "~x", plan.Blocked, true},
		{" ", "~", plan.Blocked, false},
		{" ", "~ ", plan.Pending, false},
		{" ", "~x", plan.Blocked, false},
		{"x", "x?", plan.Completed, false},
		{" ", "x?", plan.Completed, true},
		{"x", "??", plan.Completed, false},
		{" ", "??", plan.Pending, false},
		{"-", "?", plan.InProgress, false},
	} {
		t.Run(c.parent+" over "+c.children, func(t *testing.T) {
			var b strings.Builder
			fmt.Fprintf(&b, "- [%s] 1 parent\n  - _Blocked: makes the dialect known_\n", c.parent)
			for i, mark := range strings.Split(c.children, "") {
				if mark == "?" {
					fmt.Fprintf(&b, "- [ ]* 1.%d child\n", i+1)
				} else {
					fmt.Fprintf(&b, "- [%s] 1.%d child\n", mark, i+1)
				}
			}
			r := parse(t, b.String())
			parent := item(t, r, "1")
			require.Equal(t, c.want, parent.DerivedStatus)
			require.Equal(t, 1, r.Totals.Groups)
			require.Equal(t, len(c.children), r.Totals.Total)
			conflicts := diagnostics(r, "parent_child_conflict")
			if !c.conflict {
				require.Empty(t, conflicts)
				return
			}
			require.Len(t, conflicts, 1)
			require.Equal(t, 1, conflicts[0].Line)
			require.Contains(t, conflicts[0].Message, "line 1")
		})
	}
}

func TestAConflictNamesBothLines(t *testing.T) {
	r := parse(t, "- [x] 1 a\n- [x] 1.1 b\n- [ ] 1.2 c\n- [ ] 1.3 d\n")
	conflicts := diagnostics(r, "parent_child_conflict")
	require.Len(t, conflicts, 1)
	require.Equal(t, "1 (line 1) is completed, but 1.2 (line 3) below it is still open", conflicts[0].Message)
	require.Equal(t, plan.Completed, item(t, r, "1").Status, "the mark in the plan is not changed")
}

func TestParents(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"by id at one indent", "- [ ] 1 a\n- [ ] 1.1 b\n- [ ] 1.1.1 c\n- [ ] 2 d", "1: 1.1:1 1.1.1:1.1 2:"},
		{"by id against the indent", "- [ ] 1 a\n- [ ] 2 b\n  - [ ] 1.1 c", "1: 2: 1.1:1"},
		{"by the nearest ancestor", "- [ ] 1 a\n- [ ] 1.2.3 b", "1: 1.2.3:1"},
		{"by an id further down", "- [ ] 1.1 a\n- [ ] 1 b\n- [ ] 1.2 c", "1.1:1 1: 1.2:1"},
		{"by indent where ids do not say", "- [ ] 1 a\n  - [ ] 2 b\n    - [ ] 3 c\n  - [ ] 4 d\n- [ ] 5 e", "1: 2:1 3:2 4:1 5:"},
		{"by indent where the id leads nowhere", "- [ ] 1.0 a\n  - [ ] 1.1 b", "1.0: 1.1:1.0"},
		{"not by indent for the parent of others", "- [ ] 1 a\n  - [ ] 2 b\n  - [ ] 2.1 c", "1: 2: 2.1:2"},
		{"not in a circle", "- [ ] 1.2.9 a\n  - [ ] 1 b\n    - [ ] 1.2 c", "1.2.9:1.2 1: 1.2:1"},
		{"a letter is no level", "- [ ] 1 a\n- [ ] 1.2 b\n- [ ] 1.2a c\n- [ ] 1.2a.1 d", "1: 1.2:1 1.2a:1 1.2a.1:1.2a"},
		{"the first of equal ids", "- [ ] 1 a\n- [ ] 1 b\n- [ ] 1.1 c", "1: 1: 1.1:1"},
		{"by tabs", "- [ ] 1 a\n\t- [ ] 2 b\n    - [ ] 3 c\n \t - [ ] 4 d", "1: 2:1 3:1 4:3"},
		{"in a quote", "> - [ ] 1 a\n>   - [ ] 2 b", "1: 2:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := parse(t, c.text)
			var got []string
			for _, it := range r.Items() {
				got = append(got, it.ID+":"+it.ParentID)
			}
			require.Equal(t, c.want, strings.Join(got, " "))
		})
	}
}

func TestTheFirstOfEqualItemsInProgressIsActive(t *testing.T) {
	r := parse(t, "- [x] 1 done\n- [ ] 2 first\n- [-] 2 second\n- [-] 2 third")
	require.Equal(t, "2", r.Active())
	require.Equal(t, "first", item(t, r, "2").Title)
	_, ok := r.Item("3")
	require.False(t, ok)
	p, err := ledger.Progress(r, "p", "p.md", "")
	require.NoError(t, err)
	require.Equal(t, "second", p.CurrentItem.Title)
}

func TestTheZeroReadingHasNoItems(t *testing.T) {
	r := new(plan.Reading)
	require.Empty(t, r.Active())
	require.Empty(t, r.Items())
	_, ok := r.Item("1")
	require.False(t, ok)
	p, err := ledger.Progress(r, "p", "p.md", "")
	require.NoError(t, err)
	require.Nil(t, p.CurrentItem)
}
