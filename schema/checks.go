package schema

// Proof is how much the receipts of a run prove about its last submission.
type Proof struct {
	State    string   `json:"state" schema:"enum=none_required|missing|stale|untrusted|refuted|proven" doc:"none_required: only said; missing: a required check has no receipt; stale: the files changed since; untrusted: a person must look; refuted: a check is red; proven: all required checks are green on the present files"`
	Required []string `json:"required,omitzero"`
	Green    []string `json:"green,omitzero"`
	Red      []string `json:"red,omitzero"`
	Due      []string `json:"due,omitzero" doc:"the required checks that are not green on the present files"`
	Tree     string   `json:"tree,omitzero" doc:"of the files of the receipts"`
	Round    int      `json:"round" doc:"the number of submissions of a worker; a receipt counts for its round"`
}

// CheckRun is one execution of a check.
type CheckRun struct {
	Check      string   `json:"check" schema:"required,id" doc:"its name"`
	Outcome    string   `json:"outcome" schema:"required,enum=green|red|protected|untrusted" doc:"protected: it passed, but the work changed a file that the check protects; untrusted: it was not run, because no person trusts its command as it is now; of facts, protected says that nothing was changed, and untrusted that git could not be asked"`
	Round      *int     `json:"round,omitzero" schema:"min=0" doc:"proof.round of the run when the check began; by default the present one"`
	Command    string   `json:"command,omitzero"`
	ExitCode   *int     `json:"exit_code,omitzero"`
	Reason     string   `json:"reason,omitzero" doc:"why it is not green, as far as the exit code does not say it, such as 'timed out after 10m0s' or 'ended by SIGKILL'; if it is green, why it is bound to no files"`
	DurationMS int64    `json:"duration_ms,omitzero" schema:"min=0" doc:"how long it ran"`
	TreeBefore string   `json:"tree_before,omitzero" doc:"a hash over the contents of the files before it ran; without one the receipt is not bound to files, and no approval rests on it"`
	TreeAfter  string   `json:"tree_after,omitzero" doc:"the same behind it; if it differs, the receipt is stale"`
	Output     string   `json:"output,omitzero" doc:"the end of its output, at most 8 KiB"`
	OutputHash string   `json:"output_hash,omitzero" doc:"SHA-256 of all its output"`
	Changed    []string `json:"changed,omitzero" doc:"with protected: the protected files that the work changed"`
	Runner     string   `json:"runner,omitzero" doc:"the program that ran it"`
}

// ReportCheckParams are the params of report_check.
type ReportCheckParams struct {
	RunID string `json:"run_id" schema:"required,id"`
	CheckRun
	Keyed
}

// ListReceiptsParams are the params of list_receipts.
type ListReceiptsParams struct {
	RunID string `json:"run_id,omitzero" schema:"id" doc:"without it, the receipts of all runs"`
	Page
}

// GetReceiptParams are the params of get_receipt.
type GetReceiptParams struct {
	ReceiptID string `json:"receipt_id" schema:"required,id"`
}

// Receipt records one execution of a check. It never changes, and is kept as long as the event log.
type Receipt struct {
	ReceiptID string `json:"receipt_id" schema:"id"`
	RunID     string `json:"run_id" schema:"id"`
	At        Time   `json:"at" doc:"when it was recorded"`
	CheckRun
}

// ReceiptList is a page of receipts, the oldest first.
type ReceiptList struct {
	Items      []Receipt `json:"items"`
	NextCursor string    `json:"next_cursor,omitzero"`
}

// ReportCheckResult is the result of report_check.
type ReportCheckResult struct {
	Moved
	Receipt  Receipt   `json:"receipt"`
	Decision *Decision `json:"decision,omitzero" doc:"absent if the receipt says nothing about the last submission"`
}
