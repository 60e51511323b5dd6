package instruction

import (
	"fmt"

	"waybill/core"
)

// Explain explains the state of the instruction and the possible next steps. history holds the events of the
// instruction in ascending order and may lack the oldest.
func (in Instruction) Explain(history core.History) core.Explanation {
	return core.Explanation{
		Subject: in.ID,
		State:   string(in.State()),
		Because: core.Because(in, history, instructionRules()),
		Next:    in.next(),
	}
}

// instructionRules returns the rules that explain the laws of Step for the present phase.
func instructionRules() []core.ReasonRule[Instruction] {
	return []core.ReasonRule[Instruction]{
		{Name: "standing_waits_for_its_trigger", Text: sayArmed, Events: []core.EventType{core.InstructionQueued, core.InstructionAcknowledged, core.InstructionFailed}},
		{Name: "sent_in_a_dispatch_pass", Text: sayQueued, Events: []core.EventType{core.InstructionQueued, core.InstructionDue, core.InstructionUndelivered}},
		{Name: "plain_is_sent_once", Text: sayPlainSent, Events: []core.EventType{core.InstructionSent}},
		{Name: "sent_again_until_acknowledged", Text: sayTrackedSent, Events: []core.EventType{core.InstructionSent, core.InstructionUndelivered}},
		{Name: "acknowledgement_ends_it", Text: sayAcknowledged, Events: []core.EventType{core.InstructionAcknowledged}},
		{Name: "fails_when_its_sends_are_used_up", Text: sayFailed, Events: []core.EventType{core.InstructionFailed}},
		{Name: "late_acknowledgement_is_recorded", Text: sayLateAck, Events: []core.EventType{core.InstructionLateAck}},
		{Name: "host_withdrew_it", Text: sayCancelled, Events: []core.EventType{core.InstructionCancelled}},
		{Name: "undelivered_send_is_free", Text: sayUndelivered, Events: []core.EventType{core.InstructionUndelivered}},
		{Name: "what_acknowledges_it", Text: sayAckRule, Events: []core.EventType{core.InstructionQueued}},
	}
}

func sayArmed(in Instruction, h core.History) string {
	if _, ok := in.Phase.(Armed); !ok {
		return ""
	}
	text := fmt.Sprintf("queued at %s and nothing is due: it is sent after %s", in.CreatedAt.RFC3339(), in.Trigger.describe())
	if due := h.Count(core.InstructionDue); due > 0 {
		text += fmt.Sprintf("; it was due %s, and acknowledged %s", times(due), times(h.Count(core.InstructionAcknowledged)))
	}
	return text
}

func times(n int) string { return core.Counted(n, "time") }

func sayQueued(in Instruction, h core.History) string {
	if _, ok := in.Phase.(Queued); !ok {
		return ""
	}
	since, at := "queued", in.CreatedAt
	if h.Count(core.InstructionDue) > 0 {
		since, at = "due", h.Last(core.InstructionDue).At
	}
	order := "in the order of queueing"
	if in.Priority {
		order = "before those without priority"
	}
	return fmt.Sprintf("%s at %s and sent 0 of %d times: a dispatch pass of session %q hands it out, %s",
		since, at.RFC3339(), in.SendsMax(), in.Session, order)
}

func sayPlainSent(in Instruction, _ core.History) string {
	p, ok := in.Phase.(Sent)
	if !ok || in.Tracked {
		return ""
	}
	return fmt.Sprintf("sent %d of %d times, at %s: a plain instruction needs no acknowledgement",
		p.Sends, in.SendsMax(), p.At.RFC3339())
}

func sayTrackedSent(in Instruction, _ core.History) string {
	p, ok := in.Phase.(Sent)
	if !ok || !in.Tracked {
		return ""
	}
	text := fmt.Sprintf("sent %d of %d times, last at %s, and not acknowledged", p.Sends, in.SendsMax(), p.At.RFC3339())
	if p.Sends < in.SendsMax() {
		return text + ": each due pass sends it again"
	}
	return text + ": no send is left, so the next due pass fails it"
}

func sayAcknowledged(in Instruction, _ core.History) string {
	p, ok := in.Phase.(Acknowledged)
	if !ok {
		return ""
	}
	by := "by a call with its id"
	if p.By == ByEvent {
		by = "by " + in.AckOn.describe()
	}
	if p.Sends == 0 {
		return fmt.Sprintf("acknowledged at %s %s, before its first send: it is never sent", p.At.RFC3339(), by)
	}
	return fmt.Sprintf("acknowledged at %s %s, after %d of %d sends: it is not sent again",
		p.At.RFC3339(), by, p.Sends, in.SendsMax())
}

func sayFailed(in Instruction, _ core.History) string {
	p, ok := in.Phase.(Failed)
	if !ok {
		return ""
	}
	return fmt.Sprintf("sent %d of %d times, last at %s, and not acknowledged when a pass at %s found it due again",
		p.Sends, in.SendsMax(), p.SentAt.RFC3339(), p.At.RFC3339())
}

func sayLateAck(in Instruction, _ core.History) string {
	p, ok := in.Phase.(Failed)
	if !ok || p.LateAckAt == 0 {
		return ""
	}
	return fmt.Sprintf("acknowledged at %s, after it had failed; the time is recorded, and it stays failed", p.LateAckAt.RFC3339())
}

func sayCancelled(in Instruction, _ core.History) string {
	p, ok := in.Phase.(Cancelled)
	if !ok {
		return ""
	}
	text := fmt.Sprintf("cancelled by the host at %s, after %d of %d sends", p.At.RFC3339(), p.Sends, in.SendsMax())
	if p.Reason != "" {
		text += fmt.Sprintf(", because %q", p.Reason)
	}
	return text
}

func sayUndelivered(_ Instruction, h core.History) string {
	n := h.Count(core.InstructionUndelivered)
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s taken back, the last at %s, because they could not be written to the host; they use up no retry",
		core.Counted(n, "send"), h.Last(core.InstructionUndelivered).At.RFC3339())
}

// sayAckRule returns "" where no acknowledgement is expected.
func sayAckRule(in Instruction, _ core.History) string {
	if !in.Tracked {
		return ""
	}
	byEvent := in.AckOn != AckRule{}
	switch in.Phase.(type) {
	case Armed:
		return ""
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
	panic("instruction: instruction without a phase")
}

// describe returns a description of the events that fire.
func (t Trigger) describe() string {
	text := AckRule{EventType: t.EventType, Match: t.Match}.describe()
	switch {
	case t.Path == "":
		return text
	case t.Match == "":
		return fmt.Sprintf("%s about a file that fits %q", text, t.Path)
	}
	return fmt.Sprintf("%s and that is about a file that fits %q", text, t.Path)
}

// describe returns a description of the matching events.
func (r AckRule) describe() string {
	text := fmt.Sprintf("a reported event of type %q", r.EventType)
	if r.Match == "" {
		return text
	}
	return text + " whose data matches " + r.Match
}

// someday is the instant of a trial event. Its value does not matter, because without a minimum age every pass sends.
const someday core.Instant = 1

// instructionCalls are the methods that send an event to an instruction.
var instructionCalls = []struct {
	name    string
	event   Event
	applies func(Instruction) bool // condition beyond that of Step
}{
	{"report_event", Fire{}, func(in Instruction) bool { return in.State() == StateArmed }},
	{"dispatch_instructions", Dispatch{At: someday}, always},
	{"acknowledge", Acknowledge{At: someday, By: ByCall}, always},
	{"report_event", Acknowledge{At: someday, By: ByEvent}, awaitsEvent},
	{"cancel_instruction", Cancel{At: someday}, always},
}

func always(Instruction) bool { return true }

func awaitsEvent(in Instruction) bool { return in.Outstanding() && in.AckOn != AckRule{} }

// next tries each possible event on the instruction and describes the result, so that it never promises what Step
// would refuse.
func (in Instruction) next() []core.Action {
	actions := []core.Action{}
	for _, call := range instructionCalls {
		after, effects, err := in.Step(call.event)
		if err == nil && len(effects) > 0 && call.applies(in) {
			var command []string
			if call.name == "cancel_instruction" {
				command = []string{"instruction", "cancel", in.ID}
			}
			actions = append(actions, core.Act(in.ID, call.name, after.outcome(call.event), command...))
		}
	}
	if in.State() == StateFailed {
		actions = append(actions, core.Act(in.ID, "queue_instruction_with_ack", "queues the text as a new instruction; this one stays failed"))
	}
	return actions
}

// outcome describes the instruction after an event.
func (in Instruction) outcome(event Event) string {
	switch p := in.Phase.(type) {
	case Armed:
		if ack, ok := event.(Acknowledge); ok && ack.By == ByEvent {
			return in.AckOn.describe() + " acknowledges it; it is sent again only after its trigger fires"
		} else if ok {
			return "acknowledges it; it is sent again only after its trigger fires"
		}
		return fmt.Sprintf("leaves a notice, as no send is left after %s; it is sent again only after its trigger fires", core.Counted(in.SendsMax(), "send"))
	case Queued:
		if _, fires := event.(Fire); fires {
			return in.Trigger.describe() + " makes it due, so that the next dispatch pass sends it"
		}
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
		return fmt.Sprintf("fails it with a notice: no send is left after %s", core.Counted(p.Sends, "send"))
	case Cancelled:
		return "withdraws it; nothing more is sent"
	}
	panic("instruction: instruction without a phase")
}
