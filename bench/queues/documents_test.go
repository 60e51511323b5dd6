package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDocumentsSayWhatWasMeasured: the figures are those of the run, and nobody has edited them.
func TestDocumentsSayWhatWasMeasured(t *testing.T) {
	for _, d := range documents {
		t.Run(d.name, func(t *testing.T) {
			measured, err := os.ReadFile(d.data())
			require.NoError(t, err)
			text := pageText(t)
			want, err := d.with(text, measured)
			require.NoError(t, err)
			require.Equal(t, want, text, "write it with: go run . -render -only %s", d.name)
			requireTables(t, text)
		})
	}
}

func pageText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// requireTables sees to it that every row of a table has as many cells as its head.
func requireTables(t *testing.T, text string) {
	t.Helper()
	cells, rows := 0, 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "|") {
			cells = 0
			continue
		}
		n := strings.Count(line, "|")
		if cells == 0 {
			cells = n
		}
		require.Equal(t, cells, n, line)
		rows++
	}
	require.Greater(t, rows, 10)
}

func TestEveryContenderIsInTheDocument(t *testing.T) {
	text := pageText(t)
	for _, c := range contenders() {
		require.Contains(t, text, c.name)
	}
}

func TestAFigureThatWasEditedIsNoticed(t *testing.T) {
	d := documents[0]
	measured, err := os.ReadFile(d.data())
	require.NoError(t, err)
	text := pageText(t)
	edited := strings.Replace(text, "| River, FetchCooldown 1 ms | ", "| River, FetchCooldown 1 ms | 9", 1)
	require.NotEqual(t, text, edited)
	want, err := d.with(edited, measured)
	require.NoError(t, err)
	require.NotEqual(t, want, edited)
}

func TestADocumentWithoutItsMarksIsRefused(t *testing.T) {
	d := documents[0]
	for _, text := range []string{"", d.beginMark(), endMark, endMark + d.beginMark()} {
		_, err := d.with(text, []byte("{}"))
		require.ErrorIs(t, err, errNoMarks, text)
	}
}

func TestWhatIsNotHereIsLeftOutWithItsReason(t *testing.T) {
	r := report{Standings: []standing{{Name: "Something", Missing: "no such program"}}}
	require.Contains(t, r.markdown(), "Left out: Something (no such program).")
	require.NotContains(t, r.markdown(), "| Something")
	s := scaling{Stores: []storeScale{{Name: "Something", Missing: "no such program"}}}
	require.Contains(t, s.markdown(), "Left out: no such program.")
}
