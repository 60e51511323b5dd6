package sqlite

import (
	"waybill/store"
	"waybill/store/sqlstore"
)

// This file detects that other contents have replaced those that this process has open.

// expect notes which tables there are, and that others are not written from now on.
func (c *conn) expect() (err error) {
	c.tables = schemaVersion
	if c.cookie, err = c.readCookie(); err != nil {
		return err
	}
	c.pageSize, err = c.number("PRAGMA page_size")
	return err
}

func (c *conn) readCookie() (int64, error) { return c.number("PRAGMA schema_version") }

// compareTables refuses unexpected tables. A newer waybill may have upgraded them, or put a newer store in the place of
// this one. It notes whether they were renewed, as a restore does.
func (c *conn) compareTables() error {
	if c.tables == 0 {
		return nil
	}
	version, err := c.number("PRAGMA user_version")
	switch {
	case err != nil:
		return err
	case version > int64(c.tables):
		return newerSchema(c.path, version)
	case version < int64(c.tables):
		return fault(store.Corrupt, nil, "the store %s was replaced by one with tables of version %d while version %d was being written: restart",
			c.path, version, c.tables)
	}
	cookie, err := c.readCookie()
	if err == nil && cookie != c.cookie {
		c.cookie, c.renewed = cookie, true
	}
	return err
}

// mended reports whether a store that was damaged has other contents now. The turn and the lock are held.
func (s *Store) mended() bool {
	if !isKind(s.refusal(), store.Corrupt) || s.w == nil || s.w.compareTables() != nil || !s.w.renewed {
		return false
	}
	s.mu.Lock()
	s.stopped = nil
	s.mu.Unlock()
	return true
}

// heal forgets the known damage of contents that were replaced. The caller holds the turn.
func (s *Store) heal() {
	s.w.renewed = false
	s.mu.Lock()
	defer s.mu.Unlock()
	s.damage, s.damaged = nil, make(map[sqlstore.Damaged]bool)
	s.o.Logger.Info("other contents took the place of those of the store", "path", s.place.path)
}
