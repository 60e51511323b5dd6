package instruction_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/instruction"
)

// An observer computes the expected state of an instruction from the effects alone, for comparison with the phase.
type observer struct {
	in   instruction.Instruction
	sent []core.Instant    // when each send that was not taken back went out
	over instruction.State // the final state, once it was reached
}

// An observation is one step with its effects.
type observation struct {
	event   instruction.Event
	before  instruction.Instruction
	after   instruction.Instruction
	effects []core.Effect
	err     error
}

// observe checks a step against every law and returns the name of the first that is broken, or "".
func (w *observer) observe(s observation) string {
	for _, law := range laws {
		if law.broken(w, s) {
			return law.name
		}
	}
	w.take(s)
	for _, law := range observerLaws {
		if law.broken(w, s) {
			return law.name
		}
	}
	return ""
}

// take brings the account up to date.
func (w *observer) take(s observation) {
	switch e := s.event.(type) {
	case instruction.Dispatch:
		for range delivered(s.effects) {
			w.sent = append(w.sent, e.At)
		}
	case instruction.Undeliver:
		if w.over == "" && len(w.sent) > 0 && e.Send == len(w.sent) {
			w.sent = w.sent[:len(w.sent)-1]
		}
	case instruction.Acknowledge, instruction.Cancel:
	}
	switch state := s.after.State(); state {
	case instruction.StateAcknowledged, instruction.StateFailed, instruction.StateCancelled:
		w.over = state
	case instruction.StateQueued, instruction.StateSent, instruction.StateDelivered:
	}
	w.in = s.after
}

type law struct {
	name   string
	broken func(w *observer, s observation) bool
}

// laws hold for a step as seen from the account before it.
var laws = []law{
	{"a refusal changes nothing", func(_ *observer, s observation) bool {
		var refusal *core.Refusal
		return s.err != nil && (s.after != s.before || len(s.effects) > 0 || !errors.As(s.err, &refusal))
	}},
	{"no effect without a change, and one record of each change", func(_ *observer, s observation) bool {
		want := 0
		if s.after != s.before {
			want = 1
		}
		return s.err == nil && (records(s.effects) != want || want == 0 && len(s.effects) > 0)
	}},
	{"what it is never changes", func(_ *observer, s observation) bool {
		before, after := s.before, s.after
		before.Phase, after.Phase = instruction.Queued{}, instruction.Queued{}
		return before != after
	}},
	{"nothing is delivered when it is over", func(w *observer, s observation) bool {
		return w.over != "" && len(delivered(s.effects)) > 0
	}},
	{"only a dispatch delivers, and once", func(_ *observer, s observation) bool {
		_, isDispatch := s.event.(instruction.Dispatch)
		n := len(delivered(s.effects))
		return n > 1 || n == 1 && !isDispatch
	}},
	{"a dispatch does not both deliver and fail", func(_ *observer, s observation) bool {
		return len(delivered(s.effects)) > 0 && (s.after.State() == instruction.StateFailed || posts(s.effects) > 0)
	}},
	{"sends are numbered without gaps", func(w *observer, s observation) bool {
		sends := delivered(s.effects)
		return len(sends) == 1 && sends[0] != len(w.sent)+1
	}},
	{"there are at most 1 + max_retries sends", func(w *observer, s observation) bool {
		return len(w.sent)+len(delivered(s.effects)) > w.allowed()
	}},
	{"final states are final", func(w *observer, s observation) bool {
		return w.over != "" && (s.after.State() != w.over || s.after != s.before && !lateAck(s))
	}},
	{"it fails only when its sends are used up", func(w *observer, s observation) bool {
		_, isDispatch := s.event.(instruction.Dispatch)
		return fails(s) && (!isDispatch || !w.in.Tracked || len(w.sent) != w.allowed())
	}},
	{"a failure, and nothing else, leaves one notice", func(_ *observer, s observation) bool {
		return (posts(s.effects) == 1) != fails(s) || posts(s.effects) > 1
	}},
	{"a pass serves what is due and nothing else", func(w *observer, s observation) bool {
		e, isDispatch := s.event.(instruction.Dispatch)
		return isDispatch && w.over == "" && (len(s.effects) > 0) != w.due(e)
	}},
	{"an acknowledgement ends what is outstanding", func(w *observer, s observation) bool {
		e, isAck := s.event.(instruction.Acknowledge)
		if !isAck || w.over != "" || !w.in.Tracked {
			return false
		}
		acked, ok := s.after.Phase.(instruction.Acknowledged)
		return !ok || acked.At != e.At || acked.By != e.By
	}},
	{"a cancellation ends what is outstanding", func(w *observer, s observation) bool {
		_, isCancel := s.event.(instruction.Cancel)
		return isCancel && w.over == "" && w.outstanding() && s.after.State() != instruction.StateCancelled
	}},
}

// observerLaws hold for the account after a step.
var observerLaws = []law{
	{"the sends of the value are those that reached the host", func(w *observer, _ observation) bool {
		return w.in.Sends() != len(w.sent)
	}},
	{"the last send of the value is the last that reached the host", func(w *observer, _ observation) bool {
		return w.in.LastSentAt() != w.lastSent()
	}},
}

func (w *observer) allowed() int {
	if !w.in.Tracked {
		return 1
	}
	return 1 + w.in.MaxRetries
}

func (w *observer) outstanding() bool {
	return w.over == "" && (w.in.Tracked || len(w.sent) == 0)
}

func (w *observer) lastSent() core.Instant {
	if len(w.sent) == 0 {
		return 0
	}
	return w.sent[len(w.sent)-1]
}

func (w *observer) due(e instruction.Dispatch) bool {
	if len(w.sent) == 0 {
		return true
	}
	return w.in.Tracked && (e.At < w.lastSent() || e.At >= w.lastSent()+core.Instant(e.MinAge))
}

func fails(s observation) bool {
	return s.after.State() == instruction.StateFailed && s.before.State() != instruction.StateFailed
}

func lateAck(s observation) bool {
	was, isFailed := s.before.Phase.(instruction.Failed)
	_, isAck := s.event.(instruction.Acknowledge)
	return isFailed && isAck && was.LateAckAt == 0
}

func records(effects []core.Effect) int {
	n := 0
	for _, effect := range effects {
		if _, ok := effect.(core.Record); ok {
			n++
		}
	}
	return n
}

func posts(effects []core.Effect) int {
	n := 0
	for _, effect := range effects {
		if _, ok := effect.(core.Post); ok {
			n++
		}
	}
	return n
}

// longAge is a minimum age that no walk reaches.
const longAge = 1 << 40

// A move makes the next event of a walk from what has happened so far.
type move struct {
	name  string
	event func(w *observer, at core.Instant) instruction.Event
}

var moves = []move{
	{"dispatch", func(_ *observer, at core.Instant) instruction.Event { return instruction.Dispatch{At: at} }},
	{"dispatch too early", func(_ *observer, at core.Instant) instruction.Event {
		return instruction.Dispatch{At: at, MinAge: longAge}
	}},
	{"dispatch with the clock set back", func(w *observer, _ core.Instant) instruction.Event {
		return instruction.Dispatch{At: max(1, w.lastSent()-1), MinAge: longAge}
	}},
	{"acknowledge by call", func(_ *observer, at core.Instant) instruction.Event { return ackCall(at) }},
	{"acknowledge by event", func(_ *observer, at core.Instant) instruction.Event { return ackEvent(at) }},
	{"undeliver the last send", func(w *observer, _ core.Instant) instruction.Event {
		e := instruction.Undeliver{Send: len(w.sent)}
		if len(w.sent) > 1 {
			e.Previous = w.sent[len(w.sent)-2]
		}
		return e
	}},
	{"undeliver the send before", func(w *observer, _ core.Instant) instruction.Event {
		return instruction.Undeliver{Send: len(w.sent) - 1}
	}},
	{"cancel", func(_ *observer, at core.Instant) instruction.Event {
		return instruction.Cancel{At: at, Reason: "why not"}
	}},
}

// advance makes one move and returns the law that it broke, or "".
func (w *observer) advance(m move, at core.Instant) string {
	s := observation{event: m.event(w, at), before: w.in}
	s.after, s.effects, s.err = w.in.Step(s.event)
	return w.observe(s)
}

// A violation is a law together with a walk that breaks it.
type violation struct {
	law  string
	walk []string
}

// searchWalks tries every walk of at most depth moves and returns the violations.
func searchWalks(start instruction.Instruction, depth int) []violation {
	var found []violation
	var walk func(w observer, path []string)
	walk = func(w observer, path []string) {
		if len(path) == depth {
			return
		}
		at := coretest.CreatedAt + core.Instant(100*(len(path)+1))
		for _, m := range moves {
			next := w
			next.sent = slices.Clone(w.sent)
			steps := append(slices.Clone(path), m.name)
			if law := next.advance(m, at); law != "" {
				found = append(found, violation{law, steps})
				continue
			}
			walk(next, steps)
		}
	}
	walk(observer{in: start}, nil)
	return found
}

// starts are the instructions that every short walk is tried on.
func starts() []instruction.Instruction {
	return []instruction.Instruction{plain(), tracked(0), tracked(1), tracked(2)}
}

func TestEveryShortWalkKeepsTheLaws(t *testing.T) {
	for _, start := range starts() {
		require.Empty(t, searchWalks(start, 5))
	}
}

// randomWalk follows a walk that is written as bytes, each a move and how much later it comes, and returns
// the law that is broken and the moves up to there, or "".
func randomWalk(start instruction.Instruction, walk []byte) (law string, path []string) {
	w, at := observer{in: start}, coretest.CreatedAt
	for _, b := range walk {
		m := moves[int(b)%len(moves)]
		at += core.Instant(int(b) / len(moves) % 4)
		path = append(path, m.name)
		if law := w.advance(m, at); law != "" {
			return law, path
		}
	}
	return "", path
}

func TestLongWalksKeepTheLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := tracked(rapid.IntRange(0, 8).Draw(t, "max_retries"))
		start.Tracked = rapid.Bool().Draw(t, "tracked")
		law, path := randomWalk(start, rapid.SliceOfN(rapid.Byte(), 1, 80).Draw(t, "walk"))
		if law != "" {
			t.Fatalf("%q is broken by %q", law, path)
		}
	})
}

func FuzzLaws(f *testing.F) {
	f.Add(uint8(3), true, []byte{0, 0, 0, 0, 0, 3})
	f.Add(uint8(1), true, []byte{0, 5, 0, 0, 5, 1, 2, 0, 7})
	f.Add(uint8(0), false, []byte{1, 5, 0, 0, 4, 7})
	f.Fuzz(func(t *testing.T, maxRetries uint8, isTracked bool, walk []byte) {
		start := tracked(int(maxRetries))
		start.Tracked = isTracked
		law, path := randomWalk(start, walk)
		require.Empty(t, law, "broken by %q", path)
	})
}

// Two instructions that say the same never touch each other, whatever happens to either.
func TestEqualContentsWalkIndependently(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pair := []*observer{{in: tracked(2)}, {in: tracked(2)}}
		pair[1].in.ID = "ins_2"
		for n := range rapid.IntRange(1, 30).Draw(t, "length") {
			who := rapid.IntRange(0, 1).Draw(t, "who")
			m := moves[rapid.IntRange(0, len(moves)-1).Draw(t, "move")]
			other := pair[1-who].in
			if law := pair[who].advance(m, coretest.CreatedAt+core.Instant(n+1)); law != "" {
				t.Fatalf("%s, broken by %q", law, m.name)
			}
			if pair[1-who].in != other {
				t.Fatalf("%q on one changed the other", m.name)
			}
		}
	})
}
