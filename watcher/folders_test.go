package watcher_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The folder of the file is removed, renamed, replaced or made again; so are the
// folders above. The system drops its watch without a word.
func TestRemovedAndReplacedFoldersAreReported(t *testing.T) {
	moves := map[string]func(t *testing.T, folder string){
		"removed and made again": func(t *testing.T, folder string) {
			require.NoError(t, os.RemoveAll(folder))
			write(t, filepath.Join(folder, "tasks.md"), "again")
		},
		"renamed away and made again": func(t *testing.T, folder string) {
			rename(t, folder, folder+"-old")
			write(t, filepath.Join(folder, "tasks.md"), "again")
			require.NoError(t, os.RemoveAll(folder+"-old"))
		},
		"replaced by another": func(t *testing.T, folder string) {
			write(t, filepath.Join(folder+"-new", "tasks.md"), "again")
			rename(t, folder, folder+"-old")
			rename(t, folder+"-new", folder)
			require.NoError(t, os.RemoveAll(folder+"-old"))
		},
		"renamed away and back": func(t *testing.T, folder string) {
			rename(t, folder, folder+"-old")
			rename(t, folder+"-old", folder)
		},
		"only removed": func(t *testing.T, folder string) {
			require.NoError(t, os.RemoveAll(folder))
		},
		"only renamed": func(t *testing.T, folder string) {
			rename(t, folder, filepath.Join(t.TempDir(), "old"))
		},
		"replaced by a file, then made again": func(t *testing.T, folder string) {
			require.NoError(t, os.RemoveAll(folder))
			write(t, folder, "a file")
			require.NoError(t, os.Remove(folder))
			write(t, filepath.Join(folder, "tasks.md"), "again")
		},
	}
	bothModes(t, func(t *testing.T, o testOptions) {
		for name, move := range moves {
			t.Run(name, func(t *testing.T) {
				r := start(t, o)
				file := r.path("specs/one/tasks.md")
				write(t, file, "old")
				r.watch(file)
				for i := range 3 {
					if o.ForcePolling && name == "renamed away and back" {
						break // nothing that a look could see has changed
					}
					r.change(func() { move(t, filepath.Dir(file)) }, "specs/one/tasks.md")
					r.change(func() { write(t, file, fmt.Sprint("after the move ", i)) }, "specs/one/tasks.md")
				}
				r.change(func() { require.NoError(t, os.RemoveAll(r.path("specs"))) }, "specs/one/tasks.md")
				r.change(func() { write(t, file, "all made again") }, "specs/one/tasks.md")
				r.change(func() { write(t, file, "and written") }, "specs/one/tasks.md")
			})
		}
	})
}

// Two watched folders change names while the news of it is still on its way.
func TestFoldersThatSwapNamesAreReported(t *testing.T) {
	o := fastOptions()
	o.Quiet = 1
	r := start(t, o)
	a, b := r.path("specs/a/tasks.md"), r.path("specs/b/tasks.md")
	write(t, a, "a")
	write(t, b, "bb")
	r.watch(a, b)
	for i := range 100 {
		r.change(func() {
			rename(t, r.path("specs/a"), r.path("specs/c"))
			rename(t, r.path("specs/b"), r.path("specs/a"))
			rename(t, r.path("specs/c"), r.path("specs/b"))
		}, "specs/a/tasks.md", "specs/b/tasks.md")
		r.change(func() { write(t, a, strings.Repeat("a", i)) }, "specs/a/tasks.md")
		r.change(func() { write(t, b, strings.Repeat("b", i)) }, "specs/b/tasks.md")
	}
}

// Nothing on the way to the file exists yet.
func TestFileInLaterCreatedFoldersIsReported(t *testing.T) {
	bothModes(t, func(t *testing.T, o testOptions) {
		r := start(t, o, "a/b/c/d/tasks.md")
		r.settle()
		for _, dir := range []string{"a", "a/b", "a/b/c", "a/b/c/d"} {
			require.NoError(t, os.Mkdir(r.path(dir), 0o755))
			r.settle()
		}
		r.change(func() { write(t, r.path("a/b/c/d/tasks.md"), "x") }, "a/b/c/d/tasks.md")
		r.change(func() { write(t, r.path("a/b/c/d/tasks.md"), "xy") }, "a/b/c/d/tasks.md")
	})
}

// An ancestor folder was replaced, which no watch reports. After the check the new folders are watched, not only checked.
func TestSafetyCheckFindsAReplacedAncestorAndWatchesIt(t *testing.T) {
	o := fastOptions()
	o.SafetyEvery = 500 * time.Millisecond
	r := start(t, o)
	file := r.path("x/y/z/one/tasks.md")
	write(t, file, "old")
	r.watch(file)
	r.change(func() {
		rename(t, r.path("x"), r.path("x-old"))
		write(t, file, "new")
	}, "x/y/z/one/tasks.md")
	r.settle()
	r.settle() // the marker makes two notifications; by now the first two have come
	events := r.Status().Events
	write(t, file, "by notification")
	r.await(file)
	require.Greater(t, r.Status().Events, events)
}

// The whole workspace is deleted during the run, and comes back.
func TestRecreatedWorkspaceIsReported(t *testing.T) {
	bothModes(t, func(t *testing.T, o testOptions) {
		r := start(t, o)
		write(t, r.path("tasks.md"), "x")
		write(t, r.path(".kiro/specs/one/tasks.md"), "x")
		plans := []string{"tasks.md", ".kiro/specs/one/tasks.md"}
		r.watch(r.paths(plans)...)
		for range 3 {
			r.change(func() { require.NoError(t, os.RemoveAll(filepath.Dir(r.dir))) }, plans...)
			require.Equal(t, 3, r.Status().Files)
			r.change(func() { write(t, r.path(plans[0]), "y"); write(t, r.path(plans[1]), "y") }, plans...)
			r.change(func() { write(t, r.path(plans[0]), "zz"); write(t, r.path(plans[1]), "zz") }, plans...)
		}
	})
}
