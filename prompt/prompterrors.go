package prompt

import (
	"fmt"

	"waybill/ledger"
)

// MissingPromptError means that an item or its prompt is missing.
type MissingPromptError struct {
	ItemID string
	// Missing is "missing_current_task" or "missing_task_prompt".
	Missing string
}

// Code returns the error code on the wire.
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

// OverflowError means that a prompt exceeds its budget even after compaction.
type OverflowError struct {
	// Estimate and Budget count tokens.
	Estimate, Budget int
	Role             ledger.Role
	// Stage is the last compaction stage that made the prompt smaller.
	Stage string
}

// Code returns the error code on the wire.
func (e *OverflowError) Code() string { return "dispatch_prompt_overflow_terminal" }

// Error returns the sizes and the remedies.
func (e *OverflowError) Error() string {
	return fmt.Sprintf("compile prompt: about %d tokens, budget %d, after stage %q: "+
		"raise max_input_tokens, lower max_output_tokens or shorten the item",
		e.Estimate, e.Budget, e.Stage)
}
