package plan

import (
	"hash/maphash"
	"math/bits"
)

// index finds the first item with an id. It is a hash table with open addressing, because every id of a plan is looked
// up during parsing and a Go map takes twice as long.
type index struct {
	slots []slot // their number is a power of two
	used  int
}

// slot holds 1 + the item, or 0 if it is free, and half of the id's hash. The hash avoids most comparisons of ids.
type slot struct{ entry, tag uint32 }

// The seed differs in each process, so that a hostile plan cannot put all ids into one slot. No result depends on it.
var indexSeed = maphash.MakeSeed()

func newIndex(items int) index {
	return index{slots: make([]slot, 1<<bits.Len(uint(max(items, 1)*2)))}
}

// put adds items[i], unless its id is already present, and returns the first item with that id.
func (x *index) put(entries []entry, i int32) (first int32) {
	if 2*x.used >= len(x.slots) {
		x.grow(entries)
	}
	s, tag := x.find(entries, entries[i].id)
	if s.entry == 0 {
		*s = slot{uint32(i) + 1, tag}
		x.used++
	}
	return int32(s.entry) - 1
}

func (x *index) grow(entries []entry) {
	old := x.slots
	x.slots = make([]slot, 2*len(old))
	for _, s := range old {
		if s.entry != 0 {
			free, _ := x.find(entries, entries[s.entry-1].id)
			*free = s
		}
	}
}

// get returns the first item with the id, or -1.
func (x *index) get(entries []entry, id string) int32 {
	s, _ := x.find(entries, id)
	return int32(s.entry) - 1
}

// find returns the slot of the id, or the free slot for it, and its tag. At least half of the slots are free, so the
// search ends.
func (x *index) find(entries []entry, id string) (*slot, uint32) {
	hash := maphash.String(indexSeed, id)
	tag, mask := uint32(hash>>32), uint64(len(x.slots)-1)
	for at := hash & mask; ; at = (at + 1) & mask {
		s := &x.slots[at]
		if s.entry == 0 || s.tag == tag && entries[s.entry-1].id == id {
			return s, tag
		}
	}
}
