package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"waybill/doctor"
	"waybill/engine/workspace"
	"waybill/store/postgres"
)

// storeVariable names the store where --store does not: what has a password in it is better not shown to everybody
// who lists processes.
const storeVariable = "WAYBILL_STORE"

// A namedStore is a store that flags name.
type namedStore struct {
	store, name    string // name is that of the workspace in a database; "" for its id
	flag, nameFlag string
}

// givenStore is the one that the flags of all commands name.
func (a *app) givenStore() namedStore {
	return namedStore{a.store, a.name, "--store", "--workspace-name"}
}

// check refuses a kind of store which this binary does not have.
func (n namedStore) check() error {
	scheme, _, isURL := strings.Cut(n.store, "://")
	switch {
	case postgres.Names(n.store):
		if err := postgres.Check(n.store); err != nil {
			return usageError{fmt.Errorf("%s: %w", n.flag, err)}
		}
		if n.name == "" {
			return nil
		}
		if err := postgres.CheckName(n.name); err != nil {
			return usageError{fmt.Errorf("%s: %w", n.nameFlag, err)}
		}
		return nil
	case n.name != "":
		return usageError{fmt.Errorf("%s: only a store in a database has names for its workspaces; give %s postgres://… too", n.nameFlag, n.flag)}
	case isURL:
		return usageError{fmt.Errorf("%s: this waybill has no store for %q; name a *.db file, a folder or postgres://…", n.flag, scheme)}
	}
	return nil
}

// storeShown says where the store is, without a password.
func (a *app) storeShown(ws workspace.Workspace) (string, error) {
	if postgres.Names(a.store) {
		return databaseShown(a.store, a.workspaceName(ws)), nil
	}
	return storePath(a.store, ws)
}

// databaseShown says which workspace of which database it is.
func databaseShown(url, name string) string { return postgres.Shown(url) + " (workspace " + name + ")" }

// workspaceName gives the name of the workspace in a database.
func (a *app) workspaceName(ws workspace.Workspace) string { return cmp.Or(a.name, ws.ID) }

// databaseFacts asks the server of the store, and reads and checks everything in it. It makes nothing.
func (a *app) databaseFacts(ctx context.Context, ws workspace.Workspace) doctor.Store {
	return postgres.Survey(ctx, postgres.Options{URL: a.store, Workspace: a.workspaceName(ws), Version: a.version})
}
