package ledger

import "fmt"

// This file finds the parent of each item and what the children of one add up to.

// node is what the tree knows of one item.
type node struct {
	indent   int32
	parent   int32 // -1 at the top
	level    int32 // -1 while unknown
	left     int32 // children that are not settled yet
	named    bool  // another item names it as parent by its id
	children tally
}

// tally is what the children of an item are.
type tally struct {
	statuses uint8 // a bit for each status
	open     int32 // the first child that holds the parent up, valid with anyOpen
	anyOpen  bool
	some     bool
}

// place enters the new item i into the index and looks for its parent among
// the items above it. It returns the first item that has the same id.
func (n *numbered) place(i int32, id string) (first int32) {
	nd := &n.nodes[i]
	nd.parent, nd.level = -1, -1
	if stem := ancestor(id); stem != "" {
		// Neighbours mostly share their parent, so the last answer is kept.
		if stem != n.stem {
			n.stem, n.stemItem = stem, n.r.index.get(n.r.Items, stem)
		}
		if n.stemItem >= 0 {
			nd.parent = n.stemItem
			n.nodes[n.stemItem].named = true
		} else {
			n.stem = ""
			n.late = append(n.late, i)
		}
	}
	return n.r.index.put(n.r.Items, i)
}

// plant sets ParentID, Level and DerivedStatus of each item, and the totals.
func (n *numbered) plant() {
	for _, i := range n.late {
		if p := n.nearest(ancestor(n.r.Items[i].ID)); p >= 0 {
			n.nodes[i].parent = p
			n.nodes[p].named = true
		}
	}
	n.parentsByIndent()
	for i := range n.nodes {
		n.level(int32(i))
		nd, it := &n.nodes[i], &n.r.Items[i]
		it.Level = int(nd.level)
		if nd.parent >= 0 {
			it.ParentID = n.r.Items[nd.parent].ID
		}
		if nd.left == 0 && !nd.children.some {
			n.settle(int32(i))
		}
	}
}

// nearest returns the item with the id, else with the longest beginning of it
// that the plan has, -1 for none.
func (n *numbered) nearest(id string) int32 {
	for ; id != ""; id = ancestor(id) {
		if i := n.r.index.get(n.r.Items, id); i >= 0 {
			return i
		}
	}
	return -1
}

// parentsByIndent places the items that have no parent by id below the last
// one that is indented less. An item that is the parent of others by its id
// stays at the top: indents mean little in such a plan. That also keeps the
// tree without circles, since every path that follows an id goes on by ids,
// each shorter than the one before, and all others lead backwards in the file.
func (n *numbered) parentsByIndent() {
	var path []int32
	for i := range n.nodes {
		nd := &n.nodes[i]
		for len(path) > 0 && n.nodes[path[len(path)-1]].indent >= nd.indent {
			path = path[:len(path)-1]
		}
		if nd.parent < 0 && !nd.named && len(path) > 0 {
			nd.parent = path[len(path)-1]
		}
		if nd.parent >= 0 {
			n.nodes[nd.parent].left++
		}
		path = append(path, int32(i))
	}
}

// level sets the level of an item and of its ancestors, each of them once.
func (n *numbered) level(i int32) {
	steps, at := int32(0), i
	for at >= 0 && n.nodes[at].level < 0 {
		steps++
		at = n.nodes[at].parent
	}
	base := int32(-1)
	if at >= 0 {
		base = n.nodes[at].level
	}
	for at := i; steps > 0; at = n.nodes[at].parent {
		n.nodes[at].level = base + steps
		steps--
	}
}

// settle counts an item into the totals and into its parent, and does the same
// with the parent when that was its last child.
func (n *numbered) settle(i int32) {
	for {
		it, nd := &n.r.Items[i], &n.nodes[i]
		status := it.Status
		if nd.children.some {
			it.DerivedStatus = nd.children.derive(status)
			n.checkParent(i)
			status = it.DerivedStatus
			n.r.Totals.Groups++
		} else {
			n.r.Totals.add(status)
		}
		p := nd.parent
		if p < 0 {
			return
		}
		n.nodes[p].children.add(i, status, it.Optional)
		n.nodes[p].left--
		if n.nodes[p].left > 0 {
			return
		}
		i = p
	}
}

func (t *tally) add(child int32, status Status, optional bool) {
	t.some = true
	if optional && status == Pending {
		return
	}
	t.statuses |= 1 << status
	if status.open() && !optional && (!t.anyOpen || child < t.open) {
		t.open, t.anyOpen = child, true
	}
}

// derive returns what the children add up to. Optional children that nobody
// began do not count; where there are only such, the parent speaks for itself.
func (t *tally) derive(own Status) Status {
	has := func(s Status) bool { return t.statuses&(1<<s) != 0 }
	switch {
	case t.statuses == 0:
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
	it, kids := &n.r.Items[i], &n.nodes[i].children
	switch {
	case it.Status == Completed && kids.anyOpen:
		child := &n.r.Items[kids.open]
		n.about(i, SeverityWarning, "parent_child_conflict",
			fmt.Sprintf("%s (line %d) is completed, but %s (line %d) below it is still open",
				it.ID, it.Line, child.ID, child.Line))
	case it.Status.open() && it.DerivedStatus == Completed:
		n.about(i, SeverityInfo, "parent_child_conflict",
			fmt.Sprintf("%s (line %d) is %s, but everything below it is completed", it.ID, it.Line, it.Status))
	}
}
