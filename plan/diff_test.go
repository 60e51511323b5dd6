package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/plan"
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
			r, err := plan.Read(drawText(t), plan.Hints{})
			if err != nil {
				return nil
			}
			return r
		}
		checkDiff(t, read(), read())
	})
}

// The law held of lines that make a plan of no tool. It holds of two plans of each dialect, whatever they have in
// common, of a plan and nothing, and of folders.
func TestApplyingADiffGivesTheNewItemsOfEachDialect(t *testing.T) {
	for _, dialect := range plan.Dialects() {
		write, known := writers[dialect]
		require.True(t, known, "no random plans of the dialect %s", dialect)
		t.Run(dialect, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				read := func() *plan.Reading {
					text, _ := write(t)
					r, err := plan.Read(text, plan.Hints{})
					require.NoError(t, err, "%s", text)
					return r
				}
				before, after := read(), read()
				checkDiff(t, before, after)
				checkDiff(t, nil, after)
				checkDiff(t, before, nil)
			})
		})
	}
	t.Run("folders", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			read := func() *plan.Reading {
				files, _ := writeFolder(t)
				r, err := plan.Read(plan.JoinFiles(files), plan.Hints{})
				require.NoError(t, err)
				return r
			}
			checkDiff(t, read(), read())
		})
	})
}

// A plan and the same plan with one more mark, and with one line gone, as an editor saves it. A mark is never more
// than a change: nothing is added or removed.
func TestApplyingADiffOfOneEditGivesTheNewItemsOfEachDialect(t *testing.T) {
	eachWritten(t, func(t *rapid.T, text string) {
		before, err := plan.Read(text, plan.Hints{})
		require.NoError(t, err)
		items := before.Items()
		it := rapid.SampledFrom(items).Draw(t, "item")
		marking := plan.Marking{Plan: "tasks.md", ItemID: it.ID, Line: it.Line, Status: rapid.SampledFrom(settable).Draw(t, "status")}
		if marked, err := before.Marked(marking); err == nil {
			after, err := plan.Read(marked.Text, plan.Hints{})
			require.NoError(t, err)
			checkDiff(t, before, after)
			for _, c := range plan.Diff(before, after) {
				require.Equal(t, plan.Changed, c.Kind)
			}
		}
		lines := strings.SplitAfter(text, "\n")
		at := rapid.IntRange(0, len(lines)-1).Draw(t, "line")
		after, err := plan.Read(strings.Join(slices.Delete(lines, at, at+1), ""), plan.Hints{})
		if err != nil {
			after = nil // it was the line without which this is no plan
		}
		checkDiff(t, before, after)
		checkDiff(t, after, before)
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
