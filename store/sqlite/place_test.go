package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/store"
	"waybill/store/sqlite"
)

// TestFaultS13_OtherNames: a symbolic link is the store it leads to; a hard link would be one with
// other -wal and lock files, and is warned of.
func TestFaultS13_OtherNames(t *testing.T) {
	unixOnly(t, "links take privileges here")
	path := path(t)
	s := open(t, sqlite.Options{Path: path})
	link := filepath.Join(t.TempDir(), "link.db")
	require.NoError(t, os.Symlink(path, link))
	alias := open(t, sqlite.Options{Path: link})
	real, err := filepath.EvalSymlinks(path)
	require.NoError(t, err)
	require.Equal(t, real, alias.Status(t.Context()).Path)
	update(t, s, appendOne)
	update(t, alias, appendOne)
	require.EqualValues(t, 2, newest(t, s))
	require.NoFileExists(t, link+".lock")

	require.NoError(t, os.Link(path, filepath.Join(t.TempDir(), "hard.db")))
	require.True(t, noteWith(open(t, sqlite.Options{Path: path}), t, "2 hard links"))

	dangling := filepath.Join(t.TempDir(), "dangling.db")
	require.NoError(t, os.Symlink(path+".none", dangling))
	_, err = sqlite.Open(t.Context(), sqlite.Options{Path: dangling})
	requireFault(t, err, store.Unsafe)
}

// TestFaultS15_Planted: a database that somebody else has made or changed is refused.
func TestFaultS15_Planted(t *testing.T) {
	for name, statements := range map[string][]string{
		"another mark":    {"PRAGMA application_id = 4711"},
		"a trigger":       {"CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM notices; END"},
		"a view":          {"CREATE VIEW v AS SELECT * FROM events"},
		"a table":         {"CREATE TABLE extras (x)"},
		"an index":        {"CREATE INDEX i ON events (at)"},
		"a missing index": {"DROP INDEX events_subject"},
		"no version":      {"PRAGMA user_version = 0"},
	} {
		t.Run(name, func(t *testing.T) {
			path := path(t)
			s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
			require.NoError(t, err)
			require.NoError(t, s.Close())
			change(t, path, statements...)
			_, err = sqlite.Open(t.Context(), sqlite.Options{Path: path})
			require.Error(t, err)
		})
	}
}

// TestFaultS15_UnsafePlaces: where others can replace files, or where there is something else.
func TestFaultS15_UnsafePlaces(t *testing.T) {
	unixOnly(t, "modes say nothing here")
	open := filepath.Join(t.TempDir(), "open")
	require.NoError(t, os.Mkdir(open, 0o700))
	require.NoError(t, os.Chmod(open, 0o777))
	_, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(open, "store.db")})
	requireFault(t, err, store.Unsafe)

	_, err = sqlite.Open(t.Context(), sqlite.Options{Path: t.TempDir()})
	requireFault(t, err, store.Unsafe)
}

// TestFaultS22_ModesAreRepaired: files that others may read are made private, and that is said.
func TestFaultS22_ModesAreRepaired(t *testing.T) {
	unixOnly(t, "modes say nothing here")
	path := path(t)
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	for _, file := range []string{path, path + ".lock", path + ".reserve"} {
		require.NoError(t, os.Chmod(file, 0o644))
	}
	require.NoError(t, os.Chmod(filepath.Dir(path), 0o755))
	s = open(t, sqlite.Options{Path: path, PrivateDir: true})
	require.True(t, noteWith(s, t, "store.db was open to other users"))
	require.True(t, noteWith(s, t, "directory of the store was open to other users"))
	requirePrivate(t, filepath.Dir(path))
}

// requirePrivate checks the modes of the directory and of all files in it.
func requirePrivate(t *testing.T, dir string) {
	t.Helper()
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.EqualValues(t, 0o700, info.Mode().Perm())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, entry := range entries {
		info, err := entry.Info()
		require.NoError(t, err)
		require.EqualValues(t, 0o600, info.Mode().Perm(), entry.Name())
	}
}

// TestFaultS22_OpenUmask: the mask of the process takes nothing away. The files are private all the same.
func TestFaultS22_OpenUmask(t *testing.T) {
	unixOnly(t, "there is no mask here")
	dir := filepath.Join(t.TempDir(), "state", "waybill")
	cmd := command(t, "steps", filepath.Join(dir, "store.db"))
	cmd.Env = append(cmd.Env, "UMASK=0")
	c := start(t, cmd)
	require.Equal(t, "1", c.ask(t, "update"))
	require.Equal(t, "1", c.ask(t, "newest"))
	require.FileExists(t, filepath.Join(dir, "store.db-wal"))
	requirePrivate(t, dir)
	info, err := os.Stat(filepath.Dir(dir))
	require.NoError(t, err)
	require.EqualValues(t, 0o700, info.Mode().Perm(), "the directory above was made, too")
}
