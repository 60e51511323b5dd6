package plan_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

// A legend whose lines are boxes themselves made an item of each: "- [S] = skipped" was a task named "= skipped".
func TestLineOfALegendIsNoItem(t *testing.T) {
	for _, text := range []string{
		"- [S] = skipped\n- [S] Wax\n",
		"- [S]=skipped\n- [S] Wax\n",
		"## 1. Wax\n- [S] = skipped\n- [S] 1.1 Wax\n",
		"- [S] = skipped\n- [S] T001 Wax\n",
		"- [S] = skipped\n- [S] 1. Wax\n",
	} {
		r := parse(t, text)
		items := r.Items()
		require.Len(t, items, 1, "%q", text)
		require.Equal(t, "Wax", items[0].Title)
		require.Equal(t, plan.Skipped, items[0].Status)
		require.Len(t, diagnostics(r, "legend_line"), 1)
	}
	require.Equal(t, "= sign", parse(t, "- [ ] = sign\n").Items()[0].Title)
}

// "done" in code, in a comment and in prose was taken for a legend: items were completed that nobody had done, and
// the mark was then written for others.
func TestDoneIsNotGuessedFromWhatIsNoLegend(t *testing.T) {
	for _, text := range []string{
		"```go\nseen[~] = doneAlready\n```\n",
		"```\n[~] = done\n```\n",
		"~~~\n- [~] = done\n~~~\n",
		"    [~] = done\n",
		"<!-- [~] = done -->\n",
		"<!--\n[~] = done\n-->\n",
		"seen[~] = done\n",
		"We write [~] = done for that.\n",
		"[~] = completely deferred, not done\n",
		"[~] = not done\n",
		"[~] = done? no, not yet\n",
		"[~] = done when Ann says so\n",
		"[~] = doneAlready\n",
		"[~] – done\n",
		"| [~] | done |\n",
		"## Legend of Zelda\n\n## Play\n[~] – done\n",
	} {
		for _, place := range []string{text + "\n## 1. G\n- [~] 1.1 A\n- [ ] 1.2 B\n", "## 1. G\n- [~] 1.1 A\n- [ ] 1.2 B\n\n" + text} {
			r := parse(t, place)
			require.Equal(t, plan.Pending, r.Items()[0].Status, "%q", place)
			require.Len(t, diagnostics(r, "ambiguous_mark"), 1)
			marked, err := markOf(t, place, "1.2", 0, plan.Completed)
			require.NoError(t, err)
			require.Contains(t, marked.Text, "- [x] 1.2 B")
		}
	}
}

// A legend may be written in many ways; most of them were passed by. It stands in the evidence with its line.
func TestLegendsInEachForm(t *testing.T) {
	for _, line := range []string{
		"[~] = deferred", "- [~] = skipped", "* `[~]`=deferred", "> [~]: deferred (for good)", "- **[~]** = **deferred**",
		"- `[~]` deferred", "`[~]`: deferred", "- `[~]` – deferred", "1. [~] => deferred, some day",
		"Legend: [~] deferred", "**Legend:** [ ] open, [~] - deferred", "Status: `[~]` deferred",
		"[>] = started, [~] = deferred", "[>] = started; [~] = deferred", "[>] = started | [~] = deferred",
		"| [~] = deferred | a remark |",
		"## Legend\n[~] deferred", "## Format\n- [~] – deferred", "## Status marks\n- [~] -> deferred", "### Key\n[~] - deferred",
		"# Marks\n## of mine\n- [~] deferred", "## How to read this list\n| mark | means |\n|---|---|\n| `[~]` | deferred |", "## Legend\n| [~] | deferred | rarely |",
	} {
		r := parse(t, line+"\n\n# Plan\n- [~] 1. a\n")
		require.Equal(t, plan.Skipped, r.Items()[0].Status, "%q", line)
		require.Empty(t, diagnostics(r, "ambiguous_mark"), "%q", line)
		said := plan.Evidence{Line: strings.Count(line, "\n") + 1, Dialect: r.Dialect, Signal: "legend: [~] means skipped"}
		require.Contains(t, r.Evidence, said, "%q", line)
	}
}

// "- [S]: skipped" had no id, and "- [S] – skipped" below the heading of a legend neither.
func TestLineOfALegendLacksNoID(t *testing.T) {
	for _, text := range []string{"- [S]: skipped\n", "- [S] = skipped, [D] = dropped\n", "## Key\n- [S] – skipped\n", "## Legend\n- [S] skipped\n"} {
		r := parse(t, text+"# Plan\n- [S] 1. Wax\n")
		require.Empty(t, diagnostics(r, "checkbox_without_id"), "%q", text)
		require.Len(t, diagnostics(r, "legend_line"), 1)
		require.Equal(t, plan.Skipped, r.Items()[0].Status)
	}
	for _, text := range []string{"- [S] – skipped\n", "- [S] skipped\n"} {
		r := parse(t, text) // outside of a legend that is a title
		require.Equal(t, plan.Pending, r.Items()[0].Status, "%q", text)
	}
	// So is what only begins like a word for a status, even there.
	require.Len(t, parse(t, "## Status\n- [x] Done: a\n- [ ] open the door\n").Items(), 2)
}

// A legend that gave x another meaning was passed over in silence.
func TestLegendOfAMarkThatEverybodyKnowsIsReported(t *testing.T) {
	for text, want := range map[string]int{
		"[x] = cancelled":               1,
		"[X]: cancelled, [ ] = skipped": 2,
		"[x] = done, [ ] = open":        0,
		"[x] = skipped, [x] = skipped":  1, // or a line of megabytes would be one of as many columns
	} {
		r := parse(t, text+"\n- [x] 1. a\n- [ ] 2. b\n")
		require.Len(t, diagnostics(r, "legend_ignored"), want, "%q", text)
		require.Equal(t, plan.Completed, r.Items()[0].Status)
		require.Equal(t, plan.Pending, r.Items()[1].Status)
	}
}

// In the dialects where "-" is usual, no legend could say anything else.
func TestLegendCountsMoreThanADash(t *testing.T) {
	for _, p := range []string{"- [-] 1. a\n  - _Prompt: b_\n", "- [-] 1. a\n  - _Blocked: b_\n", "# Implementation Plan\n- [-] 1. a\n", "- [-] 1. a (P)\n", "- [-] T001 a\n", "- [-] a\n"} {
		r := parse(t, "[-] = blocked\n\n"+p)
		require.Equal(t, plan.Blocked, r.Items()[0].Status, "%q", p)
		require.Zero(t, r.Totals.InProgress)
	}
}
