package verdict

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// IssueSet gives a digest of what a result finds wrong. Two results that find the same have the same
// digest, however they order, space and capitalise it, and on whatever lines it stands by now. Who finds
// nothing has a digest of its own. How severe an issue is, and what to do about it, does not count; only
// if there is no issue, the required fixes do.
func (r Result) IssueSet() string {
	var entries []string
	for _, issue := range r.Issues {
		entries = append(entries, unlined(issue.File)+"\x00"+unlined(issue.Message))
	}
	if len(entries) == 0 {
		for _, fix := range r.RequiredFixes {
			entries = append(entries, unlined(fix))
		}
	}
	slices.Sort(entries)
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(entries), "\x01")))
	return hex.EncodeToString(sum[:8])
}

// unlined folds white space and letter case, and leaves out line numbers: those behind a colon, as in
// main.go:12:3, behind an L, as in main.go#L12, and behind the word "line" or "lines".
func unlined(s string) string {
	words := strings.Fields(strings.ToLower(s))
	kept := words[:0]
	for _, word := range words {
		word = strings.Trim(word, "(),.;")
		if last := len(kept) - 1; last >= 0 && (kept[last] == "line" || kept[last] == "lines") && ranged(word) {
			continue
		}
		for {
			cut := strings.LastIndexAny(word, ":#")
			if cut < 0 || !ranged(strings.TrimPrefix(word[cut+1:], "l")) {
				break
			}
			word = word[:cut]
		}
		if word != "" {
			kept = append(kept, word)
		}
	}
	return strings.Join(kept, " ")
}

// ranged reports whether a word is a number or a range of numbers.
func ranged(word string) bool {
	return word != "" && strings.Trim(word, "0123456789-–") == "" && strings.ContainsAny(word, "0123456789")
}
