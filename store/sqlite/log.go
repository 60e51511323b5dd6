package sqlite

import (
	"fmt"

	"waybill/store"
)

// tailLength is how many of the newest records are checked when a store is opened: enough to find a
// torn or foreign end, and few enough not to be noticed.
const tailLength = 16

// checkLog checks the end of the event log, and whether it has lost records since the lock file was
// written.
func (s *Store) checkLog() error {
	h, err := readHead(s.w, nil)
	if err != nil {
		return err
	}
	if err := checkTail(s.w, h); err != nil {
		return err
	}
	if known := s.lock.says.newest; known > h.newest {
		s.note(fmt.Sprintf("the newest %d events are lost: the -wal file was removed, or an older copy was put back",
			known-h.newest))
	}
	s.lock.says.newest = h.newest
	return nil
}

// checkTail checks that the newest records follow one from the other and end where head says.
func checkTail(c *conn, h head) error {
	first := max(h.oldest, h.newest-tailLength)
	prev, seq := h.base, first-1
	var buf encoder
	err := c.query(func(r *row) error {
		ev, err := takeEvent(r, &buf)
		if err != nil {
			return err
		}
		// Of the first record of a tail the one before is not at hand, unless it is the oldest.
		linked := store.Chain(prev, ev) == ev.Hash || (ev.Seq == first && first > h.oldest)
		if ev.Seq != seq+1 || !linked {
			return damaged(fmt.Sprintf("the event log at number %d", seq+1))
		}
		prev, seq = ev.Hash, ev.Seq
		return nil
	}, selectEvents+" ORDER BY seq", first-1)
	if err == nil && (seq != h.newest || prev != h.hash) {
		err = damaged("the end of the event log")
	}
	return err
}
