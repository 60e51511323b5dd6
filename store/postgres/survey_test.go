package postgres_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/doctor"
	"waybill/store"
	"waybill/store/postgres"
	"waybill/store/postgres/pgtest"
)

// examined returns the first thing that each check finds in the store.
func examined(t *testing.T, o postgres.Options) map[string]doctor.Finding {
	t.Helper()
	first := map[string]doctor.Finding{}
	for _, f := range doctor.Examine(&doctor.Facts{Now: time.Now(), Store: postgres.Survey(t.Context(), o)}) {
		if _, told := first[f.Check]; !told {
			first[f.Check] = f
		}
	}
	return first
}

func requireFound(t *testing.T, found map[string]doctor.Finding, check string, level doctor.Level, part string) {
	t.Helper()
	require.Equal(t, level, found[check].Level, "%+v", found[check])
	require.Contains(t, found[check].Text, part)
	require.Equal(t, level == doctor.OK || level == doctor.Skipped, found[check].Fix == "", "%+v", found[check])
}

// TestDoctorMadeTablesInAnEmptyDatabase: to look makes neither tables nor a workspace.
func TestDoctorMadeTablesInAnEmptyDatabase(t *testing.T) {
	o := options(t, pgtest.Shared(t))
	reading := o
	reading.ReadOnly = true
	found := examined(t, o)
	requireFound(t, found, "rights", doctor.OK, "may make the tables")
	requireFound(t, found, "schema", doctor.Warn, "there are no tables yet")
	_, err := postgres.Open(t.Context(), reading)
	require.ErrorContains(t, err, "has no tables, and none can be made")

	other := o
	other.Workspace = pgtest.Name(t)
	require.NoError(t, open(t, other).Update(t.Context(), appendOne))
	requireFound(t, examined(t, o), "database", doctor.Warn, "there is no workspace "+o.Workspace)
	_, err = postgres.Open(t.Context(), reading)
	require.ErrorContains(t, err, "there is no workspace")
}

// TestSurveyOfASoundStore: all that is asked of the server is well, and what is in the workspace is counted.
func TestSurveyOfASoundStore(t *testing.T) {
	o := options(t, pgtest.Shared(t))
	s := open(t, o)
	at := core.Instant(time.Now().UnixMicro())
	require.NoError(t, s.Update(t.Context(), func(tx store.Tx) error {
		if err := tx.PutInstruction(instruction.Instruction{ID: "ins_1", Position: 1, Session: "default", Content: "x", CreatedAt: at, Phase: instruction.Queued{}}); err != nil {
			return err
		}
		_, err := tx.Append(store.Event{Type: core.LedgerChanged, Subject: "run_1", At: at, Data: "{}"})
		return err
	}))
	facts := postgres.Survey(t.Context(), o)
	require.True(t, facts.Tables.Read)
	require.EqualValues(t, 1, facts.Tables.Events)
	require.Equal(t, map[string]int64{"queued": 1}, facts.Tables.Instructions)
	require.Equal(t, time.UnixMicro(int64(at)).UTC(), facts.Tables.NewestAt)
	require.Equal(t, []doctor.Event{{Seq: 1, At: facts.Tables.OldestAt, Type: string(core.LedgerChanged), Subject: "run_1"}}, facts.Tables.Recent)
	require.Less(t, facts.Server.Ahead.Abs(), time.Minute)
	found := examined(t, o)
	for _, check := range []string{
		"server", "encoding", "primary", "fsync", "whole pages", "commits", "connections", "pooler", "rights", "database", "schema", "clock", "retention",
	} {
		requireFound(t, found, check, doctor.OK, "")
	}
}

// TestSurveyOfSettings: each that weakens a promise is named.
func TestSurveyOfSettings(t *testing.T) {
	server, o := own(t, "fsync = off", "full_page_writes = off", "synchronous_commit = off")
	found := examined(t, o)
	requireFound(t, found, "fsync", doctor.Fail, "fsync is off")
	requireFound(t, found, "whole pages", doctor.Warn, "full_page_writes is off")
	requireFound(t, found, "commits", doctor.Warn, "synchronous_commit is off")
	requireFound(t, found, "connections", doctor.OK, "connections are free")
	server.Run(t, o.URL, "CREATE ROLE crowded LOGIN CONNECTION LIMIT 2")
	o.URL = as(t, o.URL, "crowded")
	requireFound(t, examined(t, o), "connections", doctor.Warn, "2 of 2 connections are free, and one more process may take 4")
	o.URL += "&pooler=yes"
	requireFound(t, examined(t, o), "pooler", doctor.OK, "the URL says")
}

// TestSchemaThatIsThereIsUsed: to make tables in it takes no right to make one, as the doctor says.
func TestSchemaThatIsThereIsUsed(t *testing.T) {
	server, o := own(t)
	server.Run(t, o.URL, "CREATE ROLE guest LOGIN")
	server.Run(t, o.URL, "CREATE SCHEMA waybill")
	server.Run(t, o.URL, "GRANT USAGE, CREATE ON SCHEMA waybill TO guest")
	o.URL = as(t, o.URL, "guest")
	requireFound(t, examined(t, o), "rights", doctor.OK, "may make the tables")
	require.NoError(t, open(t, o).Update(t.Context(), appendOne))
	requireFound(t, examined(t, o), "rights", doctor.OK, "may read and change the tables")
}

// as returns the URL for another user.
func as(t *testing.T, text, user string) string {
	t.Helper()
	u, err := url.Parse(text)
	require.NoError(t, err)
	u.User = url.UserPassword(user, "hunter2")
	return u.String()
}

// TestSurveyOfRights: it is said what the user may not do, before a call finds out.
func TestSurveyOfRights(t *testing.T) {
	server, o := own(t)
	server.Run(t, o.URL, "CREATE ROLE guest LOGIN")
	owner := o.URL
	o.URL = as(t, owner, "guest")
	requireFound(t, examined(t, o), "rights", doctor.Fail, "may not make a schema")
	server.Run(t, owner, "CREATE SCHEMA waybill")
	requireFound(t, examined(t, o), "rights", doctor.Fail, "may not make them in the schema")
	require.NoError(t, open(t, postgres.Options{URL: owner, Workspace: o.Workspace}).Update(t.Context(), appendOne))
	requireFound(t, examined(t, o), "rights", doctor.Fail, "may not read the tables")
	server.Run(t, owner, "GRANT USAGE ON SCHEMA waybill TO guest; GRANT SELECT ON ALL TABLES IN SCHEMA waybill TO guest")
	found := examined(t, o)
	requireFound(t, found, "rights", doctor.Fail, "may read the tables and not change them")
	requireFound(t, found, "database", doctor.OK, "is what was written")
	server.Run(t, owner, "GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA waybill TO guest")
	requireFound(t, examined(t, o), "rights", doctor.OK, "may read and change the tables")
}

// TestSurveyOfFaults: a server that is away, a database of another encoding, newer tables, and rows that nobody wrote.
func TestSurveyOfFaults(t *testing.T) {
	server, o := shared(t)
	require.NoError(t, open(t, o).Update(t.Context(), appendOne))
	server.Run(t, o.URL, "UPDATE waybill.events SET data = 'forged'")
	requireFound(t, examined(t, o), "database", doctor.Fail, "event")
	server.Run(t, o.URL, "INSERT INTO waybill.versions VALUES (1000)")
	found := examined(t, o)
	requireFound(t, found, "schema", doctor.Warn, "the tables have version 1000")
	requireFound(t, found, "database", doctor.Skipped, "")

	away := postgres.Options{URL: "postgres://waybill:hunter2@127.0.0.1:1/x?sslmode=disable", Workspace: "a"}
	found = examined(t, away)
	requireFound(t, found, "database", doctor.Fail, "cannot be reached")
	require.NotContains(t, found["database"].Text, "hunter2")
	requireFound(t, found, "fsync", doctor.Skipped, "")
	requireFound(t, found, "clock", doctor.Skipped, "")

	server.Run(t, server.Admin(), "DROP DATABASE IF EXISTS old_words")
	server.Run(t, server.Admin(), "CREATE DATABASE old_words TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'")
	t.Cleanup(func() { server.Run(t, server.Admin(), "DROP DATABASE old_words WITH (FORCE)") })
	u, err := url.Parse(server.Admin())
	require.NoError(t, err)
	u.Path = "/old_words"
	requireFound(t, examined(t, postgres.Options{URL: u.String(), Workspace: "a"}), "encoding", doctor.Fail, "LATIN1")
}
