package api

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
)

// The tokenizers, by their wire names.
const (
	// Estimate counts four characters as a token.
	Estimate = "estimate"
	// O200k counts with the vocabulary o200k_base of newer OpenAI models. Other models need about as many tokens.
	O200k = "o200k"
)

// Tokenizers returns the names of all tokenizers.
func Tokenizers() []string { return []string{Estimate, O200k} }

// o200k is created at its first use, because its table takes 20 ms and 25 MB.
var o200k = sync.OnceValue(codec.NewO200kBase)

// counter returns the counting function of a tokenizer, nil for the estimate.
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
				count = len(piece) // a token has at least one byte
			}
			n += count
		}
		return n
	}
}

// maxBlankBytes bounds a run of white space for the tokenizer, whose time grows with the square of its length. The
// cut may add a token.
const maxBlankBytes = 1 << 10

// pieceEnd returns where a text can be cut without changing the count. That is after a line end, before a character
// that the tokenizer does not join with it.
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
		if blank >= maxBlankBytes {
			return i
		}
	}
	return len(text)
}
