// Package legend reads the legends of plans: "[S] = skipped". A legend takes precedence over the dialect, except for
// space and x, which have the same meaning in all plans. Fences, comments and sentences contain no legends.
package legend

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"waybill/plan"
	"waybill/plan/block"
	"waybill/plan/lex"
)

// Legend is the parsed legend of a text.
type Legend struct {
	marks map[string]Saying
	lines map[int]bool    // numbers of its lines
	usual map[string]bool // marks whose usual meaning it tries to change
	// Ignored has a message for each mark in usual, at an offset.
	Ignored []Ignored
}

// Ignored is a meaning that does not count.
type Ignored struct {
	At      int
	Message string
}

// Saying is the meaning of a mark in a legend, and its position.
type Saying struct {
	Status plan.Status
	Line   int
	at     int // its index among the sayings
}

// Order returns the marks in text order.
func (l *Legend) Order() []string {
	return slices.SortedFunc(maps.Keys(l.marks), func(a, b string) int { return cmp.Compare(l.marks[a].at, l.marks[b].at) })
}

// MarksFor returns the marks for a status, in text order.
func (l *Legend) MarksFor(status plan.Status) []string {
	return slices.DeleteFunc(l.Order(), func(mark string) bool { return l.marks[mark].Status != status })
}

// noLegend is an empty legend. It is never modified.
var noLegend Legend

// Read reads the legend of a whole text. If a mark has two meanings, the first counts.
func Read(text string) *Legend {
	if !anyMeaning(text) {
		return &noLegend
	}
	l := &Legend{marks: map[string]Saying{}, lines: map[int]bool{}, usual: map[string]bool{}}
	s, level := block.NewScanner(text, nil), 0 // the level of the legend's heading, 0 outside
	for s.Scan() {
		ln := &s.Line
		if ln.Blank() || ln.Place != plan.InText {
			continue
		}
		m := block.MarkerAt(ln.Text, ln.Body)
		if m.Kind == block.Hashes && m.Spaced(ln.Text) {
			if at := m.After - ln.Body; level == 0 || at <= level {
				if level = 0; namesLegend(block.HeadingText(ln.Text[m.Next:])) {
					level = at
				}
			}
			continue
		}
		if strings.IndexByte(ln.Text, ']') >= 0 {
			l.line(ln, &m, level > 0)
		}
	}
	return l
}

// anyMeaning reports whether a word for a status follows any bracket. A plan without one needs no second pass.
func anyMeaning(text string) bool {
	for at := lex.IndexFrom(text, ']', 0); at < len(text); at = lex.IndexFrom(text, ']', at+1) {
		const far = 40 // the largest distance between the two in bytes, and the longest word
		from := at + 1
		if from < len(text) && text[from] == ' ' {
			from++
		}
		if from == len(text) || (lex.IsLetter(text[from]) || lex.IsDigit(text[from])) && !lex.BeginsStatus(text[from:]) {
			continue
		}
		said := strings.TrimLeft(text[from:min(from+far, len(text))], "`* \t|=:>-–—→")
		if end := strings.IndexAny(said, "\r\n|,;"); end >= 0 {
			said = said[:end]
		}
		if _, _, known := lex.WordAt(lex.Trim(said), lex.InLegend); known || said == "" {
			return true
		}
	}
	return false
}

// line reads one line. below means that the line is in the section of a legend.
func (l *Legend) line(ln *block.Line, m *block.Marker, below bool) {
	from := ln.Body
	switch {
	case m.Spaced(ln.Text):
		from = m.Next
	case ln.Indent > block.MostIndented && !below:
		return // code
	case ln.Text[from] == '|':
		from = lex.SkipBlanks(ln.Text, from+1)
	}
	s := withoutIntroduction(ln.Text[from:])
	below = below || len(s) < len(ln.Text)-from
	for s != "" {
		p, ok := readPair(s)
		if !ok {
			return
		}
		if p.telling || below {
			l.add(ln, len(ln.Text)-len(s), p)
		}
		s = p.rest
	}
}

// add records the meaning of a mark in a line.
func (l *Legend) add(ln *block.Line, at int, p pair) {
	status := MeaningOf(p.meaning)
	if status == 0 || p.bare && lex.WordFor(strings.Trim(p.meaning, "`* "), lex.InLegend) == 0 {
		return
	}
	l.lines[ln.Number] = true
	if usual := Usual(p.mark); usual != 0 {
		if usual != status && !l.usual[p.mark] {
			l.usual[p.mark] = true
			l.Ignored = append(l.Ignored, Ignored{ln.Start + at, fmt.Sprintf("the mark %q means %s in every plan, so this legend does not change it: use another mark for %s",
				p.mark, usual, status)})
		}
		return
	}
	if _, again := l.marks[p.mark]; !again {
		l.marks[p.mark] = Saying{status, ln.Number, len(l.marks)}
	}
}

// Usual returns the meaning of a mark that all dialects share, or 0.
func Usual(mark string) plan.Status {
	switch {
	case mark == "x" || mark == "X":
		return plan.Completed
	case mark != "" && lex.BlankAt(mark, 0) > 0:
		return plan.Pending
	}
	return 0
}

// legendNames are the beginnings of a legend's heading or line.
var legendNames = [...]string{"legend", "format", "status", "key", "marks", "how to read"}

func namesLegend(text string) bool {
	text = strings.TrimLeftFunc(text, func(r rune) bool { return r >= 0x2000 || strings.ContainsRune(" *_`", r) })
	for _, name := range legendNames {
		if lex.BeginsWith(text, name) {
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

// legendSigns may stand between a mark and its meaning.
const legendSigns = "-–—:→>= `*"

// Means reports whether a text is exactly the meaning of a mark.
func Means(text string) bool {
	if strings.HasPrefix(text, "=") {
		return true
	}
	_, _, known := lex.WordAt(strings.TrimLeft(text, legendSigns), lex.InLegend)
	return known
}

// pair is a mark and the text about it.
type pair struct {
	mark, meaning string
	telling       bool   // it cannot be anything but a legend, in any section
	bare          bool   // no separator between the two, as between a checkbox and a title
	rest          string // the remaining text, from the next pair
}

// readPair parses "`[S]` = skipped, [D] = dropped".
func readPair(s string) (p pair, ok bool) {
	open := strings.TrimLeft(s, "`*")
	width := lex.BoxWidth(open)
	if width < 3 || open[1] == ']' {
		return pair{}, false
	}
	p.mark = open[1 : width-1]
	p.meaning, p.rest = cutPair(open[width:])
	coded := strings.HasSuffix(s[:len(s)-len(open)], "`")
	said := p.meaning
	p.meaning, p.telling = cutEquals(said)
	p.telling = p.telling || coded
	p.bare = !p.telling && p.meaning == said
	return p, true
}

// cutPair returns the text about one mark. It ends before the next mark after a comma, a semicolon or a bar.
func cutPair(s string) (meaning, rest string) {
	s = strings.TrimLeft(s, "`* \t")
	from := 0
	if strings.HasPrefix(s, "|") {
		from = 1 // after the separator
	}
	for at := from; at < len(s); at++ {
		if strings.IndexByte(",;|", s[at]) < 0 {
			continue
		}
		rest = s[at+1+lex.SkipBlanks(s[at+1:], 0):]
		if s[at] == '|' || strings.HasPrefix(strings.TrimLeft(rest, "`*"), "[") {
			return lex.Trim(s[from:at]), rest
		}
	}
	return lex.Trim(s[from:]), ""
}

// cutEquals removes the separator between a mark and its meaning. telling is true for an equals sign or a colon. A
// dash may also precede a title.
func cutEquals(s string) (meaning string, telling bool) {
	for _, sign := range [...]string{"=>", "==", "=", ":", "->", "→", "–", "—", "-"} {
		if rest, ok := strings.CutPrefix(s, sign); ok {
			return lex.Trim(rest), sign[0] == '=' || sign == ":"
		}
	}
	return s, false
}

// MeaningOf returns the status at the beginning of a text, or 0.
func MeaningOf(text string) plan.Status {
	status, _, known := lex.WordAt(strings.TrimLeft(text, " `*"), lex.InLegend)
	if !known {
		return 0
	}
	return status
}

// Of returns the meaning of a mark.
func (l *Legend) Of(mark string) (Saying, bool) {
	said, ok := l.marks[mark]
	return said, ok
}

// Explains reports whether a checkbox on a line, with this text after it, is a line of the legend: "- [S] = skipped".
func (l *Legend) Explains(line int, title string) bool {
	if !l.lines[line] {
		return false
	}
	meaning, _ := cutEquals(title)
	meaning, _, _ = strings.Cut(meaning, "|")
	return MeaningOf(meaning) != 0
}

// Describes reports whether a checkbox with a mark in the section of a legend explains the mark. Any separator or none
// may precede the meaning: "- [x] done".
func Describes(mark, title string) bool {
	return mark != "" && Usual(mark) == 0 && MeaningOf(strings.TrimLeft(title, legendSigns)) != 0 || Means(title)
}
