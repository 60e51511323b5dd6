package core_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/core"
)

// A stepper is Step, or a copy of it that somebody broke.
type stepper func(core.Instruction, core.Event) (core.Instruction, []core.Effect, error)

// A witness watches one instruction and keeps its own account of what reached the host. It believes
// the effects, not the phase, so that the two can be held against each other.
type witness struct {
	in   core.Instruction
	sent []core.Instant // when each send that was not taken back went out
	over core.State     // the final state, once it was reached
}

// A sight is one step as the witness saw it.
type sight struct {
	event   core.Event
	before  core.Instruction
	after   core.Instruction
	effects []core.Effect
	err     error
}

// see checks a step against every law and gives the name of the first that is broken, or "".
func (w *witness) see(s sight) string {
	for _, law := range laws {
		if law.broken(w, s) {
			return law.name
		}
	}
	w.take(s)
	for _, law := range accounts {
		if law.broken(w, s) {
			return law.name
		}
	}
	return ""
}

// take brings the account up to date.
func (w *witness) take(s sight) {
	switch e := s.event.(type) {
	case core.Dispatch:
		for range delivered(s.effects) {
			w.sent = append(w.sent, e.At)
		}
	case core.Undeliver:
		if w.over == "" && len(w.sent) > 0 && e.Send == len(w.sent) {
			w.sent = w.sent[:len(w.sent)-1]
		}
	case core.Acknowledge, core.Cancel:
	}
	switch state := s.after.State(); state {
	case core.StateAcknowledged, core.StateFailed, core.StateCancelled:
		w.over = state
	case core.StateQueued, core.StateSent:
	}
	w.in = s.after
}

type law struct {
	name   string
	broken func(w *witness, s sight) bool
}

// laws hold for a step as seen from the account before it.
var laws = []law{
	{"a refusal changes nothing", func(_ *witness, s sight) bool {
		var refusal *core.Refusal
		return s.err != nil && (s.after != s.before || len(s.effects) > 0 || !errors.As(s.err, &refusal))
	}},
	{"no effect without a change, and one record of each change", func(_ *witness, s sight) bool {
		want := 0
		if s.after != s.before {
			want = 1
		}
		return s.err == nil && (records(s.effects) != want || want == 0 && len(s.effects) > 0)
	}},
	{"what it is never changes", func(_ *witness, s sight) bool {
		before, after := s.before, s.after
		before.Phase, after.Phase = core.Queued{}, core.Queued{}
		return before != after
	}},
	{"nothing is delivered when it is over", func(w *witness, s sight) bool {
		return w.over != "" && len(delivered(s.effects)) > 0
	}},
	{"only a dispatch delivers, and once", func(_ *witness, s sight) bool {
		_, isDispatch := s.event.(core.Dispatch)
		n := len(delivered(s.effects))
		return n > 1 || n == 1 && !isDispatch
	}},
	{"a dispatch does not both deliver and fail", func(_ *witness, s sight) bool {
		return len(delivered(s.effects)) > 0 && (s.after.State() == core.StateFailed || posts(s.effects) > 0)
	}},
	{"sends are numbered without gaps", func(w *witness, s sight) bool {
		sends := delivered(s.effects)
		return len(sends) == 1 && sends[0] != len(w.sent)+1
	}},
	{"there are at most 1 + max_retries sends", func(w *witness, s sight) bool {
		return len(w.sent)+len(delivered(s.effects)) > w.allowed()
	}},
	{"final states are final", func(w *witness, s sight) bool {
		return w.over != "" && (s.after.State() != w.over || s.after != s.before && !lateAck(s))
	}},
	{"it fails only when its sends are used up", func(w *witness, s sight) bool {
		_, isDispatch := s.event.(core.Dispatch)
		return fails(s) && (!isDispatch || !w.in.Tracked || len(w.sent) != w.allowed())
	}},
	{"a failure, and nothing else, leaves one notice", func(_ *witness, s sight) bool {
		return (posts(s.effects) == 1) != fails(s) || posts(s.effects) > 1
	}},
	{"a pass serves what is due and nothing else", func(w *witness, s sight) bool {
		e, isDispatch := s.event.(core.Dispatch)
		return isDispatch && w.over == "" && (len(s.effects) > 0) != w.due(e)
	}},
	{"an acknowledgement ends what is outstanding", func(w *witness, s sight) bool {
		e, isAck := s.event.(core.Acknowledge)
		if !isAck || w.over != "" || !w.in.Tracked {
			return false
		}
		acked, ok := s.after.Phase.(core.Acknowledged)
		return !ok || acked.At != e.At || acked.By != e.By
	}},
	{"a cancellation ends what is outstanding", func(w *witness, s sight) bool {
		_, isCancel := s.event.(core.Cancel)
		return isCancel && w.over == "" && w.outstanding() && s.after.State() != core.StateCancelled
	}},
}

// accounts hold for the account after a step.
var accounts = []law{
	{"the sends of the value are those that reached the host", func(w *witness, _ sight) bool {
		return w.in.Sends() != len(w.sent)
	}},
	{"the last send of the value is the last that reached the host", func(w *witness, _ sight) bool {
		return w.in.LastSentAt() != w.lastSent()
	}},
}

func (w *witness) allowed() int {
	if !w.in.Tracked {
		return 1
	}
	return 1 + w.in.MaxRetries
}

func (w *witness) outstanding() bool {
	return w.over == "" && (w.in.Tracked || len(w.sent) == 0)
}

func (w *witness) lastSent() core.Instant {
	if len(w.sent) == 0 {
		return 0
	}
	return w.sent[len(w.sent)-1]
}

func (w *witness) due(e core.Dispatch) bool {
	if len(w.sent) == 0 {
		return true
	}
	return w.in.Tracked && (e.At < w.lastSent() || e.At >= w.lastSent()+core.Instant(e.MinAge))
}

func fails(s sight) bool {
	return s.after.State() == core.StateFailed && s.before.State() != core.StateFailed
}

func lateAck(s sight) bool {
	was, isFailed := s.before.Phase.(core.Failed)
	_, isAck := s.event.(core.Acknowledge)
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
	event func(w *witness, at core.Instant) core.Event
}

var moves = []move{
	{"dispatch", func(_ *witness, at core.Instant) core.Event { return core.Dispatch{At: at} }},
	{"dispatch too early", func(_ *witness, at core.Instant) core.Event {
		return core.Dispatch{At: at, MinAge: longAge}
	}},
	{"dispatch with the clock set back", func(w *witness, _ core.Instant) core.Event {
		return core.Dispatch{At: max(1, w.lastSent()-1), MinAge: longAge}
	}},
	{"acknowledge by call", func(_ *witness, at core.Instant) core.Event { return ackCall(at) }},
	{"acknowledge by event", func(_ *witness, at core.Instant) core.Event { return ackEvent(at) }},
	{"undeliver the last send", func(w *witness, _ core.Instant) core.Event {
		e := core.Undeliver{Send: len(w.sent)}
		if len(w.sent) > 1 {
			e.Previous = w.sent[len(w.sent)-2]
		}
		return e
	}},
	{"undeliver the send before", func(w *witness, _ core.Instant) core.Event {
		return core.Undeliver{Send: len(w.sent) - 1}
	}},
	{"cancel", func(_ *witness, at core.Instant) core.Event { return core.Cancel{At: at, Reason: "why not"} }},
}

// advance makes one move and gives the law that it broke, or "".
func (w *witness) advance(step stepper, m move, at core.Instant) string {
	s := sight{event: m.event(w, at), before: w.in}
	s.after, s.effects, s.err = step(w.in, s.event)
	return w.see(s)
}

// A breach is a law together with a walk that breaks it.
type breach struct {
	law  string
	walk []string
}

// hunt tries every walk of at most depth moves and gives the breaches it meets.
func hunt(step stepper, start core.Instruction, depth int) []breach {
	var found []breach
	var walk func(w witness, path []string)
	walk = func(w witness, path []string) {
		if len(path) == depth {
			return
		}
		at := createdAt + core.Instant(100*(len(path)+1))
		for _, m := range moves {
			next := w
			next.sent = slices.Clone(w.sent)
			steps := append(slices.Clone(path), m.name)
			if law := next.advance(step, m, at); law != "" {
				found = append(found, breach{law, steps})
				continue
			}
			walk(next, steps)
		}
	}
	walk(witness{in: start}, nil)
	return found
}

// starts are the instructions that every short walk is tried on.
func starts() []core.Instruction {
	return []core.Instruction{plain(), tracked(0), tracked(1), tracked(2)}
}

func TestEveryShortWalkKeepsTheLaws(t *testing.T) {
	for _, start := range starts() {
		require.Empty(t, hunt(core.Instruction.Step, start, 5))
	}
}

// stroll follows a walk that is written as bytes, each a move and how much later it comes, and gives
// the law that is broken and the moves up to there, or "".
func stroll(start core.Instruction, walk []byte) (law string, path []string) {
	w, at := witness{in: start}, createdAt
	for _, b := range walk {
		m := moves[int(b)%len(moves)]
		at += core.Instant(int(b) / len(moves) % 4)
		path = append(path, m.name)
		if law := w.advance(core.Instruction.Step, m, at); law != "" {
			return law, path
		}
	}
	return "", path
}

func TestLongWalksKeepTheLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := tracked(rapid.IntRange(0, 8).Draw(t, "max_retries"))
		start.Tracked = rapid.Bool().Draw(t, "tracked")
		law, path := stroll(start, rapid.SliceOfN(rapid.Byte(), 1, 80).Draw(t, "walk"))
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
		law, path := stroll(start, walk)
		require.Empty(t, law, "broken by %q", path)
	})
}

// Two instructions that say the same never touch each other, whatever happens to either.
func TestEqualContentsWalkIndependently(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pair := []*witness{{in: tracked(2)}, {in: tracked(2)}}
		pair[1].in.ID = "ins_2"
		for n := range rapid.IntRange(1, 30).Draw(t, "length") {
			who := rapid.IntRange(0, 1).Draw(t, "who")
			m := moves[rapid.IntRange(0, len(moves)-1).Draw(t, "move")]
			other := pair[1-who].in
			if law := pair[who].advance(core.Instruction.Step, m, createdAt+core.Instant(n+1)); law != "" {
				t.Fatalf("%s, broken by %q", law, m.name)
			}
			if pair[1-who].in != other {
				t.Fatalf("%q on one changed the other", m.name)
			}
		}
	})
}
