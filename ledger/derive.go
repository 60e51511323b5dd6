package ledger

import (
	"strconv"
	"strings"
	"unicode"
)

// This file makes ids for boxes that have none: the id of the item above, or
// the headings above, and which of the nameless ones below it this is. No line
// number is part of it, so an edit elsewhere does not change it.

// lineage knows what a nameless box stands below.
type lineage struct {
	above []int32 // the items above, each indented more than the one before
	path  []step  // the headings above, the title of the file left out
	parts bool    // several headings are of the first level, so that none is the title
	// counts says how many boxes were named after each prefix, and how often a
	// heading has been met.
	counts map[string]int
	// leaders are the items that what stands below them belongs to, each in the
	// one before.
	leaders []leader
}

// leader is an item that is a heading, or stands for one.
type leader struct {
	item  int32
	level int // of the heading, 0 for one above all
}

// step is one heading above.
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

// enter goes on to a heading, below which nothing belongs to the items above.
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

// prefix is what the ids below the current heading begin with.
func (l *lineage) prefix() string {
	if len(l.path) == 0 {
		return ""
	}
	return l.path[len(l.path)-1].name + "/"
}

// parent returns the item that a line of this indent stands below, -1 for none.
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

// derive names a box that has no id.
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

// lead makes the new item the one that what stands below it belongs to, and
// returns its id, which is the name of its heading.
func (n *numbered) lead() string {
	l := &n.lineage
	l.enter(n.tags.level, n.tags.name)
	l.leaders = append(l.leaders, leader{int32(n.owner), n.tags.level})
	n.nodes[n.owner].named = true // so that it is no child by its indent
	return shortened(l.path[len(l.path)-1].name)
}

// leader returns the item that item i belongs to for the headings above it, -1 for none.
func (l *lineage) leader(i int32) int32 {
	for k := len(l.leaders) - 1; k >= 0; k-- {
		if l.leaders[k].item != i {
			return l.leaders[k].item
		}
	}
	return -1
}

// shortened returns an id that is no longer than ids may be.
func shortened(id string) string {
	if len(id) <= longestID {
		return id
	}
	const enough = 32 // hex digits tell all prefixes of a file apart
	return Hash([]byte(id))[:enough]
}

// slug makes an id of a heading: its letters and digits in lower case, all else a hyphen.
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
