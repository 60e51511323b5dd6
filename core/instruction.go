package core

// An Instruction is a short message for an agent. A plain one is handed out once. A tracked one is
// handed out again, at most once a dispatch pass, until its effect is acknowledged or its sends are
// used up. Two instructions compare with ==.
type Instruction struct {
	ID       string
	Session  string
	Content  string
	Tracked  bool
	Priority bool
	// MaxRetries is how often a tracked instruction may be sent after its first send.
	MaxRetries int
	AckOn      AckRule // the zero rule: only an explicit acknowledgement counts
	CreatedAt  Instant
	// Position orders the instructions of a store: a later one was queued later.
	Position int64
	Phase    Phase
}

// SendsMax is how often the instruction may be sent at most.
func (in Instruction) SendsMax() int {
	if !in.Tracked {
		return 1
	}
	return 1 + in.MaxRetries
}

// State is the state of the instruction's phase.
func (in Instruction) State() State { return in.Phase.State() }

// Sends is how often the instruction was handed out.
func (in Instruction) Sends() int {
	switch p := in.Phase.(type) {
	case Queued:
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
	panic("core: instruction without a phase")
}

// LastSentAt is when the instruction was handed out last, or zero.
func (in Instruction) LastSentAt() Instant {
	switch p := in.Phase.(type) {
	case Queued:
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
	panic("core: instruction without a phase")
}

// Outstanding reports whether something is still expected of the instruction: it waits for its
// first send, or was sent and waits for its acknowledgement.
func (in Instruction) Outstanding() bool {
	switch in.Phase.(type) {
	case Queued:
		return true
	case Sent:
		return in.Tracked
	case Acknowledged, Failed, Cancelled:
		return false
	}
	panic("core: instruction without a phase")
}

// A State names the phase of an instruction.
type State string

// The states of an instruction.
const (
	StateQueued       State = "queued"
	StateSent         State = "sent"
	StateAcknowledged State = "acknowledged"
	StateFailed       State = "failed"
	StateCancelled    State = "cancelled"
)

// States lists the states in the order of an instruction's life.
func States() []State {
	return []State{StateQueued, StateSent, StateAcknowledged, StateFailed, StateCancelled}
}

// A Phase holds what is true of an instruction in one state and in no other.
// Queued, Sent, Acknowledged, Failed and Cancelled are the only phases.
type Phase interface {
	State() State
	phase()
}

// Queued is the phase of an instruction that was never handed out.
type Queued struct{}

// Sent is the phase of an instruction that was handed out and, if tracked, waits for its
// acknowledgement. It is the last phase of a plain one.
type Sent struct {
	Sends int     // at least 1
	At    Instant // of the last send
}

// Acknowledged is the phase of an instruction whose effect was confirmed.
type Acknowledged struct {
	Sends  int     // 0 if it was confirmed before its first send
	SentAt Instant // of the last send, or zero
	At     Instant
	By     AckSource
}

// Failed is the phase of a tracked instruction whose sends were used up unacknowledged.
type Failed struct {
	Sends     int
	SentAt    Instant
	At        Instant
	LateAckAt Instant // when it was acknowledged all the same, or zero
}

// Cancelled is the phase of an instruction that the host withdrew.
type Cancelled struct {
	Sends  int
	SentAt Instant
	At     Instant
	Reason string
}

// State gives StateQueued.
func (Queued) State() State { return StateQueued }

// State gives StateSent.
func (Sent) State() State { return StateSent }

// State gives StateAcknowledged.
func (Acknowledged) State() State { return StateAcknowledged }

// State gives StateFailed.
func (Failed) State() State { return StateFailed }

// State gives StateCancelled.
func (Cancelled) State() State { return StateCancelled }

func (Queued) phase()       {}
func (Sent) phase()         {}
func (Acknowledged) phase() {}
func (Failed) phase()       {}
func (Cancelled) phase()    {}

// An AckSource says what confirmed an instruction.
type AckSource string

// The sources of an acknowledgement.
const (
	ByCall  AckSource = "call"  // the host named the instruction
	ByEvent AckSource = "event" // a reported event matched its rule
)

// Escalated is the text to hand to the agent for the n-th send (from 1): the content itself, and on
// repeats the content behind a prefix that grows more urgent, so that a message which was passed
// over once does not look the same twice.
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
