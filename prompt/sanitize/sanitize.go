// Package sanitize neutralises untrusted text, so that it cannot imitate the structure of a prompt, an answer or
// terminal output. It removes no visible character, and it does not judge the meaning of a text.
package sanitize

import (
	"iter"
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

const (
	// QuoteMark precedes a line of untrusted text that looks like structure.
	QuoteMark = "│ "
	// blunted replaces a bracket that would open a construct. No Unicode decomposition turns it back into a bracket.
	blunted = "‹"
)

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

// readLine is one line of a text, with the structure that it resembles.
type readLine struct {
	start, end int
	kind       lineKind
	fenced     bool // it is in a fence that the text closes
	unended    bool // it opens a fence that the text may not close
}

// quoted reports whether the line gets the quote mark. A section name in code has no meaning.
func (l *readLine) quoted() bool {
	return l.unended || l.kind == structure || l.kind == sectionName && !l.fenced
}

// linesOf yields the lines of a text. whole means that the text begins on a new line.
func linesOf(s string, found traits, whole bool) iter.Seq[readLine] {
	return func(yield func(readLine) bool) {
		var open *fences
		if found&fenceMark != 0 {
			open = fencesOf(s, found)
		}
		inside := 0 // s[:inside] ends inside a fence, or with its closing line
		for start := 0; start < len(s); {
			line := readLine{start: start, end: lineEnd(s, start), fenced: start < inside}
			line.kind = kindOf(s[start:line.end], found)
			if !line.fenced && line.kind == plain && open != nil && (whole || start > 0) {
				var opens bool
				inside, opens = open.past(s, start, line.end)
				line.unended = opens && inside == start
			}
			if !yield(line) {
				return
			}
			start = line.end + 1
		}
	}
}

// lineEnd returns the end of the line that contains s[from].
func lineEnd(s string, from int) int {
	if i := strings.IndexByte(s[from:], '\n'); i >= 0 {
		return from + i
	}
	return len(s)
}
