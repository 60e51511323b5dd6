package memory

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"waybill/core"
	"waybill/store"
)

func (t *tx) Append(ev store.Event) (seq int64, err error) {
	if err := t.putting(); err != nil {
		return 0, err
	}
	t.writes++
	return t.state.append(ev), nil
}

func (t *tx) Events(after int64, limit int, types []core.EventType) ([]store.Event, error) {
	if err := t.getting(); err != nil {
		return nil, err
	}
	return t.events(after, limit, func(ev store.Event) bool {
		return len(types) == 0 || slices.Contains(types, ev.Type)
	}), nil
}

func (t *tx) EventsOf(subject string, after int64, limit int) ([]store.Event, error) {
	if err := t.getting(); err != nil {
		return nil, err
	}
	return t.events(after, limit, func(ev store.Event) bool { return ev.Subject == subject }), nil
}

func (t *tx) events(after int64, limit int, wanted func(store.Event) bool) []store.Event {
	var page []store.Event
	for _, ev := range t.state.events.after(after) {
		if len(page) >= limit {
			break
		}
		if wanted(ev) {
			page = append(page, ev)
		}
	}
	return page
}

func (t *tx) Bounds() (oldest, newest int64, err error) {
	if err := t.getting(); err != nil {
		return 0, 0, err
	}
	return t.state.oldest, t.state.newest, nil
}

func (t *tx) Tip() (store.Point, error) {
	if err := t.getting(); err != nil {
		return store.Point{}, err
	}
	return store.Point{Seq: t.state.newest, Hash: t.state.hash}, nil
}

func (t *tx) Root() (r store.Root, err error) {
	if err := t.getting(); err != nil {
		return r, err
	}
	r = store.Root{Seq: t.state.oldest - 1, Hash: t.state.base}
	if t.state.newest < t.state.oldest {
		r.At = t.state.at
	}
	return r, nil
}

func (t *tx) PutRoot(r store.Root) error {
	if err := t.putting(); err != nil {
		return err
	}
	if r.Seq < 1 || t.state.newest > 0 {
		return fmt.Errorf("put root %d: it takes a number from 1 and a log to which nothing was appended; this one ends with %d",
			r.Seq, t.state.newest)
	}
	t.state.oldest, t.state.newest, t.state.at = r.Seq+1, r.Seq, r.At
	t.state.base, t.state.hash = r.Hash, r.Hash
	t.writes++
	return nil
}

func (t *tx) SeqBefore(at core.Instant) (int64, error) {
	if err := t.getting(); err != nil {
		return 0, err
	}
	return t.state.seqBefore(at), nil
}

func (s *state) seqBefore(at core.Instant) int64 {
	last := s.oldest - 1
	for seq, ev := range s.events.all() {
		if ev.At >= at {
			break
		}
		last = seq
	}
	return last
}

func (t *tx) Prune(before core.Instant, limit int) (int, error) {
	if err := t.putting(); err != nil {
		return 0, err
	}
	removed := 0
	for _, in := range oldest(t.state.instructions.all(), limit, func(in core.Instruction) (core.Instant, bool) {
		at, over := overSince(in)
		return at, over && at < before
	}) {
		t.state.removeInstruction(in)
		removed++
	}
	for _, a := range oldest(t.state.answers.all(), limit, func(a store.Answer) (core.Instant, bool) {
		return a.At, a.At < before
	}) {
		t.state.answers = t.state.answers.remove(a.Key)
		removed++
	}
	removed += t.state.prunePrompts(before, limit)
	for last := min(t.state.seqBefore(before), t.state.oldest+int64(limit)-1); t.state.oldest <= last; removed++ {
		t.state.dropOldestEvent()
	}
	if removed > 0 {
		t.writes++
	}
	return removed, nil
}

// overSince gives the last change of an instruction that nobody waits for and that may be forgotten.
func overSince(in core.Instruction) (at core.Instant, ok bool) {
	switch p := in.Phase.(type) {
	case core.Queued, core.Failed:
		return 0, false
	case core.Sent:
		return p.At, !in.Tracked
	case core.Acknowledged:
		return p.At, true
	case core.Cancelled:
		return p.At, true
	}
	panic("memory: instruction without a phase")
}

// oldest gives at most limit of the values that age wants, the oldest first.
func oldest[K cmp.Ordered, V any](from iter.Seq2[K, V], limit int, age func(V) (core.Instant, bool)) []V {
	type aged struct {
		at    core.Instant
		value V
	}
	var found []aged
	for _, v := range from {
		if at, ok := age(v); ok {
			found = append(found, aged{at, v})
		}
	}
	slices.SortStableFunc(found, func(a, b aged) int { return cmp.Compare(a.at, b.at) })
	var values []V
	for _, f := range found[:min(max(limit, 0), len(found))] {
		values = append(values, f.value)
	}
	return values
}
