package cli

import (
	"cmp"
	"context"
	"fmt"

	"waybill/engine/workspace"
	"waybill/store/postgres"
	"waybill/store/sqlite"
)

// storeVariable names the store where --store does not: what has a password in it is better not shown to everybody
// who lists processes.
const storeVariable = "WAYBILL_STORE"

// storeShown says where the store is, without a password.
func (a *app) storeShown(ws workspace.Workspace) (string, error) {
	if postgres.Names(a.store) {
		return postgres.Shown(a.store) + " (workspace " + a.workspaceName(ws) + ")", nil
	}
	return storePath(a.store, ws)
}

// workspaceName gives the name of the workspace in a database.
func (a *app) workspaceName(ws workspace.Workspace) string { return cmp.Or(a.name, ws.ID) }

// databaseFacts asks the server of the store, and reads and checks everything in it. It makes nothing.
func (a *app) databaseFacts(ctx context.Context, ws workspace.Workspace) doctor.Store {
	return postgres.Survey(ctx, postgres.Options{URL: a.store, Workspace: a.workspaceName(ws), Version: a.version})
}
