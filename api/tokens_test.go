package api

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPiecesHaveTheTokensOfTheWhole(t *testing.T) {
	count := counter(O200k)
	require.Equal(t, 2, count("hello world"))
	require.Zero(t, count(""))
	require.Nil(t, counter(Estimate))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"\n", "\n", "\r\n", " ", "\t", "/", "//", "-", "word", "Word", "é", "表", "12", "'s", "😀", "\u2028", "\xff", "[Now]", "…",
		})).Draw(t, "text"), "")
		whole, err := o200k().Count(text)
		require.NoError(t, err)
		require.Equal(t, whole, count(text), "%q", text)
	})
}

// The pieces of a text with many blank lines have a bounded size.
func TestBlankLinesAreCountedInPieces(t *testing.T) {
	text := strings.Repeat(" \n", 1<<15)
	pieces := 0
	for rest := text; rest != ""; pieces++ {
		end := pieceEnd(rest)
		require.LessOrEqual(t, end, maxBlankBytes+4)
		rest = rest[end:]
	}
	require.Equal(t, len(text)/maxBlankBytes, pieces)
	require.Positive(t, counter(O200k)(text))
}
