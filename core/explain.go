package core

import (
	"fmt"
	"time"
)

// An Occurrence is one record of the event log about a thing, as far as an explanation needs it.
type Occurrence struct {
	Seq  int64
	At   Instant
	Type EventType
	Rule Rule // of a decision, otherwise ""
	Role Role // whom it was about, if a role
}

// An Explanation says why a thing is as it is and what would move it on.
type Explanation struct {
	Subject string   // the thing's id
	State   string   // the state it is in
	Because []Reason // the reason for the state first; never empty
	Next    []Action // what can still change something; empty but not nil if nothing can
}

// A Reason is one rule that has a part in the present state.
type Reason struct {
	Rule     string // a stable name
	Text     string // one sentence for a person, with the counter and its limit
	EventSeq int64  // the event that made the rule apply, or zero if the history does not have it
}

// An Action is a method that would change something, and what it would do.
type Action struct {
	Name string
	Text string
}

// history is what happened to one thing, in the order of the log.
type history []Occurrence

// last gives the latest occurrence of one of the types, or the zero Occurrence.
func (h history) last(types ...EventType) Occurrence {
	for i := len(h) - 1; i >= 0; i-- {
		for _, t := range types {
			if h[i].Type == t {
				return h[i]
			}
		}
	}
	return Occurrence{}
}

func (h history) count(t EventType) int {
	n := 0
	for _, o := range h {
		if o.Type == t {
			n++
		}
	}
	return n
}

// A rule is one possible reason: its name, what it says about a thing, or "" if it has no part in
// how the thing is, and the types of the events that make it apply.
type rule[T any] struct {
	name  string
	says  func(thing T, h history) string
	moved []EventType
}

// because gives a reason for each rule that has something to say.
func because[T any](thing T, h history, rules []rule[T]) []Reason {
	reasons := []Reason{}
	for _, r := range rules {
		if text := r.says(thing, h); text != "" {
			reasons = append(reasons, Reason{Rule: r.name, Text: text, EventSeq: h.last(r.moved...).Seq})
		}
	}
	return reasons
}

// when writes an instant for a person.
func when(at Instant) string { return time.UnixMicro(int64(at)).UTC().Format(time.RFC3339Nano) }

// Explain says why the instruction is as it is and what would move it on. The history holds the log's
// records about it in ascending order; it may lack the oldest ones, which the log does not keep for ever.
func (in Instruction) Explain(history []Occurrence) Explanation {
	return Explanation{
		Subject: in.ID,
		State:   string(in.State()),
		Because: because(in, history, instructionRules),
		Next:    in.next(),
	}
}

// instructionRules are the laws of Step as reasons; what each says is true of the phase as it is.
var instructionRules = []rule[Instruction]{
	{"sent_in_a_dispatch_pass", sayQueued, []EventType{InstructionQueued, InstructionUndelivered}},
	{"plain_is_sent_once", sayPlainSent, []EventType{InstructionSent}},
	{"sent_again_until_acknowledged", sayTrackedSent, []EventType{InstructionSent, InstructionUndelivered}},
	{"acknowledgement_ends_it", sayAcknowledged, []EventType{InstructionAcknowledged}},
	{"fails_when_its_sends_are_used_up", sayFailed, []EventType{InstructionFailed}},
	{"late_acknowledgement_is_recorded", sayLateAck, []EventType{InstructionLateAck}},
	{"host_withdrew_it", sayCancelled, []EventType{InstructionCancelled}},
	{"undelivered_send_is_free", sayUndelivered, []EventType{InstructionUndelivered}},
	{"what_acknowledges_it", sayAckRule, []EventType{InstructionQueued}},
}

func sayQueued(in Instruction, _ history) string {
	if _, ok := in.Phase.(Queued); !ok {
		return ""
	}
	order := "in the order of queueing"
	if in.Priority {
		order = "before those without priority"
	}
	return fmt.Sprintf("queued at %s and sent 0 of %d times: a dispatch pass of session %q hands it out, %s",
		when(in.CreatedAt), in.SendsMax(), in.Session, order)
}

func sayPlainSent(in Instruction, _ history) string {
	p, ok := in.Phase.(Sent)
	if !ok || in.Tracked {
		return ""
	}
	return fmt.Sprintf("sent %d of %d times, at %s: a plain instruction needs no acknowledgement, so that was all",
		p.Sends, in.SendsMax(), when(p.At))
}

func sayTrackedSent(in Instruction, _ history) string {
	p, ok := in.Phase.(Sent)
	if !ok || !in.Tracked {
		return ""
	}
	text := fmt.Sprintf("sent %d of %d times, last at %s, and not acknowledged", p.Sends, in.SendsMax(), when(p.At))
	if p.Sends < in.SendsMax() {
		return text + ": each pass that finds it due sends it once more"
	}
	return text + ": its sends are used up, so the next pass that finds it due fails it"
}

func sayAcknowledged(in Instruction, _ history) string {
	p, ok := in.Phase.(Acknowledged)
	if !ok {
		return ""
	}
	by := "by a call with its id"
	if p.By == ByEvent {
		by = "by " + in.AckOn.describe()
	}
	if p.Sends == 0 {
		return fmt.Sprintf("acknowledged at %s %s, before its first send: it is never sent", when(p.At), by)
	}
	return fmt.Sprintf("acknowledged at %s %s, after %d of %d sends: it is not sent again",
		when(p.At), by, p.Sends, in.SendsMax())
}

func sayFailed(in Instruction, _ history) string {
	p, ok := in.Phase.(Failed)
	if !ok {
		return ""
	}
	return fmt.Sprintf("sent %d of %d times, last at %s, and not acknowledged when a pass at %s found it due again",
		p.Sends, in.SendsMax(), when(p.SentAt), when(p.At))
}

func sayLateAck(in Instruction, _ history) string {
	p, ok := in.Phase.(Failed)
	if !ok || p.LateAckAt == 0 {
		return ""
	}
	return fmt.Sprintf("acknowledged at %s, after it had failed: that is kept, and it stays failed", when(p.LateAckAt))
}

func sayCancelled(in Instruction, _ history) string {
	p, ok := in.Phase.(Cancelled)
	if !ok {
		return ""
	}
	text := fmt.Sprintf("cancelled by the host at %s, after %d of %d sends", when(p.At), p.Sends, in.SendsMax())
	if p.Reason != "" {
		text += fmt.Sprintf(", because %q", p.Reason)
	}
	return text
}

func sayUndelivered(_ Instruction, h history) string {
	n := h.count(InstructionUndelivered)
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s taken back, the last at %s, because the host could not be written to: that uses up no retry",
		counted(n, "send"), when(h.last(InstructionUndelivered).At))
}

// sayAckRule is silent where an acknowledgement is not, or no longer, the question.
func sayAckRule(in Instruction, _ history) string {
	if !in.Tracked {
		return ""
	}
	byEvent := in.AckOn != AckRule{}
	switch in.Phase.(type) {
	case Queued, Sent:
		if byEvent {
			return in.AckOn.describe() + " acknowledges it, and so does a call with its id"
		}
		return "queued without ack_on: only a call with its id acknowledges it"
	case Failed:
		if byEvent {
			return "neither " + in.AckOn.describe() + " nor a call with its id came before it failed"
		}
		return "queued without ack_on, and no call with its id came before it failed"
	case Acknowledged, Cancelled:
		return ""
	}
	panic("core: instruction without a phase")
}

// describe names the events that the rule matches.
func (r AckRule) describe() string {
	text := fmt.Sprintf("a reported event of type %q", r.EventType)
	if r.Match == "" {
		return text
	}
	return text + " whose data matches " + r.Match
}

// someday stands for the instant of an event that is only tried out. Which one it is makes no
// difference: without a minimum age every pass is a turn.
const someday Instant = 1

// instructionCalls are the methods that put an event to an instruction.
var instructionCalls = []struct {
	name    string
	event   Event
	applies func(Instruction) bool // beyond what Step allows
}{
	{"dispatch_instructions", Dispatch{At: someday}, always},
	{"acknowledge", Acknowledge{At: someday, By: ByCall}, always},
	{"report_event", Acknowledge{At: someday, By: ByEvent}, awaitsEvent},
	{"cancel_instruction", Cancel{At: someday}, always},
}

func always(Instruction) bool { return true }

func awaitsEvent(in Instruction) bool { return in.Outstanding() && in.AckOn != AckRule{} }

// next puts each possible event to the instruction and tells what comes of it, so that it can never
// promise what Step would refuse.
func (in Instruction) next() []Action {
	actions := []Action{}
	for _, call := range instructionCalls {
		after, effects, err := in.Step(call.event)
		if err == nil && len(effects) > 0 && call.applies(in) {
			actions = append(actions, Action{Name: call.name, Text: after.outcome()})
		}
	}
	if in.State() == StateFailed {
		actions = append(actions, Action{
			Name: "queue_instruction_with_ack", Text: "asks again with a new instruction; this one stays failed",
		})
	}
	return actions
}

// outcome says what it means that an event has brought the instruction here.
func (in Instruction) outcome() string {
	switch p := in.Phase.(type) {
	case Queued:
		return "puts it back into the queue"
	case Sent:
		return fmt.Sprintf("hands it out as send %d of %d", p.Sends, in.SendsMax())
	case Acknowledged:
		if p.By == ByEvent {
			return in.AckOn.describe() + " acknowledges it; nothing more is sent"
		}
		return "acknowledges it; nothing more is sent"
	case Failed:
		if p.LateAckAt != 0 {
			return "records that it was acknowledged late; it stays failed"
		}
		return fmt.Sprintf("fails it with a notice: its %s are used up", counted(p.Sends, "send"))
	case Cancelled:
		return "withdraws it; nothing more is sent"
	}
	panic("core: instruction without a phase")
}

// counted writes a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
