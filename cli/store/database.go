package store

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"waybill/cli/backend"
	"waybill/cli/program"
	"waybill/store"
	"waybill/store/sqlite"
	"waybill/store/transfer"
)

// A copy of a store in a database is an SQLite database, as for a store in a file. It can be restored to either kind.

// backupDatabase writes the store in a database, as it is at one moment, to a new file.
func (a commands) backupDatabase(ctx context.Context, path string) (err error) {
	if _, err := a.ExistingStore([]string{path}); err != nil {
		return err
	}
	from, _, err := openDatabase(ctx, a.App, a.NamedStore(), true)
	if err != nil {
		return moveFault(err)
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	return moveFault(inFolder(filepath.Dir(path), func(temp string) error {
		_, err := sqlite.Restore(ctx, sqlite.Options{Path: temp}, func(tx store.Tx) error {
			_, err := transfer.Copy(ctx, from, tx)
			return err
		})
		if damage, ok := errors.AsType[*store.Error](err); ok && damage.Kind == store.Corrupt {
			return &store.Error{Kind: store.Corrupt, Message: "the store is damaged and was not copied; `pg_dump --schema=waybill` copies it as it is", Err: err}
		}
		if err != nil {
			return err
		}
		return program.NewFile(path, func(f *os.File) error { return copyFrom(temp, f) })
	}))
}

// restoreDatabase replaces the store in a database with the content of a copy or an export.
func (a commands) restoreDatabase(ctx context.Context, f *os.File) error {
	database, err := isDatabase(f)
	if err != nil {
		return err
	}
	if !database {
		return a.replaceDatabase(ctx, func(tx store.Tx) (transfer.Summary, error) {
			if _, err := f.Seek(0, io.SeekStart); err != nil {
				return transfer.Summary{}, err
			}
			return transfer.Read(tx, f)
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
		err = a.replaceDatabase(ctx, func(tx store.Tx) (transfer.Summary, error) { return transfer.Copy(ctx, from, tx) })
		return errors.Join(err, from.Close())
	})
}

// replaceDatabase replaces the store with the records that fill writes.
func (a commands) replaceDatabase(ctx context.Context, fill func(tx store.Tx) (transfer.Summary, error)) error {
	n := a.NamedStore()
	s, shown, err := openDatabase(ctx, a.App, n, false)
	if err != nil {
		return moveFault(err)
	}
	var summary transfer.Summary
	aside, err := s.Replace(ctx, func(tx store.Tx) (err error) {
		summary, err = fill(tx)
		return err
	})
	if err = errors.Join(err, s.Close()); err != nil {
		return moveFault(err)
	}
	if aside != "" {
		aside = program.DatabaseShown(n.Store, aside)
	}
	return a.reportMove(summary, "store", shown, aside)
}

// inFolder returns the name of a file in a new folder that only its owner can enter, and removes all that is in that.
func inFolder(parent string, use func(path string) error) error {
	dir, err := os.MkdirTemp(parent, ".waybill-copy-*")
	if err != nil {
		return err
	}
	return errors.Join(use(filepath.Join(dir, backend.StoreName)), os.RemoveAll(dir))
}

func copyFrom(path string, to *os.File) error {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, from.Close())
}
