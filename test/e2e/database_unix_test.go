//go:build unix

package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/store/postgres/pgtest"
	"waybill/test/slow"
)

// moving returns a world, what runs a command there that ends with a code, and what names files of a folder.
func moving(t *testing.T) (w world, run func(code int, args ...string) string, in func(name string) string) {
	t.Helper()
	w = newWorld(t)
	run = func(code int, args ...string) string {
		cmd := w.command(t, args...)
		out, _ := cmd.CombinedOutput()
		require.Equal(t, code, cmd.ProcessState.ExitCode(), "%v: %s", args, out)
		return string(out)
	}
	dir := t.TempDir()
	return w, run, func(name string) string { return filepath.Join(dir, name) }
}

// TestStoresMoveIntoDatabasesAndBack: by a migration or an export. On the way back a file has the bytes that it
// had; in between, an export names other tables.
func TestStoresMoveIntoDatabasesAndBack(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	url := pgtest.Own(t).Database(t)
	_, run, in := moving(t)
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

// TestDatabaseInUseIsBackedUpAndRestored: a host that waits for a task gets the one that was restored, and finishes it. A
// copy of a store in a database is one of a store in a file, an export does as well, and what was there is set aside.
func TestDatabaseInUseIsBackedUpAndRestored(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	url := pgtest.Own(t).Database(t)
	w, run, in := moving(t)
	run(0, "call", "create_task", `{"prompt":"count the shelves"}`, "--store", url)
	run(0, "call", "queue_instruction", `{"content":"Water the beans."}`, "--store", url)
	host := w.serve(t, "--store", url)
	host.must("ping", `{}`, nil)
	run(0, "backup", in("copy.db"), "--store", url)
	run(4, "backup", in("copy.db"), "--store", url)
	run(0, "export", in("all.jsonl"), "--store", url)
	run(0, "export", in("copy.jsonl"), "--store", in("copy.db"))
	require.Equal(t, contents(t, in("all.jsonl")), contents(t, in("copy.jsonl")))
	run(0, "doctor", "--store", in("copy.db"))

	for _, file := range []string{"copy.db", "all.jsonl", "all.jsonl"} {
		host.finish(host.claim(), `"status":"completed"`)
		_, err := fmt.Fprintf(host.in, `{"jsonrpc":"2.0","id":9000,"method":"claim_task","params":{"worker":"w","wait_ms":25000}}`+"\n")
		require.NoError(t, err)
		host.parked()
		said := run(0, "restore", in(file), "--store", url)
		aside := regexp.MustCompile(`set aside +.*\(workspace (\S+)\)`).FindStringSubmatch(said)
		require.Len(t, aside, 2, said)
		r, err := host.answer(9000)
		require.NoError(t, err)
		require.Nil(t, r.Error)
		var got schema.ClaimTaskResult
		require.NoError(t, json.Unmarshal(r.Result, &got))
		require.NotNil(t, got.Claim)
		require.Equal(t, "count the shelves", got.Claim.Prompt)
		require.Contains(t, run(0, "call", "list_tasks", `{}`, "--store", url, "--workspace-name", aside[1]), "COMPLETE")
		host.must("create_task", `{"prompt":"and the benches"}`, nil)
		host.finish(*got.Claim, `"status":"completed"`)
		run(0, "doctor", "--store", url)
	}
	require.NoError(t, os.WriteFile(in("letter"), []byte("Dear reader,"), 0o600))
	run(5, "restore", in("letter"), "--store", url)
	require.Contains(t, run(0, "ls", "--store", url), "and the benches")
}

// contents returns the lines of an export but for the first, which names the tables, and what sums that up.
func contents(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.SplitAfter(strings.TrimSpace(string(text)), "\n")
	require.Greater(t, len(lines), 2)
	return regexp.MustCompile(`,"sum":"[0-9a-f]+"`).ReplaceAllString(strings.Join(lines[1:len(lines)-1], ""), "")
}

// What cannot be done with a database is said, and a mistake in its name is one in the usage.
func TestMistakesWithDatabases(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, row := range []struct {
		args []string
		says string
	}{
		{[]string{"salvage", "--store", "postgres://u:hunter2@h/d"}, "waybill store restore"},
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

// What a claim reads does not grow with what waits: in a new database the server knew nothing of the tables, took one index
// for as good as another, and read all attempts of the workspace for each claim.
func TestClaimReadsNoMoreTheMoreTasksThereAre(t *testing.T) {
	t.Parallel()
	slow.Test(t)
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
		"FROM pg_stat_user_tables WHERE relname IN ('tasks', 'attempts', 'task_specs')"))
	require.NoError(t, err)
	require.NotZero(t, read)
	t.Log(read/claims, "rows for a claim and its end")
	require.Less(t, read, claims*waiting/6)
}
