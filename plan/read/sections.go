package read

import (
	"strings"

	"waybill/plan"
	"waybill/plan/block"
	"waybill/plan/criteria"
	"waybill/plan/lex"
)

// This file says which sections hold criteria or remarks and no tasks, in the languages that plans are written in.

// section is the kind of section that contains a checkbox.
type section uint8

const (
	sectionTasks section = iota
	sectionAcceptance
	sectionLegend
	sectionOther // for dialects with all tasks in one section
)

// sections tracks the headings of a file.
type sections struct {
	kind  section
	name  string
	level int // of the heading that began the section
	// indent is the indent of the checkboxes below a line of text that began the section.
	indent int
	home   int // level of the heading that contains all tasks, 0 outside
}

// deeperThanHeadings is the level of a section that a line of text began. It is below all headings, so that any heading
// ends it.
const deeperThanHeadings = 7

// enter processes the next heading. A deeper heading does not end a section without tasks.
func (s *sections) enter(level int, text string) {
	if s.kind != sectionTasks && level > s.level {
		return
	}
	s.kind, s.name, s.level, s.indent = sectionOf(text), text, level, 0
}

// label begins the criteria below a line such as "**Acceptance Criteria:**".
func (s *sections) label(ln *block.Line, text string, bullet bool) {
	*s = sections{kind: sectionAcceptance, name: strings.Trim(text, "*:_ "), level: deeperThanHeadings, indent: ln.Indent}
	if bullet {
		s.indent++
	}
}

// leaveCriteria ends the criteria that a label began, at a line with less indent or at another label.
func (s *sections) leaveCriteria(ln *block.Line) {
	if s.level == deeperThanHeadings && (ln.Indent < s.indent || strings.HasPrefix(ln.Content(), lex.Bold)) {
		*s = sections{}
	}
}

// enterHome processes a heading of a dialect with all tasks in one section.
func (s *sections) enterHome(level int, text string, home bool) {
	switch {
	case home:
		*s = sections{kind: sectionTasks, name: text, level: level, home: level}
	case level <= s.home || s.home == 0:
		s.kind, s.home = sectionOther, 0
	}
}

// enterChecklist makes the section of a heading one without tasks, because it is a flat list of checks after the tasks.
func (s *sections) enterChecklist(t *block.Tree, at int, level int, text string) {
	if s.kind == sectionTasks && criteria.IsChecklist(text) && flat(t, at, level) {
		*s = sections{kind: sectionAcceptance, name: text, level: level}
	}
}

// legendHeadings are complete headings. If longer is true, other words may follow.
var legendHeadings = [...]struct {
	name   string
	longer bool
}{
	{"legend", false},
	{"format", false},
	{"key", false},
	{"how to read", false},
	{"how to read this", true},
}

// sectionOf returns the kind of section that a heading begins.
func sectionOf(heading string) section {
	if criteria.IsHeading(heading) {
		return sectionAcceptance
	}
	bare := criteria.BareHeading(heading)
	for _, w := range legendHeadings {
		if criteria.HasName(bare, w.name, w.longer) {
			return sectionLegend
		}
	}
	if criteria.Names(heading) {
		return sectionAcceptance
	}
	return sectionTasks
}

// flat reports whether the checkboxes of the section of a block have one indent and no ids.
func flat(t *block.Tree, at, level int) bool {
	indent := int32(-1)
	for i := at + 1; i < len(t.Nodes); i++ {
		n := &t.Nodes[i]
		if n.Place != plan.InText {
			continue
		}
		if n.Kind == block.Heading && !n.Nested && int(n.Level) <= level {
			break
		}
		if n.Kind != block.Check {
			continue
		}
		id, _, _ := lex.ReadLabel(lex.Trim(t.Text[n.Close+1 : n.End]))
		if id != "" || indent >= 0 && n.Indent != indent {
			return false
		}
		indent = n.Indent
	}
	return true
}
