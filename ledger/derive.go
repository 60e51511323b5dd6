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
	// counts says how many boxes were named after each prefix, and how often a
	// heading has been met.
	counts map[string]int
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
	if level == 1 {
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
	id := prefix + strconv.Itoa(n.lineage.count(prefix))
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
