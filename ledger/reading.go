package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
)

// Span is a range of bytes of the source as it was given, End excluded.
type Span struct{ Start, End int }

// Item is one task of a plan.
type Item struct {
	// ID is the text of the id, never a number: 1.1 and 1.10 are two ids.
	ID    string
	Title string
	// Source is the name of the file below the folder that the plan is, and ""
	// in a plan of one file.
	Source string
	// Line counts from 1, in the file that is named by Source.
	Line int
	// Level is the number of ancestors, 0 at the top.
	Level  int
	Status Status
	// DerivedStatus is what the children of a parent add up to; 0 for an item
	// without children. Status stays what the plan says.
	DerivedStatus Status
	// Optional items do not hold up the end of their parent.
	Optional bool
	Parallel bool
	// DerivedID says that the id was made up, since the plan has none: do not
	// write it into the file.
	DerivedID bool
	// ParentID is "" at the top.
	ParentID string
	// DependsOn holds the ids as the plan names them, ranges expanded. An id
	// that the plan does not have stays in the list and has a diagnostic.
	DependsOn []string
	// Behind holds lists of more ids that the item waits for, where phases or
	// waves of the plan are so wide that DependsOn does not repeat them. Items
	// share these lists.
	Behind [][]string
	Prompt string

	Requirements, Files, Details []string

	Leverage, Purpose, BlockedReason string
	// Below names the children, each with its title and how it stands. Only the
	// current item of a ProgressLedger has it.
	Below []string
	// Mark is the span between the brackets of the checkbox, empty for "[]". In
	// the row of a table it is that of the word, box or sign that says how the
	// task stands, empty where the cell is. Mark.End is 0 only for an item whose
	// status stands nowhere.
	Mark Span
	// Worded items have no checkbox: Mark is that of the word or the sign for
	// their status.
	Worded bool
}

// Diagnostic says what was odd about one place of a plan.
type Diagnostic struct {
	// Source is the name of the file below the folder that the plan is, and ""
	// in a plan of one file.
	Source string
	// Line and Column count from 1, columns in characters.
	Line, Column int
	Severity     Severity
	Code         string
	Message      string
	// NotATask marks the one diagnostic of a checkbox that is no item.
	NotATask bool
}

// Totals counts the items that are work by themselves: leaves and childless
// parents once each. Parents with children are Groups and counted nowhere else.
type Totals struct {
	Total, Completed, InProgress, Pending, Blocked, Skipped, Groups int
}

func (t *Totals) add(s Status) {
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

// Fingerprint tells one version of a file from another. Hash decides;
// MtimeMs is only a hint and the caller's to set.
type Fingerprint struct {
	MtimeMs, Size int64
	// Hash is the SHA-256 of the bytes in lower-case hex.
	Hash string
}

// Evidence is one reason for the dialect of a reading. A reason for another
// dialect than the chosen one names a runner-up.
type Evidence struct {
	Line    int
	Dialect string
	Signal  string
}

// Reading is what a plan file says. It does not change, and its slices must not be changed.
type Reading struct {
	// Dialect is one of Dialects, and "" for a blank file.
	Dialect  string
	Evidence []Evidence
	Fingerprint
	// Diagnostics are in the order of the files and of their lines.
	Diagnostics []Diagnostic
	Totals      Totals
	// Checkboxes counts every checkbox in the file; a box in a cell is none. It equals the number of
	// items that come from a checkbox plus the diagnostics marked NotATask.
	Checkboxes int
	// Unread counts the open checkboxes that are no items for want of an id, which a diagnostic says of
	// each. Somebody may have meant them as work, so a plan with any is not complete.
	Unread int

	text    string
	files   []file   // of a folder, nil for a plan of one file
	grammar *grammar // that read the text
	placing Placing
	entries []entry
	waits   []wait // in the order of their items
	rests   []rest // of items that go on behind others, in the order of the items
	keep    map[string]bool
	endings []int   // that are missing, see scanner
	tables  []table // that items are rows of, in the order of the file
	index   index
	active  int32 // the first item in progress, -1 for none

	barriers barriers
}

// Len returns the number of items.
func (r *Reading) Len() int { return len(r.entries) }

// Items returns all items in the order of the file. Each call reads their
// descriptions anew, which takes about as long as Parse.
func (r *Reading) Items() []Item {
	items := make([]Item, len(r.entries))
	for i := range items {
		items[i] = r.item(int32(i))
	}
	return items
}

// IDs gives the ids of the items in the order of the file.
func (r *Reading) IDs() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range r.entries {
			if !yield(r.entries[i].id) {
				return
			}
		}
	}
}

// Item returns the first item with the id. It takes as long as reading the
// lines of that item.
func (r *Reading) Item(id string) (Item, bool) {
	i := r.find(id)
	if i < 0 {
		return Item{}, false
	}
	return r.item(i), true
}

// Active returns the id of the first item in progress in the order of the
// file, and "" when there is none.
func (r *Reading) Active() (id string) {
	if i := r.firstActive(); i >= 0 {
		return r.entries[i].id
	}
	return ""
}

func (r *Reading) firstActive() int32 {
	if r.Len() == 0 {
		return -1
	}
	return r.active
}

// find returns the first item with the id, -1 for none.
func (r *Reading) find(id string) int32 {
	if r.Len() == 0 {
		return -1
	}
	return r.index.get(r.entries, id)
}

// Hash returns the SHA-256 of src in lower-case hex.
func Hash(src []byte) string {
	sum := sha256.Sum256(src)
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], sum[:])
	return string(text[:])
}
