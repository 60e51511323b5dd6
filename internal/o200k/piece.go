package o200k

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A text is cut into pieces before bytes are joined to tokens. The encoding defines the cuts by a regular expression; the
// functions below accept what its alternatives accept, in their order.

// A class says what a character is to the expression. A letter without case is both upper and lower.
type class uint8

const (
	upper class = 1 << iota
	lower
	digit
	blank
	newline // of the blanks, those that end a line
	mark    // such as an accent: it continues words and signs alike
	other
)

func classOf(r rune) class {
	switch {
	case r == '\n' || r == '\r':
		return blank | newline
	case 'a' <= r && r <= 'z' || unicode.Is(unicode.Ll, r):
		return lower
	case unicode.In(r, unicode.Lu, unicode.Lt):
		return upper
	case unicode.In(r, unicode.Lm, unicode.Lo):
		return upper | lower
	case unicode.Is(unicode.M, r):
		return upper | lower | mark
	case unicode.Is(unicode.N, r):
		return digit
	case unicode.IsSpace(r):
		return blank
	}
	return other
}

// next returns the class and the size of the first character of a text. Behind the end both are 0.
func next(text string) (class, int) {
	r, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return 0, 0
	}
	return classOf(r), size
}

// run returns how many bytes from the start of a text have one of the classes.
func run(text string, of class) (n int) {
	for {
		c, size := next(text[n:])
		if c&of == 0 {
			return n
		}
		n += size
	}
}

// pieceEnd returns where the first piece of a text ends.
func pieceEnd(text string) int {
	first, size := next(text)
	// A word may have one character in front of it that is no letter, no digit and no line end.
	front := 0
	if first&mark != 0 || first&(newline|upper|lower|digit) == 0 {
		front = size
	}
	for _, word := range []func(string) int{withSmallLetter, withCapital} {
		for _, from := range []int{front, 0} {
			if n := word(text[from:]); n > 0 {
				return from + n + contraction(text[from+n:])
			}
		}
	}
	if first == digit {
		end := size
		for range 2 {
			if c, more := next(text[end:]); c == digit {
				end += more
			}
		}
		return end
	}
	// Signs may have a space in front of them, and line ends and slashes behind.
	signs := 0
	if strings.HasPrefix(text, " ") {
		signs = 1
	}
	if n := run(text[signs:], other|mark); n > 0 {
		end := signs + n
		for end < len(text) && strings.IndexByte("\r\n/", text[end]) >= 0 {
			end++
		}
		return end
	}
	return blanks(text)
}

// withSmallLetter returns how many bytes of a text are a word of capital letters, and then at least one small letter.
func withSmallLetter(text string) int {
	capitals := run(text, upper)
	if small := run(text[capitals:], lower); small > 0 {
		return capitals + small
	}
	// The word ends at the last of the capitals that counts as small as well.
	for capitals > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:capitals])
		if classOf(r)&lower != 0 {
			break
		}
		capitals -= size
	}
	return capitals
}

// withCapital returns how many bytes of a text are a word of at least one capital letter, and then small letters.
func withCapital(text string) int {
	capitals := run(text, upper)
	if capitals == 0 {
		return 0
	}
	return capitals + run(text[capitals:], lower)
}

// contraction returns the length of an ending such as 's in front of a text.
func contraction(text string) int {
	for _, ending := range []string{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"} {
		if len(text) >= len(ending) && strings.EqualFold(text[:len(ending)], ending) {
			return len(ending)
		}
	}
	return 0
}

// blanks returns how many bytes of a run of white space are a piece: all up to its last line end, or else all but the last
// blank if a word or a sign follows.
func blanks(text string) int {
	end := run(text, blank)
	if last := strings.LastIndexAny(text[:end], "\r\n"); last >= 0 {
		return last + 1
	}
	_, size := utf8.DecodeLastRuneInString(text[:end])
	if end < len(text) && end > size {
		return end - size
	}
	return end
}
