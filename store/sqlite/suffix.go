package sqlite

import (
	"errors"

	"waybill/core"
	"waybill/store"
	"waybill/store/sqlstore"
)

// errBroken ends the reading where the chain of the old log is broken.
var errBroken = errors.New("the chain of the event log ends here")

// suffix is the newest unbroken part of an event log, read from its newest record backwards. A record
// is copied when the one before it has shown, by its hash, that the record follows from it.
type suffix struct {
	w *salvager
	t *sqlstore.Tx

	begun  bool       // the fields of the newest record are known
	newest int64      // its number
	at     int64      // its time
	hash   store.Hash // its hash
	next   int64      // the number that the next record must have

	old *sqlstore.Head // of the old log, if it can be trusted

	pending *store.Event // read, and not yet shown to follow from the one before it
	first   int64        // number of the oldest copied record, or 0
	before  store.Hash   // of the record before that
	copied  int
}

// trust accepts the head of the old log.
func (s *suffix) trust(h sqlstore.Head) {
	s.old = &h
	s.begun, s.newest, s.next, s.hash, s.at = true, h.Newest, h.Newest, h.Hash, int64(h.At)
}

func (s *suffix) add(ev store.Event, damage error) error {
	if !s.begun {
		s.begun, s.newest, s.next, s.hash, s.at = true, ev.Seq, ev.Seq, ev.Hash, int64(ev.At)
	}
	if damage != nil || ev.Seq != s.next || (s.pending == nil && ev.Hash != s.hash) {
		return errBroken
	}
	if s.pending != nil {
		if store.Chain(ev.Hash, *s.pending) != s.pending.Hash {
			return errBroken
		}
		if err := s.copy(ev.Hash); err != nil {
			return err
		}
	}
	s.pending = &ev
	s.next--
	return nil
}

// copy copies the pending record, which follows from the one with that hash.
func (s *suffix) copy(before store.Hash) error {
	if err := s.t.InsertRecord(*s.pending); err != nil {
		return err
	}
	s.first, s.before = s.pending.Seq, before
	s.copied++
	return nil
}

// finish settles the last record and writes the head. Numbers that were used, as far as is known, are not used again.
func (s *suffix) finish(known int64) error {
	if p := s.pending; p != nil && s.old != nil && p.Seq == s.old.Oldest && store.Chain(s.old.Base, *p) == p.Hash {
		if err := s.copy(s.old.Base); err != nil {
			return err
		}
	}
	h, err := s.t.ChangeHead()
	if err != nil {
		return err
	}
	h.Newest, h.At, h.Hash = max(s.newest, known), core.Instant(s.at), s.hash
	h.Oldest, h.Base = s.first, s.before
	if known > s.newest || s.copied == 0 {
		// The end is lost: earlier events cannot be continued without a gap.
		h.Oldest, h.Base, s.copied = h.Newest+1, h.Hash, 0
		if _, err := s.w.c.Exec("DELETE FROM events"); err != nil {
			return err
		}
	}
	s.report(h.Newest)
	return nil
}

// report counts the kept and the lost records of the log.
func (s *suffix) report(newest int64) {
	oldest := int64(1)
	if s.old != nil {
		oldest = s.old.Oldest
	}
	if s.copied > 0 {
		s.w.result.Kept["events"] = s.copied
	}
	if lost := int(newest-oldest+1) - s.copied; lost > 0 {
		s.w.result.Lost["events"] = lost
	}
}
