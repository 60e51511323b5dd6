package rpc

import (
	"sync"

	"waybill/api"
	"waybill/wire"
)

// A batch gathers the answers of messages that came in one array, until none is missing.
type batch struct {
	mu      sync.Mutex // guards what follows
	answers []item     // in the order of the members that get one
	missing int
	left    bool // the answers that came were taken away; the others will not be written either
}

// newBatch gives every member that will be answered its place. Members with the id of an earlier one
// are refused: their answers could not be told apart.
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
		m.batch, m.place = b, b.missing
		b.missing++
	}
	b.answers = make([]item, b.missing)
	return b
}

// put takes an answer. With the last one it gives the item that holds them all.
func (b *batch) put(place int, it item) (whole item, complete bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left {
		return it, true
	}
	b.answers[place] = it
	b.missing--
	if b.missing > 0 {
		return item{}, false
	}
	whole = item{batch: b.answers}
	for i := range b.answers {
		whole.held += b.answers[i].held
	}
	return whole, true
}

// leave gives the answers that came so far, if some are still missing.
func (b *batch) leave() []item {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.missing == 0 {
		return nil
	}
	b.left = true
	return b.answers
}

// undelivered lists what to call if the item cannot be written.
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
