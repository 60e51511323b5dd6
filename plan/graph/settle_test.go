package graph_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/plan"
	"waybill/plan/graph"
)

// settled is what became of a plan whose items are the words of a text.
func settled(text string, in graph.Input) (rows *plan.Rows, diagnostics []string) {
	rows = plan.NewRows(text, 0)
	at := 0
	for line := range strings.Lines(text) {
		id, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if id != "" && id[0] != '#' {
			rows.Add(plan.Entry{ID: id, From: int32(at), Line: 1, Parent: -1, Status: plan.Pending})
			in.Phase = append(in.Phase, int32(len(in.Phases)))
		} else if id != "" {
			in.Phases = append(in.Phases, strings.TrimLeft(strings.TrimSpace(line), "# "))
		}
		at += len(line)
	}
	notes := plan.NewRemarks(text, nil)
	graph.Settle(rows, notes, in)
	for _, d := range notes.Diagnostics() {
		diagnostics = append(diagnostics, d.Code)
	}
	return rows, diagnostics
}

// waitsOf returns what the last item waits for.
func waitsOf(rows *plan.Rows) string {
	return strings.Join(rows.DependsOn(int32(len(rows.Entries))-1), " ")
}

func TestDependenciesAreReadInTheWordsOfManyLanguages(t *testing.T) {
	const items = "1.1\n1.2\n2\nTASK-INF-001\nT031-MIN\nF1\nT004\nlast\n"
	for _, c := range []struct {
		kind graph.PhraseKind
		text string
		want string
	}{
		{graph.Field, "[1.1]", "1.1"},
		{graph.Field, "1.1、1.2", "1.1 1.2"},
		{graph.Field, "1.1，1.2；F1", "1.1 1.2 F1"},
		{graph.Field, "1.1 und 1.2", "1.1 1.2"},
		{graph.Field, "1.1–1.2 (beide)", "1.1 1.2"},
		{graph.Field, "TASK-INF-001, T031-MIN and F1", "TASK-INF-001 T031-MIN F1"},
		{graph.Field, "Task 2 for its list", "2"},
		{graph.Field, "[Task 2](#task-2), `1.1`", "2 1.1"},
		{graph.Field, "all", "1.1 1.2 2 TASK-INF-001 T031-MIN F1 T004"},
		{graph.Field, "`TASK-INF-001`-`TASK-INF-002`", "TASK-INF-001 TASK-INF-002"},
		{graph.Field, "T001-004", "T001 T002 T003 T004"},
		{graph.Field, "无", ""},
		{graph.Field, "keine", ""},
		{graph.Field, "None - the first", ""},
		{graph.Loose, "1.1", "1.1"},
		{graph.Loose, "a lamp, 1.1", ""},
		{graph.Title, "Do it (requires 1.1)", "1.1"},
		{graph.Title, "Do it (blocked by 1.1)", "1.1"},
		{graph.Title, "Do it (requires 2)", ""},
		{graph.Title, "Do it（依赖：1.1、1.2）", "1.1 1.2"},
		{graph.Title, "Do it (依存: 1.1)", "1.1"},
		{graph.Title, "Tu es (abhängig von 1.1)", "1.1"},
		{graph.Title, "Hágalo (depende de 1.1)", "1.1"},
		{graph.Title, "Do it, depends on TASK-INF-001", "TASK-INF-001"},
		{graph.Title, "Document what depends on 1.1", ""},
		{graph.Title, "It no longer depends on 1.1", ""},
	} {
		rows, _ := settled(items, graph.Input{Phrases: []graph.Phrase{{Item: 7, Kind: c.kind, Text: c.text}}})
		require.Equal(t, c.want, waitsOf(rows), "%s", c.text)
	}
	for name, strength := range map[string]graph.Strength{
		"DependsOn": graph.Strong, "依赖": graph.Strong, "依存": graph.Strong, "Abhängig von": graph.Strong, "Depends on": graph.Strong,
		"Prerequisites": graph.Weak, "Blocked by": graph.Weak, "Requires": graph.Weak, "Blocked": 0, "Purpose": 0,
	} {
		require.Equal(t, strength, graph.Word(name), name)
	}
}

// A sentence in a field made an item wait for nothing that anybody could finish.
func TestProseThatNamesNoItemIsAWarningAndBlocksNobody(t *testing.T) {
	rows, said := settled("1\n2\n", graph.Input{Phrases: []graph.Phrase{{Item: 1, Text: "Phase 1 complete"}}})
	require.Empty(t, waitsOf(rows))
	require.Equal(t, []string{"dependency_unresolved"}, said)
	rows, said = settled("1\n2\n", graph.Input{Phrases: []graph.Phrase{{Item: 1, Text: "9"}}})
	require.Equal(t, "9", waitsOf(rows))
	require.Equal(t, []string{"dependency_unresolved"}, said)
}

func TestNameOfAPhaseMeansItsItems(t *testing.T) {
	for _, text := range []string{"Phase 1", "Phase 1 complete", "Setup", "Setup (Phase 1)"} {
		rows, said := settled("# Phase 1: Setup\n1\n2\n# Phase 2: Rest\n3\n4\n", graph.Input{Phrases: []graph.Phrase{{Item: 3, Text: text}}})
		require.Equal(t, "1 2", waitsOf(rows), text)
		require.Empty(t, said, text)
	}
}

const stories = "# Phase 1: Setup\nT001\n# Phase 2: Foundational (Blocking)\nT002\n# Phase 3: User Story 1 - Berths (Priority: P1)\nT003\n" +
	"# Phase 4: User Story 2 - Tides\nT004\n# Phase 5: User Story 3 - Fog\nT005\n# Phase 6: Polish\nT006\n"

// ordered returns what each item of the stories waits for if the plan says a sentence.
func ordered(kind graph.OrderKind, sentences ...string) string {
	text, in := stories, graph.Input{Barriers: true}
	for _, sentence := range sentences {
		in.Orders = append(in.Orders, graph.Order{Kind: kind, From: int32(len(text) + 2), To: int32(len(text) + 2 + len(sentence))})
		text += "# " + sentence + "\n"
	}
	in.Phases = nil
	rows := plan.NewRows(text, 0)
	for line := range strings.Lines(stories) {
		if line[0] == '#' {
			in.Phases = append(in.Phases, strings.TrimSpace(line[2:]))
			continue
		}
		rows.Add(plan.Entry{ID: strings.TrimSpace(line), Line: 1, Parent: -1, Status: plan.Pending})
		in.Phase = append(in.Phase, int32(len(in.Phases)))
	}
	graph.Settle(rows, plan.NewRemarks(text, nil), in)
	var all []string
	for i := range rows.Entries {
		all = append(all, strings.Join(rows.DependsOn(int32(i)), "+"))
	}
	return strings.Join(all, " ")
}

// Half of the real files of spec-kit say that stories proceed in parallel, and each of them waited for the one above.
func TestStoriesThatProceedInParallelWaitForTheFoundationOnly(t *testing.T) {
	const inOrder, parallel = " T001 T002 T003 T004 T005", " T001 T002 T002 T002 T003+T004+T005"
	require.Equal(t, inOrder, ordered(graph.Sentence))
	for _, sentence := range []string{
		"User stories can then proceed in parallel (if staffed)",
		"Once Foundational phase completes, all user stories can start in parallel (if team capacity allows)",
		"Different user stories can be worked on in parallel by different team members",
	} {
		require.Equal(t, parallel, ordered(graph.Sentence, sentence), sentence)
		require.Equal(t, parallel, ordered(graph.Remark, sentence), sentence)
	}
	require.Equal(t, parallel, ordered(graph.Sentence, "**User Stories (Phase 3+)**: All depend on Foundational phase completion"))
	for _, sentence := range []string{
		"All tests for a user story marked [P] can run in parallel", "Within each story: models in parallel",
		"User stories must not proceed in parallel", "[P] tasks can run in parallel", "Models within a story can run in parallel",
	} {
		require.Equal(t, inOrder, ordered(graph.Sentence, sentence), sentence)
	}
	require.Equal(t, " T001 T002 T002 T003+T004 T003+T004+T005", ordered(graph.Sentence, "**US2** requires **Foundational**.", "**Polish** requires all stories (**US1, US2, US3**) to be complete."))
	require.Equal(t, " T001 T002 T003 T003 T004+T005", ordered(graph.Sentence, "US2 and US3 can proceed in parallel"))
	require.Equal(t, " T001 T002 T002 T003+T004 T005", ordered(graph.Sentence, "Phase 3 and Phase 4 can run in parallel"))
	require.Equal(t, " T001 T002 T002 T003+T004 T005", ordered(graph.Sentence, "**User Story 2 (P2)**: Can start after Foundational (Phase 2) - May integrate with US1"))
	require.Equal(t, " T001 T002 T003 T002 T004+T005", ordered(graph.Sentence, "Phase 5 depends on Phase 2"))
}

// Each of these would take minutes if the work were more than in proportion.
func TestSettleCostsInProportion(t *testing.T) {
	const many = 20_000
	for name, item := range map[string]func(i int, e *plan.Entry) string{
		"circle":            func(i int, _ *plan.Entry) string { return fmt.Sprint((i + 1) % many) },
		"pairs":             func(i int, _ *plan.Entry) string { return fmt.Sprint(i ^ 1) },
		"all for the first": func(i int, _ *plan.Entry) string { return "0" },
		"nested circle":     func(i int, e *plan.Entry) string { e.Parent = int32(i) - 1; return "0" },
		"nested forwards":   func(i int, e *plan.Entry) string { e.Parent = int32(i) - 1; return fmt.Sprint(i + 1) },
		"ring of parents":   func(i int, e *plan.Entry) string { e.Parent = int32((i + 1) % many); return "0" },
		"two circles":       func(i int, _ *plan.Entry) string { return fmt.Sprint((i+1)%many, ", ", (i+7)%many) },
	} {
		t.Run(name, func(t *testing.T) {
			rows, in := plan.NewRows("x", many), graph.Input{}
			for i := range many {
				e := plan.Entry{ID: fmt.Sprint(i), Line: 1, Parent: -1, Status: plan.Pending}
				in.Phrases = append(in.Phrases, graph.Phrase{Item: int32(i), Text: item(i, &e)})
				rows.Add(e)
			}
			start := time.Now()
			graph.Settle(rows, plan.NewRemarks("x", nil), in)
			require.Less(t, time.Since(start), 20*time.Second)
		})
	}
}

func FuzzSettle(f *testing.F) {
	f.Add("1, 2 and 3-4", "{\"waves\": [[\"1\"], [\"2\"]]}", "1 --> 2")
	f.Add("Phase 1 (a), 任务2、3", "1 before 2; 3 -> 1", "A[1] -->|x| B[2]")
	f.Add("(depends on 1-3)", "User stories proceed in parallel", "[{\"id\": 1, \"tasks\": [1], \"depends_on\": [1]}]")
	f.Fuzz(func(t *testing.T, phrase, sentence, sketch string) {
		text := "1\n2\n3\n4\nT001\n" + sentence + sketch
		a, b, c := int32(len(text)-len(sentence)-len(sketch)), int32(len(text)-len(sketch)), int32(len(text))
		rows := plan.NewRows(text, 0)
		in := graph.Input{Barriers: true, Phases: []string{"Phase 1: a", "Phase 2: User Story 1", "Phase 3: User Story 2"}}
		for i, id := range []string{"1", "2", "3", "4", "T001"} {
			rows.Add(plan.Entry{ID: id, Line: 1, Parent: int32(i)/2 - 1, Status: plan.Pending})
			in.Phase = append(in.Phase, int32(i)*2/3)
			for _, kind := range []graph.PhraseKind{graph.Field, graph.Loose, graph.Title} {
				in.Phrases = append(in.Phrases, graph.Phrase{Item: int32(i), Kind: kind, Text: phrase})
			}
		}
		in.Orders = []graph.Order{
			{Kind: graph.Sentence, From: a, To: b},
			{Kind: graph.Remark, From: a, To: b},
			{Kind: graph.Line, From: a, To: b},
			{Kind: graph.Sketch, From: b, To: c},
			{Kind: graph.Sketch, From: a, To: b},
		}
		notes := plan.NewRemarks(text, nil)
		graph.Settle(rows, notes, in)
		for _, d := range notes.Diagnostics() {
			require.Positive(t, d.Line)
		}
		for i := range rows.Entries {
			rows.DependsOn(int32(i))
		}
	})
}

// The waves of real files have names and no numbers, and depend on items and not on waves: their order was lost.
func TestWavesMayDependOnItems(t *testing.T) {
	const items, waves = "1\n2\n3\n4\n", `{"waves": [{"name": "Phase 1: Stuff", "tasks": [1, 2]}, {"name": "Work", "tasks": [3], "dependencies": [1, 2]}, {"tasks": [4], "dependencies": ["3"]}]}`
	rows := plan.NewRows(items+waves, 0)
	for _, id := range strings.Fields(items) {
		rows.Add(plan.Entry{ID: id, Line: 1, Parent: -1, Status: plan.Pending})
	}
	notes := plan.NewRemarks(items+waves, nil)
	graph.Settle(rows, notes, graph.Input{Orders: []graph.Order{{Kind: graph.Sketch, From: int32(len(items)), To: int32(len(items + waves))}}})
	require.Empty(t, notes.Diagnostics())
	require.Empty(t, rows.DependsOn(1))
	require.Equal(t, []string{"1", "2"}, rows.DependsOn(2))
	require.Equal(t, []string{"3"}, rows.DependsOn(3))
}
