package watcher_test

import (
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The name that is watched and the name that a writer used differ in case, and are one
// file: here because of a hard link, elsewhere because the system ignores case.
func TestNamesOfOneFileMayDifferInCase(t *testing.T) {
	for _, names := range [][2]string{{"tasks.md", "TASKS.md"}, {"caf\u00e9.md", "CAF\u00c9.md"}, {"caf\u00e9.md", "cafe\u0301.md"}} {
		r := start(t, fastOptions())
		watched, used := r.path(names[0]), r.path(names[1])
		write(t, watched, "x")
		if err := os.Link(watched, used); err != nil {
			require.ErrorIs(t, err, fs.ErrExist)
		}
		r.watch(watched)
		r.settle()
		f, err := os.OpenFile(used, os.O_WRONLY|os.O_APPEND, 0)
		require.NoError(t, err)
		_, err = f.WriteString("more")
		require.NoError(t, err)
		require.NoError(t, f.Close())
		r.await(watched)
	}
}

// Two files whose names differ only in case are two files.
func TestFilesWhoseNamesDifferInCaseAreDistinct(t *testing.T) {
	r := start(t, fastOptions())
	write(t, r.path("tasks.md"), "x")
	write(t, r.path("TASKS.md"), "y")
	if text, err := os.ReadFile(r.path("tasks.md")); err != nil || string(text) == "y" {
		t.Skip("this file system ignores case")
	}
	r.watch(r.path("tasks.md"))
	r.settle()
	write(t, r.path("TASKS.md"), "yy")
	require.Empty(t, r.settle())
}
