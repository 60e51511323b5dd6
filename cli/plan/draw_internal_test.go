package plan

// These tests are inside because they draw for terminals of many widths, and with runs of every state.

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/cli/output"
	"waybill/plan"
	"waybill/plan/graph"
	"waybill/plan/read"
	"waybill/test/golden"
)

const gardenPlan = `# Implementation Plan

- [x] 1. Clear the bed
- [-] 2. 漢字の見出し: dig it over, and take out the roots of last year that are longer than a finger
  - [x] 2.1 Left half
  - [-] 2.2 Right half
  - [ ]* 2.3 The corner behind the shed
- [ ] 3. Sow (P)
  - _Depends: 2, 9_
  - [ ] 3.1 Carrots
    - _Depends: 4_
  - [ ] 3.2 Peas
- [ ] 4. Buy seeds
- [~] 5. Mend the fence
  - _Blocked: the wood has not come_
- [ ] 6. Close the gate
  - _Depends: 5, 4_
- [ ] 7. Order compost
- [ ] 8. Read the weather
- [ ] unnumbered
- [ ] 4. Buy more seeds
`

// drawnAt draws a plan at a width; runs say how the items stand beside what their file says.
func drawnAt(t *testing.T, text string, width, lineWidth int, runs map[string]plan.ItemRun) string {
	t.Helper()
	r, items := understood(t, text, runs)
	far := r.PlanProgress(func(id string) plan.ItemRun { return runs[id] })
	return sheet{width, lineWidth, undressed}.plan("garden/tasks.md", text, r, items, far, "its runs are not known: the store is busy")
}

func understood(t *testing.T, text string, runs map[string]plan.ItemRun) (*plan.Reading, []outlookItem) {
	t.Helper()
	r, err := read.Read(text, plan.Hints{})
	require.NoError(t, err)
	ready := graph.Ready(r.Items(), func(id string) plan.ItemRun { return runs[id] })
	items, ok := outlook(r.Items(), ready.Waiting)
	require.True(t, ok)
	return r, items
}

var gardenRuns = map[string]plan.ItemRun{"7": plan.RunLive, "8": plan.RunDone, "2.1": plan.RunDone, "3.2": plan.RunBlocked}

func TestPlanAtEveryWidth(t *testing.T) {
	var all strings.Builder
	for _, width := range []int{40, 80, 120} {
		text := drawnAt(t, gardenPlan, width, width, gardenRuns)
		for line := range strings.Lines(text) {
			require.LessOrEqual(t, output.Columns(strings.TrimSuffix(line, "\n")), width, "%q", line)
		}
		fmt.Fprintf(&all, "── %d columns\n%s\n", width, text)
	}
	fmt.Fprintf(&all, "── a pipe\n%s", drawnAt(t, gardenPlan, output.PipeWidth, math.MaxInt, nil))
	golden.Equal(t, "plan.golden", all.String())
}

// Whatever the ids, titles and depths are: no line is too long, and every item has its line.
func TestLongPlanFitsTheTerminal(t *testing.T) {
	var text strings.Builder
	for i := range 2000 {
		id := strings.TrimSuffix(strings.Repeat("1.", i%30)+fmt.Sprint(i+1), ".")
		fmt.Fprintf(&text, "- [%c] %s %s\n  - _Depends: 1-%d_\n", " x-"[i%3], id, strings.Repeat("長い title ", i%20), i)
	}
	r, items := understood(t, text.String(), nil)
	require.Equal(t, 2000, r.Len())
	s := sheet{output.LeastWidth, output.LeastWidth, undressed}
	tree := s.tree(items)
	signs := 0
	for line := range strings.Lines(s.plan("tasks.md", text.String(), r, items, plan.PlanProgress{Total: 2000, Approved: 2000, Unapproved: 2000}, "")) {
		require.LessOrEqual(t, output.Columns(strings.TrimSuffix(line, "\n")), output.LeastWidth, "%q", line)
	}
	for line := range strings.Lines(tree) {
		line = strings.TrimLeft(line, "…│├└ ")
		for _, m := range marks.Get() {
			if strings.HasPrefix(line, m.sign+" ") {
				signs++
			}
		}
	}
	require.Equal(t, 2000, signs)
}

// The dependencies of a group are not said to be those of the item in it.
func TestReasonTellsOwnDependenciesFromThoseOfAGroup(t *testing.T) {
	_, items := understood(t, gardenPlan, nil)
	reasons := map[string]string{}
	for _, it := range items {
		reasons[it.ID] = it.reason()
	}
	require.Equal(t, "depends on 4; 3 depends on 2", reasons["3.1"])
	require.Equal(t, "3 depends on 2", reasons["3.2"])
	require.Equal(t, "blocked: the wood has not come", reasons["5"])
	require.Equal(t, "depends on 5, 4, blocked by 5", reasons["6"])
}

// A plan that says one thing and a store that speaks of another plan are not mixed.
func TestOutlookRefusesReasonsOfAnotherPlan(t *testing.T) {
	items := family("1", "2")
	_, ok := outlook(items, []plan.Waiting{{ItemID: "3", Because: []plan.Hold{{Kind: plan.HeldByEnd}}}})
	require.False(t, ok)
}

// Of very many diagnostics, the errors are among those that are shown.
func TestManyDiagnosticsLeaveTheErrorsIn(t *testing.T) {
	text := "# Implementation Plan\n" + strings.Repeat("- [ ] no number\n", 300) + "- [ ] 1. x\n- [ ] 1. y\n"
	r, _ := understood(t, text, nil)
	drawn := sheet{80, 80, undressed}.diagnostics(text, r.Diagnostics)
	require.Contains(t, drawn, "duplicate_id")
	require.Contains(t, drawn, fmt.Sprintf("… %d more; --json has all of them\n", len(r.Diagnostics)-mostDiagnostics))
	require.Equal(t, mostDiagnostics, strings.Count(drawn, "^\n"))
}

// The drawing in the tutorial is the one that is drawn here.
func TestTutorialShowsThePlan(t *testing.T) {
	text := "- [x] 1. Cut the face\n- [ ] 2. Make the hands\n  - [x] 2.1 The hour hand\n  - [ ] 2.2 The minute hand\n" +
		"  - [ ]* 2.3 The second hand\n- [~] 3. Order the spring\n  - _Blocked: the shop is closed_\n" +
		"- [ ] 4. Wind it up\n  - _Depends: 2, 3_\n- [ ] hang it\n"
	r, items := understood(t, text, nil)
	drawn := sheet{80, 80, undressed}.plan("clock/tasks.md", text, r, items, plan.PlanProgress{Completed: 2, Total: 7}, "")
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "tutorial.md"))
	require.NoError(t, err)
	require.Contains(t, strings.ReplaceAll(string(page), "\r\n", "\n"), "```text\n"+drawn+"```\n", "the tutorial draws something else than\n%s", drawn)
}

// A title goes whole into a pipe, in which somebody looks for it, but a page of text is none.
func TestALongTitleIsCutInAPipeToo(t *testing.T) {
	text := drawnAt(t, "- [ ] 1. "+strings.Repeat("word ", 80)+"\n- [ ] 2. "+strings.Repeat("a page ", 10_000)+"\n", output.PipeWidth, math.MaxInt, nil)
	require.Contains(t, text, strings.TrimSpace(strings.Repeat("word ", 80))+"\n")
	for line := range strings.Lines(text) {
		require.LessOrEqual(t, output.Columns(line), mostTitle+20)
	}
	require.Contains(t, text, "…")
}

func undressed(string) func(string) string { return func(text string) string { return text } }
