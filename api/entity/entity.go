// Package entity translates records of the core, the plans and the store into objects of the wire.
package entity

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/core/run"
	"waybill/engine/workspace"
	"waybill/ledger"
	"waybill/plan"
	"waybill/schema"
	"waybill/store"
)

// Time returns an instant as the wire shows it; zero is "", which is left out.
func Time(at core.Instant) schema.Time {
	if at == 0 {
		return ""
	}
	return schema.TimeOf(time.UnixMicro(int64(at)))
}

// Instruction returns an instruction.
func Instruction(in instruction.Instruction) schema.Instruction {
	w := schema.Instruction{
		InstructionID: in.ID, SessionID: in.Session, Content: in.Content, State: string(in.State()),
		Tracked: in.Tracked, Priority: in.Priority, Sends: in.Sends(), SendsMax: in.SendsMax(),
		AckOn: Rule(in.AckOn), Standing: in.Standing(), CreatedAt: Time(in.CreatedAt), LastSentAt: Time(in.LastSentAt()),
	}
	if when := Rule(instruction.AckRule{EventType: in.Trigger.EventType, Match: in.Trigger.Match}); when != nil {
		w.Trigger = &schema.Trigger{EventType: when.EventType, Match: when.Match, Path: in.Trigger.Path}
	}
	switch p := in.Phase.(type) {
	case instruction.Armed, instruction.Queued, instruction.Sent:
	case instruction.Acknowledged:
		w.AcknowledgedAt, w.AcknowledgedBy = Time(p.At), string(p.By)
	case instruction.Failed:
		w.FailedAt, w.LateAckAt = Time(p.At), Time(p.LateAckAt)
	case instruction.Cancelled:
		w.CancelledAt, w.Reason = Time(p.At), p.Reason
	}
	return w
}

// Failed returns an instruction that has just failed. A standing one is armed again and counts no sends any longer, so its
// sends are those that failed.
func Failed(in instruction.Instruction) schema.Instruction {
	w := Instruction(in)
	w.Sends = w.SendsMax
	return w
}

// Rule returns an acknowledgement rule, or nil if there is none.
func Rule(r instruction.AckRule) *schema.AckRule {
	if r.EventType == "" {
		return nil
	}
	w := &schema.AckRule{EventType: r.EventType}
	if r.Match != "" {
		// The rule was checked on input, so it is an object.
		var match map[string]json.RawMessage
		if json.Unmarshal([]byte(r.Match), &match) == nil {
			w.Match = make(map[string]jsontext.Value, len(match))
			for path, value := range match {
				w.Match[path] = jsontext.Value(value)
			}
		}
	}
	return w
}

// Workspace returns a workspace.
func Workspace(ws workspace.Workspace) schema.Workspace {
	return schema.Workspace{ID: ws.ID, Root: ws.Root, StateDir: ws.StateDir, ResolvedBy: ws.ResolvedBy}
}

// Fingerprint returns the fingerprint of a plan.
func Fingerprint(f plan.Fingerprint) schema.Fingerprint {
	return schema.Fingerprint{MtimeMS: f.MtimeMs, Size: f.Size, Hash: f.Hash}
}

// Runs returns nil for a plan without runs.
func Runs(p plan.PlanProgress) *schema.PlanRuns {
	if !p.ByRuns() {
		return nil
	}
	return &schema.PlanRuns{Approved: p.Approved, Proven: p.Proven, Unapproved: p.Unapproved}
}

// Totals returns the totals of a plan.
func Totals(t plan.Totals) schema.Totals { return schema.Totals(t) }

// Item returns an item of a plan.
func Item(it plan.Item) schema.Item {
	w := schema.Item{
		ItemID: it.ID, Title: it.Title, Status: it.Status.String(), Optional: it.Optional, Source: it.Source, Line: it.Line,
		Level: it.Level, ParentID: it.ParentID, DependsOn: it.DependsOn, Parallel: it.Parallel, Prompt: it.Prompt,
		Requirements: it.Requirements, Files: it.Files, Details: it.Details, Leverage: it.Leverage,
		Purpose: it.Purpose, BlockedReason: it.BlockedReason,
	}
	if it.DerivedStatus != 0 {
		w.DerivedStatus = it.DerivedStatus.String()
	}
	return w
}

// Diagnostic returns a diagnostic of a plan.
func Diagnostic(d plan.Diagnostic) schema.Diagnostic {
	return schema.Diagnostic{
		Source: d.Source, Line: d.Line, Column: d.Column, Severity: d.Severity.String(), Code: d.Code, Message: d.Message,
		Open: d.Open,
	}
}

// All applies fn to each element. The result is never nil.
func All[A, B any](list []A, fn func(A) B) []B {
	out := make([]B, len(list))
	for i, v := range list {
		out[i] = fn(v)
	}
	return out
}

// Run returns a run.
func Run(r run.Run) schema.Run {
	return schema.Run{
		RunID: r.ID, Plan: r.Plan, ItemID: r.ItemID, State: string(r.State), Reason: string(r.Halt),
		Counters: schema.Counters{
			InvalidResults: byRole(r.Counters.InvalidResults, func(n int) int { return n }), WorkerFailures: r.Counters.WorkerFailures,
			ReviewRejections: r.Counters.ReviewRejections, Stalled: r.Counters.Stalled, ReviewLoop: r.Counters.ReviewLoop,
			CheckFailures: r.Counters.CheckFailures,
		},
		Proof: schema.Proof{
			State: r.Proof.State().String(), Required: r.Proof.Required.List(), Green: r.Proof.Green.List(), Red: r.Proof.Red.List(),
			Due: r.Proof.Due().List(), Tree: r.Proof.Tree, Round: r.Proof.Round,
		},
		Policy: Policy(r.Policy), Standing: byRole(r.Standing, run.Standing.String),
		PlanVersion: r.PlanVersion, CreatedAt: Time(r.CreatedAt), UpdatedAt: Time(r.UpdatedAt),
	}
}

// Policy returns the policy of a run.
func Policy(p run.Policy) schema.Policy {
	w := schema.Policy{
		InvalidRetries: &p.InvalidRetries, ReviewerFreshRuns: &p.ReviewerFreshRuns, WorkerFailures: &p.WorkerFailures,
		ReviewRejections: &p.ReviewRejections, StalledThreshold: &p.StalledThreshold, ReviewLoopThreshold: &p.ReviewLoopThreshold,
		ResultForm: p.ResultForm.String(), RequireKey: &p.RequireKey, RequireChecks: p.RequireChecks.List(), CheckFailures: &p.CheckFailures,
	}
	if p.Reviewers == run.NoReviewers {
		w.Reviewers = []string{}
	}
	for i := range core.Roles {
		if role := core.Role(i + 1); role.Reviewer() && p.Reviewers.Has(role) {
			w.Reviewers = append(w.Reviewers, role.String())
		}
	}
	return w
}

// byRole maps the names of roles to the values of an array that is indexed by Role-1.
func byRole[A, B any](values [core.Roles]A, fn func(A) B) map[string]B {
	named := map[string]B{}
	for i, v := range values {
		named[core.Role(i+1).String()] = fn(v)
	}
	return named
}

// TaskLedger returns the ledger of a task.
func TaskLedger(t ledger.TaskLedger) *schema.TaskLedger {
	return &schema.TaskLedger{
		RunID: t.RunID, ItemID: t.ItemID, PlanVersion: t.PlanVersion, PlanSummary: t.PlanSummary, PlanItems: t.PlanItems,
		Summary: t.Summary, ReviewerAssessment: t.ReviewerAssessment,
		ReviewerIssues: All(t.ReviewerIssues(), func(i ledger.ReviewIssue) schema.ReviewIssue {
			return schema.ReviewIssue(i)
		}),
		Blockers: t.Blockers, RequiredFixes: t.RequiredFixes(), Stalled: schema.Stalled(t.Stalled),
		ReviewLoop: schema.ReviewLoop(t.ReviewLoop), Rejections: t.Rejections, ReplanHint: t.ReplanHint,
		FilesChanged: t.FilesChanged, Attempts: t.Attempts, GitRange: t.GitRange,
		ReviewAttempts: schema.ReviewCounts{Spec: t.ReviewAttempts[0], Quality: t.ReviewAttempts[1]},
	}
}

// ProgressLedger returns the progress of an item.
func ProgressLedger(p ledger.ProgressLedger) *schema.ProgressLedger {
	w := &schema.ProgressLedger{
		Plan: p.Plan, ItemID: p.ItemID, SourcePath: p.SourcePath, SourceFingerprint: Fingerprint(p.Fingerprint),
		Totals: Totals(p.Totals), ActiveItemID: p.ActiveItemID,
	}
	if p.CurrentItem != nil {
		item := Item(*p.CurrentItem)
		w.CurrentItem = &item
	}
	return w
}

// Notice returns a notice.
func Notice(n store.Notice) schema.Notice {
	return schema.Notice{
		NoticeID: n.ID, Kind: string(n.Kind), SessionID: n.Session, SubjectID: n.Subject, Text: n.Text,
		Data: jsontext.Value(n.Data), CreatedAt: Time(n.CreatedAt), Deliveries: n.Deliveries,
	}
}

// Event returns an event of the log.
func Event(ev store.Event) schema.Event {
	return schema.Event{
		Seq: ev.Seq, At: Time(ev.At), Type: string(ev.Type), SubjectID: ev.Subject, Data: jsontext.Value(ev.Data),
	}
}

// Decision returns nil for nil.
func Decision(d *run.Decision) *schema.Decision {
	if d == nil {
		return nil
	}
	return &schema.Decision{Rule: string(d.Rule), Count: d.Count, Limit: d.Limit}
}

// ReceiptPrefix begins the id of a receipt. The number of its event follows.
const ReceiptPrefix = "rcp_"

// Receipt returns the receipt that an event of a run records.
func Receipt(seq int64, runID string, at core.Instant, c schema.CheckRun) schema.Receipt {
	return schema.Receipt{ReceiptID: ReceiptPrefix + strconv.FormatInt(seq, 10), RunID: runID, At: Time(at), CheckRun: c}
}

// ReceiptOf returns the receipt in an event.
func ReceiptOf(ev store.Event) (schema.Receipt, error) {
	var c schema.CheckRun
	if err := json.Unmarshal([]byte(ev.Data), &c); err != nil {
		return schema.Receipt{}, fmt.Errorf("read event %d: %w", ev.Seq, err)
	}
	return Receipt(ev.Seq, ev.Subject, ev.At, c), nil
}
