//go:build unix

package main

import (
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/store/postgres/pgtest"
)

// Two machines, which here are two folders with states of their own, work on one workspace by its name, and neither
// shows the password.
func TestMachinesShareAWorkspaceInADatabase(t *testing.T) {
	u, err := url.Parse(pgtest.Own(t).Database(t))
	require.NoError(t, err)
	u.User = url.UserPassword("waybill", "hunter2")
	one, other := newWorld(t), newWorld(t)
	run := func(w world, args ...string) string {
		cmd := w.command(t, append(args, "--workspace-name", "team/app")...)
		cmd.Env = append(cmd.Env, "WAYBILL_STORE="+u.String())
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.NotContains(t, string(out), "hunter2")
		return string(out)
	}
	run(one, "call", "create_task", `{"prompt":"count the shelves"}`)
	require.Contains(t, run(other, "ls"), "count the shelves")
	claimed := run(other, "call", "claim_task", `{"worker":"w"}`)
	require.Contains(t, claimed, `"lease"`)
	require.Contains(t, run(one, "call", "claim_task", `{"worker":"w"}`), `"claim":null`)
	require.Contains(t, run(one, "status"), "workspace team/app")
	require.Contains(t, run(one, "where"), "postgres://waybill@")
	checked := run(one, "doctor")
	require.Regexp(t, `(?m)^ok    database +everything in .*, workspace team/app is what was written$`, checked)
	require.Regexp(t, `(?m)^ok    environment .*WAYBILL_STORE`, checked)
	require.NoError(t, filepath.WalkDir(one.state, func(path string, d os.DirEntry, err error) error {
		require.NoError(t, err)
		require.NotContains(t, path, "hunter2")
		if !d.IsDir() {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NotContains(t, string(text), "hunter2")
		}
		return nil
	}))
}

// TestStoresMoveIntoDatabasesAndBack: by a migration or an export. On the way back a file has the bytes that it
// had; in between, an export names other tables.
func TestStoresMoveIntoDatabasesAndBack(t *testing.T) {
	url := pgtest.Own(t).Database(t)
	w := newWorld(t)
	run := func(code int, args ...string) string {
		cmd := w.command(t, args...)
		out, _ := cmd.CombinedOutput()
		require.Equal(t, code, cmd.ProcessState.ExitCode(), "%v: %s", args, out)
		return string(out)
	}
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	exported := func(file string, args ...string) string {
		run(0, append([]string{"export", in(file)}, args...)...)
		text, err := os.ReadFile(in(file))
		require.NoError(t, err)
		return string(text)
	}
	run(0, "call", "create_task", `{"prompt":"count the shelves"}`, "--store", in("a.db"))
	run(0, "call", "queue_instruction", `{"content":"Water the beans."}`, "--store", in("a.db"))
	want := exported("a.jsonl", "--store", in("a.db"))

	run(5, "store", "migrate", "--from", url, "--from-name", "team/none", "--to", in("none.db"))
	require.Contains(t, run(0, "store", "migrate", "--from", in("a.db"), "--to", url, "--to-name", "team/a"), "workspace team/a")
	run(4, "store", "migrate", "--from", in("a.db"), "--to", url, "--to-name", "team/a")
	moved := exported("b.jsonl", "--store", url, "--workspace-name", "team/a")

	require.Contains(t, run(0, "import", in("b.jsonl"), "--store", url, "--workspace-name", "team/b"), "workspace team/b")
	require.Equal(t, moved, exported("d.jsonl", "--store", url, "--workspace-name", "team/b"))
	run(4, "import", in("b.jsonl"), "--store", url, "--workspace-name", "team/b")
	run(0, "store", "migrate", "--from", url, "--from-name", "team/b", "--to", in("c.db"))
	require.Equal(t, want, exported("c.jsonl", "--store", in("c.db")))
	run(5, "export", in("none.jsonl"), "--store", url, "--workspace-name", "team/none")
	require.NoFileExists(t, in("none.jsonl"))
	require.Contains(t, run(0, "ls", "--store", url, "--workspace-name", "team/b"), "count the shelves")
}

// What cannot be done with a database is said, and a mistake in its name is one in the usage.
func TestMistakesWithDatabases(t *testing.T) {
	w := newWorld(t)
	for _, row := range []struct {
		args []string
		says string
	}{
		{[]string{"backup", "copy.db", "--store", "postgres://u:hunter2@h/d"}, "pg_dump"},
		{[]string{"salvage", "--store", "postgres://u:hunter2@h/d"}, "pg_dump"},
		{[]string{"restore", "copy.db", "--store", "postgres://u:hunter2@h/d"}, "waybill import"},
		{[]string{"store", "migrate", "--from", "a.db", "--to", "postgres://u:hun/ter2@h/d"}, "--to: "},
		{[]string{"store", "migrate", "--from", "a.db", "--from-name", "a", "--to", "b.db"}, "--from-name: "},
		{[]string{"status", "--store", "postgres://u:hun/ter2@h/d"}, "cannot be read"},
		{[]string{"status", "--store", "mysql://u:hunter2@h/d"}, `no store for "mysql"`},
		{[]string{"status", "--workspace-name", "a"}, "--workspace-name"},
		{[]string{"status", "--store", "postgres://h/d", "--workspace-name", "a b"}, "--workspace-name"},
	} {
		cmd := w.command(t, row.args...)
		out, err := cmd.CombinedOutput()
		require.Error(t, err, "%v", row.args)
		require.Equal(t, 2, cmd.ProcessState.ExitCode(), "%s", out)
		require.Contains(t, string(out), row.says)
		require.False(t, strings.Contains(string(out), "hun") || strings.Contains(string(out), "ter2"), "%s", out)
	}
}

// The demo passes unchanged on a database, and is really played there.
func TestDemoOnADatabase(t *testing.T) {
	w := newWorld(t)
	server := pgtest.Own(t)
	database := server.Database(t)
	out, err := w.command(t, "demo", "--store", database).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "Everything went as promised")
	require.NoError(t, server.End("fast"))
	out, err = w.command(t, "demo", "--store", database).CombinedOutput()
	require.Error(t, err, "%s", out)
}

// What a claim reads does not grow with what waits: in a new database the server knew nothing of the tables, took one index
// for as good as another, and read all attempts of the workspace for each claim.
func TestClaimReadsNoMoreTheMoreTasksThereAre(t *testing.T) {
	const waiting, claims = 600, 20
	server := pgtest.Own(t, "autovacuum = off")
	database := server.Database(t)
	w := newWorld(t)
	serve := func(work func(p *peer)) {
		p := w.serve(t, "--store", database)
		work(p)
		require.NoError(t, p.in.Close())
		require.Zero(t, p.end())
	}
	serve(func(p *peer) {
		for range waiting {
			p.must("create_task", `{"prompt":"Weed the bed."}`, nil)
		}
	})
	// What a connection has counted is told when it has ended.
	alone := func() {
		for server.Ask(t, database, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()") != "0" {
		}
	}
	alone()
	server.Ask(t, database, "SELECT pg_stat_reset()")
	serve(func(p *peer) {
		for range claims {
			p.finish(p.claim(), `"status":"completed"`)
		}
	})
	alone()
	read, err := strconv.Atoi(server.Ask(t, database, "SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) "+
		"FROM pg_stat_user_tables WHERE relname IN ('tasks', 'attempts', 'said', 'launches', 'carried')"))
	require.NoError(t, err)
	require.NotZero(t, read)
	t.Log(read/claims, "rows for a claim and its end")
	require.Less(t, read, claims*waiting/6)
}
