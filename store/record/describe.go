package record

import (
	"encoding/json"
	"errors"
	"fmt"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/core/proof"
	"waybill/core/run"
	"waybill/ledger"
	"waybill/store"
)

// Instructions describes the instructions.
var Instructions = Kind[instruction.Instruction]{
	Table: "instructions", KeyColumns: 1, mark: 'i',
	Label: func(in *instruction.Instruction) string { return "instruction " + in.ID },
	fields: func(f *Fields, in *instruction.Instruction) {
		number(f, "position", &in.Position)
		text(f, "id", &in.ID)
		text(f, "session", &in.Session)
		text(f, "content", &in.Content)
		flag(f, "tracked", &in.Tracked)
		flag(f, "priority", &in.Priority)
		number(f, "max_retries", &in.MaxRetries)
		ruled, triggered := in.AckOn != instruction.AckRule{}, in.Trigger != instruction.Trigger{}
		textIf(f, ruled, "ack_event", &in.AckOn.EventType)
		textIf(f, ruled, "ack_match", &in.AckOn.Match)
		textIf(f, triggered, "trigger_event", &in.Trigger.EventType)
		textIf(f, triggered, "trigger_match", &in.Trigger.Match)
		textIf(f, triggered, "trigger_path", &in.Trigger.Path)
		number(f, "created_at", &in.CreatedAt)
		describePhase(f, &in.Phase)
	},
}

// An instructionPhase has the facts of all phases of an instruction.
type instructionPhase struct {
	state                    instruction.State
	sends                    int
	sentAt, endedAt, lateAck core.Instant
	by                       instruction.AckSource
	reason                   string
}

func describePhase(f *Fields, phase *instruction.Phase) {
	var p instructionPhase
	if f.mode == reading {
		p = instructionPhaseOf(*phase)
	}
	text(f, "state", &p.state)
	number(f, "sends", &p.sends)
	numberIf(f, p.sends > 0 || p.sentAt != 0, "sent_at", &p.sentAt)
	acked, failed, cancelled := p.state == instruction.StateAcknowledged, p.state == instruction.StateFailed, p.state == instruction.StateCancelled
	numberIf(f, acked || failed || cancelled, "ended_at", &p.endedAt)
	textIf(f, acked, "ack_by", &p.by)
	textIf(f, cancelled, "reason", &p.reason)
	numberIf(f, p.lateAck != 0, "late_ack_at", &p.lateAck)
	if f.mode == setting {
		if *phase = p.phase(); *phase == nil {
			f.fail("%q is no state of an instruction", p.state)
		}
	}
}

func instructionPhaseOf(phase instruction.Phase) instructionPhase {
	to := instructionPhase{state: phase.State()}
	switch p := phase.(type) {
	case instruction.Armed, instruction.Queued:
	case instruction.Sent:
		to.sends, to.sentAt = p.Sends, p.At
	case instruction.Acknowledged:
		to.sends, to.sentAt, to.endedAt, to.by = p.Sends, p.SentAt, p.At, p.By
	case instruction.Failed:
		to.sends, to.sentAt, to.endedAt, to.lateAck = p.Sends, p.SentAt, p.At, p.LateAckAt
	case instruction.Cancelled:
		to.sends, to.sentAt, to.endedAt, to.reason = p.Sends, p.SentAt, p.At, p.Reason
	}
	return to
}

// phase returns the phase, or nil if there is no such state.
func (p instructionPhase) phase() instruction.Phase {
	switch p.state {
	case instruction.StateArmed:
		return instruction.Armed{}
	case instruction.StateQueued:
		return instruction.Queued{}
	case instruction.StateSent:
		return instruction.Sent{Sends: p.sends, At: p.sentAt}
	case instruction.StateAcknowledged:
		return instruction.Acknowledged{Sends: p.sends, SentAt: p.sentAt, At: p.endedAt, By: p.by}
	case instruction.StateFailed:
		return instruction.Failed{Sends: p.sends, SentAt: p.sentAt, At: p.endedAt, LateAckAt: p.lateAck}
	case instruction.StateCancelled:
		return instruction.Cancelled{Sends: p.sends, SentAt: p.sentAt, At: p.endedAt, Reason: p.reason}
	case instruction.StateDelivered: // no phase has it
	}
	return nil
}

// A Run is a run with its number in the order of their first put. An export has the runs in that order, without numbers.
type Run struct {
	Number int64
	run.Run
}

// Runs describes the runs.
var Runs = Kind[Run]{
	Table: "runs", KeyColumns: 1, mark: 'r',
	Label: func(r *Run) string { return "run " + r.ID },
	fields: func(f *Fields, r *Run) {
		if !f.export {
			number(f, "number", &r.Number)
		}
		text(f, "id", &r.ID)
		text(f, "plan", &r.Plan)
		text(f, "item_id", &r.ItemID)
		text(f, "state", &r.State)
		text(f, "halt", &r.Halt)
		policy, counters := &r.Policy, &r.Counters
		number(f, "invalid_retries", &policy.InvalidRetries)
		number(f, "reviewer_fresh_runs", &policy.ReviewerFreshRuns)
		number(f, "worker_failures_max", &policy.WorkerFailures)
		number(f, "review_rejections_max", &policy.ReviewRejections)
		number(f, "stalled_threshold", &policy.StalledThreshold)
		number(f, "review_loop_threshold", &policy.ReviewLoopThreshold)
		number(f, "check_failures_max", &policy.CheckFailures)
		number(f, "reviewers", &policy.Reviewers)
		number(f, "result_form", &policy.ResultForm)
		flag(f, "require_key", &policy.RequireKey)
		number(f, "invalid_worker", &counters.InvalidResults[0])
		number(f, "invalid_spec", &counters.InvalidResults[1])
		number(f, "invalid_quality", &counters.InvalidResults[2])
		number(f, "worker_failures", &counters.WorkerFailures)
		number(f, "review_rejections", &counters.ReviewRejections)
		number(f, "stalled", &counters.Stalled)
		number(f, "review_loop", &counters.ReviewLoop)
		number(f, "check_failures", &counters.CheckFailures)
		number(f, "standing_worker", &r.Standing[0])
		number(f, "standing_spec", &r.Standing[1])
		number(f, "standing_quality", &r.Standing[2])
		number(f, "naming", &r.Naming)
		coded(f, "findings_spec", &r.Findings[0], writtenFindings, readFindings)
		coded(f, "findings_quality", &r.Findings[1], writtenFindings, readFindings)
		text(f, "frontier", &r.Frontier)
		coded(f, "proof", &r.Proof, writtenProof, readProof)
		number(f, "plan_version", &r.PlanVersion)
		number(f, "revision", &r.Revision)
		number(f, "created_at", &r.CreatedAt)
		number(f, "updated_at", &r.UpdatedAt)
		if f.mode == setting {
			policy.RequireChecks = r.Proof.Required
		}
	},
}

var errOtherForm = errors.New("it is not what was written")

// writtenProof returns the stored form of a proof, or "" for the zero proof.
func writtenProof(p proof.Proof) string {
	if p == (proof.Proof{}) {
		return ""
	}
	text, _ := json.Marshal(p) // a struct of texts, numbers and flags
	return string(text)
}

// readProof reads the text of writtenProof and refuses any other.
func readProof(stored string) (p proof.Proof, err error) {
	if stored == "" {
		return p, nil
	}
	err = json.Unmarshal([]byte(stored), &p)
	if err == nil && writtenProof(p) != stored {
		err = errOtherForm
	}
	return p, err
}

// writtenFindings returns the stored form of findings: their counts and then their quoted sets, or "" if there are
// none.
func writtenFindings(f run.Findings) string {
	if f == (run.Findings{}) {
		return ""
	}
	return fmt.Sprintf("%d %d %q %q", f.Same, f.Swaps, f.Last, f.Before)
}

// readFindings reads the text of writtenFindings and refuses any other.
func readFindings(stored string) (f run.Findings, err error) {
	if stored == "" {
		return f, nil
	}
	_, err = fmt.Sscanf(stored, "%d %d %q %q", &f.Same, &f.Swaps, &f.Last, &f.Before)
	if err == nil && (f.Same < 0 || f.Swaps < 0 || writtenFindings(f) != stored) {
		err = errOtherForm
	}
	return f, err
}

// A Fact is a fact of a run.
type Fact struct {
	RunID string
	ledger.Fact
}

// Facts describes the facts of runs.
var Facts = Kind[Fact]{
	Table: "facts", KeyColumns: 2, mark: 'f',
	Label: func(a *Fact) string { return "fact " + a.Key + " of run " + a.RunID },
	fields: func(f *Fields, a *Fact) {
		text(f, "run_id", &a.RunID)
		text(f, "key", &a.Key)
		text(f, "value", &a.Value)
	},
}

// A Tally is a counter of a run.
type Tally struct {
	RunID string
	store.Tally
}

// Tallies describes the counters of runs.
var Tallies = Kind[Tally]{
	Table: "tallies", KeyColumns: 2, mark: 'y',
	Label: func(t *Tally) string { return "the tally " + t.Name + " of run " + t.RunID },
	fields: func(f *Fields, t *Tally) {
		text(f, "run_id", &t.RunID)
		text(f, "name", &t.Name)
		number(f, "n", &t.N)
	},
}

// Prompts describes the last prompts of runs.
var Prompts = Kind[store.Prompt]{
	Table: "prompts", KeyColumns: 2, mark: 'p',
	Label: func(p *store.Prompt) string { return "the prompt for " + p.Role.String() + " of run " + p.RunID },
	fields: func(f *Fields, p *store.Prompt) {
		text(f, "run_id", &p.RunID)
		coded(f, "role", &p.Role, core.Role.String, readRole)
		number(f, "at", &p.At)
		text(f, "version", &p.Version)
		text(f, "cursor", &p.Cursor)
		number(f, "tokens", &p.Tokens)
		text(f, "text", &p.Text)
	},
}

func readRole(stored string) (core.Role, error) {
	role, ok := core.ParseRole(stored)
	if !ok || role.String() != stored {
		return role, fmt.Errorf("%q is no role", stored)
	}
	return role, nil
}

// Events describes the event log.
var Events = Kind[store.Event]{
	Table: "events", KeyColumns: 1, mark: 'e',
	Label: func(ev *store.Event) string { return fmt.Sprintf("event %d", ev.Seq) },
	fields: func(f *Fields, ev *store.Event) {
		number(f, "seq", &ev.Seq)
		number(f, "at", &ev.At)
		text(f, "type", &ev.Type)
		text(f, "subject", &ev.Subject)
		text(f, "data", &ev.Data)
		hash(f, "hash", &ev.Hash)
	},
}

// Notices describes the notices.
var Notices = Kind[store.Notice]{
	Table: "notices", KeyColumns: 1, mark: 'n',
	Label: func(n *store.Notice) string { return "notice " + n.ID },
	fields: func(f *Fields, n *store.Notice) {
		number(f, "position", &n.Position)
		text(f, "id", &n.ID)
		text(f, map[bool]string{false: "kind", true: "notice"}[f.export], &n.Kind) // kind is the first field of every line
		text(f, "session", &n.Session)
		text(f, "subject", &n.Subject)
		text(f, "text", &n.Text)
		text(f, "data", &n.Data)
		number(f, "created_at", &n.CreatedAt)
		number(f, "deliveries", &n.Deliveries)
	},
}

// Answers describes the answers to calls with an idempotency key.
var Answers = Kind[store.Answer]{
	Table: "answers", KeyColumns: 1, mark: 'a',
	Label: func(a *store.Answer) string { return "the answer for the key " + a.Key },
	fields: func(f *Fields, a *store.Answer) {
		text(f, "key", &a.Key)
		text(f, "fingerprint", &a.Fingerprint)
		text(f, "result", &a.Result)
		number(f, "at", &a.At)
	},
}
