package plan

import (
	"strconv"
	"strings"
	"unicode"
)

// This file derives ids for checkboxes without one. A derived id consists of the item or the headings above, and the
// position among the checkboxes without id there. It has no line number, so an edit elsewhere does not change it.

// lineage is the context of a checkbox without id.
type lineage struct {
	above []int32 // the items above, each indented more than the previous one
	path  []step  // the headings above, without the title of the file
	parts bool    // several headings have level 1, so none of them is the title
	// counts holds how many checkboxes were named with each prefix, and how often a heading occurred.
	counts map[string]int
	// leaders are the items that own the lines below them. Each belongs to the one before.
	leaders []leader
}

// leader is an item that is a heading, or takes the role of one.
type leader struct {
	item  int32
	level int // of the heading, 0 for one above all
}

// step is one heading above the current line.
type step struct {
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

// enter begins the section of a heading. Lines in it do not belong to the items above.
func (l *lineage) enter(level int, text string) {
	l.above = l.above[:0]
	for len(l.path) > 0 && l.path[len(l.path)-1].level >= level {
		l.path = l.path[:len(l.path)-1]
	}
	for len(l.leaders) > 0 && l.leaders[len(l.leaders)-1].level >= level {
		l.leaders = l.leaders[:len(l.leaders)-1]
	}
	if level == 1 && !l.parts {
		return
	}
	name := l.prefix() + slug(text)
	if again := l.count("#" + name); again > 1 {
		name += "~" + strconv.Itoa(again)
	}
	l.path = append(l.path, step{level, name})
}

// prefix returns the beginning of the ids in the current section.
func (l *lineage) prefix() string {
	if len(l.path) == 0 {
		return ""
	}
	return l.path[len(l.path)-1].name + "/"
}

// parent returns the parent item of a line with this indent, or -1.
func (n *numbered) parent(indent int) int32 {
	l := &n.lineage
	for len(l.above) > 0 && n.nodes[l.above[len(l.above)-1]].indent >= int32(indent) {
		l.above = l.above[:len(l.above)-1]
	}
	if len(l.above) == 0 {
		return -1
	}
	return l.above[len(l.above)-1]
}

// derive returns an id for a checkbox without one.
func (n *numbered) derive(parent int32) string {
	prefix := n.lineage.prefix()
	switch {
	case parent >= 0:
		prefix = n.r.entries[parent].id + "/"
	case prefix == "":
		prefix = "item/"
	}
	return shortened(prefix + strconv.Itoa(n.lineage.count(prefix)))
}

// lead makes the new item the owner of the following lines, and returns its id, which is the name of its heading.
func (n *numbered) lead() string {
	l := &n.lineage
	l.enter(n.tags.level, n.tags.name)
	l.leaders = append(l.leaders, leader{int32(n.owner), n.tags.level})
	n.nodes[n.owner].named = true // so that it is no child by its indent
	return shortened(l.path[len(l.path)-1].name)
}

// leader returns the item that owns item i because of the headings above it, or -1.
func (l *lineage) leader(i int32) int32 {
	for k := len(l.leaders) - 1; k >= 0; k-- {
		if l.leaders[k].item != i {
			return l.leaders[k].item
		}
	}
	return -1
}

// shortened returns an id within the length limit of ids.
func shortened(id string) string {
	if len(id) <= longestID {
		return id
	}
	const enough = 32 // hex digits, enough to distinguish all prefixes of a file
	return Hash([]byte(id))[:enough]
}

// slug converts a heading to an id: letters and digits in lower case, and hyphens for everything else.
func slug(text string) string {
	const most = 40
	var b strings.Builder
	gap := false
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			gap = true
			continue
		}
		if b.Len() >= most {
			break
		}
		if gap && b.Len() > 0 {
			b.WriteByte('-')
		}
		gap = false
		b.WriteRune(unicode.ToLower(r))
	}
	if b.Len() == 0 {
		return "section"
	}
	return b.String()
}
