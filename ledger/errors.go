package ledger

import (
	"fmt"
	"strings"
)

// Reasons of a ParseError.
const (
	// ReasonNotText means that the bytes are not UTF-8 text at all.
	ReasonNotText = "not_text"
	// ReasonInvalidUTF8 means text with a byte in it that is not UTF-8.
	ReasonInvalidUTF8 = "invalid_utf8"
	// ReasonInvalidJSON means a file of JSON that ends too early or is none.
	ReasonInvalidJSON = "invalid_json"
	// ReasonNoItems means text in which no dialect finds an item.
	ReasonNoItems = "no_items"
)

// Attempt says why one dialect found no item in a file.
type Attempt struct{ Dialect, Reason string }

// ParseError says that a file is no plan, where it shows and what to do.
type ParseError struct {
	// Reason is one of the Reason constants.
	Reason string
	// Line counts from 1 and Offset from 0. They point at the offending byte
	// and are both 0 when the file as a whole is meant.
	Line, Offset int
	// Message says what was found and what to do.
	Message string
	// Checkboxes, Tried and Diagnostics are filled for ReasonNoItems. Every
	// checkbox has a diagnostic.
	Checkboxes  int
	Tried       []Attempt
	Diagnostics []Diagnostic
}

// Code returns the code of the error on the wire.
func (e *ParseError) Code() string { return "progress_ledger_parse_failed" }

// quoted is how many diagnostics the text of a ParseError repeats.
const quoted = 3

// Error names everything a person needs to repair the file, in one line.
func (e *ParseError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "parse plan: %s: %s", e.Reason, e.Message)
	if e.Reason != ReasonNoItems {
		return b.String()
	}
	fmt.Fprintf(&b, "; checkboxes: %d", e.Checkboxes)
	for i, a := range e.Tried {
		b.WriteString([]string{"; dialects tried: ", ", "}[min(i, 1)])
		fmt.Fprintf(&b, "%s (%s)", a.Dialect, a.Reason)
	}
	for _, d := range e.Diagnostics[:min(quoted, len(e.Diagnostics))] {
		fmt.Fprintf(&b, "; line %d: %s", d.Line, d.Message)
	}
	if more := len(e.Diagnostics) - quoted; more > 0 {
		fmt.Fprintf(&b, "; and %d more", more)
	}
	return b.String()
}

// ItemError says that a plan has no item with an id.
type ItemError struct{ Plan, ItemID string }

// Code returns the code of the error on the wire.
func (e *ItemError) Code() string { return "item_not_found" }

// Error names the id and the plan.
func (e *ItemError) Error() string {
	return fmt.Sprintf("plan %q has no item %q: name an id that stands in the plan", e.Plan, e.ItemID)
}

// FactError says that a stored fact is missing or cannot be read.
type FactError struct {
	Key string
	// Err is what was wrong with the value, nil when the fact is missing.
	Err error
}

// Code returns the code of the error on the wire.
func (e *FactError) Code() string { return "progress_ledger_incomplete" }

// Error names the key.
func (e *FactError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("ledger fact %s is missing", e.Key)
	}
	return fmt.Sprintf("ledger fact %s is corrupt: %v", e.Key, e.Err)
}

// Unwrap returns what was wrong with the value.
func (e *FactError) Unwrap() error { return e.Err }

// MissingPromptError says that there is nothing to ask an agent for.
type MissingPromptError struct {
	ItemID string
	// Missing is "missing_current_task" or "missing_task_prompt".
	Missing string
}

// Code returns the code of the error on the wire.
func (e *MissingPromptError) Code() string { return "progress_ledger_incomplete" }

// Error names the item and what it lacks.
func (e *MissingPromptError) Error() string {
	if e.Missing == missingCurrentTask {
		return fmt.Sprintf("compile prompt: %s: the ledger has no current item: name an item of the plan", e.Missing)
	}
	return fmt.Sprintf("compile prompt: %s: item %q has neither a prompt nor a title: write one in the plan", e.Missing, e.ItemID)
}

const (
	missingCurrentTask = "missing_current_task"
	missingTaskPrompt  = "missing_task_prompt"
)

// OverflowError says that a prompt does not fit its budget with nothing left to take out.
type OverflowError struct {
	// Estimate and Budget count tokens.
	Estimate, Budget int
	Role             Role
	// Stage is the last compaction stage that was tried.
	Stage string
}

// Code returns the code of the error on the wire.
func (e *OverflowError) Code() string { return "dispatch_prompt_overflow_terminal" }

// Error gives the figures and the ways out.
func (e *OverflowError) Error() string {
	return fmt.Sprintf("compile prompt: about %d tokens, budget %d, after stage %q: "+
		"raise max_input_tokens, lower max_output_tokens or shorten the item",
		e.Estimate, e.Budget, e.Stage)
}
