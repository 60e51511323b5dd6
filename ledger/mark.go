package ledger

import (
	"fmt"
	"strings"
)

// This file says which bytes of a plan change when an item gets another status: the mark between the
// brackets of its box, or the word or sign that stands for its status, and nothing else.

// A Marking asks for another status of one item.
type Marking struct {
	Plan, ItemID string
	// Line tells items apart that share an id; 0 if the id is enough.
	Line   int
	Status Status
}

// A Marked is a plan in which one item has the status that was asked for.
type Marked struct {
	Text string
	// Changed is what of the former text was replaced; it is empty, and Text the former one, if the
	// item had the status already. It is empty as well where a box without any mark got one.
	Changed Span
	// Item is the item as Text has it.
	Item Item
}

// MarkReason says why an item cannot be given a status. It is a wire word.
type MarkReason string

const (
	// MarkInexpressible: the dialect has no mark for the status.
	MarkInexpressible MarkReason = "status_not_expressible"
	// MarkAmbiguous: several items have the id, and no line says which is meant.
	MarkAmbiguous MarkReason = "ambiguous_id"
	// MarkElsewhere: the item does not stand in the line that was named.
	MarkElsewhere MarkReason = "not_on_line"
	// MarkHidden: the box stands in a code fence or a comment.
	MarkHidden MarkReason = "hidden"
	// MarkQuoted: the box stands in a block quote.
	MarkQuoted MarkReason = "quoted"
	// MarkBoxless: the item has neither a box nor a word for its status.
	MarkBoxless MarkReason = "no_box"
	// MarkWithdrawn: the item is struck through, which counts more than its mark.
	MarkWithdrawn MarkReason = "withdrawn"
	// MarkForeign: plans of this dialect are read and not written.
	MarkForeign MarkReason = "dialect_not_written"
	// MarkMisread: with the mark, the plan would not read as was asked.
	MarkMisread MarkReason = "reads_otherwise"
)

// MarkError says why an item cannot be given a status, and what to do.
type MarkError struct {
	Plan, ItemID string
	Reason       MarkReason
	// Lines are those in which items with the id stand.
	Lines   []int
	Message string
}

// Error names the item, the plan and what to do.
func (e *MarkError) Error() string {
	return fmt.Sprintf("item %q of plan %q cannot be set: %s", e.ItemID, e.Plan, e.Message)
}

// Marked gives the plan as it reads with another status of an item. No byte but the mark of that item
// is another than before, and no other item has another status, except headings that have that of the
// items below them. An error is a *ItemError or a *MarkError.
func (r *Reading) Marked(m Marking) (Marked, error) {
	i, err := r.meant(m)
	if err != nil {
		return Marked{}, err
	}
	if reason, message := r.unmarkable(i); reason != "" {
		return Marked{}, r.unmarked(m, reason, message)
	}
	item := r.item(i)
	if item.Status == m.Status {
		return Marked{Text: r.text, Changed: Span{item.Mark.Start, item.Mark.Start}, Item: item}, nil
	}
	mark := r.markOf(i, m.Status)
	if mark == "" {
		return Marked{}, r.unmarked(m, MarkInexpressible, r.inexpressible(i, m.Status))
	}
	text := r.replaced(item.Mark, mark)
	after, ok := r.reread(text, i, m.Status)
	if !ok {
		return Marked{}, r.unmarked(m, MarkMisread,
			fmt.Sprintf("with the mark %q the plan would not read as it does now but for this item; edit line %d by hand", mark, item.Line))
	}
	return Marked{Text: text, Changed: item.Mark, Item: after}, nil
}

func (r *Reading) unmarked(m Marking, reason MarkReason, message string) *MarkError {
	return &MarkError{Plan: m.Plan, ItemID: m.ItemID, Reason: reason, Lines: r.linesOf(m.ItemID), Message: message}
}

// linesOf gives the lines in which items with the id stand.
func (r *Reading) linesOf(id string) []int {
	var lines []int
	for i := range r.entries {
		if r.entries[i].id == id {
			lines = append(lines, int(r.entries[i].line))
		}
	}
	return lines
}

// meant finds the item.
func (r *Reading) meant(m Marking) (int32, error) {
	lines := r.linesOf(m.ItemID)
	switch {
	case len(lines) == 0:
		return 0, &ItemError{Plan: m.Plan, ItemID: m.ItemID}
	case m.Line == 0 && len(lines) == 1:
		return r.find(m.ItemID), nil
	case m.Line == 0:
		return 0, r.unmarked(m, MarkAmbiguous, fmt.Sprintf("it stands in the lines %s: name one with line", listed(lines)))
	}
	found := int32(-1)
	for i := range r.entries {
		if r.entries[i].id != m.ItemID || int(r.entries[i].line) != m.Line {
			continue
		}
		if found >= 0 {
			return 0, r.unmarked(m, MarkAmbiguous, fmt.Sprintf("it stands more than once in a line %d, in %s and in %s: give one of them another id",
				m.Line, r.where(&r.entries[found]), r.where(&r.entries[i])))
		}
		found = int32(i)
	}
	if found >= 0 {
		return found, nil
	}
	return 0, r.unmarked(m, MarkElsewhere, fmt.Sprintf("it does not stand in line %d, but in line %s: read the plan anew", m.Line, listed(lines)))
}

func listed(lines []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(lines), " ", ", "), "[]")
}

// unmarkable says why an item must not be written, whatever the status; the reason is "" if it may be.
func (r *Reading) unmarkable(i int32) (reason MarkReason, message string) {
	e, dialect := &r.entries[i], r.Dialect
	_, written := pens[dialect]
	switch {
	case !written:
		return MarkForeign, fmt.Sprintf("plans of the dialect %s are read and not written; edit line %d by hand", dialect, e.line)
	case e.withdrawn:
		return MarkWithdrawn, fmt.Sprintf("it is struck through in line %d, whatever its mark; take the ~~ away first", e.line)
	case e.follows && e.derived != 0:
		return MarkBoxless, fmt.Sprintf("line %d has no box to mark: it is what the items below it are, so set those", e.line)
	case e.markEnd == 0 && r.grammar == &tableGrammar:
		return MarkBoxless, fmt.Sprintf("the row in line %d has no cell for its status, or more cells than its header", e.line)
	case e.markEnd == 0:
		return MarkBoxless, fmt.Sprintf("line %d has no box to mark: put one in it, or items with boxes below it", e.line)
	case e.place != placeText:
		return MarkHidden, fmt.Sprintf("its box in line %d stands in %s; take it out of there first", e.line, e.place)
	case r.quotes(int(e.mark)):
		return MarkQuoted, fmt.Sprintf("its box in line %d stands in a block quote; take it out of there first", e.line)
	}
	return "", ""
}

// quotes reports whether the mark at the offset stands in a block quote.
func (r *Reading) quotes(mark int) bool {
	start := strings.LastIndexAny(r.text[:mark], "\r\n") + 1
	return strings.HasPrefix(trim(strings.TrimPrefix(r.text[start:mark], byteOrderMark)), ">")
}

// again reads another text of the same plan, as this one was read.
func (r *Reading) again(text string) (*Reading, error) { return ReadPlaced(text, r.placing) }

// reread reads the text in which item i was given a status, and reports whether it says exactly that.
func (r *Reading) reread(text string, i int32, status Status) (Item, bool) {
	after, err := r.again(text)
	if err != nil || after.Len() != r.Len() || after.Dialect != r.Dialect || after.Checkboxes != r.Checkboxes {
		return Item{}, false
	}
	for k := range r.entries {
		was, is := &r.entries[k], &after.entries[k]
		follows := was.follows && is.follows
		if was.id != is.id || was.line != is.line || int32(k) != i && !follows && was.status != is.status {
			return Item{}, false
		}
	}
	before, item := r.item(i), after.item(i)
	return item, item.Status == status && sameDescription(&before, &item)
}
