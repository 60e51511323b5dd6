package ledger

import "strings"

// This file gathers the details of an item.

// notes gathers the details of the current item.
type notes struct {
	lists    arena
	last     []string // the lines of the last detail, if there are several
	wrapping bool     // the next line may go on with the last detail
}

// note adds a detail, or a line to the last one.
func (n *numbered) note(text string, more bool) {
	ns := &n.notes
	switch {
	case text == "" || n.item == nil:
		return
	case !more:
		if len(ns.last) > 0 {
			ns.unwrap()
		}
		ns.lists.push(text)
	case len(ns.last) == 0:
		ns.last = append(ns.last, *ns.lists.top(), text)
	default:
		ns.last = append(ns.last, text)
	}
	ns.wrapping = true
}

// unwrap ends a last detail of several lines.
func (ns *notes) unwrap() {
	*ns.lists.top() = strings.Join(ns.last, " ")
	ns.last = ns.last[:0]
}

// take returns the details and forgets them.
func (ns *notes) take() []string {
	if len(ns.last) > 0 {
		ns.unwrap()
	}
	ns.wrapping = false
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

// top is the last string that was pushed.
func (a *arena) top() *string { return &a.free[a.used-1] }

// take ends the slice in the making and returns it, nil when it is empty.
func (a *arena) take() []string {
	if a.used == 0 {
		return nil
	}
	s := a.free[:a.used:a.used]
	a.free, a.used = a.free[a.used:], 0
	return s
}
