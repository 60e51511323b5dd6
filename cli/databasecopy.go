package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"waybill/store"
	"waybill/store/move"
	"waybill/store/sqlite"
)

// A copy of a store in a database is the same as that of one in a file: an SQLite database that can be restored to either.

// backupDatabase writes the store in a database, as it is at one moment, to a new file.
func (a *app) backupDatabase(ctx context.Context, path string) (err error) {
	if _, err := a.existingStore([]string{path}); err != nil {
		return err
	}
	from, _, err := a.openDatabase(ctx, a.givenStore(), true)
	if err != nil {
		return moveFault(err)
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	return moveFault(inFolder(filepath.Dir(path), func(temp string) error {
		_, err := sqlite.Restore(ctx, sqlite.Options{Path: temp}, func(tx store.Tx) error {
			_, err := move.Copy(ctx, from, tx)
			return err
		})
		if damage, ok := errors.AsType[*store.Error](err); ok && damage.Kind == store.Corrupt {
			return &store.Error{Kind: store.Corrupt, Message: "the store is damaged and was not copied; `pg_dump --schema=waybill` copies it as it is", Err: err}
		}
		if err != nil {
			return err
		}
		return newFile(path, func(f *os.File) error { return copyFrom(temp, f) })
	}))
}

// restoreDatabase puts what a copy or an export holds in the place of the store in a database.
func (a *app) restoreDatabase(ctx context.Context, f *os.File) error {
	database, err := isDatabase(f)
	if err != nil {
		return err
	}
	if !database {
		return a.replaceDatabase(ctx, func(tx store.Tx) (move.Summary, error) {
			if _, err := f.Seek(0, io.SeekStart); err != nil {
				return move.Summary{}, err
			}
			return move.Read(tx, f)
		})
	}
	return inFolder(os.TempDir(), func(temp string) error {
		if _, err := sqlite.RestoreCopy(ctx, sqlite.Options{Path: temp}, f.Name()); err != nil { // which brings up an older one
			return moveFault(err)
		}
		from, err := wholeFile(ctx, sqlite.Options{Path: temp, ReadOnly: true})
		if err != nil {
			return moveFault(err)
		}
		err = a.replaceDatabase(ctx, func(tx store.Tx) (move.Summary, error) { return move.Copy(ctx, from, tx) })
		return errors.Join(err, from.Close())
	})
}

// replaceDatabase puts what fill puts in the place of the store.
func (a *app) replaceDatabase(ctx context.Context, fill func(tx store.Tx) (move.Summary, error)) error {
	n := a.givenStore()
	s, shown, err := a.openDatabase(ctx, n, false)
	if err != nil {
		return moveFault(err)
	}
	var summary move.Summary
	aside, err := s.Replace(ctx, func(tx store.Tx) (err error) {
		summary, err = fill(tx)
		return err
	})
	if err = errors.Join(err, s.Close()); err != nil {
		return moveFault(err)
	}
	if aside != "" {
		aside = databaseShown(n.store, aside)
	}
	return a.reportMove(summary, "store", shown, aside)
}

// inFolder gives the name of a file in a new folder that only its owner can enter, and removes all that is in that.
func inFolder(parent string, use func(path string) error) error {
	dir, err := os.MkdirTemp(parent, ".waybill-copy-*")
	if err != nil {
		return err
	}
	return errors.Join(use(filepath.Join(dir, storeName)), os.RemoveAll(dir))
}

func copyFrom(path string, to *os.File) error {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, from.Close())
}
