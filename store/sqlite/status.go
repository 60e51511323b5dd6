package sqlite

import (
	"context"
	"errors"
	"os"
	"slices"

	"waybill/store"
	"waybill/store/sqlstore"
)

// asReader returns the error of a read. Apparent damage in tables of a newer version only means that this version does
// not know them.
func (s *Store) asReader(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped != nil && s.stopped.Kind == store.NewerSchema && isKind(err, store.Corrupt) {
		return s.stopped
	}
	return err
}

// refusal returns the reason why nothing can be written, or nil.
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
			s.damage = append(s.damage, why.Error())
		} else {
			s.notes = append(s.notes, why.Error())
		}
		if errors.Is(why, errReadOnly) {
			return // because the caller asked for it
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
	maxDamaged     = 20      // how many damaged rows are noted one by one
	maxKnownSpoilt = 100_000 // the number of rows that are remembered, so that calls do not read them repeatedly
)

// noteDamage records a damaged row for Status, once. In tables of a newer version, the row may only have fields that
// this version does not know.
func (s *Store) noteDamage(row sqlstore.Damaged) {
	s.mu.Lock()
	newer := s.stopped != nil && s.stopped.Kind == store.NewerSchema
	known := newer || s.damaged[row] || len(s.damaged) >= maxKnownSpoilt
	if !known {
		s.damaged[row] = true
	}
	n := len(s.damaged)
	s.mu.Unlock()
	switch {
	case known, n > maxDamaged+1:
	case n > maxDamaged:
		s.keep(&s.damage, "more records are damaged than are named here")
	default:
		s.keep(&s.damage, row.Error()+": it cannot be read, and the rest of the store goes on")
	}
}

// isSpoilt reports whether a row is known to be damaged.
func (s *Store) isSpoilt(row sqlstore.Damaged) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.damaged[row]
}

// Status describes the store. It reads no more than the sizes of the files and who else has it open.
func (s *Store) Status(context.Context) store.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	degraded := slices.Concat(s.notes, s.damage)
	if s.absent != nil && s.stopped == nil {
		degraded = append(degraded, s.absent.Error())
	}
	status := store.Status{
		Kind: "sqlite", Path: s.place.path, ReadOnly: s.stopped != nil || s.closed || (s.absent != nil && s.absent.Kind != store.Busy),
		SchemaVersion: s.version, Degraded: degraded,
		Peers: s.place.peers(s.presence),
		Stats: store.Stats{Commits: s.commits.Read(), Waits: s.waits.Read()},
	}
	parts := s.place.parts()
	status.Stats.WALBytes = sizeOf(parts[1])
	status.SizeBytes = sizeOf(parts[0]) + status.Stats.WALBytes
	return status
}

// sizeOf returns the size of a file; one that is not there takes no room.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
