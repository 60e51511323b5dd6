package program

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"waybill/cli/backend"
	"waybill/cli/output"
	"waybill/engine/workspace"
	"waybill/schema"
	"waybill/store/postgres"
	"waybill/store/sqlite"
)

// StoreVariable names the store where --store does not: other users can read the
// arguments of a process, and a URL may have a password.
const StoreVariable = "WAYBILL_STORE"

// A namedStore is a store that flags name.
type NamedStore struct {
	Store, Name    string // Name of the workspace in a database; "" for its id
	Flag, NameFlag string
}

// NamedStore returns the store that the global flags name.
func (a *App) NamedStore() NamedStore {
	return NamedStore{a.Store, a.name, "--store", "--workspace-name"}
}

// Check refuses a kind of store which this binary does not have.
func (n NamedStore) Check() error {
	scheme, _, isURL := strings.Cut(n.Store, "://")
	switch {
	case postgres.Names(n.Store):
		if err := postgres.Check(n.Store); err != nil {
			return output.UsageError(fmt.Errorf("%s: %w", n.Flag, err))
		}
		if n.Name == "" {
			return nil
		}
		if err := postgres.CheckName(n.Name); err != nil {
			return output.UsageError(fmt.Errorf("%s: %w", n.NameFlag, err))
		}
		return nil
	case n.Name != "":
		return output.UsageError(fmt.Errorf("%s: only a store in a database has names for its workspaces; give %s postgres://… too", n.NameFlag, n.Flag))
	case isURL:
		return output.UsageError(fmt.Errorf("%s: this waybill has no store for %q; name a *.db file, a folder or postgres://…", n.Flag, scheme))
	}
	return nil
}

// StoreShown returns the path or address of the store, without a password.
func (a *App) StoreShown(ws workspace.Workspace) (string, error) {
	if postgres.Names(a.Store) {
		return DatabaseShown(a.Store, a.WorkspaceName(ws)), nil
	}
	return backend.StorePath(a.Store, ws)
}

// DatabaseShown says which workspace of which database it is.
func DatabaseShown(url, name string) string { return postgres.Shown(url) + " (workspace " + name + ")" }

// WorkspaceName returns the name of the workspace in a database.
func (a *App) WorkspaceName(ws workspace.Workspace) string { return cmp.Or(a.name, ws.ID) }

// ExistingStore returns the file of the store. It returns an error if the file is missing or if one of the wanted
// output files exists. A database is not checked.
func (a *App) ExistingStore(wanted []string) (string, error) {
	ws, err := workspace.Resolve(a.Sources())
	if err != nil && a.Store == "" {
		return "", schema.NewError(schema.NoWorkspace, err.Error())
	}
	path, err := backend.StorePath(a.Store, ws)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && !postgres.Names(a.Store) {
		return "", schema.NewError(schema.SubjectGone, "there is no store at "+path)
	}
	for _, file := range wanted {
		if _, err := os.Lstat(file); err == nil {
			return "", schema.NewError(schema.InvalidState, file+" is there already and is not replaced: name a new file")
		}
	}
	return path, nil
}

func (a *App) SQLiteOptions(path string) sqlite.Options {
	return sqlite.Options{Path: path, Version: a.Version, Logger: a.Logger(a.Err), AllowRemote: a.shared}
}

// ForeseePlace returns the error that would prevent the next call from creating the store and its folders, or nil. It
// writes nothing.
func (a *App) ForeseePlace(ws workspace.Workspace) error {
	path, err := backend.StorePath(a.Store, ws)
	if err != nil {
		return err
	}
	if a.Store == "" || postgres.Names(a.Store) {
		return ws.ForeseeStateDir()
	}
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	return workspace.Foresee(filepath.Dir(path))
}
