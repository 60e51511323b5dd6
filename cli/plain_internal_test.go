package cli

// This test is inside because the sanitiser has no front of its own: every command prints through it.

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestPlainDisarmsWhatATerminalWouldObey(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"clean", "Größe 1 … 日本語 👍", "Größe 1 … 日本語 👍"},
		{"colour", "\x1b[31mred\x1b[0m", "\ufffd[31mred\ufffd[0m"},
		{"title", "\x1b]0;owned\a", "\ufffd]0;owned\ufffd"},
		{"8-bit control", "\u009b2J", "\ufffd2J"},
		{"backspace", "ab\b\bcd", "ab\ufffd\ufffdcd"},
		{"line ends", "a\r\nb\tc", "a  b c"},
		{"bidi", "a\u202eb\u2066c", "a\ufffdb\ufffdc"},
		{"invisible", "a\u200bb\U000e0041c", "a\ufffdb\ufffdc"},
		{"separators", "a\u2028b\u2029c", "a\ufffdb\ufffdc"},
		{"broken", "a\xffb", "a\ufffdb"},
	} {
		require.Equal(t, c.want, plain(c.text), c.name)
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("\x1b[2J\u202e\xff")
	f.Fuzz(func(t *testing.T, text string) {
		got := plain(text)
		require.True(t, utf8.ValidString(got))
		require.False(t, strings.ContainsFunc(got, func(r rune) bool {
			return unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
		}), "%q", got)
		require.Equal(t, got, plain(got))
	})
}

func TestClipMarksWhatItCut(t *testing.T) {
	require.Equal(t, "äöü", clip("äöü", 3))
	require.Equal(t, "äö…", clip("äöüß", 3))
}
