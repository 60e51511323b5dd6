package sqlite

import (
	"fmt"

	"waybill/store/sqlstore"
)

// checkLog checks the end of the event log, and whether it has lost records since the lock file was
// written.
func (s *Store) checkLog() error {
	h, err := sqlstore.ReadHead(s.w)
	if err != nil {
		return err
	}
	if err := sqlstore.CheckTail(s.w, h); err != nil {
		return err
	}
	if known := s.lock.says.newest; known > h.Newest {
		s.note(fmt.Sprintf("the newest %d events are lost: the -wal file was removed, or an older copy was put back",
			known-h.Newest))
	}
	s.lock.says.newest = h.Newest
	return nil
}
