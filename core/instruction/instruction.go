// Package instruction decides how an instruction continues after an event: queued, sent, repeated, acknowledged,
// failed or cancelled. It also matches acknowledgement rules. It sends and stores nothing.
package instruction

import "waybill/core"

// An Instruction is a short message for an agent. A plain one is handed out once. A tracked one is
// handed out again, at most once a dispatch pass, until its effect is acknowledged or its sends are
// used up. A standing one is tracked, too, and has a trigger: it waits until the trigger fires, is then sent like any
// tracked one, and waits again once it was acknowledged or has failed. Two instructions compare with ==.
type Instruction struct {
	ID       string
	Session  string
	Content  string
	Tracked  bool
	Priority bool
	// MaxRetries is the number of sends of a tracked instruction after the first; of a standing one, for each firing.
	MaxRetries int
	AckOn      AckRule // the zero rule: only an explicit acknowledgement counts
	Trigger    Trigger // of a standing instruction
	CreatedAt  core.Instant
	// Position orders the instructions of a store: a later one was queued later.
	Position int64
	Phase    Phase
}

// Standing reports whether the instruction is due again each time its trigger fires.
func (in Instruction) Standing() bool { return in.Trigger != Trigger{} }

// SendsMax returns the largest number of sends, of a standing instruction that for one firing.
func (in Instruction) SendsMax() int {
	if !in.Tracked {
		return 1
	}
	return 1 + in.MaxRetries
}

// State returns the state of the phase. A plain instruction that was sent is delivered, because no acknowledgement is
// expected.
func (in Instruction) State() State {
	if _, sent := in.Phase.(Sent); sent && !in.Tracked {
		return StateDelivered
	}
	return in.Phase.State()
}

// Sends returns the number of sends, of a standing instruction those since it was last armed or due.
func (in Instruction) Sends() int {
	switch p := in.Phase.(type) {
	case Armed, Queued:
		return 0
	case Sent:
		return p.Sends
	case Acknowledged:
		return p.Sends
	case Failed:
		return p.Sends
	case Cancelled:
		return p.Sends
	}
	panic("instruction: instruction without a phase")
}

// LastSentAt returns the time of the last send that Sends counts, or zero.
func (in Instruction) LastSentAt() core.Instant {
	switch p := in.Phase.(type) {
	case Armed, Queued:
		return 0
	case Sent:
		return p.At
	case Acknowledged:
		return p.SentAt
	case Failed:
		return p.SentAt
	case Cancelled:
		return p.SentAt
	}
	panic("instruction: instruction without a phase")
}

// Outstanding reports whether the instruction waits for its first send or for its acknowledgement.
func (in Instruction) Outstanding() bool {
	switch in.Phase.(type) {
	case Queued:
		return true
	case Sent:
		return in.Tracked
	case Armed, Acknowledged, Failed, Cancelled:
		return false
	}
	panic("instruction: instruction without a phase")
}

// A State names the phase of an instruction.
type State string

// The states of an instruction.
const (
	StateArmed        State = "armed" // standing, and its trigger did not fire since it was queued or settled
	StateQueued       State = "queued"
	StateSent         State = "sent"      // and waits for its acknowledgement
	StateDelivered    State = "delivered" // sent; no acknowledgement is expected
	StateAcknowledged State = "acknowledged"
	StateFailed       State = "failed"
	StateCancelled    State = "cancelled"
)

// States lists the states in the order of an instruction's life.
func States() []State {
	return []State{StateArmed, StateQueued, StateSent, StateDelivered, StateAcknowledged, StateFailed, StateCancelled}
}

// A Phase holds the facts that exist in one state only. Armed, Queued, Sent, Acknowledged, Failed and Cancelled are the only
// phases.
type Phase interface {
	State() State
	phase()
}

// Armed is the phase of a standing instruction that waits for its trigger.
type Armed struct{}

// Queued is the phase of an instruction that was never handed out, or not since it was last due.
type Queued struct{}

// Sent is the phase of an instruction that was handed out and, if tracked, waits for its
// acknowledgement. It is the last phase of a plain one.
type Sent struct {
	Sends int          // at least 1
	At    core.Instant // of the last send
}

// Acknowledged is the phase of an instruction whose effect was confirmed.
type Acknowledged struct {
	Sends  int          // 0 if it was confirmed before its first send
	SentAt core.Instant // of the last send, or zero
	At     core.Instant
	By     AckSource
}

// Failed is the phase of a tracked instruction whose sends were used up unacknowledged.
type Failed struct {
	Sends     int
	SentAt    core.Instant
	At        core.Instant
	LateAckAt core.Instant // time of an acknowledgement after the failure, or zero
}

// Cancelled is the phase of an instruction that the host withdrew.
type Cancelled struct {
	Sends  int
	SentAt core.Instant
	At     core.Instant
	Reason string
}

// State returns StateArmed.
func (Armed) State() State { return StateArmed }

// State returns StateQueued.
func (Queued) State() State { return StateQueued }

// State returns StateSent.
func (Sent) State() State { return StateSent }

// State returns StateAcknowledged.
func (Acknowledged) State() State { return StateAcknowledged }

// State returns StateFailed.
func (Failed) State() State { return StateFailed }

// State returns StateCancelled.
func (Cancelled) State() State { return StateCancelled }

func (Armed) phase()        {}
func (Queued) phase()       {}
func (Sent) phase()         {}
func (Acknowledged) phase() {}
func (Failed) phase()       {}
func (Cancelled) phase()    {}

// An AckSource names the source of an acknowledgement.
type AckSource string

// The sources of an acknowledgement.
const (
	ByCall  AckSource = "call"  // the host named the instruction
	ByEvent AckSource = "event" // a reported event matched its rule
)

// Escalated returns the text of the n-th send, from 1. Repeats have a prefix that grows more urgent, because an agent
// that ignored a text would ignore the same text again.
func Escalated(content string, send int) string {
	switch {
	case send <= 1:
		return content
	case send == 2:
		return "**REMINDER:** " + content
	case send == 3:
		return "**IMPORTANT:** " + content
	default:
		return "**URGENT:** " + content
	}
}

// Unsettled reports whether an instruction with an open notice of its failure still needs attention. A late
// acknowledgement settles a failed one, and its cancellation a standing one.
func (in Instruction) Unsettled() bool {
	p, failed := in.Phase.(Failed)
	return failed && p.LateAckAt == 0 || in.Standing() && in.State() != StateCancelled
}
