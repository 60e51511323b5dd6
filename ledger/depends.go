package ledger

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// This file reads what an item waits for and checks that it can be waited for.

// widestRange bounds what one range may stand for, and mostExpanded what all
// ranges of a file may, so that a small file cannot ask for much memory.
const (
	widestRange  = 256
	mostExpanded = 1 << 16
)

// dependsOn is how a sentence says what an item waits for.
const dependsOn = "depends on"

// wait notes what the current item waits for, besides what it does already.
func (n *numbered) wait(ids []string) {
	last := len(n.r.waits) - 1
	switch {
	case len(ids) == 0:
	case last >= 0 && n.r.waits[last].item == int32(n.owner):
		n.r.waits[last].ids = append(n.r.waits[last].ids, ids...)
	default:
		n.r.waits = append(n.r.waits, wait{item: int32(n.owner), ids: ids})
	}
}

// waitFor notes what an item above the current one waits for.
func (n *numbered) waitFor(item int32, ids []string) {
	if len(ids) == 0 {
		return
	}
	at, found := slices.BinarySearchFunc(n.r.waits, item, func(w wait, item int32) int { return int(w.item - item) })
	if !found {
		n.r.waits = slices.Insert(n.r.waits, at, wait{item: item})
	}
	n.r.waits[at].ids = append(n.r.waits[at].ids, ids...)
}

// splitDependencies pushes the ids that value names: "1.1, 1.2", "Task 1 and
// Task 2 (reason)", "1-3", or a word for none.
func (n *numbered) splitDependencies(value string) {
	if inside, ok := enclosed(value, "[", "]"); ok {
		value = inside
	}
	for value != "" {
		var part string
		part, value, _ = cutList(value)
		for part != "" {
			var one string
			one, part = cutAnd(part)
			n.dependency(bareID(one))
		}
	}
}

// enclosed takes off both of what stands around s.
func enclosed(s, opening, closing string) (inside string, ok bool) {
	inside, ok = strings.CutPrefix(s, opening)
	if !ok || !strings.HasSuffix(inside, closing) {
		return s, false
	}
	return strings.TrimSuffix(inside, closing), true
}

func (n *numbered) dependency(id string) {
	if n.g.headed {
		id = reference(id)
	}
	if id == "" || isNone(id) {
		return
	}
	if first, last, ok := cutRange(id); !ok || !n.expand(first, last) {
		n.lists.push(id)
	}
}

// remarked reads a line that begins with "Depends on 1.2". It stays a detail,
// since more may stand behind the ids.
func (n *numbered) remarked(text string) {
	if n.item == nil && beginsWith(strings.TrimLeft(text, "(*"), dependsOn) {
		n.splitDependencies(mentioned(text))
		n.wait(n.lists.take())
	}
}

// cutAnd cuts "1 and 2" and "1 & 2" at the word, unless it stands in a remark.
func cutAnd(s string) (part, rest string) {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth = max(0, depth-1)
		case ' ':
			if depth > 0 {
				continue
			}
			for _, word := range [...]string{" and ", " & "} {
				if strings.HasPrefix(s[i:], word) {
					return s[:i], s[i+len(word):]
				}
			}
		}
	}
	return s, ""
}

// bareID takes the decoration off a reference.
func bareID(s string) string {
	if i := strings.Index(s, " ("); i >= 0 {
		s = s[:i]
	}
	s = strings.Trim(strings.TrimPrefix(trim(s), "and "), "`*")
	if inside, ok := enclosed(s, `"`, `"`); ok {
		s = inside
	}
	for _, word := range [...]string{"Task Groups ", "Task Group ", "Tasks ", "Task "} {
		if len(s) > len(word) && equalWord(s[:len(word)], word) {
			s = trim(s[len(word):])
		}
	}
	return strings.TrimRight(trim(s), ".;\\")
}

func isNone(s string) bool {
	return s == "-" || s == "–" || s == "—" || equalWord(s, "none") || equalWord(s, "n/a")
}

// cutRange reads "1-3", "1.1–1.4" and "Task 1 to Task 3".
func cutRange(s string) (first, last string, ok bool) {
	for _, word := range [...]string{"-", "–", "—", " to ", " through "} {
		if first, last, ok = strings.Cut(s, word); ok {
			first, last = bareID(first), bareID(last)
			return first, last, isID(first) && isID(last)
		}
	}
	return "", "", false
}

func isID(s string) bool {
	end, _ := groups(s)
	return end == len(s) && end > 0 || isTaskID(s)
}

// expand pushes the ids from first to last, which may differ in their last
// number only and keep its zeros. It reports whether the range is one and no
// wider than allowed.
func (n *numbered) expand(first, last string) bool {
	stem := strings.TrimRight(first, "0123456789")
	if stem != strings.TrimRight(last, "0123456789") {
		return false
	}
	first, last = first[len(stem):], last[len(stem):]
	from, errFrom := strconv.Atoi(first)
	to, errTo := strconv.Atoi(last)
	if errFrom != nil || errTo != nil || to < from || to-from >= min(widestRange, mostExpanded-n.expanded) {
		return false
	}
	n.expanded += to - from + 1
	width := 0
	if first[0] == '0' {
		width = len(first)
	}
	for i := from; i <= to; i++ {
		n.lists.push(fmt.Sprintf("%s%0*d", stem, width, i))
	}
	return true
}

// edges holds what each item waits for: the edges of item i are
// to[from[i]:from[i+1]].
type edges struct{ from, to []int32 }

// end ends the edges of one item, or of what stands for several.
func (e *edges) end() { e.from = append(e.from, int32(len(e.to))) }

// checkDependencies reports ids that the plan does not have, and circles.
func (n *numbered) checkDependencies() {
	if len(n.r.waits) > 0 {
		n.reportCycles(n.resolve())
	}
}

// resolve returns the graph. Behind the items stand the walls, each of which
// leads to its groups, and then the groups, each of which leads to its items.
func (n *numbered) resolve() edges {
	b := &n.r.barriers
	items := n.r.Len()
	e := edges{from: make([]int32, 1, items+len(b.walls)+len(b.groups)+1)}
	waits := n.r.waits
	for i := range n.r.entries {
		if len(waits) > 0 && waits[0].item == int32(i) {
			for _, id := range waits[0].ids {
				if to := n.r.find(id); to >= 0 {
					e.to = append(e.to, to)
					n.checkSkipped(int32(i), to)
					continue
				}
				n.about(int32(i), SeverityWarning, "dependency_unresolved",
					fmt.Sprintf("%s waits for %q, which is no id in this plan", n.r.entries[i].id, clip(id)))
			}
			if wall := waits[0].behind; wall > 0 && !b.walls[wall-1].circular {
				e.to = append(e.to, int32(items)+wall-1)
			}
			waits = waits[1:]
		}
		e.end()
	}
	for i := range b.walls {
		for _, g := range b.walls[i].groups {
			e.to = append(e.to, int32(items+len(b.walls))+g)
		}
		e.end()
	}
	for _, ids := range b.groups {
		for _, id := range ids {
			e.to = append(e.to, n.r.find(id))
		}
		e.end()
	}
	return e
}

// checkSkipped reports an item that waits for one that was closed without being done.
func (n *numbered) checkSkipped(i, to int32) {
	if e := &n.r.entries[to]; e.status == Skipped && n.r.entries[i].status.open() {
		n.about(i, SeverityWarning, "dependency_skipped",
			fmt.Sprintf("%s waits for %s (%s), which was skipped", n.r.entries[i].id, e.id, n.r.where(e)))
	}
}

// visit is an item on the path that the search for circles follows.
type visit struct{ item, next int32 }

// reportCycles walks the graph depth first, without recursion since a chain
// can be as long as the plan, and reports each step back to the path.
func (n *numbered) reportCycles(e edges) {
	const unseen, done = 0, -1
	// state is the place on the path, counted from 1, while an item is on it.
	state := make([]int32, len(e.from)-1)
	var path []visit
	for root := range n.r.entries {
		if state[root] != unseen {
			continue
		}
		path = append(path[:0], visit{int32(root), e.from[root]})
		state[root] = 1
		for len(path) > 0 {
			top := &path[len(path)-1]
			if top.next == e.from[top.item+1] {
				state[top.item] = done
				path = path[:len(path)-1]
				continue
			}
			to := e.to[top.next]
			top.next++
			switch {
			case state[to] == unseen:
				path = append(path, visit{to, e.from[to]})
				state[to] = int32(len(path))
			case state[to] > 0:
				n.reportCycle(path[state[to]-1:])
			}
		}
	}
}

// reportCycle names the items of a circle, the middle of a long one cut out.
func (n *numbered) reportCycle(path []visit) {
	const head, tail = 8, 4
	items := make([]visit, 0, len(path))
	for _, v := range path {
		if int(v.item) < n.r.Len() { // and no wall or group
			items = append(items, v)
		}
	}
	path = items
	first := path[0].item
	var b strings.Builder
	name := func(part []visit) {
		for _, v := range part {
			b.WriteString(n.r.entries[v.item].id)
			b.WriteString(" -> ")
		}
	}
	if cut := len(path) - head - tail; cut > 0 {
		name(path[:head])
		fmt.Fprintf(&b, "… %d more … -> ", cut)
		path = path[head+cut:]
	}
	name(path)
	b.WriteString(n.r.entries[first].id)
	n.about(first, SeverityError, "dependency_cycle", "these items wait for each other: "+b.String())
}
