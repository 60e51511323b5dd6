package memory

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestTreeIsAMapThatKeepsItsVersions is inside because the front shows neither that the tree is
// balanced nor that an old version is never touched.
func TestTreeIsAMapThatKeepsItsVersions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tree *node[int, int]
		model := make(map[int]int)
		type version struct {
			tree  *node[int, int]
			model map[int]int
		}
		var versions []version
		for i := range rapid.IntRange(0, 200).Draw(t, "steps") {
			key := rapid.IntRange(0, 60).Draw(t, "key")
			if rapid.IntRange(0, 2).Draw(t, "remove") == 0 {
				tree = tree.remove(key)
				delete(model, key)
			} else {
				tree = tree.put(key, i)
				model[key] = i
			}
			versions = append(versions, version{tree, maps.Clone(model)})
		}
		for _, v := range versions {
			require.Equal(t, v.model, maps.Collect(v.tree.all()))
			require.True(t, slices.IsSorted(slices.Collect(keysOf(v.tree))))
			require.Equal(t, len(v.model), v.tree.count())
			requireBalanced(t, v.tree)
		}
		from := rapid.IntRange(-1, 61).Draw(t, "from")
		for key := range tree.after(from) {
			require.Greater(t, key, from)
			delete(model, key)
		}
		for key := range model {
			require.LessOrEqual(t, key, from)
		}
	})
}

func keysOf(n *node[int, int]) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for key := range n.all() {
			if !yield(key) {
				return
			}
		}
	}
}

func requireBalanced(t *rapid.T, n *node[int, int]) {
	t.Helper()
	if n == nil {
		return
	}
	difference := n.left.tall() - n.right.tall()
	require.True(t, difference >= -1 && difference <= 1, "heights %d and %d", n.left.tall(), n.right.tall())
	require.Equal(t, 1+max(n.left.tall(), n.right.tall()), n.height)
	requireBalanced(t, n.left)
	requireBalanced(t, n.right)
}
