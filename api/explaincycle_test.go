package api_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The explanations of two items that wait for each other must not refer to each other.
func TestExplanationOfACycleSaysWhatEndsIt(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", "- [ ] 1. Draw\n- [ ] 2. Cut\n  - _Depends: 3_\n- [ ] 3. Glue\n  - _Depends: 4_\n- [ ] 4. Fold\n  - _Depends: 3_\n", time.Hour)
	explain := func(id string) object { return h.call("explain", `{"plan": "tasks.md", "item_id": %q}`, id) }
	three := explain("3")
	require.Contains(t, three.each("because", "rule"), "plan.cycle")
	require.Contains(t, three.each("because", "text"), "these items wait for each other: 3 -> 4 -> 3")
	require.Equal(t, []string{"edit_plan"}, three.each("next", "action"))
	three.has([]any{"person"}, "next.0.by")
	three.has(`edit tasks.md:4 so that item "3" does not wait for item "4", or break the cycle at another of its items`, "next.0.text")
	explain("4").has(`edit tasks.md:6 so that item "4" does not wait for item "3", or break the cycle at another of its items`, "next.0.text")
	require.NotContains(t, explain("2").each("because", "rule"), "plan.cycle", "it waits for a cycle and is in none")
	h.write("tasks.md", "- [ ] 1. Draw\n  - _Depends: 1_\n", time.Minute)
	require.Equal(t, []string{"edit_plan"}, explain("1").each("next", "action"))
}
