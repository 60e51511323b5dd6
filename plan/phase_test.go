package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Any heading that begins with the word was a barrier, and the notes of a phase cut it in two.
func TestAHeadingAboutPhasesIsNoBarrier(t *testing.T) {
	for heading, barrier := range map[string]bool{
		"## Phase 2: b": true, "## Phase 2b": true, "## phase 2 - b": true, "## Phase A": true, "## Phase IV: b": true, "## Phase Two": true, "# Phase 2": true,
		"## Phase notes": false, "## Phase": false, "## Phase: b": false, "## Phases 2": false, "## Phaseout": false,
		"### Phase notes": false, "### Phase 2 notes": false, "#### Phase A": false,
	} {
		r := parse(t, "## Phase 1: a\n- [ ] T001 a\n"+heading+"\n- [ ] T002 b\n")
		require.Equal(t, barrier, len(item(t, r, "T002").DependsOn) > 0, heading)
	}
	titled := parse(t, "# Phase 2 of the harbour\n## Phase 1: a\n- [ ] T001 a\n## Phase 2: b\n- [ ] T002 b\n")
	require.Equal(t, []string{"T001"}, item(t, titled, "T002").DependsOn, "a title is no phase that holds all others")
}
