package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/plan"
	"waybill/plan/edit"
	"waybill/plan/read"
)

var changeWords = map[plan.ChangeKind]string{plan.Added: "added", plan.Removed: "removed", plan.Changed: "changed"}

// apply does what the comment at Change says.
func apply(changes []plan.Change, items []plan.Item) []plan.Item {
	type key struct {
		id         string
		occurrence int
	}
	gone := map[key]bool{}
	for _, c := range changes {
		if c.Kind != plan.Added {
			gone[key{c.ItemID, c.Occurrence}] = true
		}
	}
	var result []plan.Item
	seen := map[string]int{}
	for _, it := range items {
		if k := (key{it.ID, seen[it.ID]}); !gone[k] {
			result = append(result, it)
		}
		seen[it.ID]++
	}
	for _, c := range changes {
		if c.Kind != plan.Removed {
			result = slices.Insert(result, c.Index, c.Item)
		}
	}
	return result
}

// unplaced takes off where the items stand.
func unplaced(items []plan.Item) []plan.Item {
	var result []plan.Item
	for _, it := range items {
		it.Line, it.Mark, it.Worded = 0, plan.Span{}, false
		result = append(result, it)
	}
	return result
}

// checkDiff wants the changes between two readings to make the items of the one into those of the other; a nil
// reading is one without items.
func checkDiff(t require.TestingT, before, after *plan.Reading) {
	var old, want []plan.Item
	if before != nil {
		old = before.Items()
	}
	if after != nil {
		want = after.Items()
	}
	changes := plan.Diff(before, after)
	require.Equal(t, unplaced(want), unplaced(apply(changes, old)))
	require.Empty(t, plan.Diff(after, after))
	for _, c := range changes {
		require.NotEmpty(t, changeWords[c.Kind])
		require.Equal(t, c.ItemID, c.Item.ID)
	}
}

func TestApplyingADiffGivesTheNewItems(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		read := func() *plan.Reading {
			r, err := read.Read(drawText(t), plan.Hints{})
			if err != nil {
				return nil
			}
			return r
		}
		checkDiff(t, read(), read())
	})
}

// The law held of lines that make a plan of no tool. It holds of two plans of each dialect, whatever they have in
// common, of a plan and nothing, and of a plan with one line gone or one more mark, which adds and removes nothing.
func TestApplyingADiffGivesTheNewItemsOfEachDialect(t *testing.T) {
	fixtures := byDialect(t)
	forEachDialect(t, func(t *testing.T, dialect string) {
		rapid.Check(t, func(t *rapid.T) {
			text := drawPlanOf(t, dialect, fixtures[dialect])
			before := parse(t, text)
			other := parse(t, drawPlanOf(t, dialect, fixtures[dialect]))
			lines := strings.SplitAfter(text, "\n")
			at := rapid.IntRange(0, len(lines)-1).Draw(t, "line")
			cut, err := read.Read(strings.Join(slices.Delete(lines, at, at+1), ""), plan.Hints{})
			if err != nil {
				cut = nil // it was the line without which this is no plan
			}
			for _, after := range []*plan.Reading{other, cut, nil} {
				checkDiff(t, before, after)
				checkDiff(t, after, before)
			}
			it := rapid.SampledFrom(before.Items()).Draw(t, "item")
			marked, err := edit.Set(before, plan.Marking{Plan: "tasks.md", ItemID: it.ID, Line: it.Line, Status: rapid.SampledFrom(settable).Draw(t, "status")})
			if err != nil {
				return
			}
			after := parse(t, marked.Text)
			checkDiff(t, before, after)
			for _, c := range plan.Diff(before, after) {
				require.Equal(t, plan.Changed, c.Kind)
			}
		})
	})
}

func TestDiffNamesNoMoreThanWhatChanged(t *testing.T) {
	before := parse(t, "- [ ] 1. a\n- [ ] 2. b\n- [ ] 3. c\n- [ ] 4. d\n- [ ] 4. d again\n")
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"lines above", "# Title\n\n- [ ] 1. a\n- [ ] 2. b\n- [ ] 3. c\n- [ ] 4. d\n- [ ] 4. d again\n", nil},
		{"a mark", "- [ ] 1. a\n- [x] 2. b\n- [ ] 3. c\n- [ ] 4. d\n- [ ] 4. d again\n", []string{"changed 2 at 1"}},
		{"a new item", "- [ ] 1. a\n- [ ] 2. b\n- [ ] 2a. new\n- [ ] 3. c\n- [ ] 4. d\n- [ ] 4. d again\n", []string{"added 2a at 2"}},
		{"a removed item", "- [ ] 1. a\n- [ ] 3. c\n- [ ] 4. d\n- [ ] 4. d again\n", []string{"removed 2 at 1"}},
		{"the first moved to the end", "- [ ] 2. b\n- [ ] 3. c\n- [ ] 4. d\n- [ ] 4. d again\n- [ ] 1. a\n", []string{"changed 1 at 4"}},
		{"one of two equal ids", "- [ ] 1. a\n- [ ] 2. b\n- [ ] 3. c\n- [ ] 4. d\n", []string{"removed 4 at 4"}},
		{"detail", "- [ ] 1. a\n  - x\n- [ ] 2. b\n- [ ] 3. c\n- [ ] 4. d\n- [ ] 4. d again\n", []string{"changed 1 at 0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, change := range plan.Diff(before, parse(t, c.text)) {
				got = append(got, changeWords[change.Kind]+" "+change.ItemID+" at "+string(rune('0'+change.Index)))
			}
			require.Equal(t, c.want, got)
		})
	}
}

// The header says what the cells of a row are, so a change there changes the items.
func TestAnotherHeaderIsAnotherItem(t *testing.T) {
	const rows = "|--|--|--|--|\n| 1 | todo | a | b |\n| 2 | todo | c | d |\n"
	after := parse(t, "| ID | Status | Owner | Title |\n"+rows)
	changes := plan.Diff(parse(t, "| ID | Status | Title | Owner |\n"+rows), after)
	require.Len(t, changes, 2)
	require.Equal(t, "b", changes[0].Item.Title)
	require.Equal(t, "d", changes[1].Item.Title)
}

// An item whose lines are the same is another one where a comment that begins in them ends elsewhere.
func TestSameLinesWithAnotherEndOfACommentAreAnotherItem(t *testing.T) {
	const text = "### Task 1: a\ntext\n<!--\n### Task 9: b\n-->\n### Task 2: c\n"
	before, after := parse(t, text), parse(t, strings.Replace(text, "-->\n", "", 1))
	require.NotEqual(t, item(t, before, "1").Details, item(t, after, "1").Details)
	checkDiff(t, before, after)
}
