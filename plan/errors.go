package plan

import (
	"fmt"

	"waybill/internal/safetext"
)

// Reasons of a ParseError.
const (
	// ReasonNotText means that the bytes are not UTF-8 text, but for example a binary file.
	ReasonNotText = "not_text"
	// ReasonInvalidJSON means a JSON file that is truncated or invalid.
	ReasonInvalidJSON = "invalid_json"
	// ReasonNoItems means text in which no dialect finds an item.
	ReasonNoItems = "no_items"
	// ReasonTooLarge means a text with more items than a plan may have.
	ReasonTooLarge = "too_large"
)

// ParseError means that a file is not a plan.
type ParseError struct {
	// Path is the name of the file, or "" if it is unknown.
	Path string
	// Reason is one of the Reason constants.
	Reason string
	// Line counts from 1 and Offset from 0. They are the position of the offending byte, or both 0 for the whole file.
	Line, Offset int
	// Message is one sentence with the likeliest cause and the remedy.
	Message string
	// Checkboxes and Diagnostics are set for ReasonNoItems. Every checkbox has a diagnostic.
	Checkboxes  int
	Diagnostics []Diagnostic
}

// Code returns the code of the error on the wire.
func (e *ParseError) Code() string { return "progress_ledger_parse_failed" }

// Error returns the file name and Cause.
func (e *ParseError) Error() string {
	if e.Path == "" {
		return e.Cause()
	}
	return clip(e.Path) + ": " + e.Cause()
}

// Cause returns the likeliest cause in one sentence. If there are other diagnostics, it also names the command that
// shows them.
func (e *ParseError) Cause() string {
	if len(e.Diagnostics) > 1 && e.Path != "" {
		return e.Message + "; `waybill plan show " + clip(e.Path) + "` shows the rest"
	}
	return e.Message
}

// ItemError means that a plan has no item with this id.
type ItemError struct{ Plan, ItemID string }

// Code returns the code of the error on the wire.
func (e *ItemError) Code() string { return "item_not_found" }

// Error names the id and the plan.
func (e *ItemError) Error() string {
	return fmt.Sprintf("plan %q has no item %q: name an id of the plan", e.Plan, e.ItemID)
}

// clip shortens source text for a message.
func clip(s string) string { return safetext.Truncate(s, 60) }
