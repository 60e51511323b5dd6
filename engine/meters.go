package engine

import (
	"sync/atomic"
	"time"

	"waybill/core"
	"waybill/meter"
)

// What is counted here is of this process alone, and begins with it; what outlasts it is in the tallies of a run. A
// change notes what it counts for while it is applied, and that is counted once it is committed, so that one which is
// taken back or run again counts for nothing, or once.

// Stats are what an engine has counted since New, and how many plans are not as they should be.
type Stats struct {
	// AckLatency spreads how long it took from the queueing of an instruction to its acknowledgement. One that had
	// failed before is not among them.
	AckLatency meter.Spread[time.Duration]
	// PromptBytes spreads the sizes of the prompts that were given.
	PromptBytes meter.Spread[int64]
	// Rebuilds counts how often the facts of a run were stored anew from its plan. Every reason has an entry.
	Rebuilds map[Rebuild]int64
	// Lapsed is how many plans that were read before cannot be read as they are, so that what they said last counts.
	Lapsed int
}

// A Rebuild says why the facts of a run were stored anew from its plan.
type Rebuild string

// The reasons.
const (
	RebuildChanged   Rebuild = "changed"    // the plan says something else than it did
	RebuildItemGone  Rebuild = "item_gone"  // the plan does not have the item of the run any more
	RebuildFactsLost Rebuild = "facts_lost" // the facts did not say what they were read from
)

func rebuilds() []Rebuild { return []Rebuild{RebuildChanged, RebuildItemGone, RebuildFactsLost} }

// rebuildFor tells why facts that came from a reading with that hash are not those of the view.
func rebuildFor(hash string, v RunView) Rebuild {
	switch {
	case v.Gone != nil:
		return RebuildItemGone
	case hash == "":
		return RebuildFactsLost
	}
	return RebuildChanged
}

// Stats gives what was counted so far.
func (e *Engine) Stats() Stats {
	s := Stats{AckLatency: e.meters.acks.Read(), PromptBytes: e.meters.prompts.Read(), Rebuilds: map[Rebuild]int64{}}
	for why, n := range e.meters.rebuilds {
		s.Rebuilds[why] = n.Load()
	}
	if e.o.Plans != nil {
		s.Lapsed = e.o.Plans.lapsed()
	}
	return s
}

// meters are where an engine counts.
type meters struct {
	acks     *meter.Histogram[time.Duration]
	prompts  *meter.Histogram[int64]
	rebuilds map[Rebuild]*atomic.Int64 // the map does not change
}

func newMeters() meters {
	m := meters{
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

// An account is what a change counts for once it is committed.
type account struct {
	acks    []time.Duration
	rebuilt Rebuild // "" if nothing was
}

// acknowledged notes that an instruction was acknowledged that long after it was queued.
func (a *account) acknowledged(after core.Instant) {
	a.acks = append(a.acks, time.Duration(after)*time.Microsecond)
}

// take counts what a committed change noted.
func (m *meters) take(a account) {
	for _, after := range a.acks {
		m.acks.Observe(after)
	}
	if a.rebuilt != "" {
		m.rebuilds[a.rebuilt].Add(1)
	}
}

// lapsed counts the plans that were read, and cannot be read as they are.
func (p *Plans) lapsed() (n int) {
	for _, path := range p.Known() {
		m, _ := p.memory(path)
		m.mu.Lock()
		if m.reading != nil && m.lapsed(p.o.Now()) {
			n++
		}
		m.mu.Unlock()
	}
	return n
}
