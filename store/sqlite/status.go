package sqlite

import (
	"context"
	"errors"
	"os"
	"slices"

	"waybill/store"
	"waybill/store/rows"
)

// asReader gives the error of a reading. What looks like damage in tables of a newer version is what
// this version does not know.
func (s *Store) asReader(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped != nil && s.stopped.Kind == store.NewerSchema && isKind(err, store.Corrupt) {
		return s.stopped
	}
	return err
}

// refusal tells why nothing can be written, or nil.
func (s *Store) refusal() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return closedFault()
	}
	if s.stopped != nil {
		return s.stopped
	}
	return nil
}

func closedFault() error { return fault(store.Closed, nil, "the store is closed") }

func isKind(err error, kind store.Kind) bool {
	var e *store.Error
	return errors.As(err, &e) && e.Kind == kind
}

// stop ends all writing. The first reason stays.
func (s *Store) stop(why *store.Error) {
	why.Outcome = store.NotApplied
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped == nil {
		s.stopped = why
		if why.Kind == store.Corrupt {
			s.wounds = append(s.wounds, why.Error())
		} else {
			s.notes = append(s.notes, why.Error())
		}
		if errors.Is(why, errReadOnly) {
			return // as the caller has asked
		}
		s.o.Logger.Error("the store is not written any more", "path", s.place.path, "kind", why.Kind.String(), "reason", why.Error())
	}
}

// note keeps something for Status.
func (s *Store) note(text string) { s.keep(&s.notes, text) }

func (s *Store) keep(in *[]string, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*in = append(*in, text)
	s.o.Logger.Warn("the store is degraded", "path", s.place.path, "reason", text)
}

const (
	maxSpoilt      = 20      // how many damaged rows are noted one by one
	maxKnownSpoilt = 100_000 // how many are known, so that nobody meets them again and again
)

// noteDamage keeps for Status, once for each row, that it is not what was written. In tables of a newer
// version that may only be what this version does not know.
func (s *Store) noteDamage(row rows.Damaged) {
	s.mu.Lock()
	newer := s.stopped != nil && s.stopped.Kind == store.NewerSchema
	known := newer || s.spoilt[row] || len(s.spoilt) >= maxKnownSpoilt
	if !known {
		s.spoilt[row] = true
	}
	n := len(s.spoilt)
	s.mu.Unlock()
	switch {
	case known, n > maxSpoilt+1:
	case n > maxSpoilt:
		s.keep(&s.wounds, "more records are damaged than are named here")
	default:
		s.keep(&s.wounds, row.Error()+": it cannot be read, and the rest of the store goes on")
	}
}

// isSpoilt reports whether a row is known not to be what was written.
func (s *Store) isSpoilt(row rows.Damaged) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spoilt[row]
}

// Status describes the store. It reads no more than the sizes of the files and who else has it open.
func (s *Store) Status(context.Context) store.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := store.Status{
		Kind: "sqlite", Path: s.place.path, ReadOnly: s.stopped != nil || s.closed,
		SchemaVersion: s.version, Degraded: slices.Concat(s.notes, s.wounds),
		Peers: s.place.peers(s.presence),
		Stats: store.Stats{Commits: s.commits.Read(), Waits: s.waits.Read()},
	}
	parts := s.place.parts()
	status.Stats.WALBytes = sizeOf(parts[1])
	status.SizeBytes = sizeOf(parts[0]) + status.Stats.WALBytes
	return status
}

// sizeOf gives the size of a file; one that is not there takes no room.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
