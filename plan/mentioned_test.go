package plan_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// waitsFor returns what T003 waits for in a plan of spec-kit where this stands behind its id.
func waitsFor(t *testing.T, text string) string {
	t.Helper()
	r := parse(t, "- [ ] T001 a\n- [ ] T002 b\n- [ ] T003 "+text+"\n")
	return strings.Join(item(t, r, "T003").DependsOn, " ")
}

// Sentences that deny a dependency, or are about one, held their items up.
func TestASentenceAboutDependenciesIsNone(t *testing.T) {
	for _, title := range []string{
		"This no longer depends on T001", "It is not true that it depends on T001", "Document what depends on T001", "Show who depends on T001",
		"Say if it depends on T001", "It depends on T001 being there", "Cut what depends on T001 out", "c (no longer depends on T001)",
		"c, which depends on T001", "c (requires 3)", "c (requires T001 or luck)", "c requires T001 to work",
	} {
		require.Empty(t, waitsFor(t, title), title)
	}
}

func TestWhatIsCertainlyADependencyIsRead(t *testing.T) {
	for text, want := range map[string]string{
		"c (depends on T001, T002)": "T001 T002", "c (depends on T001; T002)": "T001 T002", "c, depends on T001": "T001", "c - depends on T001 for its lamp": "T001",
		"c. Depends on T001": "T001", "It depends on T001": "T001", "It depends on T001.": "T001", "c ([P], depends on T001)": "T001",
		"c (requires T001, T002)": "T001 T002", "c (blocked by T002)": "T002",
		"c\n  - Blocked by T001": "T001", "c\n  - **Blocked by:** T001; T002": "T001 T002", "c\n  - **Prerequisites:** T001": "T001",
		"c\n  - Prerequisites: a lamp": "", "c\n  - Blocked by: rain": "", "c\n  - Depends on: #T001": "T001",
		"c\n  - Depends on: T001 or T002": "T001 T002",
	} {
		require.Equal(t, want, waitsFor(t, text), text)
	}
	headed := parse(t, "### Task 1: a\n### Task 2: b\n**Prerequisites:** Task 1\n### Task 3: c\n**Blocked by:** Task 1; Task 2\n")
	require.Equal(t, []string{"1"}, item(t, headed, "2").DependsOn)
	require.Equal(t, []string{"1", "2"}, item(t, headed, "3").DependsOn)
	numbered := parse(t, "- [ ] 1. a\n- [ ] 2. b\n  - _Depends: #1_\n")
	require.Equal(t, []string{"1"}, item(t, numbered, "2").DependsOn)
}

// "Task 1 or Task 2" was one id that no plan has, and the item never ready.
func TestOneItemOrAnotherIsBothAndReported(t *testing.T) {
	r := parse(t, "### Task 1: a\n### Task 2: b\n### Task 3: c\n**Depends on:** Task 1 or Task 2\n")
	require.Equal(t, []string{"1", "2"}, item(t, r, "3").DependsOn)
	require.Len(t, diagnostics(r, "dependency_alternatives"), 1)
	require.Empty(t, diagnostics(r, "dependency_unresolved"))
}
