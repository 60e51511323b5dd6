package nearest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/internal/nearest"
)

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		name  string
		known []string
		want  []string
	}{
		{"contnet", []string{"session_id", "content"}, []string{"content"}},
		{"CONTENT", []string{"context", "content"}, []string{"content", "context"}},
		{"itemid", []string{"item_id", "items", "item"}, []string{"item_id", "items", "item"}},
		{"queue_instructions", []string{"list_instructions", "queue_instruction"}, []string{"queue_instruction"}},
		{"aaaa", []string{"aaab", "aaac", "aaad", "aaae"}, []string{"aaab", "aaac", "aaad"}},
		{"x", []string{"k", "v"}, []string{}},
		{"kk", []string{"k"}, []string{}},
		{"anything", nil, []string{}},
		{strings.Repeat("a", 1<<20), []string{"a"}, []string{}},
	} {
		require.Equal(t, c.want, nearest.Names(c.name, c.known), c.name)
	}
}

func TestNearestProperties(t *testing.T) {
	word := rapid.StringMatching(`[a-cA-C_]{0,8}`)
	rapid.Check(t, func(t *rapid.T) {
		known := rapid.SliceOfDistinct(word, strings.ToLower).Draw(t, "known")
		name := word.Draw(t, "name")
		near := nearest.Names(name, known)
		if len(near) > 3 {
			t.Fatalf("%q: %d names are too many to choose from", name, len(near))
		}
		for _, n := range near {
			if !slices.Contains(known, n) {
				t.Fatalf("%q: %q is not known", name, n)
			}
		}
		if name != "" && slices.Contains(known, name) && near[0] != name {
			t.Fatalf("%q is known, but %q comes first", name, near[0])
		}
	})
}
