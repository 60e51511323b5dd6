package instruction

import (
	"fmt"

	"waybill/core"
)

// An Event is something that happens to an instruction.
// Fire, Dispatch, Acknowledge, Undeliver and Cancel are the only events.
type Event interface{ event() }

// Fire says that an event fired the trigger of a standing instruction.
type Fire struct {
	At core.Instant
	// MinAge is the time in microseconds after the last send from which a firing no longer belongs to that send.
	MinAge int64
}

// TimeToAnswer is the time, in microseconds, that an agent has to answer the last send of a standing instruction. A
// firing before its end is no sign that the agent ignores the send: agents often edit several files in a row.
const TimeToAnswer = 60_000_000

// Dispatch is one dispatch pass. An instruction gets at most one Dispatch per pass.
type Dispatch struct {
	At core.Instant
	// MinAge is the least time in microseconds from the last send to its repeat or, without sends left, to the failure. With
	// zero, every pass repeats or fails.
	MinAge int64
}

// Acknowledge confirms the effect of the instruction.
type Acknowledge struct {
	At core.Instant
	By AckSource
}

// Undeliver takes back a send that could not be written to the host.
type Undeliver struct {
	Send     int          // number of the send
	At       core.Instant // time of the send; sends of different firings may have the same number
	Previous core.Instant // time of the send before it, or zero
}

// Cancel withdraws the instruction.
type Cancel struct {
	At     core.Instant
	Reason string
}

func (Fire) event()        {}
func (Dispatch) event()    {}
func (Acknowledge) event() {}
func (Undeliver) event()   {}
func (Cancel) event()      {}

// Step returns the instruction after the event, and the effects.
// An event that changes nothing, such as a second acknowledgement, returns the same instruction and
// no effects. An event that the state does not allow returns a *Refusal and the same instruction.
//
// The laws that every sequence of events keeps:
//   - at most SendsMax sends are ever delivered, each with the next number;
//   - one Dispatch delivers at most once, and never both delivers and fails;
//   - nothing is delivered after an acknowledgement, a failure or a cancellation;
//   - a send that is taken back may be delivered again and uses up no retry;
//   - acknowledged, failed and cancelled are final; only a late acknowledgement of a failed one is still recorded.
//
// A standing instruction keeps the same laws between one firing and the next, and others beside them:
//   - where a tracked one would become acknowledged or failed, a standing one becomes armed again, or queued if a firing
//     fails it; only cancelled is final;
//   - nothing is delivered before the trigger fired, and after an acknowledgement not before it fires again;
//   - firings that no dispatch separates are one, and so are those that come while sends are left, or soon after the
//     last send;
//   - no firing is forgotten: each ends in an acknowledgement, a failure or a cancellation.
func (in Instruction) Step(event Event) (Instruction, []core.Effect, error) {
	switch e := event.(type) {
	case Fire:
		return in.fire(e)
	case Dispatch:
		return in.dispatch(e)
	case Acknowledge:
		return in.acknowledge(e)
	case Undeliver:
		return in.undeliver(e)
	case Cancel:
		return in.cancel(e)
	}
	panic(fmt.Sprintf("instruction: unknown event %T", event))
}

// fire makes the instruction due. A firing while sends are left allows no new sends: otherwise an agent that ignores the
// instruction would never fail. If no send is left, the earlier firing fails, and the instruction is due with all sends.
// The last send has TimeToAnswer before it counts as ignored.
func (in Instruction) fire(e Fire) (Instruction, []core.Effect, error) {
	if !in.Standing() {
		return in.refuse("fired: it has no trigger")
	}
	due := core.Record{Type: core.InstructionDue}
	switch p := in.Phase.(type) {
	case Armed:
		in.Phase = Queued{}
		return in, []core.Effect{due}, nil
	case Queued:
		return in, nil, nil
	case Sent:
		if p.Sends < in.SendsMax() || !old(p.At, e.At, e.MinAge) {
			return in, nil, nil
		}
		in.Phase = Queued{}
		return in, append(failed(), due), nil
	case Acknowledged, Failed, Cancelled:
		return in.refuse("fired: it is over")
	}
	panic("instruction: instruction without a phase")
}

// failed returns the effects of a failure.
func failed() []core.Effect {
	return []core.Effect{core.Record{Type: core.InstructionFailed}, core.Post{Kind: core.NoticeInstructionFailed}}
}

func (in Instruction) dispatch(e Dispatch) (Instruction, []core.Effect, error) {
	switch p := in.Phase.(type) {
	case Armed:
		return in.refuse("dispatched: its trigger did not fire")
	case Queued:
		return in.send(1, e.At)
	case Sent:
		return in.repeatOrFail(p, e)
	case Acknowledged, Failed, Cancelled:
		return in.refuse("dispatched: it is over")
	}
	panic("instruction: instruction without a phase")
}

func (in Instruction) repeatOrFail(p Sent, e Dispatch) (Instruction, []core.Effect, error) {
	switch {
	case !in.Tracked:
		return in.refuse("dispatched again: a plain instruction is sent once")
	case !old(p.At, e.At, e.MinAge):
		return in, nil, nil
	case p.Sends < in.SendsMax():
		return in.send(p.Sends+1, e.At)
	}
	in.Phase = Failed{Sends: p.Sends, SentAt: p.At, At: e.At}
	if in.Standing() {
		in.Phase = Armed{}
	}
	return in, failed(), nil
}

// old reports whether a send has the age. After a clock was set back, a send in the future is old, because waiting for
// that time could take forever.
func old(sentAt, at core.Instant, minAge int64) bool {
	age := int64(at - sentAt)
	return age < 0 || age >= minAge
}

func (in Instruction) send(n int, at core.Instant) (Instruction, []core.Effect, error) {
	in.Phase = Sent{Sends: n, At: at}
	return in, []core.Effect{Deliver{n}, core.Record{Type: core.InstructionSent}}, nil
}

func (in Instruction) acknowledge(e Acknowledge) (Instruction, []core.Effect, error) {
	if !in.Tracked {
		return in.refuse("acknowledged: it is plain, and a plain instruction needs no acknowledgement")
	}
	switch p := in.Phase.(type) {
	case Queued, Sent:
		if in.Standing() {
			in.Phase = Armed{}
		} else {
			in.Phase = Acknowledged{Sends: in.Sends(), SentAt: in.LastSentAt(), At: e.At, By: e.By}
		}
		return in, []core.Effect{core.Record{Type: core.InstructionAcknowledged}}, nil
	case Armed, Acknowledged:
		return in, nil, nil
	case Failed:
		if p.LateAckAt != 0 {
			return in, nil, nil
		}
		p.LateAckAt = e.At
		in.Phase = p
		return in, []core.Effect{core.Record{Type: core.InstructionLateAck}}, nil
	case Cancelled:
		return in.refuse("acknowledged: it was withdrawn; queue a new one if it is still wanted")
	}
	panic("instruction: instruction without a phase")
}

// undeliver changes the instruction only if the send is still its last one and it is neither acknowledged nor ended.
// A failure is final, because the host has been told.
func (in Instruction) undeliver(e Undeliver) (Instruction, []core.Effect, error) {
	switch p := in.Phase.(type) {
	case Sent:
		if p.Sends != e.Send || p.At != e.At {
			return in, nil, nil
		}
		in.Phase = Queued{}
		if p.Sends > 1 {
			in.Phase = Sent{Sends: p.Sends - 1, At: e.Previous}
		}
		return in, []core.Effect{core.Record{Type: core.InstructionUndelivered}}, nil
	case Armed, Queued, Acknowledged, Failed, Cancelled:
		return in, nil, nil
	}
	panic("instruction: instruction without a phase")
}

func (in Instruction) cancel(e Cancel) (Instruction, []core.Effect, error) {
	switch in.Phase.(type) {
	case Armed, Queued, Sent:
		if in.State() == StateDelivered {
			return in.refuse("cancelled: a plain instruction is over once it is sent")
		}
		in.Phase = Cancelled{Sends: in.Sends(), SentAt: in.LastSentAt(), At: e.At, Reason: e.Reason}
		return in, []core.Effect{core.Record{Type: core.InstructionCancelled}}, nil
	case Cancelled:
		return in, nil, nil
	case Acknowledged, Failed:
		return in.refuse("cancelled: it is over, and nothing more is sent")
	}
	panic("instruction: instruction without a phase")
}

func (in Instruction) refuse(what string) (Instruction, []core.Effect, error) {
	return in, nil, &core.Refusal{
		Kind: core.InvalidState, Noun: "instruction", Subject: in.ID, State: string(in.State()),
		Message: fmt.Sprintf("instruction %s is %s and cannot be %s", in.ID, in.State(), what),
	}
}

// Deliver hands the instruction out to the host as its n-th send.
type Deliver struct{ Send int }

// Effect marks Deliver as an effect.
func (Deliver) Effect() {}
