package memory

import (
	"slices"

	"waybill/core"
	"waybill/store"
)

// state is everything a store holds. It is copied by assignment, because its trees never change.
type state struct {
	instructions *node[int64, core.Instruction] // by Position
	positions    *node[string, int64]           // of the instructions, by id
	counts       [5]int                         // of the instructions, in the order of core.States

	runs     *node[int64, core.Run] // in the order of their first put, from 1
	runOrder *node[string, int64]   // by id
	facts    *node[string, []store.Fact]
	tallies  *node[string, *node[string, store.Tally]] // by run and name
	prompts  *node[string, store.Prompt]               // by promptKey

	tasks

	events *node[int64, store.Event]
	oldest int64 // newest+1 if the log is empty
	newest int64
	at     core.Instant // of the newest record
	hash   store.Hash   // of the newest record
	base   store.Hash   // of the record before the oldest

	notices         *node[int64, store.Notice] // by Position
	noticePositions *node[string, int64]       // by id
	answers         *node[string, store.Answer]

	commits int64 // that led here
}

func stateIndex(s core.State) int { return slices.Index(core.States(), s) }

func (s *state) instruction(id string) (core.Instruction, bool) {
	position, ok := s.positions.get(id)
	if !ok {
		return core.Instruction{}, false
	}
	return s.instructions.get(position)
}

func (s *state) putInstruction(in core.Instruction) {
	if old, ok := s.instruction(in.ID); ok {
		s.counts[stateIndex(old.State())]--
	}
	s.counts[stateIndex(in.State())]++
	s.instructions = s.instructions.put(in.Position, in)
	s.positions = s.positions.put(in.ID, in.Position)
}

func (s *state) removeInstruction(in core.Instruction) {
	s.counts[stateIndex(in.State())]--
	s.instructions = s.instructions.remove(in.Position)
	s.positions = s.positions.remove(in.ID)
}

func (s *state) append(ev store.Event) int64 {
	ev.Seq = s.newest + 1
	ev.At = max(ev.At, s.at)
	ev.Hash = store.Chain(s.hash, ev)
	s.events = s.events.put(ev.Seq, ev)
	s.newest, s.at, s.hash = ev.Seq, ev.At, ev.Hash
	return ev.Seq
}

func (s *state) dropOldestEvent() {
	ev, _ := s.events.get(s.oldest)
	s.base = ev.Hash
	s.events = s.events.remove(s.oldest)
	s.oldest++
}
