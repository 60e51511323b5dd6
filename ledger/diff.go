package ledger

import "slices"

// ChangeKind says what happened to an item. The zero value is no kind.
type ChangeKind uint8

const (
	// Added means that only the new reading has the item.
	Added ChangeKind = iota + 1
	// Removed means that only the old reading has it.
	Removed
	// Changed means that both have it, with other content or in another order.
	Changed
)

var changeNames = [...]string{Added: "added", Removed: "removed", Changed: "changed"}

// String returns the word for k on the wire, and "" for a value that is no kind.
func (k ChangeKind) String() string {
	if int(k) >= len(changeNames) {
		return ""
	}
	return changeNames[k]
}

// Change is one difference between two readings.
//
// Who takes the removed and changed items out of the old reading and then puts
// the added and changed ones in at their Index, in the order of the changes,
// has the items of the new reading in its order. Only Line and Mark of the
// others may be outdated: they tell where an item stands, not what it says.
type Change struct {
	ItemID string
	Kind   ChangeKind
	// Occurrence tells items with one id apart, from 0 in the order of the file.
	Occurrence int
	// Index is the place in the new reading, in the old one when Removed.
	Index int
	// Item is the new item, the old one when Removed.
	Item Item
}

// Diff tells what to do to the items of one reading to get those of another.
// Either may be nil. Removed items come first, the others in their new order.
func Diff(from, to *Reading) []Change {
	if from == nil {
		from = &Reading{}
	}
	if to == nil {
		to = &Reading{}
	}
	shorter := min(from.Len(), to.Len())
	// Most edits touch a few neighbours. What is the same before and behind them costs one look each.
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

// diff compares what lies between a head and a tail that are the same.
func diff(from, to *Reading, head, tail int) []Change {
	keysBefore, keysAfter := keys(from.entries, head, tail), keys(to.entries, head, tail)
	places := make(map[itemKey]int, len(keysBefore))
	for i, k := range keysBefore {
		places[k] = i
	}
	origin := make([]int, len(keysAfter)) // the place before, -1 for none
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
			changes = append(changes, Change{k.id, Removed, k.occurrence, head + i, from.item(int32(head + i))})
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
		changes = append(changes, Change{k.id, kind, k.occurrence, head + i, to.item(int32(head + i))})
	}
	return changes
}

// itemKey names an item of a reading, also where an id stands twice.
type itemKey struct {
	id         string
	occurrence int
}

// keys names the items between a head and a tail.
func keys(entries []entry, head, tail int) []itemKey {
	middle := entries[head : len(entries)-tail]
	if len(middle) == 0 {
		return nil
	}
	seen := make(map[string]int, len(middle))
	for i := range middle {
		seen[middle[i].id] = 0
	}
	for i := range entries[:head] {
		if n, ok := seen[entries[i].id]; ok {
			seen[entries[i].id] = n + 1
		}
	}
	ks := make([]itemKey, len(middle))
	for i := range middle {
		id := middle[i].id
		ks[i] = itemKey{id, seen[id]}
		seen[id]++
	}
	return ks
}

// inOrder marks a longest rising run of places: these items stay where they
// are and all others moved around them. Negative places belong to none.
func inOrder(places []int) []bool {
	ends := make([]int, 0, len(places)) // index of the lowest end of a run of each length
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
