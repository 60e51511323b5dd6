package core

import "fmt"

// An Event is something that happens to an instruction.
// Dispatch, Acknowledge, Undeliver and Cancel are the only events.
type Event interface{ event() }

// Dispatch is one dispatch pass over the instruction. In one pass an instruction gets one Dispatch.
type Dispatch struct {
	At Instant
	// MinAge is how long, in microseconds, the last send must be ago before the instruction is
	// sent again or given up. Zero means that every pass is a turn.
	MinAge int64
}

// Acknowledge confirms the effect of the instruction.
type Acknowledge struct {
	At Instant
	By AckSource
}

// Undeliver takes a send back that could not be written to the host.
type Undeliver struct {
	Send     int     // which send
	Previous Instant // when the send before it was, or zero
}

// Cancel withdraws the instruction.
type Cancel struct {
	At     Instant
	Reason string
}

func (Dispatch) event()    {}
func (Acknowledge) event() {}
func (Undeliver) event()   {}
func (Cancel) event()      {}

// Enqueue gives the effects of accepting a new instruction.
func Enqueue() []Effect { return []Effect{Record{InstructionQueued}} }

// Step gives what the instruction becomes when the event happens to it, and what must follow.
// An event that changes nothing, such as a second acknowledgement, gives the same instruction and
// no effects. An event that the state does not allow gives a *Refusal and the same instruction.
//
// The laws that every sequence of events keeps:
//   - at most SendsMax sends are ever delivered, each with the next number;
//   - one Dispatch delivers at most once, and never both delivers and fails;
//   - nothing is delivered after an acknowledgement, a failure or a cancellation;
//   - a send that is taken back may be delivered again and uses up no retry;
//   - acknowledged, failed and cancelled are final.
func (in Instruction) Step(event Event) (Instruction, []Effect, error) {
	switch e := event.(type) {
	case Dispatch:
		return in.dispatch(e)
	case Acknowledge:
		return in.acknowledge(e)
	case Undeliver:
		return in.undeliver(e)
	case Cancel:
		return in.cancel(e)
	}
	panic(fmt.Sprintf("core: unknown instruction event %T", event))
}

func (in Instruction) dispatch(e Dispatch) (Instruction, []Effect, error) {
	switch p := in.Phase.(type) {
	case Queued:
		return in.sent(1, e.At)
	case Sent:
		return in.repeat(p, e)
	case Acknowledged, Failed, Cancelled:
		return in.refuse("dispatched: it is over")
	}
	panic("core: instruction without a phase")
}

func (in Instruction) repeat(p Sent, e Dispatch) (Instruction, []Effect, error) {
	switch {
	case !in.Tracked:
		return in.refuse("dispatched again: a plain instruction is sent once")
	case !due(p.At, e):
		return in, nil, nil
	case p.Sends < in.SendsMax():
		return in.sent(p.Sends+1, e.At)
	}
	in.Phase = Failed{Sends: p.Sends, SentAt: p.At, At: e.At}
	return in, []Effect{Record{InstructionFailed}, Post{NoticeInstructionFailed}}, nil
}

// due reports whether the last send is old enough for the pass. A last send in the future is a
// clock that was set back; waiting for it to come round again could take for ever, so it is due.
func due(sentAt Instant, e Dispatch) bool {
	age := int64(e.At - sentAt)
	return age < 0 || age >= e.MinAge
}

func (in Instruction) sent(send int, at Instant) (Instruction, []Effect, error) {
	in.Phase = Sent{Sends: send, At: at}
	return in, []Effect{Deliver{send}, Record{InstructionSent}}, nil
}

func (in Instruction) acknowledge(e Acknowledge) (Instruction, []Effect, error) {
	if !in.Tracked {
		return in.refuse("acknowledged: it is plain, and a plain instruction needs no acknowledgement")
	}
	switch p := in.Phase.(type) {
	case Queued, Sent:
		in.Phase = Acknowledged{Sends: in.Sends(), SentAt: in.LastSentAt(), At: e.At, By: e.By}
		return in, []Effect{Record{InstructionAcknowledged}}, nil
	case Acknowledged:
		return in, nil, nil
	case Failed:
		if p.LateAckAt != 0 {
			return in, nil, nil
		}
		p.LateAckAt = e.At
		in.Phase = p
		return in, []Effect{Record{InstructionLateAck}}, nil
	case Cancelled:
		return in.refuse("acknowledged: it was withdrawn; queue a new one if it is still wanted")
	}
	panic("core: instruction without a phase")
}

// undeliver changes something only while the send in question is still the last one and something is
// still to come. After an acknowledgement or a cancellation nothing needs correcting; a failure is
// final and has been told to the host; and once a later send went out, the number is taken.
func (in Instruction) undeliver(e Undeliver) (Instruction, []Effect, error) {
	switch p := in.Phase.(type) {
	case Sent:
		if p.Sends != e.Send {
			return in, nil, nil
		}
		in.Phase = Queued{}
		if p.Sends > 1 {
			in.Phase = Sent{Sends: p.Sends - 1, At: e.Previous}
		}
		return in, []Effect{Record{InstructionUndelivered}}, nil
	case Queued, Acknowledged, Failed, Cancelled:
		return in, nil, nil
	}
	panic("core: instruction without a phase")
}

func (in Instruction) cancel(e Cancel) (Instruction, []Effect, error) {
	switch in.Phase.(type) {
	case Queued, Sent:
		if !in.Outstanding() {
			return in.refuse("cancelled: a plain instruction is over once it is sent")
		}
		in.Phase = Cancelled{Sends: in.Sends(), SentAt: in.LastSentAt(), At: e.At, Reason: e.Reason}
		return in, []Effect{Record{InstructionCancelled}}, nil
	case Cancelled:
		return in, nil, nil
	case Acknowledged, Failed:
		return in.refuse("cancelled: it is over, and nothing more is sent")
	}
	panic("core: instruction without a phase")
}

func (in Instruction) refuse(what string) (Instruction, []Effect, error) {
	return in, nil, &Refusal{
		Kind: InvalidState, Noun: "instruction", Subject: in.ID, State: string(in.State()),
		Message: fmt.Sprintf("instruction %s is %s and cannot be %s", in.ID, in.State(), what),
	}
}
