package instruction_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/instruction"
)

// A model computes the expected state of an instruction from the effects alone, for comparison with the phase.
type model struct {
	in   instruction.Instruction
	sent []core.Instant    // when each send that was not taken back went out
	over instruction.State // the final state, once it was reached
	// armed says of a standing instruction that its trigger did not fire since it was queued, acknowledged or failed.
	armed bool
}

// A step is one event with its effects.
type step struct {
	event         instruction.Event
	before, after instruction.Instruction
	effects       []core.Effect
	err           error
}

// A law compares a step with the models before and after it.
type law struct {
	name   string
	broken func(was, is model, s step) bool
}

// advance puts one event to the instruction and returns the name of the law that is broken, or "".
func (m *model) advance(event instruction.Event) string {
	s, was := step{event: event, before: m.in}, *m
	s.after, s.effects, s.err = m.in.Step(event)
	m.account(s)
	for _, law := range laws {
		if law.broken(was, *m, s) {
			return law.name
		}
	}
	return ""
}

// account brings the model up to date.
func (m *model) account(s step) {
	m.sent = slices.Clone(m.sent)
	switch e := s.event.(type) {
	case instruction.Fire:
		if m.in.Standing() && m.over == "" && m.begins(e) {
			m.sent, m.armed = nil, false
		}
	case instruction.Dispatch:
		for range delivered(s.effects) {
			m.sent = append(m.sent, e.At)
		}
	case instruction.Undeliver:
		if m.over == "" && len(m.sent) > 0 && e.Send == len(m.sent) && e.At == m.lastSent() {
			m.sent = m.sent[:len(m.sent)-1]
		}
	case instruction.Acknowledge:
		if m.in.Standing() && m.over == "" {
			m.sent, m.armed = nil, true
		}
	case instruction.Cancel:
	}
	if _, isDispatch := s.event.(instruction.Dispatch); isDispatch && m.in.Standing() && fails(s) {
		m.sent, m.armed = nil, true
	}
	switch state := s.after.State(); state {
	case instruction.StateAcknowledged, instruction.StateFailed, instruction.StateCancelled:
		m.over = state
	case instruction.StateArmed, instruction.StateQueued, instruction.StateSent, instruction.StateDelivered:
	}
	m.in = s.after
}

var laws = []law{
	{"a refusal changes nothing and has the facts", func(_, _ model, s step) bool {
		refusal, refused := errors.AsType[*core.Refusal](s.err)
		return s.err != nil && (!refused || s.after != s.before || len(s.effects) > 0 || refusal.Kind != core.InvalidState ||
			refusal.Noun != "instruction" || refusal.Subject != s.before.ID || refusal.State != string(s.before.State()))
	}},
	{"a change has one record, and no effect is without a change", func(_, _ model, s step) bool {
		want := 0
		if s.after != s.before {
			want = 1
		}
		if _, isFire := s.event.(instruction.Fire); isFire && fails(s) {
			want = 2 // the former firing failed, and the new one is due
		}
		records := len(s.effects) - len(delivered(s.effects)) - len(coretest.Notices(s.effects))
		return s.err == nil && (records != want || want == 0 && len(s.effects) > 0)
	}},
	{"only the phase changes", func(_, _ model, s step) bool {
		after := s.after
		after.Phase = s.before.Phase
		return after != s.before
	}},
	{"an ended instruction delivers nothing", func(was, _ model, s step) bool {
		return was.over != "" && len(delivered(s.effects)) > 0
	}},
	{"nothing is delivered before the trigger fired, or after an acknowledgement or a failure before it fires again", func(was, _ model, s step) bool {
		return was.armed && len(delivered(s.effects)) > 0
	}},
	{"a firing makes an armed instruction due, or one whose last send is old; it changes no other", func(was, _ model, s step) bool {
		e, isFire := s.event.(instruction.Fire)
		if !isFire || was.over != "" {
			return false
		}
		if !was.in.Standing() {
			return s.err == nil
		}
		if !was.begins(e) {
			return s.after != s.before || len(s.effects) > 0
		}
		return s.after.State() != instruction.StateQueued || (len(s.effects) > 0) != (was.armed || len(was.sent) > 0)
	}},
	{"no send is forgotten but by an acknowledgement, a failure or an undelivery", func(was, is model, s step) bool {
		_, isAck := s.event.(instruction.Acknowledge)
		_, isUndeliver := s.event.(instruction.Undeliver)
		return len(is.sent) < len(was.sent) && !isAck && !isUndeliver && !fails(s)
	}},
	{"a standing instruction ends only by a cancellation", func(_, is model, _ step) bool {
		return is.in.Standing() && is.over != "" && is.over != instruction.StateCancelled
	}},
	{"only a dispatch delivers, and once", func(_, _ model, s step) bool {
		_, isDispatch := s.event.(instruction.Dispatch)
		n := len(delivered(s.effects))
		return n > 1 || n == 1 && !isDispatch
	}},
	{"sends are numbered without gaps", func(was, _ model, s step) bool {
		sends := delivered(s.effects)
		return len(sends) == 1 && sends[0] != len(was.sent)+1
	}},
	{"there are at most 1 + max_retries sends", func(_, is model, _ step) bool { return len(is.sent) > is.allowed() }},
	{"final states are final", func(was, _ model, s step) bool {
		return was.over != "" && (s.after.State() != was.over || s.after != s.before && !lateAck(s))
	}},
	{"it fails only in a dispatch or by a further firing, when its sends are used up", func(was, _ model, s step) bool {
		_, isDispatch := s.event.(instruction.Dispatch)
		_, isFire := s.event.(instruction.Fire)
		return fails(s) && (!isDispatch && !isFire || len(delivered(s.effects)) > 0 || !was.in.Tracked || len(was.sent) != was.allowed())
	}},
	{"a failure, and nothing else, leaves one notice", func(_, _ model, s step) bool {
		notices := len(coretest.Notices(s.effects))
		return notices > 1 || (notices == 1) != fails(s)
	}},
	{"a pass serves a due instruction and no other", func(was, _ model, s step) bool {
		e, isDispatch := s.event.(instruction.Dispatch)
		return isDispatch && was.over == "" && (len(s.effects) > 0) != was.due(e)
	}},
	{"an acknowledgement ends a tracked instruction", func(was, _ model, s step) bool {
		e, isAck := s.event.(instruction.Acknowledge)
		if !isAck || was.over != "" || !was.in.Tracked {
			return false
		}
		if was.in.Standing() {
			return s.after.State() != instruction.StateArmed || (len(s.effects) > 0) == was.armed
		}
		acked, ok := s.after.Phase.(instruction.Acknowledged)
		return !ok || acked.At != e.At || acked.By != e.By
	}},
	{"a cancellation ends an outstanding instruction", func(was, _ model, s step) bool {
		_, isCancel := s.event.(instruction.Cancel)
		lives := was.over == "" && (was.in.Tracked || len(was.sent) == 0)
		return (lives && !was.armed) != was.in.Outstanding() || isCancel && lives && s.after.State() != instruction.StateCancelled
	}},
	{"the value has the sends that reached the host", func(_, is model, s step) bool {
		return s.after.Sends() != len(is.sent) || s.after.LastSentAt() != is.lastSent()
	}},
}

func (m model) allowed() int {
	if !m.in.Tracked {
		return 1
	}
	return 1 + m.in.MaxRetries
}

// begins reports whether a firing allows all sends again.
func (m model) begins(e instruction.Fire) bool {
	old := e.At < m.lastSent() || e.At >= m.lastSent()+core.Instant(e.MinAge)
	return len(m.sent) == 0 || len(m.sent) == m.allowed() && old
}

func (m model) lastSent() core.Instant {
	if len(m.sent) == 0 {
		return 0
	}
	return m.sent[len(m.sent)-1]
}

func (m model) due(e instruction.Dispatch) bool {
	return !m.armed && len(m.sent) == 0 || len(m.sent) > 0 && m.in.Tracked && (e.At < m.lastSent() || e.At >= m.lastSent()+core.Instant(e.MinAge))
}

func fails(s step) bool {
	if _, isDispatch := s.event.(instruction.Dispatch); isDispatch && s.before.Standing() {
		return s.before.State() == instruction.StateSent && s.after.State() == instruction.StateArmed
	}
	if _, isFire := s.event.(instruction.Fire); isFire {
		return s.before.State() == instruction.StateSent && s.after.State() == instruction.StateQueued
	}
	return s.after.State() == instruction.StateFailed && s.before.State() != instruction.StateFailed
}

func lateAck(s step) bool {
	was, isFailed := s.before.Phase.(instruction.Failed)
	_, isAck := s.event.(instruction.Acknowledge)
	return isFailed && isAck && was.LateAckAt == 0
}

// longAge is a minimum age that no walk reaches.
const longAge = 1 << 40

// moves make the next event of a walk from what has happened so far.
var moves = []func(m model, at core.Instant) instruction.Event{
	func(_ model, at core.Instant) instruction.Event { return instruction.Fire{At: at} },
	func(_ model, at core.Instant) instruction.Event { return instruction.Fire{At: at, MinAge: 3} },
	func(_ model, at core.Instant) instruction.Event { return dispatch(at) },
	func(_ model, at core.Instant) instruction.Event { return instruction.Dispatch{At: at, MinAge: longAge} },
	func(_ model, at core.Instant) instruction.Event { return instruction.Dispatch{At: at, MinAge: 3} },
	func(m model, _ core.Instant) instruction.Event { // the clock is set back
		return instruction.Dispatch{At: max(1, m.lastSent()-1), MinAge: longAge}
	},
	func(_ model, at core.Instant) instruction.Event { return ackCall(at) },
	func(_ model, at core.Instant) instruction.Event { return ackEvent(at) },
	func(m model, _ core.Instant) instruction.Event {
		e := instruction.Undeliver{Send: len(m.sent), At: m.lastSent()}
		if len(m.sent) > 1 {
			e.Previous = m.sent[len(m.sent)-2]
		}
		return e
	},
	func(m model, _ core.Instant) instruction.Event { return instruction.Undeliver{Send: len(m.sent) - 1} },
	func(m model, _ core.Instant) instruction.Event {
		return instruction.Undeliver{Send: len(m.sent), At: 1}
	},
	func(_ model, at core.Instant) instruction.Event { return instruction.Cancel{At: at, Reason: "why not"} },
}

func TestEveryShortWalkKeepsTheLaws(t *testing.T) {
	var explore func(m model, path []instruction.Event)
	explore = func(m model, path []instruction.Event) {
		if len(path) == 5 {
			return
		}
		for _, move := range moves {
			next := m
			event := move(m, coretest.CreatedAt+core.Instant(2*(len(path)+1)))
			steps := append(slices.Clone(path), event)
			if law := next.advance(event); law != "" {
				t.Fatalf("%q is broken by %s", law, written(steps))
			}
			explore(next, steps)
		}
	}
	for _, start := range []instruction.Instruction{plain(), tracked(0), tracked(1), tracked(2), standing(0), standing(1)} {
		explore(model{in: start, armed: start.Standing()}, nil)
	}
}

func written(path []instruction.Event) (text string) {
	for _, event := range path {
		text += fmt.Sprintf("\n%T%+v", event, event)
	}
	return text
}

func TestLongWalksKeepTheLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, at := model{in: tracked(rapid.IntRange(0, 8).Draw(t, "max_retries"))}, coretest.CreatedAt
		m.in.Tracked = rapid.Bool().Draw(t, "tracked")
		if m.in.Tracked && rapid.Bool().Draw(t, "standing") {
			m.in, m.armed = standing(m.in.MaxRetries), true
		}
		for range rapid.IntRange(1, 80).Draw(t, "length") {
			at += core.Instant(rapid.IntRange(0, 3).Draw(t, "later"))
			event := rapid.SampledFrom(moves).Draw(t, "move")(m, at)
			if law := m.advance(event); law != "" {
				t.Fatalf("%q is broken by %T%+v", law, event, event)
			}
		}
	})
}
