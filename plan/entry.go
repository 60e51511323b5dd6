package plan

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// This file holds the part of an item that a reading keeps in memory: its relations to other items. The description is
// read from the text on demand, because callers mostly need only one item of a changed file.

// entry is an item without its description.
type entry struct {
	id string
	// The item's lines are text[from:to]. They begin with its heading if the id comes from there.
	from, to int32
	// mask is the end of the code fence or comment that contains an item which counts anyway.
	mask            int32
	mark, markEnd   int32
	line            int32
	parent, level   int32 // no parent: -1
	status, derived Status
	optional        bool
	derivedID       bool // the plan does not contain the id
	worded          bool // mark is a word or sign for the status, not the mark in a checkbox
	withdrawn       bool // struck through: its mark does not count
	follows         bool // it has no status of its own and follows its children
	place           place
}

// rest are further lines of an item, after the items below it: text[from:to].
type rest struct{ item, from, to int32 }

// restOf returns the further lines of an item, in file order.
func (r *Reading) restOf(i int32) []rest {
	from := sort.Search(len(r.rests), func(k int) bool { return r.rests[k].item >= i })
	to := from
	for to < len(r.rests) && r.rests[to].item == i {
		to++
	}
	return r.rests[from:to]
}

// wait holds the dependencies of an item.
type wait struct {
	item         int32
	prerequisite int32 // 0 for none
	ids          []string
}

// item returns the complete item.
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

// source returns the name of the file that contains an item, or "" in a plan of one file.
func (r *Reading) source(e *entry) string {
	if r.files == nil {
		return ""
	}
	return r.files[fileAt(r.files, int(e.from))].name
}

// where returns the position of an item for a message.
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

// wait returns the dependencies of an item, or nil for none.
func (r *Reading) wait(i int32) *wait {
	at := sort.Search(len(r.waits), func(w int) bool { return r.waits[w].item >= i })
	if at == len(r.waits) || r.waits[at].item != i {
		return nil
	}
	return &r.waits[at]
}

func (r *Reading) dependsOn(i int32) []string {
	if w := r.wait(i); w != nil {
		return r.dependencyGroups.before(w)
	}
	return nil
}

func (r *Reading) behind(i int32) [][]string {
	if w := r.wait(i); w != nil {
		return r.dependencyGroups.behind(w)
	}
	return nil
}

// lines returns the text of an item.
func (r *Reading) lines(e *entry) string { return r.text[e.from:e.to] }

// same reports whether an item of r and an item of another reading have the same content, regardless of position. It
// does not compare a wide prerequisite, because that follows from other items.
func (r *Reading) same(i int, other *Reading, j int) bool {
	a, b := &r.entries[i], &other.entries[j]
	if a.id != b.id || a.status != b.status || a.derived != b.derived || a.optional != b.optional || a.level != b.level ||
		r.parentID(a) != other.parentID(b) || !slices.Equal(r.dependsOn(int32(i)), other.dependsOn(int32(j))) {
		return false
	}
	alike := r.grammar == other.grammar && r.grammar != &tableGrammar // where a header says what the lines mean
	whole := len(r.restOf(int32(i)))+len(other.restOf(int32(j))) == 0
	if a.place == placeText && b.place == placeText && alike && whole && r.lines(a) == other.lines(b) && !strings.Contains(r.lines(a), "<!--") {
		return true // which a comment that is closed further below, or not at all, would not allow to say
	}
	x, y := r.item(int32(i)), other.item(int32(j))
	return sameDescription(&x, &y)
}

func sameDescription(a, b *Item) bool {
	return a.Title == b.Title && a.Parallel == b.Parallel && a.Prompt == b.Prompt && a.Leverage == b.Leverage &&
		a.Purpose == b.Purpose && a.BlockedReason == b.BlockedReason && slices.Equal(a.Requirements, b.Requirements) &&
		slices.Equal(a.Files, b.Files) && slices.Equal(a.Details, b.Details)
}
