package sqlite

import "waybill/core"

// recent is what a connection that writes knows to be stored, because it has read or written that
// itself and nobody has committed since: most instructions are acknowledged soon after they were
// queued, and to read a row again costs more than to change it.
//
// A row that is damaged on the disk meanwhile is found when it is read next, as if it were in the page
// cache of SQLite.
type recent struct {
	version int64 // of the contents: it changes when another connection commits
	head    head
	headed  bool // head is known

	instructions map[string]core.Instruction // that wait for something
}

const (
	// maxRecent bounds how many instructions are known, and recentBytes how long one of them may be.
	maxRecent   = 1024
	recentBytes = 4 << 10
)

// refresh forgets everything if another connection has committed. A transaction that writes has begun.
func (c *conn) refresh() error {
	version, err := c.number("PRAGMA data_version")
	if err == nil && version != c.recent.version {
		c.recent = recent{version: version}
	}
	return err
}

// forget is for when nobody can tell what is stored.
func (c *conn) forget() { c.recent = recent{} }

// learn takes over what a transaction has left, which is committed.
func (r *recent) learn(t *tx) {
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
