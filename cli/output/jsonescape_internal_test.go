package output

// This test is inside because every command prints JSON through encode, and none exports it.

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"waybill/internal/safetext"
)

func TestJSONEscapesUnprintableCharacters(t *testing.T) {
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
		got, err := Encode(text)
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
		got, err := Encode(v)
		if !utf8.ValidString(text) || !utf8.ValidString(name) {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		require.Equal(t, safetext.Printable(string(got)), string(got), "a terminal obeys none of it")
		var back map[string]string
		require.NoError(t, json.Unmarshal(got, &back))
		require.Equal(t, v, back)
	})
}

func TestJSONInPiecesIsEscapedAsAWhole(t *testing.T) {
	doc := "\"é日\u009b👍\u202e\U000e0041\ufffd\xff\xe6\xf0\x9f\"\n"
	for size := 1; size <= len(doc); size++ {
		var out bytes.Buffer
		e := JSONEscaper{To: &out}
		for piece := range slices.Chunk([]byte(doc), size) {
			n, err := e.Write(piece)
			require.NoError(t, err)
			require.Len(t, piece, n)
		}
		require.Equal(t, string(escaped([]byte(doc))), out.String(), "in pieces of %d bytes", size)
	}
}
