package resultfile_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/engine/resultfile"
	planfile "waybill/plan/file"
)

// folder returns a new folder by its path without links.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

func file(t *testing.T, path, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// read reads an existing file.
func read(t *testing.T, o resultfile.Folders, path string) string {
	t.Helper()
	text, err := o.Read(path)
	require.NoError(t, err, path)
	return string(text)
}

func refuses(t *testing.T, o resultfile.Folders, reason planfile.Reason, path string) {
	t.Helper()
	text, err := o.Read(path)
	require.ErrorIs(t, err, reason, path)
	require.Empty(t, text)
}

func TestResultsOfBothFolders(t *testing.T) {
	o := resultfile.Folders{Workspace: folder(t), Other: folder(t)}
	inside, beside := file(t, filepath.Join(o.Workspace, "a", "b.txt"), "inside"), file(t, filepath.Join(o.Other, "c.txt"), "beside")
	require.Equal(t, "inside", read(t, o, "a/b.txt"))
	require.Equal(t, "inside", read(t, o, inside))
	require.Equal(t, "beside", read(t, o, beside))
	refuses(t, o, planfile.Missing, "c.txt") // a relative path is one of the workspace
	refuses(t, resultfile.Folders{Workspace: o.Workspace}, planfile.OutsideWorkspace, beside)
	refuses(t, resultfile.Folders{Other: o.Other}, planfile.OutsideWorkspace, inside)
}

// The other folder may contain the workspace or be inside it.
func TestResultsOfFoldersInEachOther(t *testing.T) {
	outer := folder(t)
	inner := filepath.Join(outer, "inner")
	path := file(t, filepath.Join(inner, "x"), "x")
	require.Equal(t, "x", read(t, resultfile.Folders{Workspace: outer, Other: inner}, path))
	o := resultfile.Folders{Workspace: inner, Other: outer}
	require.Equal(t, "x", read(t, o, path))
	require.Equal(t, "y", read(t, o, file(t, filepath.Join(outer, "y"), "y")))
	refuses(t, resultfile.Folders{Workspace: inner}, planfile.OutsideWorkspace, inner+"x/x") // a name that only begins the same
}

// Without a workspace, a relative path must not be read from the folder of the process.
func TestNoFoldersHaveNoResult(t *testing.T) {
	dir := folder(t)
	path := file(t, filepath.Join(dir, "x"), "x")
	refuses(t, resultfile.Folders{}, planfile.OutsideWorkspace, path)
	t.Chdir(dir) // a folder that is no workspace
	refuses(t, resultfile.Folders{}, planfile.OutsideWorkspace, "x")
	refuses(t, resultfile.Folders{Other: dir}, planfile.OutsideWorkspace, "x")
}

// Folders and files may be named with or without links.
func TestResultsOfALinkedFolder(t *testing.T) {
	dir := folder(t)
	link := filepath.Join(folder(t), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
	path := file(t, filepath.Join(dir, "x"), "x")
	for _, o := range []resultfile.Folders{{Workspace: link}, {Workspace: folder(t), Other: link}} {
		require.Equal(t, "x", read(t, o, path))
		require.Equal(t, "x", read(t, o, filepath.Join(link, "x")))
	}
	refuses(t, resultfile.Folders{Workspace: dir}, planfile.OutsideWorkspace, filepath.Join(link, "x"))
}

// The size is checked before the file is read.
func TestHugeResultTakesNoMemory(t *testing.T) {
	o := resultfile.Folders{Workspace: folder(t)}
	path := file(t, filepath.Join(o.Workspace, "huge"), "")
	require.NoError(t, os.Truncate(path, 64<<20))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 16 {
		refuses(t, o, planfile.TooLarge, "huge")
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
	require.NoError(t, os.Truncate(path, resultfile.MaxBytes))
	require.Len(t, read(t, o, "huge"), resultfile.MaxBytes)
}

func TestResultsKeepNothingOpen(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the open files of a process are counted in /proc")
	}
	open := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(entries)
	}
	o := resultfile.Folders{Workspace: folder(t), Other: folder(t)}
	path := file(t, filepath.Join(o.Other, "x"), strings.Repeat("x", 1000))
	before := open()
	for range 50 {
		read(t, o, path)
		refuses(t, o, planfile.Missing, "nothing")
		refuses(t, o, planfile.OutsideWorkspace, "/nothing")
	}
	require.Equal(t, before, open())
}
