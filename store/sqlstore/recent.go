package sqlstore

import (
	"waybill/core/instruction"
)

// Recent caches records that a writing connection has read or written, while no other connection has committed. Most
// instructions are acknowledged soon after they are queued, and reading a row again costs more than changing it.
//
// A row that is damaged on the disk meanwhile is found at its next read, as with the page cache of the database. The zero
// value is an empty cache.
type Recent struct {
	head   Head
	headed bool // head is known

	instructions map[string]instruction.Instruction // that wait for something
}

const (
	// maxRecent bounds how many instructions are known, and recentBytes how long one of them may be.
	maxRecent   = 1024
	recentBytes = 4 << 10
)

// Forget empties the cache when the stored state is uncertain.
func (r *Recent) Forget() { *r = Recent{} }

// learn takes over the knowledge of a committed transaction.
func (r *Recent) learn(t *Tx) {
	if t.headRead {
		r.head, r.headed = t.head, true
	}
	if r.instructions == nil || len(r.instructions) >= maxRecent {
		r.instructions = make(map[string]instruction.Instruction)
	}
	for id, in := range t.known {
		if in.Outstanding() && len(in.Content) <= recentBytes {
			r.instructions[id] = in
		} else {
			delete(r.instructions, id)
		}
	}
}
