package sqlite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/store"
	"waybill/store/sqlite"
)

// TestFaultS13_OtherNames: a symbolic link is the store it leads to; a hard link would be one with
// other -wal and lock files, and is warned of.
func TestFaultS13_OtherNames(t *testing.T) {
	unixOnly(t, "links take privileges here")
	s, path := openNew(t)
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
	_ = notOpened(t, sqlite.Options{Path: dangling}, store.Unsafe)
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
			require.NoError(t, open(t, sqlite.Options{Path: path}).Close())
			change(t, path, statements...)
			_, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
			require.Error(t, err)
		})
	}
}

// TestFaultS15_UnsafePlaces: where others can replace files, or where there is something else. Such a folder is refused and
// left as it is, by a store as by an examination.
func TestFaultS15_UnsafePlaces(t *testing.T) {
	unixOnly(t, "modes say nothing here")
	path := closed(t)
	dir := filepath.Dir(path)
	for _, mode := range []os.FileMode{0o777, 0o777 | os.ModeSticky, 0o770} {
		require.NoError(t, os.Chmod(dir, mode))
		for _, private := range []bool{false, true} {
			require.ErrorContains(t, notOpened(t, sqlite.Options{Path: path, PrivateDir: private}, store.Unsafe), "chmod go-w "+dir, "%v", mode)
		}
		requireRefused(t, path, "modes", "chmod go-w "+dir)
		requireRefused(t, filepath.Join(dir, "none.db"), "modes", "chmod go-w "+dir)
		info, err := os.Stat(dir)
		require.NoError(t, err)
		require.Equal(t, mode|os.ModeDir, info.Mode())
	}
	_ = notOpened(t, sqlite.Options{Path: t.TempDir()}, store.Unsafe)
}

// TestFaultS15_OwnedByAnother: who owns a file could have put instructions into it, or hold its lock for ever.
func TestFaultS15_OwnedByAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("giving a file away takes root")
	}
	for name, file := range map[string]func(path string) string{
		"database": func(path string) string { return path }, "folder": filepath.Dir, "lock": func(path string) string { return path + ".lock" },
	} {
		path := closed(t)
		require.NoError(t, os.Chown(file(path), 65534, 65534))
		require.ErrorContains(t, notOpened(t, sqlite.Options{Path: path}, store.Unsafe), "belongs to user 65534", name)
		if name == "folder" {
			requireRefused(t, path, "modes", "use one of your own")
		}
	}
}

// sideFiles are the ends of the names of the files that a store or SQLite has beside the database.
var sideFiles = []string{".lock", ".lock.gate", ".reserve", "-wal", "-shm", "-journal"}

// TestPlantedSideFilesWereFollowed: somebody has put a link or a second name of another file where a file of the store is
// to be. The store is refused by all who look at it, and what the link leads to is left as it was.
func TestPlantedSideFilesWereFollowed(t *testing.T) {
	unixOnly(t, "links take privileges here")
	for _, side := range sideFiles {
		for name, plant := range map[string]func(target, path string) error{
			"symbolic link": os.Symlink, "second name": os.Link,
		} {
			t.Run(side+", "+name, func(t *testing.T) {
				path, target := closed(t), filepath.Join(t.TempDir(), ".bashrc")
				require.NoError(t, os.WriteFile(target, []byte("alias ls=ls"), 0o600))
				require.NoError(t, os.Chmod(target, 0o644))
				_ = os.Remove(path + side)
				require.NoError(t, plant(target, path+side))
				requireRefused(t, path, "file", "rm "+path+side)
				facts, _ := survey(t, path)
				require.Empty(t, facts.Files.Open, "a repair would change it")
				require.False(t, facts.Tables.Read)
				_, err := sqlite.MakePrivate(path, path+side)
				require.ErrorContains(t, err, name)
				require.ErrorContains(t, notOpened(t, sqlite.Options{Path: path}, store.Unsafe), name)
				require.Equal(t, "alias ls=ls", string(fileText(t, target)))
				requireMode(t, target, 0o644)
			})
		}
	}
}

// TestFaultS22_ModesAreRepaired: files that others may read are made private, and that is said.
func TestFaultS22_ModesAreRepaired(t *testing.T) {
	unixOnly(t, "modes say nothing here")
	path := path(t)
	require.NoError(t, open(t, sqlite.Options{Path: path}).Close())
	for _, file := range []string{path, path + ".lock", path + ".reserve"} {
		require.NoError(t, os.Chmod(file, 0o644))
	}
	require.NoError(t, os.Chmod(filepath.Dir(path), 0o755))
	s := open(t, sqlite.Options{Path: path, PrivateDir: true})
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

// TestModeOfAFileThatIsNoStoreWasChanged: a file of the user that was named as a store, or that a link led to, became
// private, although it was said to be left as it is.
func TestModeOfAFileThatIsNoStoreWasChanged(t *testing.T) {
	unixOnly(t, "modes say nothing here")
	path, link := path(t), path(t)
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("alias ls=ls\n", 9)), 0o600))
	require.NoError(t, os.Chmod(path, 0o644))
	require.NoError(t, os.Symlink(path, link))
	for _, named := range []string{path, link} {
		require.ErrorContains(t, notOpened(t, sqlite.Options{Path: named}, store.Corrupt), "was left as it is")
		requireMode(t, path, 0o644)
	}
	_, err := sqlite.MakePrivate(path, path)
	require.ErrorContains(t, err, "not a store")
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

// TestLinkInASharedFolderLedToAStore: where others can write, a link to any file of the user could be planted as a store.
func TestLinkInASharedFolderLedToAStore(t *testing.T) {
	unixOnly(t, "modes say nothing here")
	path, shared := closed(t), t.TempDir()
	link := filepath.Join(shared, "link.db")
	require.NoError(t, os.Symlink(path, link))
	require.NoError(t, os.Chmod(path, 0o644))
	require.NoError(t, os.Chmod(shared, 0o777|os.ModeSticky))
	require.ErrorContains(t, notOpened(t, sqlite.Options{Path: link}, store.Unsafe), "chmod go-w "+shared)
	requireMode(t, path, 0o644)
	requireRefused(t, link, "modes", "chmod go-w "+shared)
}

// requireRefused checks that an examination ends with a failing check and the way to mend it.
func requireRefused(t *testing.T, path, check, mend string) {
	t.Helper()
	found := sqlite.Examine(t.Context(), sqlite.Options{Path: path})
	require.Len(t, found, 1)
	require.Equal(t, sqlite.LevelFail, found[0].Level, "%+v", found[0])
	require.Equal(t, check, found[0].Check)
	require.Contains(t, found[0].Fix, mend)
}

func requireMode(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, mode, info.Mode().Perm())
}
