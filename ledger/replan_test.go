package ledger_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/ledger"
	"waybill/plan"
	"waybill/test/golden"
)

func TestHintsReadAsTheGoldenFileSays(t *testing.T) {
	stall := ledger.Stalled{ConsecutiveNonProgress: 2, Threshold: 2, Flagged: true}
	loop := ledger.ReviewLoop{Count: 3, Threshold: 3, Flagged: true}
	turns := ledger.ReviewLoop{Count: 1, Threshold: 2, Alternating: true, Flagged: true}
	var b strings.Builder
	for _, c := range []struct {
		name   string
		counts ledger.Counts
	}{
		{"stall", ledger.Counts{Stalled: stall}},
		{"stall at once", ledger.Counts{Stalled: ledger.Stalled{ConsecutiveNonProgress: 1, Threshold: 1, Flagged: true}}},
		{"loop", ledger.Counts{ReviewLoop: loop}},
		{"loop at once", ledger.Counts{ReviewLoop: ledger.ReviewLoop{Count: 1, Threshold: 1, Flagged: true}}},
		{"taking turns", ledger.Counts{ReviewLoop: turns}},
		{"both", ledger.Counts{Stalled: stall, ReviewLoop: turns}},
		{"counted, not flagged", ledger.Counts{Stalled: ledger.Stalled{ConsecutiveNonProgress: 1, Threshold: 2}, ReviewLoop: ledger.ReviewLoop{Count: 1, Threshold: 2}, Rejections: 2}},
	} {
		task := ledger.NewTaskLedger("run_1", "1").Counted(c.counts)
		require.Equal(t, c.counts, task.Counts)
		b.WriteString(c.name + ": " + task.ReplanHint + "\n")
	}
	golden.Equal(t, "outcomes/hints.golden", b.String())
}

// The hint stayed in facts and prompts when the work had long gone on.
func TestDefectD4_TheHintGoesWithItsCause(t *testing.T) {
	task := ledger.NewTaskLedger("run_1", "1").Counted(ledger.Counts{
		Stalled: ledger.Stalled{ConsecutiveNonProgress: 2, Threshold: 2, Flagged: true},
	})
	require.NotEmpty(t, task.ReplanHint)
	facts := ledger.TaskFacts(task)
	task = task.Counted(ledger.Counts{Stalled: ledger.Stalled{Threshold: 2}})
	require.Empty(t, task.ReplanHint)
	read, err := ledger.ParseTaskFacts("run_1", "1", ledger.RenewTask(facts, task))
	require.NoError(t, err)
	require.Empty(t, read.ReplanHint)
}

func TestANewPlanVersionKeepsWhatReviewersDemand(t *testing.T) {
	before := full()
	task := before.Replanned(2, " smaller \n", []string{" first", "", "again", "again "})
	require.Equal(t, 2, task.PlanVersion)
	require.Equal(t, "smaller", task.PlanSummary)
	require.Equal(t, []string{"first", "again", "again"}, task.PlanItems)
	require.Equal(t, before.Reviews, task.Reviews)
	require.Equal(t, before.Blockers, task.Blockers)

	require.Nil(t, task.Replanned(3, "no steps", []string{" "}).PlanItems)
}

func TestFrontiersAreEqualExactlyIfTheSameIsToBeDone(t *testing.T) {
	base := func() (*plan.Item, []string) {
		return &plan.Item{
			ID: "1", DependsOn: []string{"2"}, Status: plan.Pending, Line: 3,
			Description: plan.Description{
				Title: "a b", Prompt: "c\n  d", Details: []string{"e", "f"}, Requirements: []string{"g"}, Files: []string{"h"},
			},
		}, []string{"i", "j"}
	}
	item, steps := base()
	want := ledger.Frontier(item, steps)
	seen := map[string]string{want: "as it was"}
	for name, change := range map[string]func(*plan.Item, *[]string){
		"id":                  func(it *plan.Item, _ *[]string) { it.ID = "2" },
		"title":               func(it *plan.Item, _ *[]string) { it.Title = "a c" },
		"case":                func(it *plan.Item, _ *[]string) { it.Title = "A b" },
		"prompt":              func(it *plan.Item, _ *[]string) { it.Prompt = "cd" },
		"title into prompt":   func(it *plan.Item, _ *[]string) { it.Title, it.Prompt = "a", "b c d" },
		"details":             func(it *plan.Item, _ *[]string) { it.Details = []string{"e f"} },
		"order of details":    func(it *plan.Item, _ *[]string) { it.Details = []string{"f", "e"} },
		"detail is required":  func(it *plan.Item, _ *[]string) { it.Details, it.Requirements = []string{"e"}, []string{"f", "g"} },
		"requirements":        func(it *plan.Item, _ *[]string) { it.Requirements = nil },
		"files":               func(it *plan.Item, _ *[]string) { it.Files = []string{"h", "h"} },
		"dependencies":        func(it *plan.Item, _ *[]string) { it.DependsOn = []string{"2", "3"} },
		"file is waited for":  func(it *plan.Item, _ *[]string) { it.Files, it.DependsOn = nil, []string{"h", "2"} },
		"steps":               func(_ *plan.Item, steps *[]string) { *steps = []string{"i"} },
		"order of steps":      func(_ *plan.Item, steps *[]string) { *steps = []string{"j", "i"} },
		"a step twice":        func(_ *plan.Item, steps *[]string) { *steps = []string{"i", "j", "j"} },
		"no steps":            func(_ *plan.Item, steps *[]string) { *steps = nil },
		"nothing of the item": func(it *plan.Item, _ *[]string) { *it = plan.Item{} },
	} {
		item, steps := base()
		change(item, &steps)
		got := ledger.Frontier(item, steps)
		require.Empty(t, seen[got], "%s is taken for %s", name, seen[got])
		seen[got] = name
	}
	gone := ledger.Frontier(nil, steps)
	require.Empty(t, seen[gone], "an item that is gone is taken for %s", seen[gone])

	for name, change := range map[string]func(*plan.Item, *[]string){
		"mark and place": func(it *plan.Item, _ *[]string) {
			it.Status, it.DerivedStatus, it.Line, it.Level, it.Mark = plan.Completed, plan.Blocked, 9, 2, plan.Span{Start: 1, End: 2}
		},
		"blocked reason": func(it *plan.Item, _ *[]string) { it.BlockedReason = "why" },
		"white space": func(it *plan.Item, steps *[]string) {
			it.Title, it.Prompt, it.Details, *steps = " a\tb", "c d\n", []string{"e ", "", "\u00a0f"}, []string{"i", "  ", "j"}
		},
	} {
		item, steps := base()
		change(item, &steps)
		require.Equal(t, want, ledger.Frontier(item, steps), name)
	}
}

// An item that took over the id of another one was taken for approved.
func TestAnItemThatTookOverAnIdIsAnother(t *testing.T) {
	item := func(change func(*plan.Item)) *plan.Item {
		it := plan.Item{ID: "1", Description: plan.Description{Title: "a b", Prompt: "c"}, Status: plan.Pending}
		change(&it)
		return &it
	}
	as := func(*plan.Item) {}
	frontier := ledger.Frontier(item(as), []string{"d"})
	for name, c := range map[string]struct {
		frontier string
		item     *plan.Item
		want     bool
	}{
		"as it was":            {frontier, item(as), true},
		"spaced otherwise":     {frontier, item(func(it *plan.Item) { it.Title = " a\t b" }), true},
		"ticked":               {frontier, item(func(it *plan.Item) { it.Status, it.Line = plan.Completed, 7 }), true},
		"asks for more":        {frontier, item(func(it *plan.Item) { it.Prompt, it.Details = "e", []string{"f"} }), true},
		"another title":        {frontier, item(func(it *plan.Item) { it.Title = "b a" }), false},
		"another case":         {frontier, item(func(it *plan.Item) { it.Title = "A b" }), false},
		"another id":           {frontier, item(func(it *plan.Item) { it.ID = "2" }), false},
		"the id in the title":  {frontier, item(func(it *plan.Item) { it.ID, it.Title = "", "1 a b" }), false},
		"gone":                 {frontier, nil, false},
		"was gone, and is":     {ledger.Frontier(nil, nil), nil, true},
		"was gone, and is not": {ledger.Frontier(nil, nil), item(as), false},
		"made for nothing":     {"", item(as), true},
		"still for nothing":    {"", nil, true},
	} {
		require.Equal(t, c.want, ledger.SameItem(c.frontier, c.item), name)
	}
}

func TestFrontiersTellListsApart(t *testing.T) {
	word := rapid.SampledFrom([]string{"a", "b", "a b", "1:a", "0:"})
	words := rapid.SliceOfN(word, 0, 3)
	draw := func(t *rapid.T, n string) (*plan.Item, []string) {
		it := &plan.Item{
			Description: plan.Description{
				Title: word.Draw(t, "title"+n), Details: words.Draw(t, "details"+n), Requirements: words.Draw(t, "requirements"+n),
				Files: words.Draw(t, "files"+n),
			},
			DependsOn: words.Draw(t, "depends"+n),
		}
		return it, words.Draw(t, "steps"+n)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, stepsA := draw(t, "1")
		b, stepsB := draw(t, "2")
		same := a.Title == b.Title && equal(a.Details, b.Details) && equal(a.Requirements, b.Requirements) &&
			equal(a.Files, b.Files) && equal(a.DependsOn, b.DependsOn) && equal(stepsA, stepsB)
		require.Equal(t, same, ledger.Frontier(a, stepsA) == ledger.Frontier(b, stepsB))
	})
}

func equal(a, b []string) bool {
	return strings.Join(a, "\x00") == strings.Join(b, "\x00") && len(a) == len(b)
}
