package plan

// These tests are inside because the front door has no way to ask for a place in a line.

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"waybill/cli/output"
	"waybill/internal/safetext"
)

func TestExcerptPointsAtTheCharacter(t *testing.T) {
	long := strings.Repeat("abcdefghij", 20)
	for _, c := range []struct {
		name, line string
		column     int
		width      int
		want       string // the caret is the line below
	}{
		{"first character", "- [ ] x", 1, 20, "- [ ] x\n^"},
		{"in the box", "- [ ] x", 4, 20, "- [ ] x\n   ^"},
		{"behind the end", "- [ ] x", 8, 20, "- [ ] x\n       ^"},
		{"far behind the end", "- [ ] x", 99, 20, "- [ ] x\n       ^"},
		{"a column that is none", "x", 0, 20, "x\n^"},
		{"an empty line", "", 1, 20, "\n^"},
		{"a tab is one column", "\t- [ ]", 2, 20, " - [ ]\n ^"},
		{"wide characters are two", "漢字 [ ]", 4, 20, "漢字 [ ]\n     ^"},
		{"marks on characters are none", "e\u0301 [ ]", 4, 20, "e\u0301 [ ]\n  ^"},
		{"escapes stay one character", "\x1b[31m[ ]", 6, 20, "\ufffd[31m[ ]\n     ^"},
		{"at the beginning of a long line", long, 3, 10, "abcdefghi…\n  ^"},
		{"in the middle of one", long, 105, 10, "…jabcdefg…\n      ^"},
		{"at its end", long, 200, 10, "…efghij\n      ^"},
		{"behind its end", long, 201, 10, "…fghij\n      ^"},
	} {
		text, caret := excerpt(c.line, c.column, c.width)
		require.Equal(t, c.want, text+"\n"+strings.Repeat(" ", caret)+"^", c.name)
	}
}

func FuzzExcerpt(f *testing.F) {
	f.Add("- [ ] 1. x", 4, 20)
	f.Add(strings.Repeat("漢", 50), 40, 9)
	f.Add("e\u0301\u0301\u0301"+strings.Repeat("\t", 30), 3, 8)
	f.Fuzz(func(t *testing.T, line string, column, width int) {
		if !utf8.ValidString(line) || width < 8 || width > 1000 || strings.ContainsAny(line, "\r\n") {
			t.Skip()
		}
		text, caret := excerpt(line, column, width)
		require.LessOrEqual(t, output.Columns(text), width)
		require.Less(t, caret, width)
		require.Equal(t, safetext.Printable(text), text)
		runes := []rune(safetext.Printable(line))
		if column < 1 || column > len(runes) || output.RuneColumns(runes[column-1]) == 0 {
			return
		}
		at := 0
		for _, r := range text {
			if at == caret && output.RuneColumns(r) > 0 {
				require.Contains(t, string([]rune{runes[column-1], '…'}), string(r), "the caret is below another character")
				return
			}
			at += output.RuneColumns(r)
		}
		require.Fail(t, "the caret is below nothing", "%q %d", text, caret)
	})
}

func TestLinesEndAsTheParserEndsThem(t *testing.T) {
	text := "\ufeffone\ntwo\r\nthree\rfour\n\nsix"
	wanted := map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true}
	require.Equal(t, map[int]string{1: "one", 2: "two", 3: "three", 4: "four", 5: "", 6: "six"}, sourceLines(text, wanted))
	require.Equal(t, map[int]string{3: "three"}, sourceLines(text, map[int]bool{3: true}))
	require.Empty(t, sourceLines(text, nil))
}
