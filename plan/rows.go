package plan

import (
	"fmt"
	"hash/maphash"
	"math/bits"
	"sort"
)

// Rows are the items of a plan as a reader finds them, without their descriptions. A reader appends entries and
// dependencies, graph.Settle completes them, and nothing changes them afterwards.
type Rows struct {
	// Text is the text of the plan, and Files are the files in it. Files is nil for a plan of one file.
	Text  string
	Files []FileSpan
	// Entries are in file order.
	Entries []Entry
	// Waits are in item order, at most one for each item.
	Waits  []Wait
	Groups Groups
	// Rests are in item order.
	Rests []Rest
	// Active is the first item in progress, or -1.
	Active int32
	// Whole means that the lines of an item alone say what it is. The rows of a table need their header.
	Whole bool
	ids   idTable
}

// Entry is an item without its description.
type Entry struct {
	ID string
	// From and To are the item's lines in the text. They begin with its heading if the id comes from there.
	From, To int32
	// Mask is the end of the code fence or comment that contains an item which counts anyway.
	Mask int32
	// Mark and MarkEnd are the span of the mark, or of the status word. MarkEnd is 0 for an item without one.
	Mark, MarkEnd int32
	Line          int32
	// Parent is the index of the parent, or -1. Level is the number of ancestors.
	Parent, Level int32
	// Status is the status in the plan. Derived follows from the children, and is 0 without any.
	Status, Derived Status
	Place           Place
	Optional        bool
	DerivedID       bool // the plan does not contain the id
	Worded          bool // the mark is a word or sign, not the mark in a checkbox
	Withdrawn       bool // struck through: its mark does not count
	Follows         bool // it has no status of its own and follows its children
}

// Place says whether a line is ordinary text, or part of a code fence or a comment.
type Place uint8

// The places of a line.
const (
	InText Place = iota
	InFence
	InComment
)

// Wait holds the dependencies of an item: the ids that it names, and a prerequisite of Groups, counted from 1.
type Wait struct {
	Item         int32
	Prerequisite int32
	IDs          []string
}

// Groups hold dependencies on many items at once, such as all items of a phase. Ten thousand items that wait for ten
// thousand others need two lists instead of a hundred million pairs.
type Groups struct {
	// IDs are the members of each group. All items that wait for a group share its list.
	IDs           [][]string
	Prerequisites []Prerequisite
	// Wide means that the prerequisites contain too many ids to repeat them for each item.
	Wide bool
}

// Prerequisite is a set of groups whose items must all be done first. Circular marks a reported circle.
type Prerequisite struct {
	Groups   []int32
	Circular bool
}

// Rest is a further range of lines of an item, after the items below it.
type Rest struct{ Item, From, To int32 }

// FileSpan is one file of a folder plan: a range of the text.
type FileSpan struct {
	Name     string
	From, To int
}

// NewRows returns rows without entries, with room for some.
func NewRows(text string, room int) *Rows {
	return &Rows{Text: text, Entries: make([]Entry, 0, room), Active: -1, ids: newIDTable(room)}
}

// Add appends an entry. It returns its index and the index of the first item with the same id.
func (r *Rows) Add(e Entry) (i, first int32) {
	i = int32(len(r.Entries))
	r.Entries = append(r.Entries, e)
	if r.Active < 0 && e.Status == InProgress {
		r.Active = i
	}
	return i, r.ids.put(r.Entries, i)
}

// Find returns the index of the first item with the id, or -1.
func (r *Rows) Find(id string) int32 {
	if len(r.Entries) == 0 {
		return -1
	}
	return r.ids.get(r.Entries, id)
}

// WaitOf returns the dependencies of an item, or nil.
func (r *Rows) WaitOf(item int32) *Wait {
	at := sort.Search(len(r.Waits), func(w int) bool { return r.Waits[w].Item >= item })
	if at == len(r.Waits) || r.Waits[at].Item != item {
		return nil
	}
	return &r.Waits[at]
}

// RestsOf returns the further ranges of an item.
func (r *Rows) RestsOf(item int32) []Rest {
	from := sort.Search(len(r.Rests), func(k int) bool { return r.Rests[k].Item >= item })
	to := from
	for to < len(r.Rests) && r.Rests[to].Item == item {
		to++
	}
	return r.Rests[from:to]
}

// AddWait adds dependencies to an item. It is fast for the last item.
func (r *Rows) AddWait(item int32, ids []string) {
	if len(ids) == 0 {
		return
	}
	if last := len(r.Waits) - 1; last < 0 || r.Waits[last].Item < item {
		r.Waits = append(r.Waits, Wait{Item: item, IDs: ids})
		return
	}
	at := sort.Search(len(r.Waits), func(w int) bool { return r.Waits[w].Item >= item })
	if at == len(r.Waits) || r.Waits[at].Item != item {
		r.Waits = append(r.Waits, Wait{})
		copy(r.Waits[at+1:], r.Waits[at:])
		r.Waits[at] = Wait{Item: item}
	}
	r.Waits[at].IDs = append(r.Waits[at].IDs, ids...)
}

// Where returns the position of an item for a message.
func (r *Rows) Where(i int32) string {
	e := &r.Entries[i]
	if r.Files == nil {
		return fmt.Sprintf("line %d", e.Line)
	}
	return fmt.Sprintf("line %d of %s", e.Line, clip(r.Files[r.FileAt(int(e.From))].Name))
}

// FileAt returns the index of the file that contains the offset.
func (r *Rows) FileAt(offset int) int {
	return max(0, sort.Search(len(r.Files), func(k int) bool { return r.Files[k].From > offset })-1)
}

// idTable finds the first item with an id. It is a hash table with open addressing, because every id of a plan is
// looked up during parsing and a Go map takes twice as long.
type idTable struct {
	slots []idSlot // their number is a power of two
	used  int
}

// idSlot holds 1 + the item, or 0 if it is free, and half of the id's hash, which avoids most comparisons of ids.
type idSlot struct{ entry, tag uint32 }

// The seed differs in each process, so that a hostile plan cannot put all ids into one slot. No result depends on it.
var idSeed = maphash.MakeSeed()

func newIDTable(items int) idTable {
	return idTable{slots: make([]idSlot, 1<<bits.Len(uint(max(items, 1)*2)))}
}

// put adds entries[i], unless its id is already present, and returns the first item with that id.
func (x *idTable) put(entries []Entry, i int32) (first int32) {
	if 2*x.used >= len(x.slots) {
		old := x.slots
		x.slots = make([]idSlot, 2*len(old))
		for _, s := range old {
			if s.entry != 0 {
				free, _ := x.find(entries, entries[s.entry-1].ID)
				*free = s
			}
		}
	}
	s, tag := x.find(entries, entries[i].ID)
	if s.entry == 0 {
		*s = idSlot{uint32(i) + 1, tag}
		x.used++
	}
	return int32(s.entry) - 1
}

// get returns the first item with the id, or -1.
func (x *idTable) get(entries []Entry, id string) int32 {
	s, _ := x.find(entries, id)
	return int32(s.entry) - 1
}

// find returns the slot of the id, or the free slot for it, and its tag. At least half of the slots are free, so the
// search ends.
func (x *idTable) find(entries []Entry, id string) (*idSlot, uint32) {
	hash := maphash.String(idSeed, id)
	tag, mask := uint32(hash>>32), uint64(len(x.slots)-1)
	for at := hash & mask; ; at = (at + 1) & mask {
		s := &x.slots[at]
		if s.entry == 0 || s.tag == tag && entries[s.entry-1].ID == id {
			return s, tag
		}
	}
}

// Len returns the number of entries.
func (r *Rows) Len() int32 { return int32(len(r.Entries)) }
