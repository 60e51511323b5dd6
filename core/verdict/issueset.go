package verdict

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
)

// IssueSet gives a digest of what a result finds wrong. Two results that find the same have the same
// digest, however they order, space and capitalise it, and on whatever lines it stands by now. Who finds
// nothing has a digest of its own. How severe an issue is, and what to do about it, does not count; only
// if there is no issue, the required fixes do.
func (r Result) IssueSet() string {
	var entries []string
	for _, issue := range r.Issues {
		entries = append(entries, unlined(issue.File, true)+"\x00"+unlined(issue.Message, false))
	}
	if len(entries) == 0 {
		for _, fix := range r.RequiredFixes {
			entries = append(entries, unlined(fix, false))
		}
	}
	slices.Sort(entries)
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(entries), "\x01")))
	return hex.EncodeToString(sum[:8])
}

// unlined folds white space, letter case and the marks around words, and leaves out where in a file
// something stands: "main.go:12:3", "main.go#L12", "(line 12)", "lines 3-4". Any other number is part of
// what is said: "http:500" is not "http:404". A text may be about a file, or be the name of one.
func unlined(s string, isName bool) string {
	words := strings.Fields(strings.ToLower(s))
	kept := words[:0]
	for _, word := range words {
		word = strings.TrimRight(strings.Trim(word, "()[],.;`"), ":")
		if last := len(kept) - 1; last >= 0 && (kept[last] == "line" || kept[last] == "lines") && isRangeOfLines(word) {
			kept = kept[:last]
			continue
		}
		if word = unplaced(word, isName); word != "" {
			kept = append(kept, word)
		}
	}
	return strings.Join(kept, " ")
}

// unplaced takes lines, and a column, off the name of a file.
func unplaced(word string, isName bool) string {
	if i := strings.LastIndex(word, "#l"); i >= 0 && isRangeOfLines(strings.ReplaceAll(word[i+2:], "-l", "-")) {
		if name := word[:i]; isName || namesFile(name) {
			return name
		}
		return word
	}
	name := word
	for range 2 {
		i := strings.LastIndexByte(name, ':')
		if i < 0 || !isRangeOfLines(name[i+1:]) {
			break
		}
		name = name[:i]
	}
	if isName || namesFile(name) && !strings.Contains(name, "://") { // there it would be a port
		return name
	}
	return word
}

// namesFile reports whether a word looks like the name of a file: with a slash, or with an extension that
// is no number.
func namesFile(word string) bool {
	if strings.Contains(word, "/") {
		return true
	}
	dot := strings.LastIndexByte(word, '.')
	extension := word[dot+1:]
	strange := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	return dot >= 0 && strings.ContainsFunc(extension, unicode.IsLetter) && !strings.ContainsFunc(extension, strange)
}

// isRangeOfLines reports whether a word is a number, or two with a dash between them.
func isRangeOfLines(word string) bool {
	from, to, both := strings.Cut(strings.ReplaceAll(word, "–", "-"), "-")
	return isNumber(from) && (!both || isNumber(to))
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
