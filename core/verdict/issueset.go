package verdict

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
)

// IssueSet returns a digest of the findings of a result. Order, spacing, letter case, line numbers, severity and
// proposed fixes do not count. Without issues, the required fixes count. Results without findings share a digest of
// their own.
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

// unlined normalises white space and letter case, and removes marks around words and places in a file:
// "main.go:12:3", "main.go#L12", "(line 12)", "lines 3-4". Other numbers stay: "http:500" differs from "http:404".
// isName says that the text is the name of a file.
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

// unplaced removes line and column from the name of a file.
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

// namesFile reports whether a word looks like the name of a file: it has a slash, or an extension that is no number.
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
