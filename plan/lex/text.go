package lex

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"waybill/internal/safetext"
	"waybill/plan"
)

const BOM = "\ufeff"

// Solid reports whether c is visible ASCII or DEL, with one comparison.
func Solid(c byte) bool { return c-'!' < utf8.RuneSelf-'!' }

// BlankAt returns the width in bytes of the white space at s[i], 0 for none.
func BlankAt(s string, i int) int {
	if Solid(s[i]) {
		return 0
	}
	return anyBlankAt(s, i)
}

// anyBlankAt also counts a no-break space and a stray byte order mark as white space. Editors and copied web pages put
// these where people type a space.
func anyBlankAt(s string, i int) int {
	c := s[i]
	if c < utf8.RuneSelf {
		if c == ' ' || c == '\t' || c == '\v' || c == '\f' {
			return 1
		}
		return 0
	}
	r, width := utf8.DecodeRuneInString(s[i:])
	if unicode.IsSpace(r) || r == '\ufeff' {
		return width
	}
	return 0
}

// PastSpace skips white space at s[i]. Usually this is a single space.
func PastSpace(s string, i int) int {
	if i < len(s) && s[i] == ' ' {
		return i + 1
	}
	return i
}

// SkipBlanks returns the index of the first byte at or after i that is not white space.
func SkipBlanks(s string, i int) int {
	if i == len(s) || s[i]-'!' < utf8.RuneSelf-'!' { // the body of Solid: a call would prevent inlining
		return i
	}
	return skipAnyBlanks(s, i)
}

func skipAnyBlanks(s string, i int) int {
	for i < len(s) {
		width := BlankAt(s, i)
		if width == 0 {
			return i
		}
		i += width
	}
	return i
}

// Trim removes white space from both ends.
func Trim(s string) string {
	if s == "" || Solid(s[0]) && Solid(s[len(s)-1]) {
		return s
	}
	return trimAny(s)
}

func trimAny(s string) string {
	return TrimAnyRight(s[skipAnyBlanks(s, 0):])
}

func TrimRight(s string) string {
	if s == "" || Solid(s[len(s)-1]) {
		return s
	}
	return TrimAnyRight(s)
}

func TrimAnyRight(s string) string {
	for s != "" && !Solid(s[len(s)-1]) {
		r, width := utf8.DecodeLastRuneInString(s)
		if r == utf8.RuneError || BlankAt(s, len(s)-width) == 0 {
			return s
		}
		s = s[:len(s)-width]
	}
	return s
}

// IndexFrom returns the index of the first b in s at or after from, or len(s).
func IndexFrom(s string, b byte, from int) int {
	if i := strings.IndexByte(s[from:], b); i >= 0 {
		return from + i
	}
	return len(s)
}

// SingleSpaced returns a trimmed text with single spaces between its words.
func SingleSpaced(s string) string { return strings.Join(strings.Fields(s), " ") }

func IsASCII(s string) bool {
	const eight = 8 // bytes at a time, because titles are checked often
	for ; len(s) >= eight; s = s[eight:] {
		if (s[0]|s[1]|s[2]|s[3]|s[4]|s[5]|s[6]|s[7])&utf8.RuneSelf != 0 {
			return false
		}
	}
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Clip shortens source text for a message.
func Clip(s string) string { return safetext.Truncate(s, 60) }

// BeginsWith reports whether s begins with word, ignoring the case of ASCII letters.
func BeginsWith(s, word string) bool {
	return len(s) >= len(word) && strings.EqualFold(s[:len(word)], word)
}

// EqualWord reports whether s is word, ignoring the case of ASCII letters.
func EqualWord(s, word string) bool {
	return len(s) == len(word) && strings.EqualFold(s, word)
}

// CutWord removes a word from the beginning of s, if white space or a colon follows it.
func CutWord(s, word string) (rest string, ok bool) {
	if len(s) <= len(word) || !EqualWord(s[:len(word)], word) {
		return s, false
	}
	return s[len(word):], s[len(word)] == ':' || BlankAt(s, len(word)) > 0
}

// IsOneOf reports whether a word is in a list.
func IsOneOf(word, list string) bool {
	const longest = 16
	return word != "" && len(word) < longest && strings.Contains(list, " "+strings.ToLower(word)+" ")
}

func isNoLetter(r rune) bool { return !unicode.IsLetter(r) }

func FirstWord(s string) string {
	s = Trim(s)
	if end := strings.IndexFunc(s, isNoLetter); end >= 0 {
		return s[:end]
	}
	return s
}

// LastWord returns the last word of a text, ignoring punctuation after it.
func LastWord(s string) string {
	s = strings.TrimRight(s, " :,.\"'`")
	return s[strings.LastIndexAny(s, " \t-/(\"'`")+1:]
}

func NotInWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

func IsDigit(c byte) bool { return '0' <= c && c <= '9' }

func IsLower(c byte) bool { return 'a' <= c && c <= 'z' }

func IsUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

func IsLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func InWord(c byte) bool {
	return c == '_' || c >= 0x80 || IsDigit(c) || IsLower(c) || IsUpper(c)
}

const Bold = "**"

// CutBold splits a text that begins in bold type at the end of that type.
func CutBold(s string) (inside, after string, ok bool) {
	if rest, bold := strings.CutPrefix(s, Bold); bold {
		return strings.Cut(rest, Bold)
	}
	return "", s, false
}

// Unbold removes the marks of bold type at the beginning of s.
func Unbold(s string) string {
	if inside, after, ok := CutBold(s); ok {
		return inside + after
	}
	return s
}

const Strokes = "~~"

// CutStruck removes the strokes from a text that is struck through as a whole. A text that is partly struck through is
// ordinary text.
func CutStruck(s string) (inside string, ok bool) {
	inside, ok = strings.CutPrefix(s, Strokes)
	if inside, found := strings.CutSuffix(inside, Strokes); ok && found && Trim(inside) != "" && !strings.Contains(inside, Strokes) {
		return Trim(inside), true
	}
	return s, false
}

// Withdrawn reports whether a text is struck through.
func Withdrawn(s string) bool {
	_, ok := CutStruck(s)
	return ok
}

// Slug converts a heading to an id: letters and digits in lower case, and hyphens for everything else.
func Slug(text string) string {
	const most = 40
	var b strings.Builder
	gap := false
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			gap = true
			continue
		}
		if b.Len() >= most {
			break
		}
		if gap && b.Len() > 0 {
			b.WriteByte('-')
		}
		gap = false
		b.WriteRune(unicode.ToLower(r))
	}
	if b.Len() == 0 {
		return "section"
	}
	return b.String()
}

// Shortened returns an id within the length limit of ids.
func Shortened(id string) string {
	if len(id) <= LongestID {
		return id
	}
	const enough = 32 // hex digits, enough to distinguish all prefixes of a file
	return plan.Hash(id)[:enough]
}

// Unadorned removes emphasis, links and strikethrough from a short text.
func Unadorned(s string) string {
	if s != "" && (IsLetter(s[0]) || IsDigit(s[0])) && (IsLetter(s[len(s)-1]) || IsDigit(s[len(s)-1])) {
		return s
	}
	s = strings.Trim(s, "*`~ ")
	if inside, after, ok := strings.Cut(strings.TrimPrefix(s, "["), "]("); ok && strings.HasPrefix(s, "[") && strings.HasSuffix(after, ")") {
		s = strings.Trim(inside, "*`~ ")
	}
	return Trim(s)
}

// CutPrefixFold removes a prefix from a text, ignoring case.
func CutPrefixFold(s, prefix string) (rest string, ok bool) {
	if !BeginsWith(s, prefix) {
		return s, false
	}
	return s[len(prefix):], true
}
