package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// This file finds statements about the order of items outside the items. These are the fences below "Task Dependency
// Graph", and the sentences below "Dependencies" in spec-kit.

// drawing is the state of the sections about the order of items.
type drawing struct {
	level     int  // of its heading, 0 outside such a section
	prose     bool // the section consists of sentences
	sketches  []sketch
	open      bool // the current fence
	sentences []sentence
}

// sketch is the content of a code fence.
type sketch struct {
	text strings.Builder
	// line is the number of the first line, and column the column of the first character of each line.
	line   int
	column []int
	// The last offset whose position was requested, and that position.
	asked, row, across int
}

// sentence is a line of text.
type sentence struct {
	text         string
	prose        bool
	line, column int
}

// spot is a position in the plan.
type spot struct{ line, column int }

// draw begins a section.
func (n *numbered) draw(level int, prose bool) {
	if n.item != nil {
		return
	}
	if n.drawn == nil {
		n.drawn = &drawing{}
	}
	n.drawn.level, n.drawn.prose = level, prose
}

// leave ends the section at a heading of the same or a higher level.
func (d *drawing) leave(level int) {
	if level <= d.level {
		d.level = 0
	}
}

// fenced adds a line of a code fence, and reports whether it is part of a drawing.
func (d *drawing) fenced(ln *line) bool {
	if d.level == 0 || d.prose {
		return false
	}
	if ln.edge {
		if d.open = !d.open; d.open {
			d.sketches = append(d.sketches, sketch{line: ln.number + 1})
		}
		return true
	}
	if d.open {
		s := &d.sketches[len(d.sketches)-1]
		for s.line+len(s.column) < ln.number { // blank lines
			s.add("", 1)
		}
		s.add(ln.content(), utf8.RuneCountInString(ln.text[:ln.body])+1)
	}
	return true
}

func (s *sketch) add(text string, column int) {
	s.text.WriteString(text)
	s.text.WriteByte('\n')
	s.column = append(s.column, column)
}

// spot returns the position of an offset in the text. It continues from the last request, because a drawing may be one
// long line with many names.
func (s *sketch) spot(offset int) spot {
	text := s.text.String()
	if offset = max(0, min(offset, len(text)-1)); offset < s.asked {
		s.asked, s.row, s.across = 0, 0, 0
	}
	between := text[s.asked:offset]
	if lines := strings.Count(between, "\n"); lines > 0 {
		s.row, s.across = s.row+lines, 0
		between = between[strings.LastIndexByte(between, '\n')+1:]
	}
	s.asked, s.across = offset, s.across+utf8.RuneCountInString(between)
	return spot{s.line + s.row, s.column[s.row] + s.across}
}

// text adds a line outside fences: a list item in a section of sentences, or any line in other sections.
func (d *drawing) text(ln *line, m *marker) {
	if d.level == 0 {
		return
	}
	from, listed := ln.body, m.spaced(ln.text) && (m.kind == markerBullet || m.kind == markerOrdered)
	if listed {
		from = m.next
	}
	if listed || !d.prose {
		d.sentences = append(d.sentences, sentence{
			ln.text[from:], d.prose, ln.number, utf8.RuneCountInString(ln.text[:from]) + 1,
		})
	}
}

// order reads the recorded drawings, and returns the dependencies between items. All items must be known.
func (n *numbered) order() []need {
	if n.drawn == nil {
		return nil
	}
	o := orders{n: n, strange: map[string]bool{}}
	for i := range n.drawn.sketches {
		s := &n.drawn.sketches[i]
		if text := strings.TrimSpace(s.text.String()); text != "" && (text[0] == '{' || text[0] == '[') {
			o.readWaves(s)
		} else {
			o.readArrows(s)
		}
	}
	for _, s := range n.drawn.sentences {
		if s.prose {
			o.readSentence(s)
		} else {
			o.readLine(s)
		}
	}
	o.settle()
	slices.SortStableFunc(o.needs, func(a, b need) int { return int(a.item - b.item) })
	return o.needs
}

// orders collects the statements of drawings and sentences.
type orders struct {
	n       *numbered
	waves   []wave
	needs   []need
	labels  map[string]string // of the nodes of a drawing
	strange map[string]bool   // unknown names that were already reported
	full    bool              // the excess of dependencies was already reported
}

func (o *orders) report(at spot, severity Severity, code, message string) {
	o.n.r.Diagnostics = append(o.n.r.Diagnostics, Diagnostic{
		Line: at.line, Column: at.column, Severity: severity, Code: code, Message: message,
	})
}

// reportUnknown reports a name without an item, once for each name.
func (o *orders) reportUnknown(name string, at spot) {
	if o.strange[name] {
		return
	}
	o.strange[name] = true
	o.n.unknownIDs = append(o.n.unknownIDs, name)
	o.report(at, SeverityWarning, "dependency_unresolved",
		fmt.Sprintf("%q is not an id in this plan, so it is ignored", clip(name)))
}

// find returns the item with a name in the spelling of drawings: "2.1", "Task 2.1", "T2_1" or "2.1 Draw the rows". It
// returns -1 for none.
func (o *orders) find(name string) int32 {
	if i := o.n.r.find(name); i >= 0 {
		return i
	}
	bare := bareID(name)
	if i := o.n.r.find(bare); i >= 0 {
		return i
	}
	if id, _, _ := readLabel(bare); id != "" {
		return o.n.r.find(id)
	}
	if len(bare) > 1 && beginsWith(bare, "task") {
		bare = strings.TrimLeft(bare[len("task"):], "-_ ")
	} else if len(bare) > 1 && (bare[0] == 'T' || bare[0] == 't') {
		bare = bare[1:]
	}
	if bare == "" || !isDigit(bare[0]) {
		return -1
	}
	return o.n.r.find(strings.ReplaceAll(bare, "_", "."))
}

// pair records that one item precedes another.
func (o *orders) pair(before, after int32, at spot) {
	if o.n.expanded++; o.n.expanded <= mostExpanded {
		o.needs = append(o.needs, need{after, o.n.r.entries[before].id})
		return
	}
	o.tooMuch(at)
}

func (o *orders) tooMuch(at spot) {
	if !o.full {
		o.full = true
		o.report(at, SeverityWarning, "graph_too_large", "the plan says more about the order of its items than waybill reads: everything from here on is ignored")
	}
}
