package plan

import (
	"fmt"
	"strconv"
	"strings"
)

// This file creates items from records, and resolves their parents and dependencies when all items are known.

// record is an item as its file contains it.
type record struct {
	id      string // as written
	derived bool   // the file has no id
	// prefix begins the derived id of a record without one.
	prefix   string
	from, to int
	named    int // offset of its id or title
	status   Status
	mark     Span // of the status word; zero if it cannot be written
	// below is 1 + the index of the item that contains this record. parent is the id of a parent that the file names.
	below  int32
	parent string
	waits  []string
}

// add creates the item of a record.
func (x *records) add(k int, rec record) int32 {
	i := int32(x.r.Len())
	id := x.nameRecord(k, &rec)
	line, _ := x.places.of(k, rec.named)
	x.r.entries = append(x.r.entries, entry{
		id: id, from: int32(rec.from), to: int32(rec.to), mark: int32(rec.mark.Start), markEnd: int32(rec.mark.End),
		line: int32(line), parent: rec.below - 1, level: -1, status: rec.status, derivedID: rec.derived, worded: rec.mark.End > 0,
	})
	x.nodes = append(x.nodes, node{})
	x.parents, x.waiting = append(x.parents, rec.parent), append(x.waiting, rec.waits)
	if rec.status == InProgress && x.r.active < 0 {
		x.r.active = i
	}
	if first := x.r.index.put(x.r.entries, i); first != i {
		x.note(k, rec.named, SeverityError, "duplicate_id",
			fmt.Sprintf("id %s is in %s and again in %s: the id refers to the first one",
				id, x.r.where(&x.r.entries[first]), x.r.where(&x.r.entries[i])))
	}
	return i
}

// nameRecord returns the id of a record, or derives one if it has no usable id.
func (x *records) nameRecord(k int, rec *record) string {
	id := rec.id
	if !usableID(id) {
		prefix := rec.prefix
		if prefix == "" {
			prefix = "item"
		}
		id, rec.derived = prefix+"/"+strconv.Itoa(x.lineage.count(prefix)), true
	}
	if rec.derived {
		x.note(k, rec.named, SeverityInfo, "derived_id", fmt.Sprintf("this task has no id of its own: its id is %s", id))
	}
	return id
}

// readStatus parses the status word at the offset. An unknown word means open.
func (x *records) readStatus(k, offset int, word string) Status {
	status, ok := WordStatus(word)
	switch {
	case ok:
		return status
	case word == "":
		x.note(k, offset, SeverityWarning, "unknown_mark", "this task has no status, so it is open")
	default:
		x.note(k, offset, SeverityWarning, "unknown_mark",
			fmt.Sprintf("the status %q has no meaning here, so the item is open: use %s", clip(word), x.g.usable))
	}
	return Pending
}

// resolveID returns the item with an id.
func (x *records) resolveID(id string) int32 {
	i := x.r.find(id)
	if i < 0 && x.folded != nil {
		if at, ok := x.folded[strings.ToLower(id)]; ok {
			return at
		}
	}
	return i
}

// fold makes ids equal that differ only in case.
func (x *records) fold() {
	x.folded = make(map[string]int32, x.r.Len())
	for i := range x.r.entries {
		id := strings.ToLower(x.r.entries[i].id)
		if _, taken := x.folded[id]; !taken {
			x.folded[id] = int32(i)
		}
	}
}

// relate resolves the parent and the dependencies of each item.
func (x *records) relate() {
	for i := range x.r.entries {
		e := &x.r.entries[i]
		if id := x.parents[i]; id != "" {
			if e.parent = x.resolveID(id); e.parent < 0 {
				x.numbered.about(int32(i), SeverityWarning, "parent_unresolved",
					fmt.Sprintf("%s names %q as its parent, which is not an id in this plan", e.id, clip(id)))
			}
		}
		var ids []string
		for _, id := range x.waiting[i] {
			if to := x.resolveID(id); to >= 0 {
				id = x.r.entries[to].id
			}
			ids = append(ids, id)
		}
		if ids != nil {
			x.r.waits = append(x.r.waits, wait{item: int32(i), ids: ids})
		}
	}
	x.uncircle()
}

// uncircle removes the parent of one item in each circle of parents.
func (x *records) uncircle() {
	visited := make([]int32, x.r.Len()) // the walk that visited an item, counted from 1
	for i := range x.r.entries {
		at := int32(i)
		for at >= 0 && visited[at] == 0 {
			visited[at] = int32(i) + 1
			at = x.r.entries[at].parent
		}
		if at < 0 || visited[at] != int32(i)+1 {
			continue
		}
		x.numbered.about(at, SeverityError, "parent_cycle",
			fmt.Sprintf("%s is its own ancestor, so its parent %s does not count", x.r.entries[at].id, x.r.entries[x.r.entries[at].parent].id))
		x.r.entries[at].parent = -1
	}
}
