package plan_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
	"waybill/plan/graph"
	"waybill/test/slow"
)

// Each of these would take minutes, or the whole stack, if the work were more than in proportion.
func TestReadyCostsInProportion(t *testing.T) {
	slow.Test(t)
	many := slow.Size(100_000)
	shape := func(item func(i int, it *plan.Item)) []plan.Item {
		items := make([]plan.Item, many)
		for i := range items {
			items[i] = plan.Item{ID: fmt.Sprint(i), Status: plan.Pending}
			item(i, &items[i])
		}
		return items
	}
	half := make([]string, many/2)
	for i := range half {
		half[i] = fmt.Sprint(i)
	}
	id := func(i int) string { return fmt.Sprint((i + many) % many) }
	for _, c := range []struct {
		name string
		plan []plan.Item
	}{
		{"chain", shape(func(i int, it *plan.Item) { it.DependsOn = []string{fmt.Sprint(i - 1)} })},
		{"chain against the order", shape(func(i int, it *plan.Item) { it.DependsOn = []string{fmt.Sprint(i + 1)} })},
		{"circle", shape(func(i int, it *plan.Item) { it.DependsOn = []string{id(i + 1)} })},
		{"chain of blocked items", shape(func(i int, it *plan.Item) {
			it.DependsOn, it.Status = []string{fmt.Sprint(i - 1)}, plan.Blocked
		})},
		{"circle of blocked items", shape(func(i int, it *plan.Item) {
			it.DependsOn, it.Status = []string{id(i + 1), id(i + 7)}, plan.Blocked
		})},
		{"nested", shape(func(i int, it *plan.Item) { it.ParentID = fmt.Sprint(i - 1); it.DependsOn = []string{"x"} })},
		{"nested against the order", shape(func(i int, it *plan.Item) { it.ParentID = fmt.Sprint(i + 1) })},
		{"ring of parents", shape(func(i int, it *plan.Item) { it.ParentID = id(i + 1) })},
		{"its own parent", shape(func(i int, it *plan.Item) { it.ParentID = it.ID })},
		{"all wait for half", shape(func(i int, it *plan.Item) {
			if it.ParentID = id(-1); i == many-1 {
				it.ParentID, it.DependsOn = "", half
			}
		})},
		{"strangers", shape(func(i int, it *plan.Item) { it.DependsOn = []string{fmt.Sprint("x", i), fmt.Sprint("y", i%9)} })},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := graph.Ready(c.plan, runs(nil))
			require.Equal(t, many, len(r.Ready)+len(r.Waiting))
		})
	}
}
