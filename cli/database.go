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
	facts := doctor.Store{Kind: "PostgreSQL"}
	find := func(level doctor.Level, fix, format string, args ...any) {
		facts.Findings = append(facts.Findings, doctor.Find("database", level, fix, format, args...))
	}
	s, err := a.openDatabase(ctx, ws)
	if err != nil {
		find(doctor.Fail, tryAgain, "%v", err)
		return facts
	}
	defer func() { _ = s.Close() }() // nothing was written
	status := s.Status(ctx)
	facts.Path = status.Path
	find(doctor.OK, "", "%s, %d bytes, tables of version %d", status.Path, status.SizeBytes, status.SchemaVersion)
	for _, peer := range status.Peers {
		facts.Peers = append(facts.Peers, doctor.Peer(peer))
	}
	for _, what := range status.Degraded {
		find(doctor.Warn, "", "%s", what)
	}
	damage, err := s.Verify(ctx)
	if err != nil {
		find(doctor.Fail, tryAgain, "%v", err)
		return facts
	}
	for _, d := range damage {
		find(doctor.Fail, "restore the database from a backup", "%s: %s", d.What, d.Detail)
	}
	if len(damage) == 0 {
		find(doctor.OK, "", "everything is what was written")
	}
	return facts
}

const tryAgain = "do what it says, and try again"

func (a *app) openDatabase(ctx context.Context, ws workspace.Workspace) (*postgres.Store, error) {
	return postgres.Open(ctx, postgres.Options{
		URL: a.store, Workspace: a.workspaceName(ws), Version: a.version, Logger: a.logger(a.Err),
	})
}
