package criteria

import (
	"strings"

	"waybill/plan/lex"
)

// This file recognises headings of acceptance criteria, and the comments that delimit sections.

// criteriaNames are the known headings. If longer is true, other words may follow: "Acceptance criteria for the gate".
var criteriaNames = [...]struct {
	name   string
	longer bool
}{
	{"acceptance", false},
	{"acceptance of", true},
	{"acceptance criteria", false},
	{"acceptance criteria for", true},
	{"acceptance criteria of", true},
	{"definition of done", false},
	{"definition of done for", true},
	{"dod", false},
}

// IsHeading reports whether the section of a heading says when the work is done.
func IsHeading(heading string) bool {
	bare := BareHeading(heading)
	for _, w := range criteriaNames {
		if HasName(bare, w.name, w.longer) {
			return true
		}
	}
	return false
}

// BareHeading returns a heading without surrounding punctuation, symbols and emphasis.
func BareHeading(heading string) string {
	return strings.TrimFunc(heading, func(r rune) bool { return r >= 0x2000 || strings.ContainsRune(" *_`:?!.", r) })
}

// HasName reports whether a bare heading has a name. A remark may follow the name. Any words may follow if longer is
// true. Other headings that begin with the name do not count, because "Acceptance tests" may be ordinary work.
func HasName(bare, name string, longer bool) bool {
	if len(bare) < len(name) || !lex.EqualWord(bare[:len(name)], name) {
		return false
	}
	rest := bare[len(name):]
	return rest == "" || longer && rest[0] == ' ' || remarks(lex.Trim(rest))
}

// remarks reports whether the text after a section name is a remark: "(draft)", ": `[ID] Title`", "- the gate".
func remarks(rest string) bool {
	for _, sign := range [...]string{"(", ":", "*", "- ", "– ", "— "} {
		if strings.HasPrefix(rest, sign) {
			return true
		}
	}
	return false
}

// SectionMark parses a section marker such as "<!-- AC:BEGIN -->" or "<!-- SECTION:NOTES:END -->". It returns the name
// of the section, and whether the marker begins or ends it. ok is false for any other text.
func SectionMark(comment string) (name string, begins, ok bool) {
	comment, opened := strings.CutPrefix(comment, "<!--")
	comment, closed := strings.CutSuffix(comment, "-->")
	comment = lex.Trim(comment)
	if !opened || !closed || len(comment) > 64 {
		return "", false, false
	}
	if name, ok = strings.CutSuffix(comment, ":BEGIN"); ok {
		return name, true, isSection(name)
	}
	name, ok = strings.CutSuffix(comment, ":END")
	return name, false, ok && isSection(name)
}

func isSection(name string) bool {
	return name == "AC" || name == "DOD" || strings.HasPrefix(name, "SECTION:")
}
