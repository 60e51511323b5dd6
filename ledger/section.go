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

// sectionNames are whole headings. Behind a longer one other words may stand: "Acceptance criteria for the gate".
var sectionNames = [...]struct {
	name   string
	kind   section
	longer bool
}{
	{"acceptance", sectionAcceptance, false},
	{"acceptance of", sectionAcceptance, true},
	{"acceptance criteria", sectionAcceptance, false},
	{"acceptance criteria for", sectionAcceptance, true},
	{"acceptance criteria of", sectionAcceptance, true},
	{"definition of done", sectionAcceptance, false},
	{"definition of done for", sectionAcceptance, true},
	{"dod", sectionAcceptance, false},
	{"legend", sectionLegend, false},
	{"format", sectionLegend, false},
	{"key", sectionLegend, false},
	{"how to read", sectionLegend, false},
	{"how to read this", sectionLegend, true},
}

// sectionOf reads a heading without the signs and the type around it. One that only begins with such a word,
// "Acceptance tests" or "Format the code", may be about work like any other.
func sectionOf(heading string) section {
	heading = strings.TrimFunc(heading, func(r rune) bool { return r >= 0x2000 || strings.ContainsRune(" *_`:?!.", r) })
	for _, w := range sectionNames {
		if len(heading) < len(w.name) || !equalWord(heading[:len(w.name)], w.name) {
			continue
		}
		if rest := heading[len(w.name):]; rest == "" || w.longer && rest[0] == ' ' || remarks(trim(rest)) {
			return w.kind
		}
	}
	return sectionTasks
}

// remarks reports whether what stands behind the name of a section is about it: "(draft)", ": `[ID] Title`", "- the gate".
func remarks(rest string) bool {
	for _, sign := range [...]string{"(", ":", "*", "- ", "– ", "— "} {
		if strings.HasPrefix(rest, sign) {
			return true
		}
	}
	return false
}
