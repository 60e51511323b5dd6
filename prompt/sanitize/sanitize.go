// Package sanitize neutralises untrusted text, so that it cannot imitate the structure of a prompt, an answer or
// terminal output. It removes no visible character, and it does not judge the meaning of a text.
package sanitize

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Plans, agents and people write text that appears in prompts and must not imitate their structure. No visible
// character is ever removed. Each rule is explained in the named file:
//
//   - Invisible characters are removed (unseen.go).
//   - A line gets the prefix "│ " if it begins like a heading, result marker or retry of waybill, like a turn of a
//     conversation, or like the head of a template (lines.go). This includes lines that do so after Markdown and HTML
//     are rendered (dress.go).
//   - A line gets the prefix if it claims a source, as the headings of waybill do (provenance.go).
//   - The opening line of a code fence gets the prefix if the fence would continue after the text (fences.go).
//   - A bracket becomes "‹" if it opens a tag or token of models and hosts, an HTML construct that would hide the
//     text after it, or a remote image (tags.go, hiding.go, images.go).
//
// Code that only resembles these stays (code.go). Look-alike letters are compared by their look (skeleton.go). The
// rules are narrow, because plans are full of code: harmless text stays unchanged. Neutralising a text twice has the
// same result as once.

// blunted replaces a bracket that would open a construct. No Unicode decomposition turns it back into a bracket.
const blunted = "‹"

// Text returns the neutralised text. In the prompt, it must begin on a new line.
func Text(text string) string { return new(Cleaner).Text(text) }

// Cleaner neutralises texts. Count is the number of its changes: characters removed, lines marked, brackets replaced.
type Cleaner struct{ Count int }

// Text neutralises a text that begins on a new line.
func (n *Cleaner) Text(s string) string { return n.neutralise(s, true) }

// Behind neutralises a text that follows other text on its line. Such a text cannot open a code fence on its first
// line. If it begins with a complete fence, the result begins with a line feed.
func (n *Cleaner) Behind(s string) string {
	if found := traitsOf(s); found&fenceMark != 0 {
		if found&unplain != 0 {
			s = n.strip(s)
		}
		for line := range linesOf(s, found, true) {
			if first, _ := fenceIn(s[:line.end]); first.mark != 0 && !line.quoted() {
				return "\n" + n.neutralise(s, true)
			}
			break
		}
	}
	return n.neutralise(s, false)
}

func (n *Cleaner) neutralise(s string, whole bool) string {
	found := traitsOf(s)
	if found&unplain != 0 {
		s = n.strip(s)
	}
	if found&(angle|bracket|unplain) != 0 {
		s = n.blunt(s, found)
	}
	return n.quoteLines(s, found, whole)
}

// strip removes invisible characters.
func (n *Cleaner) strip(s string) string {
	s, removed := strip(s)
	n.Count += removed
	return s
}

// blunt replaces the brackets that would open a construct.
func (n *Cleaner) blunt(s string, found traits) string {
	at := appendTags(nil, s)
	if found&angle != 0 {
		at = appendHiding(at, s)
		at = appendLoading(at, s)
	}
	if found&(bang|bracket) == bang|bracket {
		at = appendImages(at, s)
	}
	if len(at) == 0 {
		return s
	}
	slices.Sort(at)
	at = slices.Compact(at)
	var b strings.Builder
	kept := 0
	for _, i := range at {
		b.WriteString(s[kept:i])
		b.WriteString(blunted)
		_, width := utf8.DecodeRuneInString(s[i:])
		kept = i + width
	}
	b.WriteString(s[kept:])
	n.Count += len(at)
	return b.String()
}

// quoteLines writes the quote mark before each line that a reader or a model may take for structure.
func (n *Cleaner) quoteLines(s string, found traits, whole bool) string {
	var b strings.Builder
	kept := 0
	for line := range linesOf(s, found, whole) {
		if line.quoted() {
			b.WriteString(s[kept:line.start])
			b.WriteString(QuoteMark)
			kept = line.start
			n.Count++
		}
	}
	if b.Len() == 0 {
		return s
	}
	b.WriteString(s[kept:])
	return b.String()
}
