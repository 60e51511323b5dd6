package plan

import (
	"fmt"
	"strings"
)

// This file determines the bytes of a plan that change when an item gets another status: the mark in its checkbox, or
// its status word or sign.

// A Marking is a request to change the status of one item.
type Marking struct {
	Plan, ItemID string
	// Line distinguishes items with the same id. It may be 0 if the id is unique.
	Line   int
	Status Status
}

// A Marked is a plan in which one item has the requested status.
type Marked struct {
	Text string
	// Changed is the span of the old text that was replaced. If it is empty and Text is unchanged, the item already
	// had the status. It is also empty if a checkbox without a mark got one.
	Changed Span
	// Item is the item in the new text.
	Item Item
}

// MarkReason says why the status of an item cannot be changed. It is a wire word.
type MarkReason string

const (
	// MarkInexpressible: the dialect has no mark for the status.
	MarkInexpressible MarkReason = "status_not_expressible"
	// MarkAmbiguous: several items have the id, and the request has no line.
	MarkAmbiguous MarkReason = "ambiguous_id"
	// MarkElsewhere: the item is not on the requested line.
	MarkElsewhere MarkReason = "not_on_line"
	// MarkHidden: the checkbox is in a code fence or a comment.
	MarkHidden MarkReason = "hidden"
	// MarkQuoted: the checkbox is in a block quote.
	MarkQuoted MarkReason = "quoted"
	// MarkBoxless: the item has neither a checkbox nor a status word.
	MarkBoxless MarkReason = "no_box"
	// MarkWithdrawn: the item is struck through, which takes precedence over its mark.
	MarkWithdrawn MarkReason = "withdrawn"
	// MarkForeign: plans of this dialect are read-only.
	MarkForeign MarkReason = "dialect_not_written"
	// MarkMisread: with the new mark, the plan would not have the requested status.
	MarkMisread MarkReason = "reads_otherwise"
)

// MarkError means that the status of an item cannot be changed.
type MarkError struct {
	Plan, ItemID string
	Reason       MarkReason
	// Lines are the lines of the items with the id.
	Lines   []int
	Message string
}

// Error returns the item, the plan and the remedy.
func (e *MarkError) Error() string {
	return fmt.Sprintf("item %q of plan %q cannot be set: %s", e.ItemID, e.Plan, e.Message)
}

// Marked returns the plan with another status of one item. Only the mark of that item changes. The status of other
// items stays the same, except for headings whose status follows from the items below them. The error is an *ItemError
// or a *MarkError.
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
			fmt.Sprintf("the mark %q would change how other parts of the plan are read; edit line %d by hand", mark, item.Line))
	}
	return Marked{Text: text, Changed: item.Mark, Item: after}, nil
}

func (r *Reading) unmarked(m Marking, reason MarkReason, message string) *MarkError {
	return &MarkError{Plan: m.Plan, ItemID: m.ItemID, Reason: reason, Lines: r.linesOf(m.ItemID), Message: message}
}

// linesOf returns the lines of the items with the id.
func (r *Reading) linesOf(id string) []int {
	var lines []int
	for i := range r.entries {
		if r.entries[i].id == id {
			lines = append(lines, int(r.entries[i].line))
		}
	}
	return lines
}

// meant returns the requested item.
func (r *Reading) meant(m Marking) (int32, error) {
	lines := r.linesOf(m.ItemID)
	switch {
	case len(lines) == 0:
		return 0, &ItemError{Plan: m.Plan, ItemID: m.ItemID}
	case m.Line == 0 && len(lines) == 1:
		return r.find(m.ItemID), nil
	case m.Line == 0:
		return 0, r.unmarked(m, MarkAmbiguous, fmt.Sprintf("it is on the lines %s: name one with line", listed(lines)))
	}
	found := int32(-1)
	for i := range r.entries {
		if r.entries[i].id != m.ItemID || int(r.entries[i].line) != m.Line {
			continue
		}
		if found >= 0 {
			return 0, r.unmarked(m, MarkAmbiguous, fmt.Sprintf("it is on line %d of more than one file, in %s and in %s: give one of them another id",
				m.Line, r.where(&r.entries[found]), r.where(&r.entries[i])))
		}
		found = int32(i)
	}
	if found >= 0 {
		return found, nil
	}
	return 0, r.unmarked(m, MarkElsewhere, fmt.Sprintf("it is not on line %d, but on line %s: read the plan again", m.Line, listed(lines)))
}

func listed(lines []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(lines), " ", ", "), "[]")
}

// unmarkable returns why an item cannot get any other status, or "".
func (r *Reading) unmarkable(i int32) (reason MarkReason, message string) {
	e, dialect := &r.entries[i], r.Dialect
	_, written := statusSyntaxes[dialect]
	switch {
	case !written:
		return MarkForeign, fmt.Sprintf("waybill reads plans of the dialect %s but does not change them; edit line %d by hand", dialect, e.line)
	case e.withdrawn:
		return MarkWithdrawn, fmt.Sprintf("it is struck through on line %d, which overrules its mark; remove the ~~ first", e.line)
	case e.follows && e.derived != 0:
		return MarkBoxless, fmt.Sprintf("line %d has no box to mark: its status follows from the items below it, so set those", e.line)
	case e.markEnd == 0 && r.grammar == &tableGrammar:
		return MarkBoxless, fmt.Sprintf("the row on line %d has no cell for its status, or more cells than its header", e.line)
	case e.markEnd == 0:
		return MarkBoxless, fmt.Sprintf("line %d has no box to mark: add one, or add items with boxes below it", e.line)
	case e.place != placeText:
		return MarkHidden, fmt.Sprintf("its box on line %d is in %s; move it out first", e.line, e.place)
	case r.quotes(int(e.mark)):
		return MarkQuoted, fmt.Sprintf("its box on line %d is in a block quote; move it out first", e.line)
	}
	return "", ""
}

// quotes reports whether the mark at the offset is in a block quote.
func (r *Reading) quotes(mark int) bool {
	start := strings.LastIndexAny(r.text[:mark], "\r\n") + 1
	return strings.HasPrefix(trim(strings.TrimPrefix(r.text[start:mark], byteOrderMark)), ">")
}

// again reads another text with the same hints.
func (r *Reading) again(text string) (*Reading, error) { return Read(text, r.hints) }

// reread reads the text in which item i got a status, and reports whether exactly this changed.
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
