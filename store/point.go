package store

// A Point is the end of an event log at some time: the number and the hash of its newest record. The hash tells apart
// logs with the same number of records. A restore or a failover can put an older log back, which then grows again. The
// hash is zero for an empty log and for a damaged record.
type Point struct {
	Seq  int64
	Hash Hash
}

// PointAt returns the point at the record of that number. ok is false if the log does not reach it, or was pruned beyond
// it. The Hash is zero for a lost or damaged record.
func PointAt(log EventLog, seq int64) (p Point, ok bool, err error) {
	root, err := log.Root()
	switch {
	case err != nil:
		return p, false, err
	case seq == root.Seq:
		return Point{seq, root.Hash}, true, nil
	case seq < root.Seq:
		return p, false, nil
	}
	events, err := log.Events(seq-1, 1, nil)
	if isCorrupt(err) {
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

// Continues reports whether the log still contains p, so that no other log has replaced it. It returns false if the log
// has been pruned beyond p, and true if one of the two hashes is unknown.
func (p Point) Continues(log EventLog) (bool, error) {
	now, ok, err := PointAt(log, p.Seq)
	if err != nil || !ok {
		return false, err
	}
	unknown := now.Hash == Hash{} || p.Hash == Hash{}
	return unknown || now.Hash == p.Hash, nil
}
