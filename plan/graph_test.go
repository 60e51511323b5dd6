package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
	"waybill/plan/graph"
	"waybill/test/slow"
)

// Ten thousand items that wait for ten thousand are a hundred million pairs, which nobody writes down: the
// plan is read in proportion to its text, and what is ready is known all the same.
func TestWavesOfTenThousandItemsCostInProportion(t *testing.T) {
	slow.Test(t)
	many := slow.Size(10_000)
	var text, first, second []string
	for i := range 2 * many {
		text = append(text, fmt.Sprintf("- [ ] %d a", i))
		if i < many {
			first = append(first, fmt.Sprintf("%q", fmt.Sprint(i)))
		} else {
			second = append(second, fmt.Sprintf("%q", fmt.Sprint(i)))
		}
	}
	plan := strings.Join(text, "\n") + "\n## Task Dependency Graph\n```json\n[[" + strings.Join(first, ",") + "], [" + strings.Join(second, ",") + "]]\n```\n"
	checkWide(t, parse(t, plan), many)
	checkWide(t, parse(t, strings.Replace(plan, "- [ ] 0 a", "- [ ]* 0 a", 1)), many)

	phases := "## Phase 1: a\n"
	for i := range 2 * many {
		if i == many {
			phases += "## Phase 2: b\n"
		}
		phases += fmt.Sprintf("- [ ] T%05d a\n", i)
	}
	checkWide(t, parse(t, phases), many)
}

func checkWide(t *testing.T, r *plan.Reading, many int) {
	t.Helper()
	require.Equal(t, 2*many, r.Len())
	require.Len(t, diagnostics(r, "barrier_too_wide"), 1)
	require.Len(t, r.Diagnostics, 1)
	items := r.Items()
	require.Empty(t, items[many].DependsOn)
	require.Len(t, items[many].Behind, 1)
	require.GreaterOrEqual(t, len(items[many].Behind[0]), many-1)
	done := map[string]bool{}
	run := func(id string) plan.ItemRun {
		if done[id] {
			return plan.RunDone
		}
		return plan.NoRun
	}
	ready := graph.Ready(items, run)
	require.Len(t, ready.Ready, many)
	require.Len(t, ready.Waiting, many)
	require.LessOrEqual(t, len(ready.Waiting[0].Because), 16)
	for _, it := range items[:many-1] {
		done[it.ID] = true
	}
	require.Equal(t, []string{items[many-1].ID}, graph.Ready(items, run).Ready)
	done[items[many-1].ID] = true
	require.Len(t, graph.Ready(items, run).Ready, many)
	require.Empty(t, plan.Diff(r, r))
}
