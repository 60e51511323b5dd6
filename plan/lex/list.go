package lex

// This file reads lists of words and of ids.

// IsNone reports whether a value says that there is none.
func IsNone(s string) bool {
	return s == "-" || s == "–" || s == "—" || EqualWord(s, "none") || EqualWord(s, "n/a")
}

// CutList splits s at the first comma outside brackets, and reports whether the part has brackets.
func CutList(s string) (part, rest string, brackets bool) {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
			brackets = true
		case ')':
			depth = max(0, depth-1)
		case ',':
			if depth == 0 {
				return Trim(s[:i]), s[PastSpace(s, i+1):], brackets
			}
		}
	}
	return Trim(s), "", brackets
}
