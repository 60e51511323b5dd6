package o200k

import (
	"bytes"
	"compress/flate"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"github.com/tiktoken-go/tokenizer/codec"
	"pgregory.net/rapid"

	"waybill/test/golden"
	"waybill/test/slow"
)

// The vocabulary is that of the library that the other tests compare with. Write it with -update.
func TestVocabularyIsCurrent(t *testing.T) {
	library := codec.NewO200kBase()
	var want []byte
	for rank := uint(0); ; rank++ {
		token, err := library.Decode([]uint{rank})
		if err != nil {
			require.Greater(t, rank, uint(190000))
			break
		}
		require.Less(t, len(token), 256)
		want = append(append(want, byte(len(token))), token...)
	}
	if golden.Update() {
		var packed bytes.Buffer
		w, err := flate.NewWriter(&packed, flate.BestCompression)
		require.NoError(t, err)
		_, err = w.Write(want)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.NoError(t, os.WriteFile("vocabulary.bin", packed.Bytes(), 0o644))
		vocabulary = packed.Bytes()
	}
	got := readTable()
	var text []byte
	from := uint32(0)
	for _, end := range got.ends {
		text = append(append(text, byte(end-from)), got.text[from:end]...)
		from = end
	}
	require.True(t, bytes.Equal(want, text))
}

// Words are pieces of texts in which the alternatives of the expression meet.
var words = []string{
	"\n", "\n", "\r\n", "\r", " ", " ", "  ", "\t", "\v", "\u0085", "\u00a0", "\u2028", "\u3000", "/", "//", "-", "'", "word", "Word", "WORD", "wORd", "don't", "'S", "'ll",
	"'LL", "'re", "'ſ", "é", "e\u0301", "\u0301", "É", "表", "表示", "ʰ", "ǅ", "ª", "1", "12", "123", "1234", "Ⅷ", "½", "٣", "😀", "[Now]", "…", "_", "##", "a", "A", "ß", "क्षि", "ไทย",
}

// expression is that of the encoding. Go has no look-ahead, so the last alternative stands for two: of blanks in front of a
// word, the last one is left to it.
var expression = regexp.MustCompile(strings.NewReplacer("LOWER", `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`, "UPPER", `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`,
	"ENDING", `(?:'[sStTmMdD]|'[rR][eE]|'[vV][eE]|'[lL][lL])?`, "BLANK", `\t\n\v\f\r\x{85}\p{Z}`).Replace(
	`^(?:[^\r\n\p{L}\p{N}]?UPPER*LOWER+ENDING|[^\r\n\p{L}\p{N}]?UPPER+LOWER*ENDING|\p{N}{1,3}| ?[^BLANK\p{L}\p{N}]+[\r\n/]*|[BLANK]*[\r\n]+|([BLANK]+))`))

func pieces(text string, end func(text string) int) (all []string) {
	for text != "" {
		n := end(text)
		all = append(all, text[:n])
		text = text[n:]
	}
	return all
}

// endByExpression returns where the first piece of a text ends.
func endByExpression(text string) int {
	match := expression.FindStringSubmatchIndex(text)
	end := match[1]
	if _, last := utf8.DecodeLastRuneInString(text[:end]); match[2] >= 0 && end < len(text) && end > last {
		return end - last
	}
	return end
}

func TestPiecesAreThoseOfTheExpression(t *testing.T) {
	same := func(t require.TestingT, text string) {
		require.Equal(t, pieces(text, endByExpression), pieces(text, pieceEnd), "%q", text)
	}
	t.Run("words", rapid.MakeCheck(func(t *rapid.T) {
		same(t, strings.Join(rapid.SliceOf(rapid.SampledFrom(words)).Draw(t, "words"), ""))
	}))
	t.Run("runes", rapid.MakeCheck(func(t *rapid.T) {
		same(t, rapid.StringOf(rapid.RuneFrom(nil, unicode.Lu, unicode.Lt, unicode.Lm, unicode.Lo, unicode.M, unicode.N, unicode.Z, unicode.P)).Draw(t, "text"))
	}))
	t.Run("document", func(t *testing.T) {
		text, err := os.ReadFile("../../docs/tutorial.md")
		require.NoError(t, err)
		same(t, string(text))
	})
	// Each character stands alone, twice, between letters, and behind a space, so that no class is wrong.
	t.Run("every character", func(t *testing.T) {
		step := rune(1)
		if slow.Race {
			step = 31 // the detector finds nothing here, and takes a minute
		}
		for r := rune(0); r <= unicode.MaxRune; r += step {
			if r >= 0xd800 && r < 0xe000 || r > 0x323af && r < 0xe0000 || r > 0xe01ef {
				continue // no characters
			}
			s := string(r)
			for _, text := range []string{"a" + s + "B", s + s + "\n", s + "'s1", " " + s} {
				require.Equal(t, endByExpression(text), pieceEnd(text), "%q", text)
			}
		}
	})
}

// The library has another idea of the pieces of white space with several line ends. Within a piece it joins the same bytes.
func TestPieceHasAsManyTokensAsInTheLibrary(t *testing.T) {
	library := codec.NewO200kBase()
	same := func(t require.TestingT, text string) {
		want, err := library.Count(text)
		require.NoError(t, err)
		require.Equal(t, want, Count(text), "%q", text)
	}
	require.Equal(t, 2, Count("hello world"))
	require.Zero(t, Count(""))
	require.Equal(t, 1, Count("\n \n"), "the vocabulary has it")
	same(t, "\xff\xfe broken \xc3")
	t.Run("letters", rapid.MakeCheck(func(t *rapid.T) {
		same(t, rapid.StringOf(rapid.RuneFrom(nil, unicode.Lu, unicode.Lm, unicode.Lo, unicode.M)).Draw(t, "text"))
	}))
	t.Run("one long piece", rapid.MakeCheck(func(t *rapid.T) {
		same(t, rapid.StringOfN(rapid.RuneFrom([]rune("abcé表")), 100, 2000, -1).Draw(t, "text"))
	}))
	text, err := os.ReadFile("../../docs/tutorial.md")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		same(t, line)
	}
}

// TestNoCharacterCostsMoreThanItsSize: each three of a run of digits were found by a look at the whole run.
func TestNoCharacterCostsMoreThanItsSize(t *testing.T) {
	characters := []string{"A", "a", "表", "\u0301", "1", "٣", " ", "\t", "\n", "-", "/", "'"} // all classes
	size := slow.Size(500)
	cutting := func(text string) func() {
		return func() {
			for rest := text; rest != ""; rest = rest[pieceEnd(rest):] {
			}
		}
	}
	const most = 10 // the square needs 16
	for _, one := range characters {
		for _, other := range characters {
			for _, text := range []func(n int) string{
				func(n int) string { return strings.Repeat(one+other, n) },
				func(n int) string { return strings.Repeat(one, n) + other },
			} {
				ratio := slow.Ratio(cutting(text(4*size)), cutting(text(size)), most)
				require.LessOrEqual(t, ratio, float64(most), "times as long for four times as much of %q and %q", one, other)
			}
		}
	}
}

func FuzzCount(f *testing.F) {
	for _, w := range words {
		f.Add(w + " " + w)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n := Count(text); n > len(text) || n == 0 && text != "" {
			t.Errorf("%d tokens for %d bytes", n, len(text))
		}
	})
}
