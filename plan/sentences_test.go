package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

const specKitPhases = "## Phase 1: Setup (Shared Infrastructure)\n- [ ] T001 a\n- [ ] T002 b\n- [ ] T003 c\n## Phase 2: Foundational (Blocking)\n- [-] T004 d\n"

// Sentences below "Dependencies" count if they have ids, or phases, on both sides of a word that says what comes first.
func TestSentencesAboutDependencies(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"- T003 depends on T001", "T003:T001"},
		{"- T003 depends on T001, T002 (the model)", "T003:T001,T002"},
		{"* **T003** requires `T001` and `T002`.", "T003:T001,T002"},
		{"1. T001 before T003", "T003:T001"},
		{"- T001 must complete before T002, T003", "T002:T001 T003:T001"},
		{"- T001 blocks T002-T003", "T002:T001 T003:T001"},
		{"- T003 is blocked by T002", "T003:T002"},
		{"- T003 after T002: it needs the table", "T003:T002"},
		{"- T001–T002 → T003", "T003:T001,T002"},
		{"- T001 -> T002 → T003", "T002:T001 T003:T002"},
		{"- Tests (T001-T002) before implementation (T003)", "T003:T001,T002"},
		{"- T001 before T002; T002 before T003", "T002:T001 T003:T002"},
		{"- Setup (Phase 1) → Foundational", ""},
		{"- Phase 2: depends on Phase 1", ""},
		{"- **Foundational (Phase 2)**: Depends on Setup completion - BLOCKS all user stories", ""},
		{"- T003 depends on the weather", ""},
		{"- T001 is small and before long T003 is, too", ""},
		{"- T003 does not depend on T001 or anything", ""},
		{"- Implementation before polish (T003)", ""},
		{"- All tests must be written before code", ""},
		{"T003 depends on T001", ""},
		{"- Within a story: models before services", ""},
		{"```\n- T003 depends on T001\n```", ""},
	} {
		t.Run(c.line, func(t *testing.T) {
			r := parse(t, specKitPhases+"## Dependencies & Execution Order\n### Within\n"+c.line+"\n## Notes\n- T001 depends on T003\n")
			own := strings.TrimSpace(strings.Replace(waiting(r), "T004:T001,T002,T003", "", 1))
			require.Equal(t, c.want, own)
			require.Empty(t, r.Diagnostics)
		})
	}
}

func TestSentencesThatCannotBeRightAreReported(t *testing.T) {
	for _, c := range []struct{ line, want, message string }{
		{"- T003 depends on T009", "8:3 dependency_unresolved", `"T009" is not an id`},
		{"- T003 before T003", "4:4 dependency_cycle", "T003 -> T003"},
		{"- T001 → T002 → T001", "2:4 dependency_cycle", "T001 -> T002 -> T001"},
		{"- T004 before T001", "2:4 dependency_cycle", "T001 -> T004 -> T001"},
		{"- Phase 2 → Setup", "8:3 dependency_cycle", "Foundational"},
	} {
		t.Run(c.line, func(t *testing.T) {
			r := parse(t, strings.Replace(specKitPhases, "[-]", "[ ]", 1)+"## Dependencies\n"+c.line+"\n")
			require.Equal(t, 4, r.Len())
			require.Contains(t, codes(r), c.want)
			require.True(t, slices.ContainsFunc(r.Diagnostics, func(d plan.Diagnostic) bool { return strings.Contains(d.Message, c.message) }), "%v", r.Diagnostics)
		})
	}
}

// Small sentences about wide ranges stand for many pairs; what is too much is left out and said.
func TestSentencesCannotAskForMuchMemory(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "- [ ] T%04d a\n", i)
	}
	b.WriteString("## Dependencies\n" + strings.Repeat("- T0001-T0200 before T0300-T0500\n", 1000))
	r := parse(t, b.String())
	require.Len(t, diagnostics(r, "graph_too_large"), 1)
	require.Len(t, item(t, r, "T0300").DependsOn, 200)
}
