package output

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/internal/safetext"
)

func TestColumnsAreThoseOfTheTerminal(t *testing.T) {
	for text, want := range map[string]int{"abc": 3, "Käfer": 5, "Ka\u0308fer": 5, "日本語": 6, "a👍b": 4, "ｆｕｌｌ": 8, "…█░": 3} {
		require.Equal(t, want, Columns(text), text)
		require.Equal(t, text, Fit(text, want), text)
		require.LessOrEqual(t, Columns(Fit(text, want-1)), want-1, text)
	}
	require.Equal(t, "日…", Fit("日本語", 4))
}

func FuzzQuote(f *testing.F) {
	f.Add("\x1b[2J\x1b]0;owned\a\u202egnp\u2066\u200b\x9b31m\r\nattempts\n  1  completed\x00", 80)
	f.Add("日本語 and a\u0308 long line that goes on and on until it must be broken somewhere between two words", 40)
	f.Add("\n\n \n", 41)
	f.Fuzz(func(t *testing.T, text string, width int) {
		width = LeastWidth + (width&0xff+0x100)%0x100
		n := 0
		for line := range strings.Lines(Quote(text, width)) {
			line = strings.TrimSuffix(line, "\n")
			require.True(t, strings.HasPrefix(line, strings.TrimRight(Gutter, " ")), "%q", line)
			require.LessOrEqual(t, Columns(line), width, "%q", line)
			require.Equal(t, safetext.Printable(line), line)
			n++
		}
		require.LessOrEqual(t, n, quotedLines+1)
	})
}

// A prompt of a megabyte took 16 seconds to show: every line that it breaks into was made, and for each
// the whole rest was counted.
func TestQuoteMakesNoMoreThanItShows(t *testing.T) {
	for name, text := range map[string]string{
		"words": megabyte, "a word": strings.Repeat("x", 1<<20), "lines": strings.Repeat("x\n", 1<<19), "wide": strings.Repeat("日", 1<<18),
	} {
		made := 0
		counted := func(yield func(int, string) bool) {
			for line, piece := range Pieces(text, 76) {
				made++
				if !yield(line, piece) {
					return
				}
			}
		}
		require.Equal(t, Quote(text, 80), beginning(counted, 1+strings.Count(strings.TrimRight(text, "\n"), "\n")), name)
		require.Equal(t, quotedLines+1, made, name)
		require.LessOrEqual(t, testing.AllocsPerRun(1, func() { Quote(text, 80) }), 10.0*quotedLines, name)
	}
}

// Where a line is cut is told by its beginning alone; what stands behind may be of any length.
func TestCutIsToldByTheBeginning(t *testing.T) {
	for text := megabyte; text != ""; text = text[Cut(text, 76):] {
		require.Equal(t, min(76, len(text)), Cut(text, 76))
		require.Equal(t, Cut(text, 76), Cut(text[:min(77, len(text))], 76))
	}
}

func BenchmarkQuoteAMegabyte(b *testing.B) {
	b.SetBytes(int64(len(megabyte)))
	for b.Loop() {
		Quote(megabyte, 80)
	}
}

func BenchmarkWrapAMegabyte(b *testing.B) {
	b.SetBytes(int64(len(megabyte)))
	for b.Loop() {
		for range Wrap(megabyte, 76) {
		}
	}
}

func TestWrapKeepsEveryWord(t *testing.T) {
	line := "It fails once in ten runs, and nobody knows why: a-word-that-is-longer-than-a-line."
	wrapped := slices.Collect(Wrap(line, 20))
	for _, part := range wrapped {
		require.LessOrEqual(t, Columns(part), 20)
	}
	require.Equal(t, strings.ReplaceAll(line, " ", ""), strings.ReplaceAll(strings.Join(wrapped, ""), " ", ""))
}

func TestSpansAndAges(t *testing.T) {
	for d, want := range map[time.Duration][2]string{
		-time.Second: {"0s", "0s"}, 0: {"0s", "0s"}, time.Microsecond: {"<1ms", "0s"}, 250 * time.Millisecond: {"250ms", "0s"},
		41 * time.Second: {"41s", "41s"}, 200 * time.Second: {"3m 20s", "3m"}, 3*time.Hour + 5*time.Minute: {"3h 5m", "3h"},
		99 * time.Hour: {"4d 3h", "99h"}, 200 * 24 * time.Hour: {"200d 0h", "200d"}, 2000 * 24 * time.Hour: {"2000d 0h", "5y"},
	} {
		require.Equal(t, want, [2]string{Span(d), Age(d)})
		require.LessOrEqual(t, len(Age(d)), 4)
	}
}

// megabyte is as long as a prompt may be, in one line.
var megabyte = strings.Repeat("Find all packets. ", 1<<20/18)
