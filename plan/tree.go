package plan

import "fmt"

// This file finds the parent of each item and derives the status of parents.

// node is the state of one item in the tree.
type node struct {
	indent   int32
	section  int32 // items of different sections have no parent by indent; in spec-kit, the phase
	left     int32 // children that are not settled yet
	open     int32 // the first child that delays the item, valid with anyOpen
	statuses uint8 // of the children, one bit for each status
	parent   bool  // it has settled children
	anyOpen  bool
	named    bool // its id is the parent id of another item
}

// place adds the new item i to the index, and looks for its parent among the items above it. It returns the first item
// with the same id.
func (n *numbered) place(i int32, id string) (first int32) {
	e := &n.r.entries[i]
	e.parent, e.level = -1, -1
	if stem := n.g.above(n, id); stem != "" && !e.derivedID {
		// Adjacent items usually have the same parent, so the last result is cached.
		if stem != n.stem {
			n.stem, n.stemItem = stem, n.r.find(stem)
		}
		if n.stemItem >= 0 {
			e.parent = n.stemItem
			n.nodes[n.stemItem].named = true
		} else {
			n.stem = ""
			if !n.g.headed { // in plans of headings, items belong to their heading
				n.late = append(n.late, i)
			}
		}
	}
	return n.r.index.put(n.r.entries, i)
}

// plant sets the parent, level and derived status of each item, and the totals.
func (n *numbered) plant() {
	for _, i := range n.late {
		if p := n.nearest(ancestor(n.r.entries[i].id)); p >= 0 {
			n.r.entries[i].parent = p
			n.nodes[p].named = true
		}
	}
	n.parentsByIndent()
	for i := range n.nodes {
		n.level(int32(i))
		nd := &n.nodes[i]
		if nd.left == 0 && !nd.parent {
			n.settle(int32(i))
		}
	}
}

// nearest returns the item with the id, or else with the longest prefix of it that exists, or -1.
func (n *numbered) nearest(id string) int32 {
	for ; id != ""; id = ancestor(id) {
		if i := n.r.find(id); i >= 0 {
			return i
		}
	}
	return -1
}

// parentsByIndent sets the parent of items without a parent by id: the last item with less indent. An item that is
// itself a parent by id stays at the top, because indents are unreliable in such a plan. No circle can form. A path
// along ids continues with shorter ids, and all other paths lead backwards in the file.
func (n *numbered) parentsByIndent() {
	var path []int32
	for i := range n.nodes {
		nd, e := &n.nodes[i], &n.r.entries[i]
		if i > 0 && n.nodes[i-1].section != nd.section {
			path = path[:0]
		}
		for len(path) > 0 && n.nodes[path[len(path)-1]].indent >= nd.indent {
			path = path[:len(path)-1]
		}
		if e.parent < 0 && !nd.named && len(path) > 0 {
			e.parent = path[len(path)-1]
		}
		if e.parent >= 0 {
			n.nodes[e.parent].left++
		}
		path = append(path, int32(i))
	}
}

// level sets the level of an item and its ancestors, each once.
func (n *numbered) level(i int32) {
	steps, at := int32(0), i
	for at >= 0 && n.r.entries[at].level < 0 {
		steps++
		at = n.r.entries[at].parent
	}
	base := int32(-1)
	if at >= 0 {
		base = n.r.entries[at].level
	}
	for at := i; steps > 0; at = n.r.entries[at].parent {
		n.r.entries[at].level = base + steps
		steps--
	}
}

// settle adds an item to the totals and to its parent. It continues with the parent after its last child.
func (n *numbered) settle(i int32) {
	for {
		e, nd := &n.r.entries[i], &n.nodes[i]
		status := e.status
		if nd.parent {
			if e.derived = nd.derive(status); e.follows {
				n.follow(i)
			}
			n.checkParent(i)
			status = e.derived
			n.r.Totals.Groups++
		} else {
			n.r.Totals.add(status)
		}
		p := e.parent
		if p < 0 {
			return
		}
		n.nodes[p].add(i, status, e.optional)
		n.nodes[p].left--
		if n.nodes[p].left > 0 {
			return
		}
		i = p
	}
}

// follow sets the status of an item without one from its children.
func (n *numbered) follow(i int32) {
	e := &n.r.entries[i]
	if e.status = e.derived; e.status == InProgress && (n.r.active < 0 || i < n.r.active) {
		n.r.active = i
	}
}

// add adds a settled child.
func (nd *node) add(child int32, status Status, optional bool) {
	nd.parent = true
	if optional && status == Pending {
		return
	}
	nd.statuses |= 1 << status
	if status.open() && !optional && (!nd.anyOpen || child < nd.open) {
		nd.open, nd.anyOpen = child, true
	}
}

// derive returns the status that follows from the children. Pending optional children do not count. If no child
// counts, it returns the parent's own status.
func (nd *node) derive(own Status) Status {
	has := func(s Status) bool { return nd.statuses&(1<<s) != 0 }
	switch {
	case nd.statuses == 0:
		return own
	case has(InProgress), has(Pending) && has(Completed):
		return InProgress
	case has(Pending):
		return Pending
	case has(Blocked):
		return Blocked
	case has(Completed):
		return Completed
	}
	return Skipped
}

// checkParent reports a parent whose mark contradicts its children.
func (n *numbered) checkParent(i int32) {
	e, kids := &n.r.entries[i], &n.nodes[i]
	switch {
	case (e.status == Completed || e.status == Skipped) && kids.anyOpen:
		child := &n.r.entries[kids.open]
		n.about(i, SeverityWarning, "parent_child_conflict",
			fmt.Sprintf("%s (%s) is %s, but %s (%s) below it is still open",
				e.id, n.r.where(e), e.status, child.id, n.r.where(child)))
	case e.status.open() && e.derived == Completed:
		n.about(i, SeverityInfo, "parent_child_conflict",
			fmt.Sprintf("%s (%s) is %s, but everything below it is completed", e.id, n.r.where(e), e.status))
	}
}
