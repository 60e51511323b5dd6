package ledger

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// Text of others, which plans, agents and people wrote, stands in our prompts, and must not pass for a part of
// them. No visible character is ever taken out. The rules, each with its reasons in the file that is named:
//
//   - What nobody sees is left out (neutralise_unseen.go).
//   - A line that begins like one of our headings, result markers or retries, like a turn of a conversation or
//     like the head of a template has "│ " put before it (neutralise_lines.go).
//   - So has a line that says whose words follow, as our headings do (neutralise_provenance.go).
//   - So has the line of a code fence that would go on behind the text (neutralise_fences.go).
//   - The bracket that opens a tag or token of models and hosts, something of HTML that would hide what follows,
//     or an image from elsewhere becomes "‹" (neutralise_tags.go, neutralise_hiding.go, neutralise_images.go).
//
// In code, what only resembles them stays (neutralise_code.go). Letters that only look like others are compared as
// what they look like (neutralise_skeleton.go). A rule is no wider than it has to be: plans are full of code, and
// text that pretends nothing comes out as it went in, byte for byte. What was neutralised once is not changed by
// doing it again.

const (
	// quoteMark stands in front of a content line that looks like structure.
	quoteMark = "│ "
	// blunted stands in place of a bracket that would open something. No decomposition of Unicode makes a
	// bracket of it again.
	blunted = "‹"
)

// Neutralise gives a text of others as one that cannot pass for structure where it is put beside ours. It begins on
// a line of its own there.
func Neutralise(text string) string { return new(neutraliser).text(text) }

// neutraliser applies the rules and counts what it had to change: characters left out, lines marked, brackets
// blunted.
type neutraliser struct{ count int }

// text neutralises a text that begins on a line of its own.
func (n *neutraliser) text(s string) string { return n.neutralise(s, true) }

// behind neutralises a text with something of ours before it on its first line, which therefore opens no fence. A
// text that begins with one, and ends it, begins on a line of its own.
func (n *neutraliser) behind(s string) string {
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

func (n *neutraliser) neutralise(s string, whole bool) string {
	found := traitsOf(s)
	if found&unplain != 0 {
		s = n.strip(s)
	}
	if found&(angle|bracket|unplain) != 0 {
		s = n.blunt(s, found)
	}
	return n.quoteLines(s, found, whole)
}

// traits say which bytes occur in a text. Most texts have none of those that matter, and are read once for it.
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

// blunt puts the look-alike in place of the brackets that would open something.
func (n *neutraliser) blunt(s string, found traits) string {
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
	n.count += len(at)
	return b.String()
}

// quoteLines puts the quote mark before each line that a reader, or a model, may take for structure.
func (n *neutraliser) quoteLines(s string, found traits, whole bool) string {
	var b strings.Builder
	kept := 0
	for line := range linesOf(s, found, whole) {
		if line.quoted() {
			b.WriteString(s[kept:line.start])
			b.WriteString(quoteMark)
			kept = line.start
			n.count++
		}
	}
	if b.Len() == 0 {
		return s
	}
	b.WriteString(s[kept:])
	return b.String()
}

// readLine is a line of a text, and what it may be taken for.
type readLine struct {
	start, end int
	kind       lineKind
	fenced     bool // it is in a fence that the text ends
	unended    bool // it opens one that the text may not end
}

// quoted reports whether the line is marked. In code, the name of a section is the name of somebody's table.
func (l *readLine) quoted() bool {
	return l.unended || l.kind == structure || l.kind == sectionName && !l.fenced
}

// linesOf reads a text line by line.
func linesOf(s string, found traits, whole bool) iter.Seq[readLine] {
	return func(yield func(readLine) bool) {
		var open *fences
		if found&fenceMark != 0 {
			open = fencesOf(s, found)
		}
		inside := 0 // s[:inside] is in a fence, or is the line that ends it
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

// lineEnd gives where the line ends that s[from] is in.
func lineEnd(s string, from int) int {
	if i := strings.IndexByte(s[from:], '\n'); i >= 0 {
		return from + i
	}
	return len(s)
}
