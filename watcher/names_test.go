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

// The plan is a link, or in a folder that is one: what it leads to is watched too.
func TestTargetsOfLinksAreWatched(t *testing.T) {
	bothModes(t, func(t *testing.T, o testOptions) {
		r := start(t, o)
		write(t, r.path("real/a/tasks.md"), "a")
		write(t, r.path("real/b/tasks.md"), "bb")
		symlink(t, "real/a/tasks.md", r.path("middle.md"))
		symlink(t, r.path("middle.md"), r.path("plans/tasks.md"))
		symlink(t, "real/a", r.path("folder"))
		link, inside := r.path("plans/tasks.md"), r.path("folder/tasks.md")
		r.watch(link, inside)

		both := []string{"plans/tasks.md", "folder/tasks.md"}
		r.change(func() { write(t, r.path("real/a/tasks.md"), "aaa") }, both...)
		r.change(func() {
			write(t, r.path("tmp"), "renamed over")
			rename(t, r.path("tmp"), r.path("real/a/tasks.md"))
		}, both...)
		r.change(func() {
			require.NoError(t, os.Remove(r.path("middle.md")))
			symlink(t, "real/b/tasks.md", r.path("middle.md"))
		}, "plans/tasks.md")
		r.change(func() { write(t, r.path("real/b/tasks.md"), "bbbb") }, "plans/tasks.md")
		r.change(func() {
			require.NoError(t, os.Remove(r.path("folder")))
			symlink(t, "real/b", r.path("folder"))
		}, "folder/tasks.md")
		r.change(func() { write(t, r.path("real/b/tasks.md"), "b") }, both...)
		r.change(func() { require.NoError(t, os.RemoveAll(r.path("real/b"))) }, both...)
		r.change(func() { write(t, r.path("real/b/tasks.md"), "made again") }, both...)
		r.change(func() { write(t, r.path("real/b/tasks.md"), "written") }, both...)
	})
}

// Links in a circle are watched as names: mending one is reported.
func TestCircularLinksAreWatched(t *testing.T) {
	r := start(t, fastOptions())
	symlink(t, "b.md", r.path("a.md"))
	symlink(t, "a.md", r.path("b.md"))
	r.watch(r.path("a.md"))
	r.change(func() {
		require.NoError(t, os.Remove(r.path("b.md")))
		write(t, r.path("b.md"), "x")
	}, "a.md")
}
