package plan

import "fmt"

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
