//go:build unix

package plan

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/cli/output"
	"waybill/cli/planfiles"
	"waybill/cli/program"
	"waybill/plan"
)

// This test is inside because the place of a lock is nothing that a command says.

// homes sets the folders that the lock may lie in: the home of a person, and that of temporary files.
func homes(t *testing.T, home string) (temp string) {
	t.Helper()
	temp = t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("TMPDIR", temp)
	return temp
}

func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	require.NoError(t, err)
	return info.Mode()
}

func TestTheLockOfPlansLiesInTheCacheOfThePerson(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	temp := homes(t, home)
	path, err := planfiles.OwnTurns(dir)
	require.NoError(t, err)
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	require.Equal(t, filepath.Join(cache, "waybill"), filepath.Dir(path))
	require.Equal(t, fs.ModeDir|0o700, modeOf(t, filepath.Dir(path)))
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	same, err := planfiles.OwnTurns(link)
	require.NoError(t, err)
	require.Equal(t, path, same, "one folder has one lock")
	entries, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, entries)
}

// The defect: the lock lay in the folder of all for temporary files, under a name that everybody could work out.
func TestTheLockOfPlansIsNowhereWhereOthersCanPutIt(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, dir string){
		"wide": func(t *testing.T, dir string) {
			require.NoError(t, os.Mkdir(dir, 0o700))
			require.NoError(t, os.Chmod(dir, 0o777))
		},
		"link": func(t *testing.T, dir string) { require.NoError(t, os.Symlink(t.TempDir(), dir)) },
		"file": func(t *testing.T, dir string) { require.NoError(t, os.WriteFile(dir, nil, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			temp := homes(t, "")
			p := filepath.Join(t.TempDir(), "plan.md")
			const text = "- [ ] 1. Dig\n"
			require.NoError(t, os.WriteFile(p, []byte(text), 0o600))
			path, err := planfiles.OwnTurns(filepath.Dir(p))
			require.NoError(t, err)
			private := filepath.Dir(path)
			require.Equal(t, temp, filepath.Dir(private))
			require.Equal(t, fs.ModeDir|0o700, modeOf(t, private))

			require.NoError(t, os.Remove(private))
			prepare(t, private)
			a := commands{&program.App{Printer: output.Printer{Env: func(string) string { return "" }}}}
			set := planSet{Hash: plan.Hash(text)}
			mark := plan.Marking{ItemID: "1", Line: 1, Status: plan.Completed}
			err = a.writeStatus(t.Context(), planText{name: p, text: text}, mark, &set)
			require.ErrorContains(t, err, "XDG_CACHE_HOME or TMPDIR")
			is, err := os.ReadFile(p)
			require.NoError(t, err)
			require.Equal(t, text, string(is))
		})
	}
}
