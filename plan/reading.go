package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"strings"
	"unicode/utf8"
)

// Span is a range of byte offsets in the source, without End.
type Span struct{ Start, End int }

// Item is one task of a plan.
type Item struct {
	Description
	// ID is the text of the id. It is never compared as a number: 1.1 and 1.10 are different ids.
	ID string
	// Source is the name of the file in a folder plan, relative to the folder. It is "" in a plan of one file.
	Source string
	// Line is the line number in the file Source, counted from 1.
	Line int
	// Level is the number of ancestors, 0 for an item at the top.
	Level  int
	Status Status
	// DerivedStatus is the status that follows from the children, or 0 for an item without children. Status is always
	// the status in the plan.
	DerivedStatus Status
	// Optional items do not delay the completion of their parent.
	Optional bool
	// DerivedID means that the id is not in the plan but was derived. Do not write it into the file.
	DerivedID bool
	// ParentID is the id of the parent, or "" at the top.
	ParentID string
	// DependsOn are the ids in the spelling of the plan, with ranges expanded. An unknown id stays in the list and has
	// a diagnostic.
	DependsOn []string
	// Behind are lists of further ids that the item waits for. They are used if wide phases or waves would make
	// DependsOn too long. Items share these lists.
	Behind [][]string
	// Below are the titles and statuses of the children. Only the current item of a ProgressLedger has them.
	Below []string
	// Mark is the span between the brackets of the checkbox, empty for "[]". In a table row it is the span of the
	// word, checkbox or sign with the status, or an empty span in an empty cell. Mark.End is 0 only for an item
	// without a written status.
	Mark Span
	// Worded items have no checkbox. Mark is then the span of the status word or sign.
	Worded bool
}

// Description is the content of an item's lines besides its id and status.
type Description struct {
	Title, Prompt                    string
	Parallel                         bool
	Requirements, Files, Details     []string
	Leverage, Purpose, BlockedReason string
}

// Diagnostic is a message about one position in a plan.
type Diagnostic struct {
	// Source is the name of the file in a folder plan, relative to the folder. It is "" in a plan of one file.
	Source string
	// Line and Column count from 1. Columns count characters.
	Line, Column int
	Severity     Severity
	Code         string
	Message      string
	// NotATask is set in exactly one diagnostic of each checkbox that is not an item.
	NotATask bool
	// Open means open work that is not an item. The totals count it, and the plan is not complete.
	Open bool
}

// Totals counts the work in a plan file: each item without children once, and each open checkbox that is not an item.
// Items with children are counted only in Groups.
type Totals struct {
	Total, Completed, InProgress, Pending, Blocked, Skipped, Groups int
	// Unread is the part of Pending that is not an item: the number of diagnostics marked Open.
	Unread int
}

// Items returns the number of items in the totals, including groups.
func (t *Totals) Items() int { return t.Total - t.Unread + t.Groups }

// OpenBoxes returns the first open checkboxes and signs that are not items, at most most of them.
func (r *Reading) OpenBoxes(most int) (open []Diagnostic) {
	for i := range r.Diagnostics {
		if len(open) == min(most, r.Totals.Unread) {
			break
		}
		if r.Diagnostics[i].Open {
			open = append(open, r.Diagnostics[i])
		}
	}
	return open
}

// AddUnread counts the open work that is not an item.
func (t *Totals) AddUnread(diagnostics []Diagnostic) {
	for i := range diagnostics {
		if diagnostics[i].Open {
			t.Add(Pending)
			t.Unread++
		}
	}
}

// Add counts an item with a status.
func (t *Totals) Add(s Status) {
	t.Total++
	switch s {
	case Pending:
		t.Pending++
	case InProgress:
		t.InProgress++
	case Completed:
		t.Completed++
	case Blocked:
		t.Blocked++
	case Skipped:
		t.Skipped++
	}
}

// Fingerprint identifies one version of a file. Versions with equal Hash are equal. MtimeMs is only a hint, and the
// caller sets it.
type Fingerprint struct {
	MtimeMs, Size int64
	// Hash is the SHA-256 of the bytes in lower-case hex.
	Hash string
}

// Evidence is one reason for a dialect. A reason for a dialect other than the chosen one names an alternative.
type Evidence struct {
	Line    int
	Dialect string
	Signal  string
}

// Reading is the content of a parsed plan file. It is immutable, and callers must not modify its slices.
type Reading struct {
	// Dialect is one of Dialects, or "" for a blank file.
	Dialect  string
	Evidence []Evidence
	Fingerprint
	// Diagnostics are in the order of files and lines.
	Diagnostics []Diagnostic
	Totals      Totals
	// Checkboxes is the number of checkboxes in the file, without those in table cells. It equals the number of items
	// from checkboxes plus the number of diagnostics marked NotATask.
	Checkboxes int

	rows     *Rows
	hints    Hints
	describe func(i int32, it *Item)
}

// NewReading returns a reading of rows. describe fills in the description of an item. It may be called at any time.
func NewReading(rows *Rows, hints Hints, describe func(i int32, it *Item)) *Reading {
	return &Reading{rows: rows, hints: hints, describe: describe, Fingerprint: Fingerprint{Size: int64(len(rows.Text))}}
}

// noRows are the rows of a Reading that no reader made.
var noRows = &Rows{Active: -1}

// Rows returns the items without their descriptions. The caller must not modify them.
func (r *Reading) Rows() *Rows {
	if r.rows == nil {
		return noRows
	}
	return r.rows
}

// Hints returns the facts besides the text that the plan was read with.
func (r *Reading) Hints() Hints { return r.hints }

// Len returns the number of items.
func (r *Reading) Len() int { return len(r.Rows().Entries) }

// Items returns all items in file order. Each call parses their descriptions again, which takes about as long as
// reading the plan.
func (r *Reading) Items() []Item {
	items := make([]Item, r.Len())
	for i := range items {
		items[i] = r.At(int32(i))
	}
	return items
}

// ItemsNamed returns the items with the given ids, in file order. It parses only the lines of these items.
func (r *Reading) ItemsNamed(ids map[string]bool) (items []Item) {
	for i := range r.Rows().Entries {
		if ids[r.rows.Entries[i].ID] {
			items = append(items, r.At(int32(i)))
		}
	}
	return items
}

// IDs returns the ids of the items in file order.
func (r *Reading) IDs() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range r.Rows().Entries {
			if !yield(r.rows.Entries[i].ID) {
				return
			}
		}
	}
}

// Item returns the first item with the id. It parses only the lines of that item. ok is false for an unknown id.
func (r *Reading) Item(id string) (Item, bool) {
	i := r.Rows().Find(id)
	if i < 0 {
		return Item{}, false
	}
	return r.At(i), true
}

// At returns the item with an index in the rows.
func (r *Reading) At(i int32) Item {
	e := &r.rows.Entries[i]
	it := Item{
		ID: e.ID, Line: int(e.Line), Level: int(e.Level), Status: e.Status, DerivedStatus: e.Derived, Optional: e.Optional, DerivedID: e.DerivedID,
		DependsOn: r.rows.DependsOn(i), Behind: r.rows.Behind(i), Mark: Span{int(e.Mark), int(e.MarkEnd)}, Worded: e.Worded,
	}
	if r.rows.Files != nil {
		it.Source = r.rows.Files[r.rows.FileAt(int(e.From))].Name
	}
	if e.Parent >= 0 {
		it.ParentID = r.rows.Entries[e.Parent].ID
	}
	r.describe(i, &it)
	if !utf8.ValidString(r.rows.Text[e.From:e.To]) {
		it.repair()
	}
	return it
}

// repair replaces bytes that are not UTF-8, which no answer may contain.
func (d *Description) repair() {
	for _, field := range []*string{&d.Title, &d.Prompt, &d.Leverage, &d.Purpose, &d.BlockedReason} {
		*field = strings.ToValidUTF8(*field, "\ufffd")
	}
	for _, list := range [][]string{d.Requirements, d.Files, d.Details} {
		for i := range list {
			list[i] = strings.ToValidUTF8(list[i], "\ufffd")
		}
	}
}

// Active returns the id of the first item in progress in file order, or "".
func (r *Reading) Active() (id string) {
	if rows := r.Rows(); rows.Active >= 0 {
		return rows.Entries[rows.Active].ID
	}
	return ""
}

// Hash returns the SHA-256 of a text in lower-case hex. It hashes in small pieces, because converting the whole text to
// bytes would double the memory.
func Hash(text string) string {
	h := sha256.New()
	piece := make([]byte, min(len(text), 8<<10))
	for text != "" {
		n := copy(piece, text)
		h.Write(piece[:n])
		text = text[n:]
	}
	return hex.EncodeToString(h.Sum(nil))
}
