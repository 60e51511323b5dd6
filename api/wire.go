package api

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/core/run"
	"waybill/engine"
	"waybill/engine/workspace"
	"waybill/internal/safetext"
	"waybill/ledger"
	"waybill/plan"
	"waybill/schema"
	"waybill/store"
)

// wireTime returns an instant as the wire shows it; zero is "", which is left out.
func wireTime(at core.Instant) schema.Time {
	if at == 0 {
		return ""
	}
	return schema.TimeOf(time.UnixMicro(int64(at)))
}

func wireInstruction(in instruction.Instruction) schema.Instruction {
	w := schema.Instruction{
		InstructionID: in.ID, SessionID: in.Session, Content: in.Content, State: string(in.State()),
		Tracked: in.Tracked, Priority: in.Priority, Sends: in.Sends(), SendsMax: in.SendsMax(),
		AckOn: wireRule(in.AckOn), CreatedAt: wireTime(in.CreatedAt), LastSentAt: wireTime(in.LastSentAt()),
	}
	switch p := in.Phase.(type) {
	case instruction.Queued, instruction.Sent:
	case instruction.Acknowledged:
		w.AcknowledgedAt, w.AcknowledgedBy = wireTime(p.At), string(p.By)
	case instruction.Failed:
		w.FailedAt, w.LateAckAt = wireTime(p.At), wireTime(p.LateAckAt)
	case instruction.Cancelled:
		w.CancelledAt, w.Reason = wireTime(p.At), p.Reason
	}
	return w
}

func wireRule(r instruction.AckRule) *schema.AckRule {
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

func wireWorkspace(ws workspace.Workspace) schema.Workspace {
	return schema.Workspace{ID: ws.ID, Root: ws.Root, StateDir: ws.StateDir, ResolvedBy: ws.ResolvedBy}
}

func wireFingerprint(f plan.Fingerprint) schema.Fingerprint {
	return schema.Fingerprint{MtimeMS: f.MtimeMs, Size: f.Size, Hash: f.Hash}
}

// wireRuns returns nil for a plan without runs.
func wireRuns(p plan.PlanProgress) *schema.PlanRuns {
	if !p.ByRuns() {
		return nil
	}
	return &schema.PlanRuns{Approved: p.Approved, Unapproved: p.Unapproved}
}

func wireTotals(t plan.Totals) schema.Totals { return schema.Totals(t) }

func wireItem(it plan.Item) schema.Item {
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

func wireDiagnostic(d plan.Diagnostic) schema.Diagnostic {
	return schema.Diagnostic{
		Source: d.Source, Line: d.Line, Column: d.Column, Severity: d.Severity.String(), Code: d.Code, Message: d.Message,
		Open: d.Open,
	}
}

// mapped applies fn to each element. The result is never nil.
func mapped[A, B any](list []A, fn func(A) B) []B {
	out := make([]B, len(list))
	for i, v := range list {
		out[i] = fn(v)
	}
	return out
}

func wireRun(r run.Run) schema.Run {
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
		Policy: wirePolicy(r.Policy), Standing: byRole(r.Standing, run.Standing.String),
		PlanVersion: r.PlanVersion, CreatedAt: wireTime(r.CreatedAt), UpdatedAt: wireTime(r.UpdatedAt),
	}
}

func wirePolicy(p run.Policy) schema.Policy {
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

func wireTaskLedger(t ledger.TaskLedger) *schema.TaskLedger {
	return &schema.TaskLedger{
		RunID: t.RunID, ItemID: t.ItemID, PlanVersion: t.PlanVersion, PlanSummary: t.PlanSummary, PlanItems: t.PlanItems,
		Summary: t.Summary, ReviewerAssessment: t.ReviewerAssessment,
		ReviewerIssues: mapped(t.ReviewerIssues(), func(i ledger.ReviewIssue) schema.ReviewIssue {
			return schema.ReviewIssue(i)
		}),
		Blockers: t.Blockers, RequiredFixes: t.RequiredFixes(), Stalled: schema.Stalled(t.Stalled),
		ReviewLoop: schema.ReviewLoop(t.ReviewLoop), Rejections: t.Rejections, ReplanHint: t.ReplanHint,
		FilesChanged: t.FilesChanged, Attempts: t.Attempts, GitRange: t.GitRange,
		ReviewAttempts: schema.ReviewCounts{Spec: t.ReviewAttempts[0], Quality: t.ReviewAttempts[1]},
	}
}

func wireProgressLedger(p ledger.ProgressLedger) *schema.ProgressLedger {
	w := &schema.ProgressLedger{
		Plan: p.Plan, ItemID: p.ItemID, SourcePath: p.SourcePath, SourceFingerprint: wireFingerprint(p.Fingerprint),
		Totals: wireTotals(p.Totals), ActiveItemID: p.ActiveItemID,
	}
	if p.CurrentItem != nil {
		item := wireItem(*p.CurrentItem)
		w.CurrentItem = &item
	}
	return w
}

func wireNotice(n store.Notice) schema.Notice {
	return schema.Notice{
		NoticeID: n.ID, Kind: string(n.Kind), SessionID: n.Session, SubjectID: n.Subject, Text: n.Text,
		Data: jsontext.Value(n.Data), CreatedAt: wireTime(n.CreatedAt), Deliveries: n.Deliveries,
	}
}

func wireEvent(ev store.Event) schema.Event {
	return schema.Event{
		Seq: ev.Seq, At: wireTime(ev.At), Type: string(ev.Type), SubjectID: ev.Subject, Data: jsontext.Value(ev.Data),
	}
}

func wireSend(d engine.Delivery, escalate bool) schema.Send {
	in := d.Instruction
	text := in.Content
	if escalate {
		text = instruction.Escalated(in.Content, d.Send)
	}
	return schema.Send{
		InstructionID: in.ID, Content: in.Content, Send: d.Send, SendsMax: in.SendsMax(), Tracked: in.Tracked, Text: text,
	}
}

// cursorAt returns the cursor of a time, "@" and microseconds. initialize uses it while the store is not open. Other
// cursors are an event number, a dot and the beginning of the event's hash, which detects a replaced log.
func cursorAt(at time.Time) string { return "@" + strconv.FormatInt(at.UnixMicro(), 10) }

// stampSlack is the longest time between an event's time and its commit. A cursor with a time may return events
// again, but misses none.
const stampSlack = core.Instant(time.Second / time.Microsecond)

// markBytes is the length of the hash in a cursor, enough for the few logs of a workspace.
const markBytes = 4

// cursorOf returns the cursor after an event. Without a known hash it is only the number.
func cursorOf(p store.Point) string {
	number := strconv.FormatInt(p.Seq, 10)
	if p.Hash == (store.Hash{}) {
		return number
	}
	return number + "." + hex.EncodeToString(p.Hash[:markBytes])
}

// position returns the event after which a cursor points. known is false if the log does not have it.
func position(tx store.Tx, cursor string) (seq int64, known bool, err error) {
	moment, timed := strings.CutPrefix(cursor, "@")
	number, mark, marked := strings.Cut(moment, ".")
	seq, err = strconv.ParseInt(number, 10, 64)
	if _, bad := hex.DecodeString(mark); err != nil || seq < 0 || marked && (timed || bad != nil || len(mark) != 2*markBytes) {
		return 0, false, badParam("/cursor", "a cursor from waybill, or \"0\" for the beginning", cursor)
	}
	if timed {
		seq, err = tx.SeqBefore(core.Instant(seq) - stampSlack)
		return seq, true, err
	}
	if seq == 0 {
		return 0, true, nil
	}
	p, known, err := store.PointAt(tx, seq)
	if marked && p.Hash != (store.Hash{}) {
		known = known && cursorOf(p) == cursor
	}
	return seq, known, err
}

// badParam returns INVALID_PARAMS for one param.
func badParam(pointer, expected string, found any) *schema.Error {
	shown := safetext.Truncate(fmt.Sprintf("%#v", found), shownCharacters)
	return problem(pointer, pointer+" must be "+expected+", not "+shown, expected, shown)
}

// requireAlone refuses filters together with a param that names one subject. The filters are pairs of pointer and
// value.
func requireAlone(name string, others ...[2]string) error {
	for _, other := range others {
		if other[1] != "" {
			return badParam(other[0], "absent when "+name+" is given", other[1])
		}
	}
	return nil
}

// problem refuses one param with its own message.
func problem(pointer, message, expected, found string) *schema.Error {
	return schema.NewError(schema.InvalidParams, message).With("errors", []schema.Problem{{
		Pointer: pointer, Message: message, Expected: expected, Found: safetext.Truncate(found, shownCharacters),
	}})
}

// shownCharacters limits how much of a param an error repeats: a param may be as large as a message.
const shownCharacters = 48

// or returns the value of a pointer, or the default for nil.
func or[T any](p *T, absent T) T {
	if p == nil {
		return absent
	}
	return *p
}
