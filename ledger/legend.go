package ledger

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file reads legends: "[S] = skipped". What one says about a mark counts
// more than what the dialect says, but for the space and x, which mean the same
// to everybody. What looks like one in a fence, in a comment or in the middle of
// a sentence is none.

// legend is what the lines of a text say about marks.
type legend struct {
	marks   map[string]saying
	lines   map[int]bool    // numbers of its lines
	usual   map[string]bool // marks that it cannot give another meaning, and tries to
	ignored []Diagnostic    // one for each of those
}

// saying is what a legend says about a mark, and where.
type saying struct {
	status Status
	line   int
	at     int // which of the sayings it is
}

// legends returns the legend of the text. It is read when something asks for
// it, since it may stand below what it explains, and once for all passes.
func (n *numbered) legends() *legend {
	if n.seen.legend == nil {
		n.seen.legend = readLegend(n.src)
	}
	return n.seen.legend
}

// explained returns what the legend says about a mark.
func (n *numbered) explained(mark string) (Status, bool) {
	marks := n.legends().marks
	if len(marks) == 0 {
		return 0, false
	}
	m, ok := marks[mark]
	return m.status, ok
}

// explains reports whether a box with this behind it is a line of the legend: "- [S] = skipped".
func (n *numbered) explains(ln *line, title string) bool {
	meaning, _ := cutEquals(title)
	if meaning, _, _ = strings.Cut(meaning, "|"); n.item != nil || meaningOf(meaning) == 0 {
		return false // who describes an item knows that it is one
	}
	return n.legends().lines[ln.number]
}

// tellLegend gives what the legend says as evidence, and reports what it cannot say.
func (n *numbered) tellLegend() {
	l := n.seen.legend
	if l == nil || n.r.Len() == 0 {
		return
	}
	for _, mark := range l.inOrder() {
		m := l.marks[mark]
		n.r.Evidence = append(n.r.Evidence, Evidence{
			Line: m.line, Dialect: n.r.Dialect,
			Signal: fmt.Sprintf("legend: [%s] means %s", mark, strings.ReplaceAll(m.status.String(), "_", " ")),
		})
	}
	n.r.Diagnostics = append(n.r.Diagnostics, l.ignored...)
}

// inOrder gives the marks in the order of the text.
func (l *legend) inOrder() []string {
	return slices.SortedFunc(maps.Keys(l.marks), func(a, b string) int { return cmp.Compare(l.marks[a].at, l.marks[b].at) })
}

// marksFor gives the marks for a status, in the order of the text.
func (l *legend) marksFor(status Status) []string {
	return slices.DeleteFunc(l.inOrder(), func(mark string) bool { return l.marks[mark].status != status })
}

// mayExplain notes that a line of text may be one of the legend, which is read then even if no mark asks for it.
func (n *numbered) mayExplain(ln *line) {
	if n.seen.legend == nil && n.item == nil && strings.IndexByte(ln.text, ']') >= 0 {
		n.legends()
	}
}

// noLegend says nothing. Nobody writes into it.
var noLegend legend

// readLegend reads all of a text. Of two sayings about one mark the first counts.
func readLegend(text string) *legend {
	if !anyMeaning(text) {
		return &noLegend
	}
	l := &legend{marks: map[string]saying{}, lines: map[int]bool{}, usual: map[string]bool{}}
	s, level := newScanner(text), 0 // the level of the heading of the legend, 0 outside
	for s.scan() {
		ln := &s.line
		if ln.blank() || ln.place != placeText {
			continue
		}
		m := markerAt(ln.text, ln.body)
		if m.kind == markerHeading && m.spaced(ln.text) {
			if at := m.after - ln.body; level == 0 || at <= level {
				if level = 0; namesLegend(headingText(ln, &m)) {
					level = at
				}
			}
			continue
		}
		if strings.IndexByte(ln.text, ']') >= 0 {
			l.line(ln, &m, level > 0)
		}
	}
	return l
}

// anyMeaning reports whether a word for a status stands behind any bracket. Behind most boxes is a number, and
// such a plan is not read twice.
func anyMeaning(text string) bool {
	for at := indexFrom(text, ']', 0); at < len(text); at = indexFrom(text, ']', at+1) {
		const far = 40 // bytes that may stand between the two, and the longest word
		from := at + 1
		if from < len(text) && text[from] == ' ' {
			from++
		}
		if from == len(text) || isDigit(text[from]) {
			continue
		}
		said := strings.TrimLeft(text[from:min(from+far, len(text))], "`* \t|=:>-–—→")
		if said == "" || meaningBegins[said[0]|0x20] {
			return true
		}
	}
	return false
}

// meaningBegins has the bytes that words in legends begin with.
var meaningBegins = func() (all [256]bool) {
	for _, w := range statusWords {
		all[w.word[0]] = w.use&inLegend != 0 || all[w.word[0]]
	}
	return all
}()

// line reads a line, also one below the heading of a legend.
func (l *legend) line(ln *line, m *marker, below bool) {
	from := ln.body
	switch {
	case m.spaced(ln.text):
		from = m.next
	case ln.indent > mostIndented && !below:
		return // code
	case ln.text[from] == '|':
		from = skipBlanks(ln.text, from+1)
	}
	s := withoutIntroduction(ln.text[from:])
	below = below || len(s) < len(ln.text)-from
	for s != "" {
		p, ok := readPair(s)
		if !ok {
			return
		}
		if p.telling || below {
			l.add(ln, len(ln.text)-len(s), p)
		}
		s = p.rest
	}
}

// add takes what a line says about a mark.
func (l *legend) add(ln *line, at int, p pair) {
	status := meaningOf(p.meaning)
	if status == 0 || p.bare && wordFor(strings.Trim(p.meaning, "`* "), inLegend) == 0 {
		return
	}
	l.lines[ln.number] = true
	if usual := usualMark(p.mark); usual != 0 {
		if usual != status && !l.usual[p.mark] {
			l.usual[p.mark] = true
			l.ignored = append(l.ignored, diagnose(ln, at, SeverityWarning, "legend_ignored",
				fmt.Sprintf("the mark %q means %s in every plan, so what is said of it here does not count: use another mark for %s",
					p.mark, usual, status)))
		}
		return
	}
	if _, again := l.marks[p.mark]; !again {
		l.marks[p.mark] = saying{status, ln.number, len(l.marks)}
	}
}

// usualMark is what a mark means to everybody, 0 for any other.
func usualMark(mark string) Status {
	switch {
	case mark == " ":
		return Pending
	case mark == "x" || mark == "X":
		return Completed
	case mark != "" && blankAt(mark, 0) > 0:
		return Pending
	}
	return 0
}

// legendNames are what the heading above a legend, or its line, begins with.
var legendNames = [...]string{"legend", "format", "status", "key", "marks", "how to read"}

func namesLegend(text string) bool {
	text = strings.TrimLeftFunc(text, func(r rune) bool { return r >= 0x2000 || strings.ContainsRune(" *_`", r) })
	for _, name := range legendNames {
		if beginsWith(text, name) {
			r, _ := utf8.DecodeRuneInString(text[len(name):])
			return !unicode.IsLetter(r)
		}
	}
	return false
}

// withoutIntroduction cuts "**Legend:** " off.
func withoutIntroduction(s string) string {
	at := strings.IndexByte(s, '[')
	if at <= 0 || !namesLegend(s) {
		return s
	}
	before := strings.TrimRight(s[:at], "`* _")
	if !strings.HasSuffix(before, ":") {
		return s
	}
	return strings.TrimLeft(s[len(before):], "*_ ")
}

// isLegend reports whether a box without id says what a mark or a tag means. Below the heading of a legend the
// meaning may stand behind any sign, or none: "- [x] done".
func (n *numbered) isLegend(b *box, ln *line, title string) bool {
	mark := b.mark(ln.text)
	tag := mark == "P" || mark == "p"
	switch {
	case n.explains(ln, title):
		return true
	case n.sections.kind != sectionLegend:
		return tag && n.g.label != nil && !n.g.unnumbered
	case tag:
		return true
	case mark != "" && usualMark(mark) == 0 && meaningOf(strings.TrimLeft(title, legendSigns)) != 0:
		return true
	}
	return meansAll(title)
}

// legendSigns may stand between a mark and its meaning.
const legendSigns = "-–—:→>= `*"

// meansAll reports whether a text is the meaning of a mark and nothing else, as it is below the heading of a legend.
func meansAll(text string) bool {
	if strings.HasPrefix(text, "=") {
		return true
	}
	_, _, known := wordAt(strings.TrimLeft(text, legendSigns), inLegend)
	return known
}
