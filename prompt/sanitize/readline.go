package sanitize

import "iter"

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

// codeIn returns the code in complete fences, and between backticks on one line.
func codeIn(s string) (spans codeSpans) {
	for line := range linesOf(s, traitsOf(s), true) {
		if line.fenced {
			spans = append(spans, struct{ start, end int }{line.start, line.end})
			continue
		}
		spans = spans.appendQuoted(s, line.start, line.end)
	}
	return spans
}
