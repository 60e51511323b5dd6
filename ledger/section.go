package ledger

import "strings"

// section is what the heading above says about the boxes below it.
type section uint8

const (
	sectionTasks section = iota
	sectionAcceptance
	sectionLegend
	sectionOther // of a dialect that has its tasks in one section
)

// sections follows the headings of a file.
type sections struct {
	kind  section
	name  string
	level int // of the heading that began it
	// indent is that of the boxes below the line of text that began it instead.
	indent int
	home   int // level of the heading that all tasks stand below, 0 outside
}

// enter goes on to the next heading. A deeper one stays in a section that is none of tasks.
func (s *sections) enter(level int, text string) {
	if s.kind != sectionTasks && level > s.level {
		return
	}
	s.kind, s.name, s.level, s.indent = sectionOf(text), text, level, 0
}

var sectionWords = [...]struct {
	word string
	kind section
}{
	{"acceptance", sectionAcceptance},
	{"definition of done", sectionAcceptance},
	{"legend", sectionLegend},
	{"how to read", sectionLegend},
	{"format", sectionLegend},
}

// sectionOf reads the words that a heading begins with, whatever signs stand before them.
func sectionOf(heading string) section {
	heading = strings.TrimLeftFunc(heading, func(r rune) bool { return r >= 0x2000 || strings.ContainsRune(" *_`", r) })
	for _, w := range sectionWords {
		if len(heading) < len(w.word) || !equalWord(heading[:len(w.word)], w.word) {
			continue
		}
		if rest := heading[len(w.word):]; rest == "" || !isLower(rest[0]) {
			return w.kind
		}
	}
	return sectionTasks
}
