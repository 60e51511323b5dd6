package read

import (
	"strconv"
	"strings"

	"waybill/plan"
	"waybill/plan/dialect"
	"waybill/plan/lex"
)

// where is the context of the current block: its headings, its section and the items above it.
type where struct {
	sec  sections
	d    *dialect.Dialect
	head taskHeading // that has the id and the title of the checkbox below it
	// unnumbered means that checkboxes without id are items, and grouped that those in a group or below an item are. nests
	// means that items may have their parents from indents and headings.
	unnumbered, grouped, nests bool
	group                      string // the number of the current heading, "" for none
	heads                      headStack
	headings                   int32
	// phase is the number of the current phase, and level the level of its heading. A deeper heading is part of a phase.
	phase, phaseLevel int32
	above             []step // the items above, each indented more than the one before
	lineage           lineage
	stem              string // the last parent id that was looked up, with its item
	stemItem          int32
}

// step is an item above a line.
type step struct{ item, indent int32 }

// taskHeading is a heading such as "#### Task 4: Label the drawers".
type taskHeading struct {
	id, title   string
	line, start int
}

func (w *where) begin(d *dialect.Dialect, s *dialect.Survey, parts bool) {
	w.d = d
	w.unnumbered = d.Unnumbered || !d.Rows && 4*(s.Numbered+s.Coded+s.Count[dialect.BoxTaskID]) < 3*s.Checks()
	w.grouped = !w.unnumbered && !d.Rows && s.Has(dialect.HeadGroup) && s.Unnumbered > 0 && s.Explicit()
	w.nests = w.unnumbered || w.grouped || d.Head != nil
	w.lineage.parts = parts
	if d.Home != nil {
		w.sec.kind = sectionOther
	}
}

// section returns the number of the section for parents by indent.
func (w *where) section() int32 {
	if w.d.Phased {
		return w.phase
	}
	return w.headings
}

// complete makes the id of a step from the task above.
func (w *where) complete(l *dialect.Label) {
	if l.ID == "" || w.d.Head == nil || l.InHead {
		return
	}
	top := w.heads.top()
	switch {
	case w.sec.kind == sectionAcceptance, top.item < 0 && l.Stepped, l.Step && top.item >= 0 && len(top.id)+1+len(l.ID) > lex.LongestID:
		l.ID = ""
	case l.Step && top.item >= 0:
		l.ID = top.id + "." + l.ID
	}
}

// parentID returns the id of the parent of an id, or "".
func (w *where) parentID(d *dialect.Dialect, id string, rows *plan.Rows) string {
	stem := lex.Ancestor(id)
	switch {
	case !d.Zero || stem == "":
	case lex.Zeroth(id):
		return "" // 1.0 is not 1, and no child of it
	case rows.Find(stem+".0") >= 0:
		return stem + ".0"
	}
	return stem
}

// found returns the item with a parent id, or -1. Adjacent items usually have the same one, so the last result is kept.
// added is called for each new item, which may be the one that was not found.
func (w *where) found(stem string, rows *plan.Rows) int32 {
	if stem != w.stem {
		w.stem, w.stemItem = stem, rows.Find(stem)
	}
	return w.stemItem
}

func (w *where) added(id string) {
	if id == w.stem && w.stemItem < 0 {
		w.stem = ""
	}
}

// derive returns an id for a checkbox without one. A derived id consists of the item or the headings above, and the
// position among the checkboxes without id there. It has no line number, so an edit elsewhere does not change it.
func (w *where) derive(rows *plan.Rows, parent int32) string {
	prefix := "item/"
	if parent >= 0 {
		prefix = rows.Entries[parent].ID + "/"
	} else if above := w.lineage.prefix(); above != "" {
		prefix = above
	}
	return lex.Shortened(prefix + strconv.Itoa(w.lineage.count(prefix)))
}

// lead makes item i the owner of the following lines, and returns its id, which is the name of its heading.
func (w *where) lead(name string, i int32) string {
	l := &w.lineage
	w.enter(int(l.level), name)
	l.leaders = append(l.leaders, leader{i, l.level})
	return lex.Shortened(strings.TrimSuffix(l.prefix(), "/"))
}

// leader returns the item that owns item i because of the headings above it, or -1.
func (w *where) leader(i int32) int32 {
	for k := len(w.lineage.leaders) - 1; k >= 0; k-- {
		if l := w.lineage.leaders[k]; l.item != i {
			return l.item
		}
	}
	return -1
}

// enter begins the section of a heading. Lines in it do not belong to the items above.
func (w *where) enter(level int, text string) {
	w.above = w.above[:0]
	w.lineage.enter(level, text)
}

// lineage is the path of headings above a line, for derived ids.
type lineage struct {
	path  []pathStep // without the title of the file; each name ends with a slash
	heads []pathStep // the headings since the last id, which are not in path yet
	parts bool       // several headings have level 1, so none of them is the title
	// counts holds how many checkboxes were named with each prefix, and how often a heading occurred.
	counts map[string]int
	// leaders are the items that own the lines below them. Each belongs to the one before.
	leaders []leader
	level   int32 // of the heading of the current leader, 0 for the top of the file
}

// leader is an item that is a heading, or takes the role of one.
type leader struct{ item, level int32 }

// pathStep is one heading above the current line.
type pathStep struct {
	level int
	name  string
}

func (l *lineage) count(name string) int {
	if l.counts == nil {
		l.counts = map[string]int{}
	}
	l.counts[name]++
	return l.counts[name]
}

func (l *lineage) enter(level int, text string) {
	for len(l.leaders) > 0 && int(l.leaders[len(l.leaders)-1].level) >= level {
		l.leaders = l.leaders[:len(l.leaders)-1]
	}
	l.heads = append(l.heads, pathStep{level, text})
}

// prefix returns the beginning of the ids in the current section. It enters the headings that were read since the last
// id, because most plans need none of them.
func (l *lineage) prefix() string {
	for _, h := range l.heads {
		for len(l.path) > 0 && l.path[len(l.path)-1].level >= h.level {
			l.path = l.path[:len(l.path)-1]
		}
		if h.level == 1 && !l.parts {
			continue
		}
		name := lex.Slug(h.name)
		if last := len(l.path) - 1; last >= 0 {
			name = l.path[last].name + name
		}
		if again := l.count("#" + name); again > 1 {
			name += "~" + strconv.Itoa(again)
		}
		l.path = append(l.path, pathStep{h.level, name + "/"})
	}
	l.heads = l.heads[:0]
	if len(l.path) == 0 {
		return ""
	}
	return l.path[len(l.path)-1].name
}

// taskAbove is a heading that is an item and contains the current line.
type taskAbove struct {
	id     string
	item   int32
	level  int
	group  bool
	parted bool  // the heading of a part of the task was read
	stated int32 // the line of its first status, 0 for none
}

// headStack are the task headings above a line, each deeper than the previous one.
type headStack []taskAbove

// top returns the task that contains the current line. Its item is -1 for none.
func (s headStack) top() taskAbove {
	if len(s) == 0 {
		return taskAbove{item: -1}
	}
	return s[len(s)-1]
}
