package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
	"waybill/test/slow"
)

const graphItems = "# Implementation Plan\n- [ ] 1. a\n- [ ] 2. b\n  - [ ] 2.1 c\n  - [ ] 2.2 d\n  - [ ]* 2.3 e\n- [ ] 3. f\n- [ ] 1.10 g\n\n## Task Dependency Graph\n\n"

// waiting returns what each item of a plan waits for that waits for something.
func waiting(r *plan.Reading) string {
	var all []string
	for _, it := range r.Items() {
		if len(it.DependsOn) > 0 {
			all = append(all, it.ID+":"+strings.Join(it.DependsOn, ","))
		}
	}
	return strings.Join(all, " ")
}

// The spellings of waves and drawings in which plans say in which order their items come.
func TestTaskDependencyGraphs(t *testing.T) {
	for _, c := range []struct{ name, graph, want string }{
		{"objects with ids", "```json\n{\"waves\": [{\"id\": 0, \"tasks\": [\"1\"]},\n {\"id\": 1, \"tasks\": [\"2.1\", \"2.2\"]}]}\n```", "2.1:1 2.2:1"},
		{"lists of lists", "```json\n{\"waves\": [[\"1\"], [\"2.1\"], [\"3\"]]}\n```", "2.1:1 3:2.1"},
		{"the list by itself", "```\n[[\"1\"], [\"3\"]]\n```", "3:1"},
		{"one wave each", "```json\n{\"wave\": 1, \"description\": \"first {\", \"tasks\": [\"1\"]}\n{\"wave\": 2, \"tasks\": [\"3\"]}\n```", "3:1"},
		{"several fences", "```json\n{\"wave\": 1, \"tasks\": [\"1\"]}\n```\ntext\n```json\n{\"wave\": 2, \"tasks\": [\"3\"]}\n```", "3:1"},
		{"by name", "```json\n{\"waves\": {\"one\": [\"1\"], \"two\": {\"tasks\": [\"3\"]}}}\n```", "3:1"},
		{"waves that say what they wait for", "```json\n{\"waves\": [{\"id\": \"a\", \"tasks\": [\"1\"]}, {\"id\": \"b\", \"tasks\": [\"2.1\"]}, {\"id\": \"c\", \"tasks\": [\"3\"], \"depends_on\": [\"a\"]}]}\n```", "2.1:1 3:1"},
		{"two of them", "```json\n{\"waves\": [{\"id\": 0, \"tasks\": [\"1\"]}, {\"id\": 1, \"tasks\": [\"2.1\"], \"depends_on\": []}, {\"id\": 2, \"tasks\": [\"3\"], \"depends_on\": [0, 1]}]}\n```", "3:1,2.1"},
		{"nothing given is the wave before", "```json\n{\"waves\": [{\"id\": 0, \"tasks\": [\"1\"]}, {\"id\": 1, \"tasks\": [\"3\"], \"depends_on\": null}]}\n```", "3:1"},
		{"in the order of their numbers", "```json\n{\"waves\": [{\"id\": 10, \"tasks\": [\"3\"]}, {\"id\": 9, \"tasks\": [\"1\"]}]}\n```", "3:1"},
		{"ids that are numbers keep their digits", "```json\n{\"waves\": [[1.10], [3]]}\n```", "3:1.10"},
		{"ids with titles", "```json\n{\"waves\": [[{\"id\": \"1\", \"title\": \"a\"}], [\"Task 3\"], [\"2.1. c\"]]}\n```", "2.1:3 3:1"},
		{"an empty wave hands on", "```json\n{\"waves\": [[\"1\"], [], [\"3\"]]}\n```", "3:1"},
		{"optional items hold nothing up", "```json\n{\"waves\": [[\"1\"], [\"2.3\"], [\"3\"]]}\n```", "2.3:1 3:1"},
		{"a parent and what is below it", "```json\n{\"waves\": [[\"1\"], [\"2\", \"2.1\"], [\"3\"]]}\n```", "2:1 2.1:1 3:2,2.1"},
		{"indented with tabs, and blank lines", "```json\n\n{\n\t\"waves\": [\n\n\t\t[\"1\"],\n\t\t[\"3\"]\n\t]\n}\n\n```", "3:1"},
		{"arrows", "```text\n1 --> 2.1\n1 -> 3\n```", "2.1:1 3:1"},
		{"arrows of tasks", "```\nT1 --> T3\nTask 3 → Task 2.2\n```", "2.2:3 3:1"},
		{"a row of arrows", "```mermaid\ngraph TD\n  1 --> 2.1 --> 3\n```", "2.1:1 3:2.1"},
		{"labels", "```mermaid\nflowchart LR\n  A[\"1. a\"] --> B[2.1 c]\n  B ==> C(3 f)\n  A -->|then| D{2.2}\n  C --> D\n  %% 3 --> 1\n```", "2.1:1 2.2:1,3 3:2.1"},
		{"names for mermaid", "```mermaid\ngraph TD\nT1 & T2_1 --> T3;\nT2_1 -.-> T2_2\n```", "2.2:2.1 3:1,2.1"},
		{"arrows of signs", "```\nTask 1 (a) ──► Task 2.1 ─▶ Task 3\n```", "2.1:1 3:2.1"},
		{"without a fence", "1 --> 3\n- 3 --> 2.1\nit goes on --> later", "2.1:3 3:1"},
		{"words about it", "Below is the order. 1 comes first.", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := parse(t, graphItems+c.graph+"\n")
			require.Equal(t, c.want, waiting(r))
			require.Equal(t, 7, r.Len())
			require.Empty(t, codes(r))
		})
	}
}

// codes returns the codes and lines of the diagnostics of a reading.
func codes(r *plan.Reading) (all []string) {
	for _, d := range r.Diagnostics {
		all = append(all, fmt.Sprintf("%d:%d %s", d.Line, d.Column, d.Code))
	}
	return all
}

// A graph that cannot be right is reported with its place, and no task is lost for it.
func TestGraphsThatCannotBeRightAreReported(t *testing.T) {
	const first = 13 // line of what stands in the fence
	for _, c := range []struct{ name, graph, want, message, waits string }{
		{"invalid JSON", "{\"waves\": [\n  [\"1\"],,\n]}", "14:9 graph_invalid", "so it is ignored", ""},
		{"JSON that ends early", "{\"waves\": [[\"1\"]", "", "graph_invalid", ""},
		{"a name twice", "{\"waves\": [], \"waves\": []}", "13:15 graph_invalid", "duplicate", ""},
		{"no waves", "{\"tides\": []}", "13:13 graph_invalid", `"waves"`, ""},
		{"waves that are a word", "{\"waves\": true}", "13:14 graph_invalid", "waves are a list", ""},
		{"a task that is none", "{\"waves\": [[true]]}", "13:16 graph_invalid", "no id", ""},
		{"half an order is none", "{\"wave\": 0, \"tasks\": [\"1\"]}\n{\"wave\": 1, \"tasks\": [\"3\"]}\n{\"wave\"", "", "graph_invalid", ""},
		{"unknown ids", "{\"waves\": [[\"1\", \"7\"], [\"3\", \"7\"]]}", "13:18 dependency_unresolved", `"7" is not an id in this plan`, "3:1"},
		{"an id in two waves", "{\"waves\": [[\"1\"],\n[\"3\", \"1\"]]}", "14:7 graph_repeats", "1 is in a wave on line 13 and again on line 14", "3:1"},
		{"two waves of one name", "{\"waves\": [{\"id\": 0, \"tasks\": [\"1\"]},\n{\"id\": 0, \"tasks\": [\"3\"]}]}", "14:8 graph_repeats", "read as one", ""},
		{"an unknown wave", "{\"waves\": [{\"id\": 0, \"tasks\": [\"1\"], \"depends_on\": [4]}]}", "13:53 dependency_unresolved", `wave 0 waits for wave "4"`, ""},
		{"a parent in another wave", "{\"waves\": [[\"1\"], [\"2\"],\n[\"2.1\"]]}", "13:20 graph_contradicts", "2 is in one wave", "2.1:1"},
		{"a circle of waves", "{\"waves\": [{\"id\": 0, \"tasks\": [\"1\"], \"depends_on\": [1]},\n{\"id\": 1, \"tasks\": [\"3\"]}]}", "13:19 dependency_cycle", "0 -> 1 -> 0", "1:3 3:1"},
		{"a wave that waits for itself", "{\"waves\": [{\"id\": 0, \"tasks\": [\"1\"], \"depends_on\": [0]}]}", "13:19 dependency_cycle", "0 -> 0", "1:1"},
		{"an unknown node", "1 --> Deploy\n", "13:1 dependency_unresolved", `"Deploy"`, ""},
		{"a branch over two lines", "1 ──► 3\n└──► 2.1\n", "14:1 graph_unread", "both ends on one line", "3:1"},
		{"no arrow at all", "1 (a)\n ↓\n3 (f)", "13:1 graph_unread", "no order that can be read", ""},
		{"a circle of arrows", "1 --> 3\n3 --> 1\n", "2:4 dependency_cycle", "1 -> 3 -> 1", "1:3 3:1"},
		{"an arrow to itself", "3 --> 3", "7:4 dependency_cycle", "3 -> 3", "3:3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := parse(t, graphItems+"```\n"+c.graph+"\n```\n")
			require.Equal(t, 7, r.Len())
			require.Len(t, r.Diagnostics, 1, "%v", codes(r))
			if c.want != "" {
				require.Equal(t, []string{c.want}, codes(r))
				require.Contains(t, r.Diagnostics[0].Message, c.message)
			}
			require.GreaterOrEqual(t, r.Diagnostics[0].Line, 2)
			require.LessOrEqual(t, r.Diagnostics[0].Line, first+3)
			require.Equal(t, c.waits, waiting(r))
		})
	}
}

// What an item says itself and what its wave says are one graph.
func TestWavesAndFieldsAreOneGraph(t *testing.T) {
	const graph = "## Task Dependency Graph\n```json\n{\"waves\": [[\"1\", \"2\"], [\"3\", \"4\"]]}\n```\n"
	r := parse(t, "- [ ] 1 a\n- [ ] 2 b\n- [ ] 3 c\n  - _Depends: 2, 4_\n- [ ] 4 d\n"+graph)
	require.Equal(t, "3:2,4,1 4:1,2", waiting(r))
	require.Empty(t, r.Diagnostics)
	ready := plan.Ready(r.Items(), func(string) plan.ItemRun { return plan.NoRun })
	require.Equal(t, []string{"1", "2"}, ready.Ready)

	r = parse(t, "- [ ] 1 a\n  - _Depends: 3_\n- [ ] 2 b\n- [ ] 3 c\n- [ ] 4 d\n"+graph)
	circles := diagnostics(r, "dependency_cycle")
	require.Len(t, circles, 1)
	require.Contains(t, circles[0].Message, "1 -> 3 -> 1")
}

// An id that only a sample has counts if the graph names it: else the wave would wait for nothing.
func TestAnItemInAFenceCountsIfTheGraphNamesIt(t *testing.T) {
	r := parse(t, "- [ ] 1 a\n```\n- [ ] 2 b\n- [ ] 3 c\n```\n## Task Dependency Graph\n```json\n[[\"2\"], [\"1\"]]\n```\n")
	require.Equal(t, "1:2", waiting(r))
	require.Equal(t, 2, r.Len())
	require.Empty(t, diagnostics(r, "dependency_unresolved"))
}

// A section ends at the next heading of its level, and what stands in another fence is no graph.
func TestOnlyTheSectionIsAGraph(t *testing.T) {
	r := parse(t, "- [ ] 1 a\n- [ ] 2 b\n```json\n[[\"1\"], [\"2\"]]\n```\n## Task Dependency Graph\n### Waves\n```json\n[[\"2\"], [\"1\"]]\n```\n## Notes\n```json\n{]\n```\n1 --> 2\n")
	require.Equal(t, "1:2", waiting(r))
	require.Empty(t, r.Diagnostics)
}

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
	ready := plan.Ready(items, run)
	require.Len(t, ready.Ready, many)
	require.Len(t, ready.Waiting, many)
	require.LessOrEqual(t, len(ready.Waiting[0].Because), 16)
	for _, it := range items[:many-1] {
		done[it.ID] = true
	}
	require.Equal(t, []string{items[many-1].ID}, plan.Ready(items, run).Ready)
	done[items[many-1].ID] = true
	require.Len(t, plan.Ready(items, run).Ready, many)
	require.Empty(t, plan.Diff(r, r))
}

// Two sentences for one pair, and a sentence beside a phase, made two edges, so that one circle was reported twice.
func TestACircleIsReportedOnce(t *testing.T) {
	r := parse(t, "- [ ] T001 a\n- [ ] T002 b\n## Dependencies\n- T001 before T002\n- T001 blocks T002\n- T002 before T001\n")
	require.Len(t, diagnostics(r, "dependency_cycle"), 1)
	r = parse(t, "## Phase 1\n- [ ] T001 a\n## Phase 2\n- [ ] T002 b\n## Dependencies\n- T001 before T002\n- T002 before T001\n")
	require.Len(t, diagnostics(r, "dependency_cycle"), 1)
	r = parse(t, "- [ ] T001 a\n- [-] T002 b\n- [ ] T003 c (depends on T002)\n## Dependencies\n- T002 before T003\n")
	require.Len(t, diagnostics(r, "dependency_skipped"), 1)
}
