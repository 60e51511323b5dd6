package rows

import "waybill/core"

// Recent is what a connection that writes knows to be stored, because it has read or written that
// itself and nobody has committed since: most instructions are acknowledged soon after they were
// queued, and to read a row again costs more than to change it.
//
// A row that is damaged on the disk meanwhile is found when it is read next, as if it were in the page
// cache of the database. The zero value knows nothing.
type Recent struct {
	head   Head
	headed bool // head is known

	instructions map[string]core.Instruction // that wait for something
}

const (
	// maxRecent bounds how many instructions are known, and recentBytes how long one of them may be.
	maxRecent   = 1024
	recentBytes = 4 << 10
)

// Forget is for when nobody can tell what is stored.
func (r *Recent) Forget() { *r = Recent{} }

// learn takes over what a transaction has left, which is committed.
func (r *Recent) learn(t *Tx) {
	if t.headRead {
		r.head, r.headed = t.head, true
	}
	if r.instructions == nil || len(r.instructions) >= maxRecent {
		r.instructions = make(map[string]core.Instruction)
	}
	for id, in := range t.known {
		if waits := in.State() == core.StateQueued || in.State() == core.StateSent; waits && len(in.Content) <= recentBytes {
			r.instructions[id] = in
		} else {
			delete(r.instructions, id)
		}
	}
}
