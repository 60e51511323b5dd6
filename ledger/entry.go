package ledger

import (
	"fmt"
	"slices"
	"sort"
)

// This file holds what a reading keeps of each item. That is what the items
// are to each other. How an item is described stays in the text and is read
// when somebody asks: a file that has changed is mostly read for one item.

// entry is an item without its description.
type entry struct {
	id string
	// Its lines are text[from:to]. They begin with its heading where it got its
	// id from there.
	from, to int32
	// mask is where what hides the item ends, for one that stands in a fence or
	// a comment and counts all the same.
	mask            int32
	mark, markEnd   int32
	line            int32
	parent, level   int32 // no parent: -1
	status, derived Status
	optional        bool
	derivedID       bool // no author wrote the id
	worded          bool // mark is a word or a sign for the status, and not in a box
	withdrawn       bool // struck through: its mark does not count
	follows         bool // it says nothing of its status, which is that of its children
	place           place
}

// rest is more lines of an item, behind those of the items below it: text[from:to].
type rest struct{ item, from, to int32 }

// restOf gives what an item has of such lines, in the order of the file.
func (r *Reading) restOf(i int32) []rest {
	from := sort.Search(len(r.rests), func(k int) bool { return r.rests[k].item >= i })
	to := from
	for to < len(r.rests) && r.rests[to].item == i {
		to++
	}
	return r.rests[from:to]
}

// wait is what an item waits for.
type wait struct {
	item   int32
	behind int32 // a wall, 0 for none
	ids    []string
}

// item puts an item together.
func (r *Reading) item(i int32) Item {
	e := &r.entries[i]
	it := Item{
		ID: e.id, Source: r.source(e), Line: int(e.line), Level: int(e.level), Status: e.status, DerivedStatus: e.derived,
		Optional: e.optional, DerivedID: e.derivedID, ParentID: r.parentID(e), DependsOn: r.dependsOn(i),
		Behind: r.behind(i), Mark: Span{int(e.mark), int(e.markEnd)}, Worded: e.worded,
	}
	describe(r, i, &it)
	return it
}

// source gives the name of the file that an item stands in, "" in a plan of one file.
func (r *Reading) source(e *entry) string {
	if r.files == nil {
		return ""
	}
	return r.files[fileAt(r.files, int(e.from))].name
}

// where says in a message where an item stands.
func (r *Reading) where(e *entry) string {
	if r.files == nil {
		return fmt.Sprintf("line %d", e.line)
	}
	return fmt.Sprintf("line %d of %s", e.line, clip(r.source(e)))
}

func (r *Reading) parentID(e *entry) string {
	if e.parent < 0 {
		return ""
	}
	return r.entries[e.parent].id
}

// wait returns what an item waits for, nil for nothing.
func (r *Reading) wait(i int32) *wait {
	at := sort.Search(len(r.waits), func(w int) bool { return r.waits[w].item >= i })
	if at == len(r.waits) || r.waits[at].item != i {
		return nil
	}
	return &r.waits[at]
}

func (r *Reading) dependsOn(i int32) []string {
	if w := r.wait(i); w != nil {
		return r.barriers.before(w)
	}
	return nil
}

func (r *Reading) behind(i int32) [][]string {
	if w := r.wait(i); w != nil {
		return r.barriers.behind(w)
	}
	return nil
}

// lines returns the lines that an item is read from.
func (r *Reading) lines(e *entry) string { return r.text[e.from:e.to] }

// same reports whether an item of r says the same as one of another reading,
// wherever they stand. A wall that is too wide to be repeated is not compared:
// it is what other items are.
func (r *Reading) same(i int, other *Reading, j int) bool {
	a, b := &r.entries[i], &other.entries[j]
	if a.id != b.id || a.status != b.status || a.derived != b.derived || a.optional != b.optional || a.level != b.level ||
		r.parentID(a) != other.parentID(b) || !slices.Equal(r.dependsOn(int32(i)), other.dependsOn(int32(j))) {
		return false
	}
	alike := r.grammar == other.grammar && r.grammar != &tableGrammar // where a header says what the lines mean
	whole := len(r.restOf(int32(i)))+len(other.restOf(int32(j))) == 0
	if a.place == placeText && b.place == placeText && alike && whole && r.lines(a) == other.lines(b) {
		return true
	}
	x, y := r.item(int32(i)), other.item(int32(j))
	return sameDescription(&x, &y)
}

func sameDescription(a, b *Item) bool {
	return a.Title == b.Title && a.Parallel == b.Parallel && a.Prompt == b.Prompt && a.Leverage == b.Leverage &&
		a.Purpose == b.Purpose && a.BlockedReason == b.BlockedReason && slices.Equal(a.Requirements, b.Requirements) &&
		slices.Equal(a.Files, b.Files) && slices.Equal(a.Details, b.Details)
}
