package plan

import (
	"slices"
	"strings"
)

// ChangeKind is the kind of a Change. The zero value is invalid.
type ChangeKind uint8

const (
	// Added means that only the new reading has the item.
	Added ChangeKind = iota + 1
	// Removed means that only the old reading has it.
	Removed
	// Changed means that both have the item, with different content or in a different order.
	Changed
)

// Change is one difference between two readings.
//
// To convert the old reading to the new one, remove the removed and changed items. Then insert the added and changed
// items at their Index, in the order of the changes. The other items may have an outdated Line or Mark, which are
// positions and not content.
type Change struct {
	ItemID string
	Kind   ChangeKind
	// Occurrence distinguishes items with the same id, from 0 in file order.
	Occurrence int
	// Index is the position in the new reading, or in the old one for Removed.
	Index int
	// Item is the new item, or the old one for Removed.
	Item Item
}

// Diff returns the changes that convert the items of one reading to those of another. Either may be nil. Removed items
// come first, then the others in their new order.
func Diff(from, to *Reading) []Change {
	if from == nil {
		from = &Reading{}
	}
	if to == nil {
		to = &Reading{}
	}
	shorter := min(from.Len(), to.Len())
	// Most edits affect a few adjacent items. All other items then cost one comparison each.
	head := 0
	for head < shorter && from.same(head, to, head) {
		head++
	}
	tail := 0
	for tail < shorter-head && from.same(from.Len()-1-tail, to, to.Len()-1-tail) {
		tail++
	}
	return diff(from, to, head, tail)
}

// diff compares the items between an identical head and an identical tail.
func diff(from, to *Reading, head, tail int) []Change {
	keysBefore, keysAfter := keys(from.Rows().Entries, head, tail), keys(to.Rows().Entries, head, tail)
	places := make(map[itemKey]int, len(keysBefore))
	for i, k := range keysBefore {
		places[k] = i
	}
	origin := make([]int, len(keysAfter)) // the old position, -1 for none
	for i, k := range keysAfter {
		origin[i] = -1
		if place, ok := places[k]; ok {
			origin[i] = place
			delete(places, k)
		}
	}
	var changes []Change
	for i, k := range keysBefore {
		if _, gone := places[k]; gone {
			changes = append(changes, Change{k.id, Removed, k.occurrence, head + i, from.At(int32(head + i))})
		}
	}
	stays := inOrder(origin)
	for i, k := range keysAfter {
		kind := Changed
		switch {
		case origin[i] < 0:
			kind = Added
		case stays[i] && from.same(head+origin[i], to, head+i):
			continue
		}
		changes = append(changes, Change{k.id, kind, k.occurrence, head + i, to.At(int32(head + i))})
	}
	return changes
}

// itemKey identifies an item of a reading, even if its id occurs twice.
type itemKey struct {
	id         string
	occurrence int
}

// keys returns the keys of the items between a head and a tail.
func keys(entries []Entry, head, tail int) []itemKey {
	middle := entries[head : len(entries)-tail]
	if len(middle) == 0 {
		return nil
	}
	seen := make(map[string]int, len(middle))
	for i := range middle {
		seen[middle[i].ID] = 0
	}
	for i := range entries[:head] {
		if n, ok := seen[entries[i].ID]; ok {
			seen[entries[i].ID] = n + 1
		}
	}
	ks := make([]itemKey, len(middle))
	for i := range middle {
		id := middle[i].ID
		ks[i] = itemKey{id, seen[id]}
		seen[id]++
	}
	return ks
}

// inOrder marks a longest increasing subsequence of positions. These items stay, and all others move around them.
// Negative positions are never marked.
func inOrder(places []int) []bool {
	ends := make([]int, 0, len(places)) // index of the lowest end of a subsequence of each length
	before := make([]int, len(places))
	for i, place := range places {
		if place < 0 {
			continue
		}
		n, _ := slices.BinarySearchFunc(ends, place, func(end, place int) int { return places[end] - place })
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		}
		ends[n] = i
	}
	stays := make([]bool, len(places))
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = before[i] {
			stays[i] = true
		}
	}
	return stays
}

// same reports whether an item of r and an item of another reading have the same content, regardless of position. It
// does not compare a wide prerequisite, because that follows from other items.
func (r *Reading) same(i int, other *Reading, j int) bool {
	a, b := &r.rows.Entries[i], &other.rows.Entries[j]
	if a.ID != b.ID || a.Status != b.Status || a.Derived != b.Derived || a.Optional != b.Optional || a.Level != b.Level ||
		r.parentID(a) != other.parentID(b) || !slices.Equal(r.rows.DependsOn(int32(i)), other.rows.DependsOn(int32(j))) {
		return false
	}
	// The same lines mean the same, unless a header above them or a comment below them says what they mean.
	before, after := r.rows.Text[a.From:a.To], other.rows.Text[b.From:b.To]
	whole := r.rows.Whole && other.rows.Whole && a.Place == InText && b.Place == InText && r.Dialect == other.Dialect &&
		len(r.rows.RestsOf(int32(i)))+len(other.rows.RestsOf(int32(j))) == 0
	if whole && before == after && !strings.Contains(before, "<!--") {
		return true
	}
	x, y := r.At(int32(i)), other.At(int32(j))
	return x.same(&y.Description)
}

func (r *Reading) parentID(e *Entry) string {
	if e.Parent < 0 {
		return ""
	}
	return r.rows.Entries[e.Parent].ID
}

// same reports whether two descriptions are equal.
func (d *Description) same(o *Description) bool {
	return d.Title == o.Title && d.Parallel == o.Parallel && d.Prompt == o.Prompt && d.Leverage == o.Leverage &&
		d.Purpose == o.Purpose && d.BlockedReason == o.BlockedReason && slices.Equal(d.Requirements, o.Requirements) &&
		slices.Equal(d.Files, o.Files) && slices.Equal(d.Details, o.Details)
}
