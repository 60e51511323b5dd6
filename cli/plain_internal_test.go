package cli

// This test is inside because the sanitiser has no front of its own: every command prints through it.

import (
	"encoding/json"
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

// What a method gives and --json prints went to the terminal as it was: an 8-bit escape sequence, bidi
// marks, tags. It is escaped, and still the same JSON.
func TestJSONHidesNothingFromAPerson(t *testing.T) {
	for text, want := range map[string]string{
		"Größe 1 … 日本語 👍 a\u0308":  `"Größe 1 … 日本語 👍 a` + "\u0308" + `"`,
		"\x1b[31m\r\n\t\x00":       `"\u001b[31m\r\n\t\u0000"`,
		"\x7f\u009b31m":            `"\u007f\u009b31m"`,
		"\u202e\u2066\u200b\ufeff": `"\u202e\u2066\u200b\ufeff"`,
		"\u2028\u2029\u00a0":       `"\u2028\u2029\u00a0"`,
		"\ue000\U000f0000":         `"\ue000\udb80\udc00"`,
		"x\U000e0041\U000e007fy":   `"x\udb40\udc41\udb40\udc7fy"`,
		"\ufffd":                   "\"\ufffd\"",
	} {
		got, err := encode(text)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
		var back string
		require.NoError(t, json.Unmarshal(got, &back))
		require.Equal(t, text, back)
	}
	require.Equal(t, "{\n\t\"a\\u009b\": 1\r\n}", string(escaped([]byte("{\n\t\"a\u009b\": 1\r\n}"))), "names, and the space between")
}

func FuzzEncode(f *testing.F) {
	f.Add("\x1b[2J\u202e\U000e0041", "k\u2028")
	f.Fuzz(func(t *testing.T, text, name string) {
		v := map[string]string{name: text}
		got, err := encode(v)
		if !utf8.ValidString(text) || !utf8.ValidString(name) {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		require.Equal(t, plain(string(got)), string(got), "a terminal obeys none of it")
		var back map[string]string
		require.NoError(t, json.Unmarshal(got, &back))
		require.Equal(t, v, back)
	})
}

func TestClipMarksWhatItCut(t *testing.T) {
	require.Equal(t, "äöü", clip("äöü", 3))
	require.Equal(t, "äö…", clip("äöüß", 3))
}
