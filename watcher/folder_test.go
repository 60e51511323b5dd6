package watcher_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/watcher"
)

// A folder changes with each file in it, and is reported as one path.
func TestChangesInAFolderAreReported(t *testing.T) {
	bothModes(t, func(t *testing.T, o testOptions) {
		r := start(t, o)
		write(t, r.path("plans/a.md"), "a")
		r.watch(r.path("plans"))
		r.change(func() { write(t, r.path("plans/a.md"), "in place") }, "plans")
		r.change(func() { write(t, r.path("plans/b.md"), "new") }, "plans")
		r.change(func() { rename(t, r.path("plans/b.md"), r.path("plans/c.md")) }, "plans")
		r.change(func() { require.NoError(t, os.Remove(r.path("plans/c.md"))) }, "plans")
		require.NoError(t, os.Mkdir(r.path("plans/deep"), 0o755))
		r.await(r.path("plans"))
		r.settle()
		write(t, r.path("plans/deep/a.md"), "not in the folder itself")
		if !o.ForcePolling { // polling sees that a subfolder has changed
			require.Empty(t, r.settle())
		}
	})
}

// Many files of a folder are saved at once: that is one change, of the folder alone.
func TestFolderIsReportedOnce(t *testing.T) {
	o := fastOptions()
	o.Quiet, o.MaxWait = watcher.Usual.Quiet, watcher.Usual.MaxWait
	r := start(t, o)
	write(t, r.path("plans/0.md"), "a")
	r.watch(r.path("plans"))
	r.settle()
	resume := r.PauseDrain()
	for i := range 100 {
		write(t, r.path(fmt.Sprintf("plans/%d.md", i)), "x")
	}
	resume()
	require.Equal(t, []string{r.path("plans")}, r.await(r.path("plans")))
}

// The folder is removed, or replaced by another or by a file, and so are those above it.
func TestRemovedAndReplacedFolderIsReported(t *testing.T) {
	bothModes(t, func(t *testing.T, o testOptions) {
		r := start(t, o, "a/b/plans")
		r.change(func() { write(t, r.path("a/b/plans/x.md"), "made later") }, "a/b/plans")
		for i := range 3 {
			r.change(func() { write(t, r.path("a/b/plans/x.md"), fmt.Sprint("written ", i)) }, "a/b/plans")
			r.change(func() { require.NoError(t, os.RemoveAll(r.path("a/b/plans"))) }, "a/b/plans")
			r.change(func() { write(t, r.path("a/b/plans"), "a file") }, "a/b/plans")
			r.change(func() {
				require.NoError(t, os.Remove(r.path("a/b/plans")))
				write(t, r.path("a/b/plans/x.md"), "again")
			}, "a/b/plans")
			r.change(func() {
				write(t, r.path("other/x.md"), "of another folder")
				rename(t, r.path("a/b/plans"), r.path("old"))
				rename(t, r.path("other"), r.path("a/b/plans"))
				require.NoError(t, os.RemoveAll(r.path("old")))
			}, "a/b/plans")
			r.change(func() { require.NoError(t, os.RemoveAll(r.path("a"))) }, "a/b/plans")
			r.change(func() { write(t, r.path("a/b/plans/x.md"), "all again") }, "a/b/plans")
		}
	})
}

// A link to a folder is watched where it leads, and where it stands.
func TestLinkToAFolderIsWatched(t *testing.T) {
	r := start(t, fastOptions())
	write(t, r.path("one/x.md"), "a")
	write(t, r.path("two/x.md"), "a")
	if err := os.Symlink("one", r.path("plans")); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
	r.watch(r.path("plans"))
	r.change(func() { write(t, r.path("one/x.md"), "b") }, "plans")
	r.change(func() {
		require.NoError(t, os.Remove(r.path("plans")))
		require.NoError(t, os.Symlink("two", r.path("plans")))
	}, "plans")
	r.change(func() { write(t, r.path("two/y.md"), "b") }, "plans")
}

// A plan in a folder that is watched as well is reported beside it.
func TestFileInAWatchedFolderIsReportedToo(t *testing.T) {
	r := start(t, fastOptions())
	write(t, r.path("plans/a.md"), "a")
	r.watch(r.path("plans"), r.path("plans/a.md"))
	r.change(func() { write(t, r.path("plans/a.md"), "b") }, "plans", "plans/a.md")
	r.settle()
	write(t, r.path("plans/b.md"), "b")
	require.Equal(t, []string{r.path("plans")}, r.await(r.path("plans")))
}

// The safety check finds changes in a folder that no watch reports.
func TestSafetyCheckFindsChangesInAFolder(t *testing.T) {
	o := fastOptions()
	o.PollEvery, o.ForcePolling = watcher.Usual.RetryNotifyEvery, true
	o.SafetyEvery = watcher.Usual.Quiet
	r := start(t, o)
	write(t, r.path("plans/a.md"), "a")
	r.watch(r.path("plans"))
	stat, err := os.Stat(r.path("plans"))
	require.NoError(t, err)
	write(t, filepath.Join(r.path("plans"), "a.md"), "longer")
	require.NoError(t, os.Chtimes(r.path("plans"), stat.ModTime(), stat.ModTime()))
	r.await(r.path("plans"))
}

// A folder far above the file is renamed, replaced by another, or made again: that is noticed at once, an edit of what
// is there now is, too, and one of what was there before is none.
func TestRenamedAncestorFolderIsReported(t *testing.T) {
	const file = "openspec/changes/one/specs/tasks.md"
	o := fastOptions()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	o.Root = filepath.Join(base, "ws")
	r := startIn(t, o, base, o.Root)
	write(t, r.path(file), "old")
	r.watch(r.path(file))
	for i := range 5 {
		r.change(func() { rename(t, r.path("openspec"), r.path("x")) }, file)
		r.settle()
		write(t, filepath.Join(r.path("x"), filepath.FromSlash("changes/one/specs/tasks.md")), fmt.Sprint("not there ", i))
		require.Empty(t, r.settle())
		r.change(func() { rename(t, r.path("x"), r.path("openspec")) }, file)
		r.change(func() { write(t, r.path(file), fmt.Sprint("back ", i)) }, file)

		write(t, filepath.Join(r.path("openspec.new"), filepath.FromSlash("changes/one/specs/tasks.md")), "another")
		r.change(func() {
			rename(t, r.path("openspec"), r.path("openspec.bak"))
			rename(t, r.path("openspec.new"), r.path("openspec"))
		}, file)
		r.change(func() { write(t, r.path(file), fmt.Sprint("of the other ", i)) }, file)
		r.settle()
		write(t, filepath.Join(r.path("openspec.bak"), filepath.FromSlash("changes/one/specs/tasks.md")), fmt.Sprint("old ", i))
		require.Empty(t, r.settle())
		require.NoError(t, os.RemoveAll(r.path("openspec.bak")))

		r.change(func() { rename(t, r.dir, r.dir+"-away") }, file)
		r.change(func() { rename(t, r.dir+"-away", r.dir) }, file)
		r.change(func() { write(t, r.path(file), fmt.Sprint("all back ", i)) }, file)
	}
}
