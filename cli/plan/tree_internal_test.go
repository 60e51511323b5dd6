package plan

// These tests are inside because at the front door the parser stands before them, which never gives such
// trees in these numbers.

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

// family returns items by "id<parent".
func family(words ...string) []plan.Item {
	items := make([]plan.Item, len(words))
	for i, word := range words {
		items[i].ID, items[i].ParentID, _ = strings.Cut(word, "<")
	}
	return items
}

func drawnTree(items []plan.Item, most int) string {
	var b strings.Builder
	walk(parents(items, firstByID(items)), func(i int, rails []bool) {
		before, below := branches(rails, most)
		fmt.Fprintf(&b, "%s%s|%s\n", before, items[i].ID, below)
	})
	return b.String()
}

func TestTreeFollowsParentsWhateverTheOrderOfTheFile(t *testing.T) {
	got := drawnTree(family("2.1<2", "1", "2", "1.1<1", "1.2<1", "1.1.1<1.1", "3", "2.2<2"), 9)
	require.Equal(t, strings.Join([]string{
		"1|",
		"├ 1.1|│ ",
		"│ └ 1.1.1|│   ",
		"└ 1.2|  ",
		"2|",
		"├ 2.1|│ ",
		"└ 2.2|  ",
		"3|",
		"",
	}, "\n"), got)
}

func TestDeepTreeLosesItsTopNotItsWidth(t *testing.T) {
	got := drawnTree(family("a", "b<a", "c<b", "d<c", "e<d", "f<a"), 2)
	require.Equal(t, "a|\n├ b|│ \n│ └ c|│   \n…   └ d|…     \n…   └ e|…     \n└ f|  \n", got)
}

// Whoever is named as parent in a circle, each item is drawn once.
func TestTreeOfCircles(t *testing.T) {
	for _, words := range [][]string{{"a<a"}, {"a<b", "b<a"}, {"a<b", "b<c", "c<a", "d<b"}, {"a", "a<a", "b<a"}, {"x<nobody"}} {
		items := family(words...)
		got := drawnTree(items, 9)
		require.Equal(t, len(items), strings.Count(got, "\n"), "%v:\n%s", words, got)
	}
}

func TestRandomTreesAreDrawnWholeAndParentsFirst(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		items := make([]plan.Item, random.IntN(40))
		for i := range items {
			items[i].ID = fmt.Sprint(random.IntN(30))
			if random.IntN(3) > 0 {
				items[i].ParentID = fmt.Sprint(random.IntN(35))
			}
		}
		up := parents(items, firstByID(items))
		var order []int
		walk(up, func(i int, rails []bool) {
			if up[i] >= 0 {
				require.Contains(t, order, up[i], "%v", items)
				require.NotEmpty(t, rails)
			} else {
				require.Empty(t, rails)
			}
			order = append(order, i)
		})
		require.Len(t, order, len(items))
		slices.Sort(order)
		require.Len(t, slices.Compact(order), len(items))
	}
}
