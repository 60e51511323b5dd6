//go:build unix

package main

import (
	"net/url"
	"os"
	"path/filepath"
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

// What cannot be done with a database is said, and a mistake in its name is one in the usage.
func TestMistakesWithDatabases(t *testing.T) {
	w := newWorld(t)
	for _, row := range []struct {
		args []string
		says string
	}{
		{[]string{"backup", "copy.db", "--store", "postgres://u:hunter2@h/d"}, "pg_dump"},
		{[]string{"salvage", "--store", "postgres://u:hunter2@h/d"}, "pg_dump"},
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
