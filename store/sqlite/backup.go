package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"waybill/store"
)

// Backup writes a copy of the store at one moment to a new file that only its owner can read, and checks the copy.
// found lists the damaged records, which are copied as they are. When Backup returns, the copy is complete and durable,
// or does not exist. Backup never replaces an existing file.
func (s *Store) Backup(ctx context.Context, path string) (found []store.Damage, err error) {
	if err := claim(path); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(path)
		}
	}()
	err = s.reading(ctx, func(c *conn) (bool, error) {
		// SQLite takes a copy for a change. The connection is not used for anything else any more.
		if err := c.script(ctx, "PRAGMA query_only = OFF"); err != nil {
			return false, err
		}
		return false, copyInto(ctx, c, path)
	})
	if err == nil {
		found, err = verifyFile(ctx, path)
	}
	switch {
	case err == nil:
		return found, nil
	case isKind(classify(path, err), store.Full):
		return nil, fault(store.Full, err, "no space is left for the copy %s: name a file on another disk", path)
	default:
		return nil, classify(s.place.path, err)
	}
}

// claim creates the file exclusively, so that no other program can create it meanwhile.
func claim(path string) error {
	switch err := makeEmpty(path); {
	case errors.Is(err, fs.ErrExist):
		return fault(store.Unsafe, nil, "%s is there already and is not replaced: name a new file", path)
	case err != nil:
		return fault(store.IO, err, "%s cannot be made: name a file in a folder that is there and can be written", path)
	}
	return nil
}

// verifyFile checks a database that no process writes.
func verifyFile(ctx context.Context, path string) (found []store.Damage, err error) {
	err = readFile(ctx, path, frozen, readPatience, func(c *conn) error {
		v := verifier(ctx, c)
		found, err = v.All(checks(v, c))
		return err
	})
	return found, err
}
