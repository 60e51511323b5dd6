package sanitize

import (
	"strings"
	"unicode/utf8"
)

// traits are the kinds of bytes that occur in a text. Most texts have no relevant kind and need only this one scan.
type traits uint8

const (
	unplain traits = 1 << iota // not printable ASCII, tab or line feed
	angle
	bracket
	bang
	fenceMark
)

var traitTable = func() (table [256]traits) {
	for c := range table {
		if c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			table[c] = unplain
		}
	}
	table['<'], table['['], table['!'], table['`'], table['~'] = angle, bracket, bang, fenceMark, fenceMark
	return table
}()

func traitsOf(s string) (found traits) {
	for i := range len(s) {
		found |= traitTable[s[i]]
	}
	return found
}

func hasWide(line string) bool {
	for i := range len(line) {
		if line[i] >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// lineEnd returns the end of the line that contains s[from].
func lineEnd(s string, from int) int {
	if i := strings.IndexByte(s[from:], '\n'); i >= 0 {
		return from + i
	}
	return len(s)
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

func names(list ...string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, name := range list {
		set[name] = true
	}
	return set
}
