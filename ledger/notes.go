package ledger

import "strings"

// This file gathers the details of an item. A detail is a line of its description with all that goes on with it: the
// further lines of a sentence, and the code, the quotation or the table below. Its lines stay lines, with the indent
// that they have beyond that of the detail.

// notes gathers the details of the current item.
type notes struct {
	lists    arena
	lines    []string // of the detail in the making
	base     int      // how far its further lines are indented by themselves
	blanks   int      // blank lines since its last line
	wrapping bool     // the next line may go on with it
	fence    openFence
}

// note begins a detail whose further lines are indented by base at least.
func (n *numbered) note(text string, base int) {
	if text == "" || n.item == nil {
		return
	}
	n.notes.end()
	n.notes.base = base
	n.notes.add(text)
}

// aside adds a detail that nothing goes on with.
func (n *numbered) aside(text string) {
	n.note(text, n.line.indent)
	n.notes.end()
}

// block adds a line of what stands below the last detail. Without one it is a detail by itself.
func (n *numbered) block(text string, base int) {
	if len(n.notes.lines) == 0 {
		n.note(text, base)
		return
	}
	n.notes.add(text)
}

// add adds a line to the detail in the making, behind the blank ones before it.
func (ns *notes) add(text string) {
	for ; len(ns.lines) > 0 && ns.blanks > 0; ns.blanks-- {
		ns.lines = append(ns.lines, "")
	}
	ns.lines, ns.blanks, ns.wrapping = append(ns.lines, text), 0, true
}

// endDetail ends the detail in the making. A pass over a plan makes none.
func (n *numbered) endDetail() {
	if n.item != nil {
		n.notes.end()
	}
}

// end ends the detail in the making, if there is one.
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

// take returns the details and forgets them.
func (ns *notes) take() []string {
	ns.end()
	return ns.lists.take()
}

// arena cuts many small slices of strings out of few large ones.
type arena struct {
	free []string
	used int // how much of free the slice in the making has
}

// push adds a string to the slice in the making.
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

// take ends the slice in the making and returns it, nil when it is empty.
func (a *arena) take() []string {
	if a.used == 0 {
		return nil
	}
	s := a.free[:a.used:a.used]
	a.free, a.used = a.free[a.used:], 0
	return s
}
