package plan

import "strings"

// This file collects the details of an item. A detail is a line of the description with its continuation: the further
// lines of a sentence, or the code, quotation or table below it. The lines keep their indent relative to the detail.

// notes gathers the details of the current item.
type notes struct {
	lists    arena
	lines    []string // of the current detail
	base     int      // the least indent of its continuation lines
	blanks   int      // blank lines after its last line
	wrapping bool     // the next line may continue it
	fence    openFence
}

// note begins a detail whose continuation lines are indented by at least base.
func (n *numbered) note(text string, base int) {
	if text == "" || n.item == nil {
		return
	}
	n.notes.end()
	n.notes.base = base
	n.notes.add(text)
}

// noteAlone adds a detail without continuation.
func (n *numbered) noteAlone(text string) {
	n.note(text, n.line.indent)
	n.notes.end()
}

// block adds a line below the last detail. Without a last detail, the line becomes one.
func (n *numbered) block(text string, base int) {
	if len(n.notes.lines) == 0 {
		n.note(text, base)
		return
	}
	n.notes.add(text)
}

// add adds a line to the current detail, after its pending blank lines.
func (ns *notes) add(text string) {
	for ; len(ns.lines) > 0 && ns.blanks > 0; ns.blanks-- {
		ns.lines = append(ns.lines, "")
	}
	ns.lines, ns.blanks, ns.wrapping = append(ns.lines, text), 0, true
}

// endDetail ends the current detail. A pass over a plan has none.
func (n *numbered) endDetail() {
	if n.item != nil {
		n.notes.end()
	}
}

// end ends the current detail, if any.
func (ns *notes) end() {
	switch len(ns.lines) {
	case 0:
	case 1:
		ns.lists.push(ns.lines[0])
	default:
		ns.lists.push(strings.Join(ns.lines, "\n"))
	}
	ns.lines, ns.blanks, ns.wrapping, ns.fence = ns.lines[:0], 0, false, openFence{}
}

// take returns the details and resets the list.
func (ns *notes) take() []string {
	ns.end()
	return ns.lists.take()
}

// arena allocates many small slices of strings from a few large ones.
type arena struct {
	free []string
	used int // length of the current slice in free
}

// push appends a string to the current slice.
func (a *arena) push(s string) {
	if a.used == len(a.free) {
		const chunk = 16
		free := make([]string, max(2*a.used, chunk))
		copy(free, a.free)
		a.free = free
	}
	a.free[a.used] = s
	a.used++
}

// take ends the current slice and returns it, or nil if it is empty.
func (a *arena) take() []string {
	if a.used == 0 {
		return nil
	}
	s := a.free[:a.used:a.used]
	a.free, a.used = a.free[a.used:], 0
	return s
}
