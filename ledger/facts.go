package ledger

import "fmt"

// Fact is one piece of a ledger as it is stored: a key in the namespace
// ledger.task or ledger.progress, and text. Arrays and objects are JSON.
type Fact struct{ Key, Value string }

const (
	factPlan        = "ledger.progress.plan"
	factItemID      = "ledger.progress.item_id"
	factSourcePath  = "ledger.progress.source_path"
	factTotals      = "ledger.progress.totals"
	factActive      = "ledger.progress.active_item_id"
	factFingerprint = "ledger.progress.source_fingerprint"
	factCurrent     = "ledger.progress.current_item"

	factPlanVersion = "ledger.task.plan_version"
	factSummary     = "ledger.task.summary"
	factAssessment  = "ledger.task.reviewer_assessment"
	factIssues      = "ledger.task.reviewer_issues"
	factBlockers    = "ledger.task.blockers"
	factFixes       = "ledger.task.required_fixes"
	factStalled     = "ledger.task.stalled"
	factReviewLoop  = "ledger.task.review_loop"
	factRejections  = "ledger.task.rejections"
	factReplanHint  = "ledger.task.replan_hint"
	factAttempts    = "ledger.task.attempts"

	// These came later: what was stored before has none of them.
	factReviews      = "ledger.task.reviews"
	factPlanSummary  = "ledger.task.plan_summary"
	factPlanItems    = "ledger.task.plan_items"
	factFilesChanged = "ledger.task.files_changed"

	// These came later still.
	factReviewAttempts = "ledger.task.review_attempts"
	factGitRange       = "ledger.task.git_range"
	factOrigins        = "ledger.task.origins"

	// And this one.
	factDialect = "ledger.progress.dialect"
)

// The JSON forms of the facts. Storage has its own so that the values above it
// can change their fields without losing what was written before.
type (
	totalsFact struct {
		Total      int `json:"total"`
		Completed  int `json:"completed"`
		InProgress int `json:"in_progress"`
		Pending    int `json:"pending"`
		Blocked    int `json:"blocked"`
		Skipped    int `json:"skipped"`
		Groups     int `json:"groups"`
	}
	fingerprintFact struct {
		MtimeMs int64  `json:"mtime_ms"`
		Size    int64  `json:"size"`
		Hash    string `json:"hash"`
	}
	stalledFact struct {
		ConsecutiveNonProgress int  `json:"consecutive_non_progress"`
		Threshold              int  `json:"threshold"`
		Flagged                bool `json:"flagged"`
	}
	reviewLoopFact struct {
		Count       int  `json:"count"`
		Threshold   int  `json:"threshold"`
		Alternating bool `json:"alternating,omitempty"`
		Flagged     bool `json:"flagged"`
	}
	reviewsFact struct {
		Spec    *reviewFact `json:"spec,omitempty"`
		Quality *reviewFact `json:"quality,omitempty"`
		// LostBlockers stands here since it is of the same kind as what is lost of a review.
		LostBlockers int `json:"lost_blockers,omitempty"`
	}
	reviewFact struct {
		Assessment    string      `json:"assessment"`
		Issues        []issueFact `json:"issues,omitempty"`
		RequiredFixes []string    `json:"required_fixes,omitempty"`
		LostIssues    int         `json:"lost_issues,omitempty"`
		LostFixes     int         `json:"lost_fixes,omitempty"`
	}
	issueFact struct {
		Severity string `json:"severity"`
		File     string `json:"file,omitempty"`
		Message  string `json:"message"`
		Fix      string `json:"fix,omitempty"`
	}
	reviewAttemptsFact struct {
		Spec    int `json:"spec,omitempty"`
		Quality int `json:"quality,omitempty"`
	}
	originsFact struct {
		Summary originFact `json:"summary,omitzero"`
		Spec    originFact `json:"spec,omitzero"`
		Quality originFact `json:"quality,omitzero"`
	}
	originFact struct {
		TaskID    string `json:"task_id,omitempty"`
		AttemptID string `json:"attempt_id,omitempty"`
	}
	itemFact struct {
		ID            string   `json:"item_id"`
		Title         string   `json:"title"`
		Status        string   `json:"status"`
		Optional      bool     `json:"optional,omitempty"`
		Source        string   `json:"source,omitempty"`
		Line          int      `json:"line"`
		Level         int      `json:"level"`
		ParentID      string   `json:"parent_id,omitempty"`
		DependsOn     []string `json:"depends_on,omitempty"`
		Parallel      bool     `json:"parallel,omitempty"`
		Prompt        string   `json:"prompt,omitempty"`
		Requirements  []string `json:"requirements,omitempty"`
		Files         []string `json:"files,omitempty"`
		Details       []string `json:"details,omitempty"`
		Leverage      string   `json:"leverage,omitempty"`
		Purpose       string   `json:"purpose,omitempty"`
		BlockedReason string   `json:"blocked_reason,omitempty"`
		Below         []string `json:"below,omitempty"`
		DerivedStatus string   `json:"derived_status,omitempty"`
		Mark          [2]int   `json:"mark"`
		Worded        bool     `json:"worded,omitempty"`
	}
)

// ProgressFacts writes a ledger as facts, and with them the facts that other tools look for. Renew puts
// them in the place of older ones.
func ProgressFacts(p ProgressLedger) []Fact {
	facts := append(planFacts(&p, 7),
		Fact{factDialect, p.Dialect},
		Fact{factFingerprint, compact(fingerprintFact(p.Fingerprint))},
		Fact{factCurrent, compact(currentFact(p.CurrentItem))},
	)
	return appendForeignProgress(facts, &p)
}

// planFacts leaves out what only storage needs, with room for more.
func planFacts(p *ProgressLedger, more int) []Fact {
	return append(make([]Fact, 0, 5+more),
		Fact{factPlan, p.Plan},
		Fact{factItemID, p.ItemID},
		Fact{factSourcePath, p.SourcePath},
		Fact{factTotals, compact(totalsFact(p.Totals))},
		Fact{factActive, p.ActiveItemID},
	)
}

func currentFact(it *Item) *itemFact {
	if it == nil {
		return nil
	}
	return &itemFact{
		ID: it.ID, Title: it.Title, Status: it.Status.String(), Optional: it.Optional,
		Source: it.Source, Line: it.Line, Level: it.Level, ParentID: it.ParentID, DependsOn: it.DependsOn,
		Parallel: it.Parallel, Prompt: it.Prompt, Requirements: it.Requirements,
		Files: it.Files, Details: it.Details, Leverage: it.Leverage, Purpose: it.Purpose,
		BlockedReason: it.BlockedReason, Below: it.Below, DerivedStatus: it.DerivedStatus.String(),
		Mark: [2]int{it.Mark.Start, it.Mark.End}, Worded: it.Worded,
	}
}

// item reads the item back; a status that is none is an error.
func (f *itemFact) item() (*Item, error) {
	if f == nil {
		return nil, nil
	}
	status, ok := ParseStatus(f.Status)
	if !ok {
		return nil, fmt.Errorf("unknown status %q", f.Status)
	}
	derived, ok := ParseStatus(f.DerivedStatus)
	if !ok && f.DerivedStatus != "" {
		return nil, fmt.Errorf("unknown derived status %q", f.DerivedStatus)
	}
	return &Item{
		ID: f.ID, Title: f.Title, Status: status, Optional: f.Optional,
		Source: f.Source, Line: f.Line, Level: f.Level, ParentID: f.ParentID, DependsOn: f.DependsOn,
		Parallel: f.Parallel, Prompt: f.Prompt, Requirements: f.Requirements,
		Files: f.Files, Details: f.Details, Leverage: f.Leverage, Purpose: f.Purpose,
		BlockedReason: f.BlockedReason, Below: f.Below, DerivedStatus: derived,
		Mark: Span{f.Mark[0], f.Mark[1]}, Worded: f.Worded,
	}, nil
}

// ParseProgressFacts reads what ProgressFacts wrote. Other keys are ignored,
// and of one key the last value counts. A *FactError names the first key that
// is missing or cannot be read: a damaged ledger never looks like an empty one.
func ParseProgressFacts(facts []Fact) (ProgressLedger, error) {
	r := newFactReader(facts)
	var (
		totals      totalsFact
		fingerprint fingerprintFact
		current     *itemFact
	)
	p := ProgressLedger{
		Plan:         r.text(factPlan),
		ItemID:       r.text(factItemID),
		SourcePath:   r.text(factSourcePath),
		ActiveItemID: r.text(factActive),
		Dialect:      r.values[factDialect],
	}
	r.json(factTotals, &totals)
	r.json(factFingerprint, &fingerprint)
	r.json(factCurrent, &current)
	it, err := current.item()
	r.fail(factCurrent, err)
	if r.err != nil {
		return ProgressLedger{}, r.err
	}
	p.Totals, p.Fingerprint, p.CurrentItem = Totals(totals), Fingerprint(fingerprint), it
	return p, nil
}
