package sqlite

import (
	"context"

	"waybill/store"
	"waybill/store/sqlstore"
)

// bringUp makes the tables in an empty database and checks them in any other, or reports that they are newer.
func (s *Store) bringUp(ctx context.Context) (newer bool, err error) {
	found, err := s.examine()
	if err != nil {
		return false, err
	}
	if found.version > schemaVersion {
		return true, s.startReading(ctx, newerSchema(s.place.path, found.version))
	}
	if err := s.setJournal(ctx, found); err != nil {
		return false, err
	}
	if found.empty() {
		err = createTables(ctx, s.w)
	} else {
		err = checkTables(s.w)
	}
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	s.version = schemaVersion
	s.mu.Unlock()
	return false, s.checkLog()
}

// examine reads the labels of the database before anything is written to it.
func (s *Store) examine() (found labels, err error) {
	var version string
	if err := s.w.Query(func(r *sqlstore.Row) error {
		version = r.Text()
		return r.Err()
	}, "SELECT sqlite_version()"); err != nil {
		return found, err
	}
	if err := checkVersion(version); err != nil {
		return found, err
	}
	if found, err = readLabels(s.w); err != nil {
		return found, err
	}
	switch {
	case found.empty() && s.lock.says.newest > 0:
		return found, fault(store.Corrupt, nil, "the store %s is empty, but %d events were written to it: put a copy back, or move it and its lock file %[1]s.lock away to begin anew",
			s.place.path, s.lock.says.newest)
	case !found.empty() && found.application != applicationID:
		return found, fault(store.Corrupt, nil, "%s is a database of another program: name another file", s.place.path)
	}
	return found, nil
}

func newerSchema(path string, version int64) *store.Error {
	return fault(store.NewerSchema, nil, "the store %s has tables of version %d, and this waybill writes version %d: use the newer waybill",
		path, version, schemaVersion)
}

// setJournal sets how commits become durable. A database without pages takes the way of giving space
// back with it, once and for all.
func (s *Store) setJournal(ctx context.Context, found labels) error {
	if found.empty() {
		if err := s.w.script(ctx, "PRAGMA auto_vacuum = INCREMENTAL"); err != nil {
			return err
		}
	}
	want := "wal"
	if s.place.volume.remote {
		want = "delete"
	}
	var got string
	if err := s.w.Query(func(r *sqlstore.Row) error {
		got = r.Text()
		return r.Err()
	}, "PRAGMA journal_mode = "+want); err != nil {
		return err
	}
	if got != want {
		return fault(store.Unsafe, nil, "the file system of %s does not support what SQLite needs for its write-ahead log: put the store on a local disk",
			s.place.path)
	}
	return nil
}

// checkIntegrity returns an error of kind Corrupt if the structure of the file is damaged.
func (s *Store) checkIntegrity(ctx context.Context) error {
	damage, err := integrity(ctx, s.w)
	if err != nil {
		return err
	}
	if len(damage) > 0 {
		return fault(store.Corrupt, nil, "the store %s is damaged (%s) and was left as it is: put a copy back, or move it away to begin anew", s.place.path, damage[0])
	}
	return nil
}
