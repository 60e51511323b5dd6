package rpc

import (
	"sync"

	"waybill/api"
	"waybill/wire"
)

// A batch collects the answers to the messages of one array until all are there.
type batch struct {
	mu        sync.Mutex // guards the fields below
	answers   []item     // in the order of the members that get one
	missing   int
	abandoned bool // the collected answers were discarded, and later ones will be
}

// newBatch assigns an index to every member that will be answered. It refuses a member that repeats the id of an
// earlier one, because the host could not distinguish the two answers.
func newBatch(members []message) *batch {
	b := &batch{}
	seen := map[string]bool{}
	for i := range members {
		m := &members[i]
		if m.Response && m.Fault == nil || m.ID == nil {
			continue
		}
		if m.Fault == nil {
			if k := wire.Key(m.ID); seen[k] {
				m.Fault = duplicateID()
			} else {
				seen[k] = true
			}
		}
		m.batch, m.index = b, b.missing
		b.missing++
	}
	b.answers = make([]item, b.missing)
	return b
}

// put stores an answer. After the last one it returns the item that holds all of them.
func (b *batch) put(place int, it item) (whole item, complete bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.abandoned {
		return it, true
	}
	b.answers[place] = it
	b.missing--
	if b.missing > 0 {
		return item{}, false
	}
	whole = item{batch: b.answers}
	for i := range b.answers {
		whole.slots += b.answers[i].slots
	}
	return whole, true
}

// abandon returns the answers collected so far, or nil if the batch is complete.
func (b *batch) abandon() []item {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.missing == 0 {
		return nil
	}
	b.abandoned = true
	return b.answers
}

// undelivered returns the callbacks to run if the item cannot be written.
func (it *item) undelivered() (calls []func()) {
	add := func(a api.Answer) {
		if a.Undelivered != nil {
			calls = append(calls, a.Undelivered)
		}
	}
	add(it.answer)
	for i := range it.batch {
		add(it.batch[i].answer)
	}
	return calls
}
