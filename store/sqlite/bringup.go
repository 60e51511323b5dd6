package sqlite

import (
	"context"
	"fmt"

	"waybill/store"
	"waybill/store/rows"
)

// bringUp makes the tables what this version of waybill expects, or reports that they are newer.
func (s *Store) bringUp(ctx context.Context) (newer bool, err error) {
	found, err := s.examine()
	if err != nil {
		return false, err
	}
	latest := s.latest()
	if found.version > int64(latest.version) {
		return true, s.startReading(ctx, newerSchema(s.place.path, found.version, latest.version))
	}
	if err := s.setJournal(ctx, found); err != nil {
		return false, err
	}
	if found.version < int64(latest.version) {
		if err := s.migrate(ctx, found); err != nil {
			return false, err
		}
	}
	s.version = latest.version
	if err := checkTables(s.w, latest); err != nil {
		return false, err
	}
	return false, s.checkLog()
}

// examine reads what the database says about itself, before anything is written to it.
func (s *Store) examine() (found labels, err error) {
	var version string
	if err := s.w.Query(func(r *rows.Row) error {
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

// latest gives the migration that leads to the tables which this waybill writes.
func (s *Store) latest() migration { return s.steps[len(s.steps)-1] }

func newerSchema(path string, version int64, latest int) *store.Error {
	return fault(store.NewerSchema, nil, "the store %s has tables of version %d, and this waybill writes version %d: use the newer waybill",
		path, version, latest)
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
	if err := s.w.Query(func(r *rows.Row) error {
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

// migrate makes the tables. One that has tables already is copied before.
func (s *Store) migrate(ctx context.Context, found labels) error {
	if !found.empty() {
		backup := fmt.Sprintf("%s.version-%d", s.place.path, found.version)
		if err := copyInto(ctx, s.w, backup); err != nil {
			return fmt.Errorf("back up the store before its tables are changed: %w", err)
		}
		s.o.Logger.Info("the tables of the store are changed", "path", s.place.path, "from", found.version, "backup", backup)
	}
	if err := migrate(ctx, s.w, s.steps, found); err != nil {
		return err
	}
	if found.empty() {
		return nil
	}
	return s.checkIntegrity(ctx)
}

// checkIntegrity has SQLite check the structure of the whole file.
func (s *Store) checkIntegrity(ctx context.Context) error {
	var says string
	if err := s.w.queryContext(ctx, func(r *rows.Row) error {
		says = r.Text()
		return r.Err()
	}, "PRAGMA integrity_check(1)"); err != nil {
		return err
	}
	if says != "ok" {
		return fault(store.Corrupt, nil, "the store %s is damaged (%s) and was left as it is: put a copy back, or move it away to begin anew", s.place.path, says)
	}
	return nil
}
