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

// databaseChecks reads and checks everything in the store of a database. Where there is none yet it makes nothing but
// the tables.
func (a *app) databaseChecks(ctx context.Context, ws workspace.Workspace) []check {
	s, err := postgres.Open(ctx, postgres.Options{
		URL: a.store, Workspace: a.workspaceName(ws), Version: a.version, Logger: a.logger(a.Err),
	})
	if err != nil {
		a.code = exitStore
		return []check{{"database", sqlite.LevelFail, err.Error(), "do what it says, and try again"}}
	}
	defer func() { _ = s.Close() }() // nothing was written
	status := s.Status(ctx)
	checks := []check{{"database", sqlite.LevelOK, fmt.Sprintf("%s, %d bytes, tables of version %d", status.Path, status.SizeBytes, status.SchemaVersion), ""}}
	for _, what := range status.Degraded {
		checks = append(checks, check{"settings", sqlite.LevelWarn, what, ""})
	}
	damage, err := s.Verify(ctx)
	if err != nil {
		a.code = exitStore
		return append(checks, check{"contents", sqlite.LevelFail, err.Error(), "do what it says, and try again"})
	}
	for _, d := range damage {
		a.code = exitStore
		checks = append(checks, check{"contents", sqlite.LevelFail, d.What + ": " + d.Detail, "restore the database from a backup"})
	}
	if len(damage) == 0 {
		checks = append(checks, check{"contents", sqlite.LevelOK, "everything is what was written", ""})
	}
	return checks
}
