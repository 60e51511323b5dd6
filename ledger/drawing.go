package ledger

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// This file finds what a plan says about the order of its items apart from
// them: the fences below "Task Dependency Graph", and the sentences below
// "Dependencies" in spec-kit.

// drawing is the sections of a plan that are about the order of its items.
type drawing struct {
	level     int  // of the heading above, 0 outside of such a section
	prose     bool // the section is one of sentences
	sketches  []sketch
	open      bool // a fence, into which lines go on
	sentences []sentence
}

// sketch is the content of a fence.
type sketch struct {
	text strings.Builder
	// line is the number of the first line, and column that of the first
	// character of each.
	line   int
	column []int
	// The offset of which the place was asked for last, and that place.
	asked, row, across int
}

// sentence is a line of text.
type sentence struct {
	text         string
	prose        bool
	line, column int
}

// spot is a place in the plan.
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

// leave ends the section at a heading that is not below its own.
func (d *drawing) leave(level int) {
	if level <= d.level {
		d.level = 0
	}
}

// fenced takes a line of a fence and reports whether it is a part of a drawing.
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

// spot gives the place of an offset in the text. It goes on from where it was
// asked before, since a drawing may be one long line with a name at every word.
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

// text takes a line outside of fences: list items of a section of sentences, any line of another.
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

// order reads what was drawn, and returns the pairs of items in it. It is asked when all items are known.
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

// orders gathers what drawings and sentences say.
type orders struct {
	n       *numbered
	waves   []wave
	needs   []need
	labels  map[string]string // of the nodes of a drawing
	strange map[string]bool   // what was reported already
	full    bool              // and so was that there is too much
}

func (o *orders) report(at spot, severity Severity, code, message string) {
	o.n.r.Diagnostics = append(o.n.r.Diagnostics, Diagnostic{
		Line: at.line, Column: at.column, Severity: severity, Code: code, Message: message,
	})
}

// stranger reports a name that no item has, once.
func (o *orders) stranger(name string, at spot) {
	if o.strange[name] {
		return
	}
	o.strange[name] = true
	o.n.strangers = append(o.n.strangers, name)
	o.report(at, SeverityWarning, "dependency_unresolved",
		fmt.Sprintf("%q is no id in this plan, so nothing is ordered by it", clip(name)))
}

// find returns the item with a name as people write it where they draw: "2.1",
// "Task 2.1", "T2_1" or "2.1 Draw the rows". It is -1 for none.
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

// pair says that one item comes before another.
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
		o.report(at, SeverityWarning, "graph_too_large", "the plan says more about the order of its items than is read: what comes from here on is left out")
	}
}
