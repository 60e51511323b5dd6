package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file reads legends: "[S] = skipped". A legend takes precedence over the dialect, except for space and x, which
// have the same meaning in all plans. Fences, comments and sentences contain no legends.

// legend is the parsed legend of a text.
type legend struct {
	marks   map[string]saying
	lines   map[int]bool    // numbers of its lines
	usual   map[string]bool // marks whose usual meaning it tries to change
	ignored []Diagnostic    // one for each mark in usual
}

// saying is the meaning of a mark in a legend, and its position.
type saying struct {
	status Status
	line   int
	at     int // its index among the sayings
}

// legends returns the legend of the text. It is read on demand, because it may be below the marks that it explains,
// and once for all passes.
func (n *numbered) legends() *legend {
	if n.evidence.legend == nil {
		n.evidence.legend = readLegend(n.src)
	}
	return n.evidence.legend
}

// explained returns the meaning of a mark in the legend.
func (n *numbered) explained(mark string) (Status, bool) {
	marks := n.legends().marks
	if len(marks) == 0 {
		return 0, false
	}
	m, ok := marks[mark]
	return m.status, ok
}

// explains reports whether a checkbox with this text after it is a line of the legend: "- [S] = skipped".
func (n *numbered) explains(ln *line, title string) bool {
	meaning, _ := cutEquals(title)
	if meaning, _, _ = strings.Cut(meaning, "|"); n.item != nil || meaningOf(meaning) == 0 {
		return false // a described item is known to be an item
	}
	return n.legends().lines[ln.number]
}

// tellLegend adds the legend as evidence, and reports the marks whose meaning it cannot change.
func (n *numbered) tellLegend() {
	l := n.evidence.legend
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

// inOrder returns the marks in text order.
func (l *legend) inOrder() []string {
	return slices.SortedFunc(maps.Keys(l.marks), func(a, b string) int { return cmp.Compare(l.marks[a].at, l.marks[b].at) })
}

// marksFor returns the marks for a status, in text order.
func (l *legend) marksFor(status Status) []string {
	return slices.DeleteFunc(l.inOrder(), func(mark string) bool { return l.marks[mark].status != status })
}

// mayExplain records that a line may belong to a legend, so that the legend is read even if no mark requires it.
func (n *numbered) mayExplain(ln *line) {
	if n.evidence.legend == nil && n.item == nil && strings.IndexByte(ln.text, ']') >= 0 {
		n.legends()
	}
}

// noLegend is an empty legend. It is never modified.
var noLegend legend

// readLegend reads the legend of a whole text. If a mark has two meanings, the first counts.
func readLegend(text string) *legend {
	if !anyMeaning(text) {
		return &noLegend
	}
	l := &legend{marks: map[string]saying{}, lines: map[int]bool{}, usual: map[string]bool{}}
	s, level := newScanner(text), 0 // the level of the legend's heading, 0 outside
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

// anyMeaning reports whether a word for a status follows any bracket. A plan without one needs no second pass.
func anyMeaning(text string) bool {
	for at := indexFrom(text, ']', 0); at < len(text); at = indexFrom(text, ']', at+1) {
		const far = 40 // the largest distance between the two in bytes, and the longest word
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

// meaningBegins are the first bytes of the words in legends.
var meaningBegins = func() (all [256]bool) {
	for _, w := range statusWords {
		all[w.word[0]] = w.use&inLegend != 0 || all[w.word[0]]
	}
	return all
}()

// line reads one line. below means that the line is in the section of a legend.
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

// add records the meaning of a mark in a line.
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
				fmt.Sprintf("the mark %q means %s in every plan, so this legend does not change it: use another mark for %s",
					p.mark, usual, status)))
		}
		return
	}
	if _, again := l.marks[p.mark]; !again {
		l.marks[p.mark] = saying{status, ln.number, len(l.marks)}
	}
}

// usualMark returns the meaning of a mark that all dialects share, or 0.
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

// legendNames are the beginnings of a legend's heading or line.
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

// withoutIntroduction removes "**Legend:** ".
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

// isLegend reports whether a checkbox without id explains a mark or a tag. In the section of a legend, any separator
// or none may precede the meaning: "- [x] done".
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

// meansAll reports whether a text is exactly the meaning of a mark.
func meansAll(text string) bool {
	if strings.HasPrefix(text, "=") {
		return true
	}
	_, _, known := wordAt(strings.TrimLeft(text, legendSigns), inLegend)
	return known
}
