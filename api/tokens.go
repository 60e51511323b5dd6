package api

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
)

// The ways to count the tokens of a prompt. They are wire words.
const (
	// Estimate takes four characters for a token.
	Estimate = "estimate"
	// O200k counts with the vocabulary o200k_base, which newer OpenAI models have. Others cut texts
	// another way, to about as many tokens.
	O200k = "o200k"
)

// Tokenizers returns the names of all ways to count.
func Tokenizers() []string { return []string{Estimate, O200k} }

// o200k is made when it is first asked for: its table takes 20 ms and 25 MB.
var o200k = sync.OnceValue(codec.NewO200kBase)

// counter gives the function that counts, nil for the estimate.
func counter(name string) func(text string) int {
	if name != O200k {
		return nil
	}
	return func(text string) (n int) {
		for text != "" {
			piece := text[:pieceEnd(text)]
			text = text[len(piece):]
			count, err := o200k().Count(piece)
			if err != nil {
				count = len(piece) // a token has a byte at least
			}
			n += count
		}
		return n
	}
}

// longestBlank bounds the white space that the tokenizer sees in a row, since it takes the square of its
// length. Where more is cut there can be a token more.
const longestBlank = 1 << 10

// pieceEnd returns where a text can be cut without another count: behind a line end, in front of
// something that is neither white space nor a slash, which the tokenizer joins with what is before it.
func pieceEnd(text string) int {
	blank := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case unicode.IsSpace(r):
			blank += size
		case blank > 0 && r != '/' && strings.HasSuffix(text[:i], "\n"):
			return i
		default:
			blank = 0
		}
		i += size
		if blank >= longestBlank {
			return i
		}
	}
	return len(text)
}
