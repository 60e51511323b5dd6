package store

import "errors"

// A Point is the end of an event log as it was at some time: the number of its newest record, and the hash of that. The
// hash tells apart logs that have the same number of records: one that was put back, as a restore or a failover may do,
// and has grown again. That of the beginning, and of a record that is damaged, is zero.
type Point struct {
	Seq  int64
	Hash Hash
}

// PointAt gives the point behind the record of that number; ok is false if the log does not have it, or not any more.
func PointAt(tx Tx, seq int64) (p Point, ok bool, err error) {
	root, err := tx.Root()
	switch {
	case err != nil:
		return p, false, err
	case seq == root.Seq:
		return Point{seq, root.Hash}, true, nil
	case seq < root.Seq:
		return p, false, nil
	}
	events, err := tx.Events(seq-1, 1, nil)
	if damaged(err) {
		return Point{Seq: seq}, true, nil
	}
	if err != nil || len(events) == 0 {
		return p, false, err
	}
	if events[0].Seq != seq { // that record is lost
		return Point{Seq: seq}, true, nil
	}
	return Point{seq, events[0].Hash}, true, nil
}

func damaged(err error) bool {
	fault, ok := errors.AsType[*Error](err)
	return ok && fault.Kind == Corrupt
}

// Continues reports whether the log goes on from p: nobody has put another one in its place. Of one that does not reach
// back so far any more it cannot be told, and then it does not.
func (p Point) Continues(tx Tx) (bool, error) {
	now, ok, err := PointAt(tx, p.Seq)
	if err != nil || !ok {
		return false, err
	}
	unknown := now.Hash == Hash{} || p.Hash == Hash{}
	return unknown || now.Hash == p.Hash, nil
}
