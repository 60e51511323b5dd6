package plan

import "waybill/plan/criteria"

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

// enter processes the next heading. A deeper heading does not end a section without tasks.
func (s *sections) enter(level int, text string) {
	if s.kind != sectionTasks && level > s.level {
		return
	}
	s.kind, s.name, s.level, s.indent = sectionOf(text), text, level, 0
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
	return sectionTasks
}
