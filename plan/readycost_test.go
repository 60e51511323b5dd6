package plan_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/plan"
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
			r := plan.Ready(c.plan, runs(nil))
			require.Equal(t, many, len(r.Ready)+len(r.Waiting))
		})
	}
}

// BenchmarkReady2000 has one pass over the items that copies their ids for a probe. The large array is what
// it is for BenchmarkParse2000.
func BenchmarkReady2000(b *testing.B) {
	var p strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&p, "- [%c] %d x\n", "x  "[min(2, i/700)], i+1)
		if i%2 == 1 {
			fmt.Fprintf(&p, "  _Depends: %d, %d_\n", i, i/2+1)
		}
	}
	r, err := plan.Parse([]byte(p.String()))
	require.NoError(b, err)
	items := r.Items()
	table := map[string]plan.ItemRun{"900": plan.RunBlocked, "1000": plan.RunLive}
	heap := make([]byte, 16<<20)
	var probe, ready time.Duration
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		ids := make([]string, 0, len(items))
		for i := range items {
			ids = append(ids, items[i].ID)
		}
		middle := time.Now()
		found := plan.Ready(items, runs(table))
		ready += time.Since(middle)
		probe += middle.Sub(start)
		if len(ids) != len(found.Ready)+len(found.Waiting) {
			b.Fatal(len(ids))
		}
	}
	b.ReportMetric(probe.Seconds()*1e6/float64(b.N), "µs-probe/op")
	b.ReportMetric(ready.Seconds()*1e6/float64(b.N), "µs-ready/op")
	b.ReportMetric(ready.Seconds()/probe.Seconds(), "x-probe")
	require.NotEmpty(b, heap)
}
