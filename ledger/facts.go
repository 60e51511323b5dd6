// Package ledger holds the progress ledger and the task ledger, and reads and writes both as facts.
//
// The progress ledger says where a plan stands. The task ledger says what happened in one run: attempts, reviews,
// required fixes and counters. The package reads no clock and keeps no state between calls.
package ledger

import (
	"encoding/json"
	"fmt"

	"waybill/plan"
)

// Fact is one stored piece of a ledger: a key in the namespace ledger.task or ledger.progress, and text. Arrays and
// objects are JSON.
type Fact struct{ Key, Value string }

// The keys of the facts.
const (
	FactPlan        = "ledger.progress.plan"
	FactItemID      = "ledger.progress.item_id"
	FactSourcePath  = "ledger.progress.source_path"
	FactTotals      = "ledger.progress.totals"
	FactActive      = "ledger.progress.active_item_id"
	factFingerprint = "ledger.progress.source_fingerprint"
	factCurrent     = "ledger.progress.current_item"

	FactPlanVersion = "ledger.task.plan_version"
	FactSummary     = "ledger.task.summary"
	FactAssessment  = "ledger.task.reviewer_assessment"
	FactIssues      = "ledger.task.reviewer_issues"
	FactBlockers    = "ledger.task.blockers"
	FactFixes       = "ledger.task.required_fixes"
	FactStalled     = "ledger.task.stalled"
	FactReviewLoop  = "ledger.task.review_loop"
	FactRejections  = "ledger.task.rejections"
	FactReplanHint  = "ledger.task.replan_hint"
	FactAttempts    = "ledger.task.attempts"

	factReviews      = "ledger.task.reviews"
	FactPlanSummary  = "ledger.task.plan_summary"
	FactPlanItems    = "ledger.task.plan_items"
	FactFilesChanged = "ledger.task.files_changed"

	FactReviewAttempts = "ledger.task.review_attempts"
	FactGitRange       = "ledger.task.git_range"
	factOrigins        = "ledger.task.origins"

	factDialect = "ledger.progress.dialect"
)

// The JSON forms of the facts are types of their own, so that the fields of the ledgers can change without losing
// stored facts.
type (
	totalsFact struct {
		Total      int `json:"total"`
		Completed  int `json:"completed"`
		InProgress int `json:"in_progress"`
		Pending    int `json:"pending"`
		Blocked    int `json:"blocked"`
		Skipped    int `json:"skipped"`
		Groups     int `json:"groups"`
		Unread     int `json:"unread,omitzero"`
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
		Checks  *reviewFact `json:"checks,omitempty"`
		// LostBlockers is stored here because it counts lost entries, as LostIssues and LostFixes do.
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

// ProgressFacts returns a ledger as facts, including the facts that other tools read. Renew replaces older facts with
// them.
func ProgressFacts(p ProgressLedger) []Fact {
	facts := append(PlanFacts(&p, 7),
		Fact{factDialect, p.Dialect},
		Fact{factFingerprint, Encode(fingerprintFact(p.Fingerprint))},
		Fact{factCurrent, Encode(currentFact(p.CurrentItem))},
	)
	return appendForeignProgress(facts, &p)
}

// PlanFacts returns the facts that agents see, with capacity for more. Facts that only storage needs are absent.
func PlanFacts(p *ProgressLedger, more int) []Fact {
	return append(make([]Fact, 0, 5+more),
		Fact{FactPlan, p.Plan},
		Fact{FactItemID, p.ItemID},
		Fact{FactSourcePath, p.SourcePath},
		Fact{FactTotals, Encode(totalsFact(p.Totals))},
		Fact{FactActive, p.ActiveItemID},
	)
}

func currentFact(it *plan.Item) *itemFact {
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

// item decodes the item; an unknown status is an error.
func (f *itemFact) item() (*plan.Item, error) {
	if f == nil {
		return nil, nil
	}
	status, ok := plan.ParseStatus(f.Status)
	if !ok {
		return nil, fmt.Errorf("unknown status %q", f.Status)
	}
	derived, ok := plan.ParseStatus(f.DerivedStatus)
	if !ok && f.DerivedStatus != "" {
		return nil, fmt.Errorf("unknown derived status %q", f.DerivedStatus)
	}
	return &plan.Item{
		ID: f.ID, Status: status, Optional: f.Optional, Source: f.Source, Line: f.Line, Level: f.Level, ParentID: f.ParentID,
		DependsOn: f.DependsOn, Below: f.Below, DerivedStatus: derived, Mark: plan.Span{Start: f.Mark[0], End: f.Mark[1]}, Worded: f.Worded,
		Description: plan.Description{
			Title: f.Title, Parallel: f.Parallel, Prompt: f.Prompt, Requirements: f.Requirements, Files: f.Files, Details: f.Details,
			Leverage: f.Leverage, Purpose: f.Purpose, BlockedReason: f.BlockedReason,
		},
	}, nil
}

// ParseProgressFacts reads facts written by ProgressFacts. It ignores other keys, and the last value of a key counts.
// A *FactError names the first missing or unreadable key, so that a damaged ledger never looks empty.
func ParseProgressFacts(facts []Fact) (ProgressLedger, error) {
	r := newFactReader(facts)
	var (
		totals      totalsFact
		fingerprint fingerprintFact
		current     *itemFact
	)
	p := ProgressLedger{
		Plan:         r.text(FactPlan),
		ItemID:       r.text(FactItemID),
		SourcePath:   r.text(FactSourcePath),
		ActiveItemID: r.text(FactActive),
		Dialect:      r.text(factDialect),
	}
	r.json(FactTotals, &totals)
	r.json(factFingerprint, &fingerprint)
	r.json(factCurrent, &current)
	it, err := current.item()
	r.fail(factCurrent, err)
	if r.err != nil {
		return ProgressLedger{}, r.err
	}
	p.Totals, p.Fingerprint, p.CurrentItem = plan.Totals(totals), plan.Fingerprint(fingerprint), it
	return p, nil
}

// CurrentTitle returns the title of the item that the facts of a run are about, or "" if they do not tell.
func CurrentTitle(facts []Fact) string {
	for _, fact := range facts {
		var item struct {
			Title string `json:"title"`
		}
		if fact.Key == factCurrent && json.Unmarshal([]byte(fact.Value), &item) == nil {
			return item.Title
		}
	}
	return ""
}
