package engine

import (
	"sync/atomic"
	"time"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/meter"
)

// These counters cover this process only; the tallies of a run are stored. A change collects its counts while it is
// applied, and they are added after the commit, so that a repeated transaction counts once.

// Stats are the counters of an engine since New.
type Stats struct {
	// Instructions counts sends, acknowledgements and failures.
	Instructions InstructionCounts
	// AckLatency is the time from queueing to acknowledgement. Instructions that failed before are not included.
	AckLatency meter.Spread[time.Duration]
	// PromptBytes are the sizes of the compiled prompts.
	PromptBytes meter.Spread[int64]
	// Rebuilds counts how often the facts of a run were rebuilt from its plan. Every reason has an entry.
	Rebuilds map[Rebuild]int64
	// Unreadable is the number of plans that were read before and cannot be read now.
	Unreadable int
}

// InstructionCounts are numbers of first sends, repeats, timely acknowledgements and failures. Sends that were taken
// back are not counted.
type InstructionCounts struct{ First, Repeats, Acknowledged, Failed int64 }

// A Rebuild is the reason why the facts of a run were rebuilt from its plan.
type Rebuild string

// The reasons.
const (
	RebuildChanged   Rebuild = "changed"    // the plan changed
	RebuildItemGone  Rebuild = "item_gone"  // the plan no longer has the item
	RebuildFactsLost Rebuild = "facts_lost" // the facts had no source hash
)

func rebuilds() []Rebuild { return []Rebuild{RebuildChanged, RebuildItemGone, RebuildFactsLost} }

// rebuildFor returns the reason why facts with the given source hash were replaced by those of the view.
func rebuildFor(hash string, v RunView) Rebuild {
	switch {
	case v.Gone != nil:
		return RebuildItemGone
	case hash == "":
		return RebuildFactsLost
	}
	return RebuildChanged
}

// Stats returns the counters.
func (e *Engine) Stats() Stats {
	s := Stats{Instructions: InstructionCounts{
		First: e.meters.first.Load(), Repeats: e.meters.repeats.Load(), Acknowledged: e.meters.acknowledged.Load(), Failed: e.meters.failed.Load(),
	}, AckLatency: e.meters.acks.Read(), PromptBytes: e.meters.prompts.Read(), Rebuilds: map[Rebuild]int64{}}
	for why, n := range e.meters.rebuilds {
		s.Rebuilds[why] = n.Load()
	}
	if e.o.Plans != nil {
		s.Unreadable = e.o.Plans.countUnreadable()
	}
	return s
}

// meters are the counters of an engine.
type meters struct {
	first, repeats, acknowledged, failed atomic.Int64

	acks     *meter.Histogram[time.Duration]
	prompts  *meter.Histogram[int64]
	rebuilds map[Rebuild]*atomic.Int64 // the map does not change
}

func newMeters() *meters {
	m := &meters{
		acks: meter.New(100*time.Millisecond, time.Second, 5*time.Second, 15*time.Second, time.Minute, 5*time.Minute,
			30*time.Minute, 2*time.Hour),
		prompts:  meter.New[int64](1<<10, 2<<10, 4<<10, 8<<10, 16<<10, 32<<10, 64<<10, 256<<10),
		rebuilds: map[Rebuild]*atomic.Int64{},
	}
	for _, why := range rebuilds() {
		m.rebuilds[why] = new(atomic.Int64)
	}
	return m
}

// changeStats are the counts of one change, added once it is committed.
type changeStats struct {
	acks    []time.Duration
	failed  []instruction.Instruction
	first   int64
	repeats int64
	// acknowledgements has those without a delay, too.
	acknowledgements int64
	rebuilt          Rebuild // "" if nothing was
}

// acknowledged counts an acknowledgement and its delay after queueing, which says nothing about a standing instruction.
func (a *changeStats) acknowledged(in instruction.Instruction, at core.Instant) {
	a.acknowledgements++
	if !in.Standing() {
		a.acks = append(a.acks, time.Duration(at-in.CreatedAt)*time.Microsecond)
	}
}

// sent counts a send, or takes it back with n = -1.
func (a *changeStats) sent(send int, n int64) {
	if send == 1 {
		a.first += n
	} else {
		a.repeats += n
	}
}

// add adds the counts of a committed change.
func (m *meters) add(a changeStats) {
	for _, after := range a.acks {
		m.acks.Observe(after)
	}
	m.first.Add(a.first)
	m.repeats.Add(a.repeats)
	m.acknowledged.Add(a.acknowledgements)
	m.failed.Add(int64(len(a.failed)))
	if a.rebuilt != "" {
		m.rebuilds[a.rebuilt].Add(1)
	}
}

// countUnreadable counts the plans that were read before and cannot be read now.
func (p *Plans) countUnreadable() (n int) {
	for _, path := range p.Known() {
		m, _ := p.memory(path)
		m.mu.Lock()
		if m.reading != nil && m.unreadable(p.o.Now()) {
			n++
		}
		m.mu.Unlock()
	}
	return n
}
