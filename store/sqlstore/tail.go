package sqlstore

import (
	"fmt"

	"waybill/store"
)

// tailLength is the number of newest records that are checked when a store is opened. It is enough to find a torn or
// foreign end, and costs no noticeable time.
const tailLength = 16

// CheckTail checks that the newest records follow one from the other and end where head says.
func CheckTail(c Conn, h Head) error {
	first := max(h.Oldest, h.Newest-tailLength)
	prev, seq := h.Base, first-1
	var buf encoder
	err := c.Query(func(r *Row) error {
		ev, err := takeEvent(r, &buf)
		if err != nil {
			return err
		}
		// Of the first record of a tail the one before is not at hand, unless it is the oldest.
		linked := store.Chain(prev, ev) == ev.Hash || (ev.Seq == first && first > h.Oldest)
		if ev.Seq != seq+1 || !linked {
			return Damaged(fmt.Sprintf("the event log at number %d", seq+1))
		}
		prev, seq = ev.Hash, ev.Seq
		return nil
	}, selectEvents+" ORDER BY seq", first-1)
	if err == nil && (seq != h.Newest || prev != h.Hash) {
		err = Damaged("the end of the event log")
	}
	return err
}
