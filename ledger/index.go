package ledger

import (
	"hash/maphash"
	"math/bits"
)

// index finds the first item of each id. It is a table with open addressing:
// every id of a plan is looked up as it is read, and a map costs twice as much.
type index struct {
	slots []slot // their number is a power of two
	used  int
}

// slot holds 1 + the item, 0 when it is free, and half of the hash of the id,
// which saves a look at most of the items that are not meant.
type slot struct{ entry, tag uint32 }

// The seed is another in each process, so that no plan can be written whose
// ids all fall into one slot. Nothing that can be seen depends on it.
var indexSeed = maphash.MakeSeed()

func newIndex(items int) index {
	return index{slots: make([]slot, 1<<bits.Len(uint(items*4)))}
}

// built reports whether the index has been made, if only for no items.
func (x *index) built() bool { return x.slots != nil }

// put enters items[i] unless its id is there already, and returns the first
// item with that id.
func (x *index) put(items []Item, i int32) (first int32) {
	if 2*x.used >= len(x.slots) {
		x.grow(items)
	}
	s, tag := x.find(items, items[i].ID)
	if s.entry == 0 {
		*s = slot{uint32(i) + 1, tag}
		x.used++
	}
	return int32(s.entry) - 1
}

func (x *index) grow(items []Item) {
	old := x.slots
	x.slots = make([]slot, 2*len(old))
	for _, s := range old {
		if s.entry != 0 {
			free, _ := x.find(items, items[s.entry-1].ID)
			*free = s
		}
	}
}

// get returns the first item with the id, -1 for none.
func (x *index) get(items []Item, id string) int32 {
	s, _ := x.find(items, id)
	return int32(s.entry) - 1
}

// find returns the slot of the id, or the free one where it would go, and its
// tag. At least half of the slots are free, so the search ends.
func (x *index) find(items []Item, id string) (*slot, uint32) {
	hash := maphash.String(indexSeed, id)
	tag, mask := uint32(hash>>32), uint64(len(x.slots)-1)
	for at := hash & mask; ; at = (at + 1) & mask {
		s := &x.slots[at]
		if s.entry == 0 || s.tag == tag && items[s.entry-1].ID == id {
			return s, tag
		}
	}
}
