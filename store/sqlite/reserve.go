package sqlite

import (
	"os"

	"waybill/store"
)

// reserveSize is the space that is held back for changes that finish something: hundreds of them.
const reserveSize = 1 << 20

// The reserve is a file that takes up space and holds nothing. When the disk is full it is removed,
// once, for UpdateReserved; until it is back, every other Update of every process is refused, so
// that what it made room for stays. The lock file says whether it is spent.

// giveUpReserve removes the reserve and reports whether there was one. The lock is held.
func (s *Store) giveUpReserve() bool {
	if s.lock.says.spent || os.Remove(s.place.reservePath()) != nil {
		return false
	}
	s.lock.says.spent = true
	s.note("the disk is full: only what finishes existing work is still accepted")
	return true
}

// takeBackReserve makes the reserve again if it is spent, or tells that there is no space for it.
func (s *Store) takeBackReserve() error {
	if !s.lock.says.spent {
		return nil
	}
	if err := makeReserve(s.place.reservePath()); err != nil {
		return fault(store.Full, err, "no space is left for the store %s, and its reserve is for finishing existing work: free some and try again",
			s.place.path)
	}
	s.lock.says.spent = false
	s.o.Logger.Info("the store has its reserve of space back", "path", s.place.path)
	return nil
}

// restoreReserve makes the reserve when a store is opened. A store without one still works until the
// disk is full.
func (s *Store) restoreReserve() {
	if _, err := os.Stat(s.place.reservePath()); err == nil {
		s.lock.says.spent = false
		return
	}
	s.lock.says.spent = makeReserve(s.place.reservePath()) != nil
}

func makeReserve(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, privateFile)
	if err != nil {
		return err
	}
	err = allocate(f, reserveSize)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(path)
	}
	return err
}
