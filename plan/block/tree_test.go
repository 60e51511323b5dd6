package block_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
	"waybill/plan/block"
)

var watch = block.NewWatch([]string{"Requirements:", "Prompt:"}, 1, func(byte) block.Traits { return 0 })

// checkTree checks that the blocks of a text partition its bytes, and that each field is at its underscore.
func checkTree(t testing.TB, text string) {
	notes := plan.NewRemarks(text, nil)
	tree, ok := block.Parse(text, notes, watch)
	if !ok {
		return
	}
	at, checks := int32(0), 0
	for i := range tree.Nodes {
		n := &tree.Nodes[i]
		if i == 0 && n.Start == int32(len("\ufeff")) {
			at = n.Start
		}
		require.Equal(t, at, n.Start, "block %d of %q", i, text)
		at = int32(len(text))
		if i+1 < len(tree.Nodes) {
			at = tree.Nodes[i+1].Start
		}
		require.Less(t, n.Start, at)
		require.LessOrEqual(t, n.Start, n.End)
		switch n.Kind {
		case block.Check:
			checks++
			b, ln := tree.BoxOf(n), tree.LineOf(n)
			require.Equal(t, byte('['), ln.Text[b.Open])
			require.Equal(t, byte(']'), ln.Text[b.Close])
		case block.Run, block.Table:
			require.Equal(t, at, n.End)
		case block.Heading, block.Signed, block.Fence, block.Comment:
		}
	}
	require.Equal(t, tree.Checks, checks)
	for i := range tree.Fields {
		f := &tree.Fields[i]
		require.True(t, strings.EqualFold("_"+watch.Fields[f.Name], text[f.At:f.At+1+int32(len(watch.Fields[f.Name]))]))
		require.True(t, i == 0 || f.At > tree.Fields[i-1].At)
	}
	_ = notes.Diagnostics()
}

func FuzzTree(f *testing.F) {
	for _, pattern := range []string{"../testdata/plans/*.md", "../testdata/records/*", "../testdata/cases/*"} {
		names, err := filepath.Glob(pattern)
		require.NoError(f, err)
		for _, name := range names {
			text, err := os.ReadFile(name)
			require.NoError(f, err)
			f.Add(string(text))
		}
	}
	for _, text := range []string{"", "\ufeff", "\r\n\r", "```\n- [ ] a\n```", "<!--\n- [x] b\n--> c\n", "a|b\n-|-\n1|2\n\n", "# a\n## [ ] b\n - ✅ c", "````\n```\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkTree(t, text) })
}
