package watcher_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/watcher"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience ends a test that would hang; no assertion depends on it.
const patience = 30 * time.Second

// fast makes tests quick, and keeps the safety look out of them: what they see, they
// see by notification or by polling.
func fast() tuned {
	return tuned{Periods: watcher.Periods{
		Quiet: time.Millisecond, MaxWait: 20 * time.Millisecond,
		PollEvery: 2 * time.Millisecond, SafetyEvery: time.Hour, RetryNotifyEvery: time.Hour,
	}}
}

// tuned is how a watcher is made in a test.
type tuned struct {
	watcher.Options
	watcher.Periods
}

func (o tuned) watcher() *watcher.Watcher { return watcher.NewWith(o.Options, o.Periods) }

// rig is a running watcher of some files in a fresh folder.
type rig struct {
	*watcher.Watcher
	t      testing.TB
	dir    string // the workspace; free of links
	marker string // a watched file outside of it
	marks  int
}

func start(t testing.TB, o tuned, rel ...string) *rig {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return startIn(t, o, base, filepath.Join(base, "home", "ws"), rel...)
}

// startIn is start with the folder of the test and the workspace in it.
func startIn(t testing.TB, o tuned, base, ws string, rel ...string) *rig {
	t.Helper()
	w := o.watcher()
	r := &rig{Watcher: w, t: t, dir: ws, marker: filepath.Join(base, "marker", "file")}
	require.NoError(t, os.MkdirAll(r.dir, 0o755))
	write(t, r.marker, "")
	run(t, w)
	r.watch(append([]string{r.marker}, r.paths(rel)...)...)
	return r
}

// run runs w until the test ends.
func run(t testing.TB, w *watcher.Watcher) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }() // ends with the test
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
}

func (r *rig) path(rel string) string { return filepath.Join(r.dir, filepath.FromSlash(rel)) }

func (r *rig) paths(rel []string) []string {
	paths := make([]string, len(rel))
	for i := range rel {
		paths[i] = r.path(rel[i])
	}
	return paths
}

// watch adds paths and waits until their watches are in place.
func (r *rig) watch(paths ...string) {
	r.t.Helper()
	for _, path := range paths {
		require.NoError(r.t, r.Add(path))
	}
	r.await(paths...)
}

// await returns when all paths were reported, with all that was reported until then.
func (r *rig) await(paths ...string) []string {
	r.t.Helper()
	missing := map[string]bool{}
	for _, path := range paths {
		missing[path] = true
	}
	reported := map[string]bool{}
	for len(missing) > 0 {
		select {
		case <-r.Wake():
			for _, path := range r.Take() {
				delete(missing, path)
				reported[path] = true
			}
		case <-time.After(patience):
			require.FailNow(r.t, "not reported", "%v; status %+v", slices.Sorted(maps.Keys(missing)), r.Status())
		}
	}
	return slices.Sorted(maps.Keys(reported))
}

// settle waits until everything that happened before has been reported, and returns
// what was reported meanwhile, without the marker.
func (r *rig) settle() []string {
	r.t.Helper()
	r.marks++
	write(r.t, r.marker, fmt.Sprint(r.marks))
	return slices.DeleteFunc(r.await(r.marker), func(path string) bool { return path == r.marker })
}

// change does something and waits until rel is reported because of it.
func (r *rig) change(what func(), rel ...string) {
	r.t.Helper()
	r.settle()
	what()
	r.await(r.paths(rel)...)
}

func write(t testing.TB, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

func rename(t testing.TB, from, to string) {
	t.Helper()
	require.NoError(t, os.Rename(from, to))
}

// bothModes runs a test with notifications and with polling.
func bothModes(t *testing.T, test func(t *testing.T, o tuned)) {
	t.Run("notified", func(t *testing.T) { test(t, fast()) })
	t.Run("polled", func(t *testing.T) {
		o := fast()
		o.ForcePolling = true
		test(t, o)
	})
}

func TestChangesOfAFileAreReported(t *testing.T) {
	bothModes(t, func(t *testing.T, o tuned) {
		r := start(t, o, "tasks.md", "docs/tasks.md")
		file := r.path("tasks.md")
		r.change(func() { write(t, file, "created") }, "tasks.md")
		r.change(func() { write(t, file, "written again") }, "tasks.md")
		r.change(func() { require.NoError(t, os.Truncate(file, 3)) }, "tasks.md")
		r.change(func() { require.NoError(t, os.Remove(file)) }, "tasks.md")
		r.change(func() { write(t, file, "back"); write(t, r.path("docs/tasks.md"), "x") }, "tasks.md", "docs/tasks.md")
		s := r.Status()
		require.Equal(t, 3, s.Files)
		require.Equal(t, o.ForcePolling, s.Mode == watcher.Polling)
		require.Equal(t, o.ForcePolling, s.Polled == 3)
		require.Equal(t, o.ForcePolling, s.Reason != "")
	})
}

func TestOtherFilesOfTheFolderAreNotReported(t *testing.T) {
	r := start(t, fast(), "tasks.md")
	write(t, r.path("tasks.md"), "")
	r.await(r.path("tasks.md"))
	r.settle()
	for _, name := range []string{"tasks.md.tmp", "other.md", "sub/tasks.md", "TASKS2.md"} {
		write(t, r.path(name), "x")
	}
	require.Empty(t, r.settle())
}

func TestAddIsIdempotentAndRefusesRelativePaths(t *testing.T) {
	r := start(t, fast(), "tasks.md")
	r.settle()
	require.NoError(t, r.Add(r.path("tasks.md")))
	require.NoError(t, r.Add(r.path("sub/../tasks.md")))
	require.Empty(t, r.settle())
	require.Equal(t, 2, r.Status().Files)
	require.ErrorContains(t, r.Add("tasks.md"), "absolute")
	require.ErrorContains(t, r.Add(""), "absolute")
}

func TestTakeIsSortedAndEmptiesTheList(t *testing.T) {
	r := start(t, fast())
	r.watch(r.path("c"), r.path("a"), r.path("b"))
	r.settle()
	resume := r.PauseDrain()
	for _, name := range []string{"b", "c", "a"} {
		write(t, r.path(name), "x")
	}
	resume()
	var got []string
	for len(got) < 3 {
		<-r.Wake()
		paths := r.Take()
		require.True(t, slices.IsSorted(paths))
		got = append(got, paths...)
	}
	require.Empty(t, r.Take())
}

// A program saves by writing a new file and renaming it over the old one.
func TestFaultF9_SavesByRename(t *testing.T) {
	saves := map[string]func(t *testing.T, file, text string){
		"rename over": func(t *testing.T, file, text string) {
			write(t, file+".tmp.1", text)
			rename(t, file+".tmp.1", file)
		},
		"rename away, write anew": func(t *testing.T, file, text string) { // vim with backup
			rename(t, file, file+"~")
			write(t, file, text)
			require.NoError(t, os.Remove(file+"~"))
		},
		"temporary file of another folder": func(t *testing.T, file, text string) {
			tmp := filepath.Join(filepath.Dir(filepath.Dir(file)), "tmp")
			write(t, tmp, text)
			rename(t, tmp, file)
		},
		"remove and write": func(t *testing.T, file, text string) {
			require.NoError(t, os.Remove(file))
			write(t, file, text)
		},
		"truncate and write": func(t *testing.T, file, text string) { // VS Code
			require.NoError(t, os.Truncate(file, 0))
			write(t, file, text)
		},
		"hard link back": func(t *testing.T, file, text string) {
			write(t, file+".new", text)
			require.NoError(t, os.Remove(file))
			require.NoError(t, os.Link(file+".new", file))
			require.NoError(t, os.Remove(file+".new"))
		},
	}
	bothModes(t, func(t *testing.T, o tuned) {
		for name, save := range saves {
			t.Run(name, func(t *testing.T) {
				r := start(t, o, "tasks.md")
				r.change(func() { write(t, r.path("tasks.md"), "old") }, "tasks.md")
				for i := range 5 { // the watch must survive each save
					r.change(func() { save(t, r.path("tasks.md"), strings.Repeat("x", i+1)) }, "tasks.md")
				}
				r.change(func() { write(t, r.path("tasks.md"), "in place") }, "tasks.md")
			})
		}
	})
}

// The folder of the file is removed, renamed, replaced or made again; so are the
// folders above. The system drops its watch without a word.
func TestFaultF10_FoldersComeAndGo(t *testing.T) {
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
	bothModes(t, func(t *testing.T, o tuned) {
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
func TestFaultF10_FoldersSwapNames(t *testing.T) {
	o := fast()
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
func TestFaultF10_FileInFoldersThatAreMadeLater(t *testing.T) {
	bothModes(t, func(t *testing.T, o tuned) {
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

// A folder far above is replaced: no watch sees that, the safety look does.
func TestFaultF10_SafetyLookFindsWhatNoWatchSees(t *testing.T) {
	o := fast()
	o.SafetyEvery = 5 * time.Millisecond
	r := start(t, o)
	file := r.path("x/y/z/one/tasks.md")
	write(t, file, "old")
	r.watch(file)
	r.change(func() {
		rename(t, r.path("x"), r.path("x-old"))
		write(t, file, "new")
	}, "x/y/z/one/tasks.md")
	r.settle()
	require.NotEqual(t, watcher.Polling, r.Status().Mode)
}

// After the safety look the new folders are watched, not only looked at.
func TestFaultF10_SafetyLookPutsTheWatchesRight(t *testing.T) {
	o := fast()
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

// The file system does not tell of changes: the file is polled, the others are not.
func TestFaultF11_RemoteFilesArePolled(t *testing.T) {
	o := fast()
	w := o.watcher()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	r := &rig{Watcher: w, t: t, dir: filepath.Join(base, "ws"), marker: filepath.Join(base, "marker", "file")}
	w.SetRemote(func(path string) (string, bool) {
		switch {
		case filepath.Base(path) == "remote.md":
			return "nfs", true
		case filepath.Base(path) == "synced.md":
			return "synced", true // its files are local
		}
		return "", false
	})
	run(t, w)
	r.watch(r.path("remote.md"))
	s := r.Status()
	require.Equal(t, watcher.Polling, s.Mode)
	require.Contains(t, s.Reason, "nfs")
	r.await()
	write(t, r.path("remote.md"), "x")
	r.await(r.path("remote.md"))
	require.Zero(t, r.Status().Events)

	write(t, r.marker, "")
	r.watch(r.marker, r.path("synced.md"))
	s = r.Status()
	require.NotEqual(t, watcher.Polling, s.Mode)
	require.Equal(t, 3, s.Files)
	require.Equal(t, 1, s.Polled)
	require.Contains(t, s.Reason, "remote.md")
	r.change(func() { write(t, r.path("remote.md"), "xy") }, "remote.md")
	r.change(func() { write(t, r.path("synced.md"), "xy") }, "synced.md")
}

// A build or a checkout writes without rest: there are few wakes, and the last change
// is among those reported.
func TestFaultF14_StormIsCoalesced(t *testing.T) {
	o := fast()
	o.Quiet, o.MaxWait = 20*time.Millisecond, 100*time.Millisecond
	bothModes(t, func(t *testing.T, mode tuned) {
		o := o
		o.ForcePolling = mode.ForcePolling
		r := start(t, o, "tasks.md")
		r.settle()
		began := time.Now()
		var storm sync.WaitGroup
		storm.Go(func() {
			for i := range 4000 {
				write(t, r.path("tasks.md"), fmt.Sprint(i))
				if i%10 == 0 {
					write(t, r.path(fmt.Sprint("out", i)), "")
				}
			}
			write(t, r.marker, "the storm is over")
		})
		wakes, over := 0, false
		for !over {
			<-r.Wake()
			wakes++
			over = slices.Contains(r.Take(), r.marker)
		}
		most := int(time.Since(began)/o.Quiet) + 1
		storm.Wait()
		require.LessOrEqual(t, wakes, most)
		t.Logf("%d wakes in %v; %+v", wakes, time.Since(began), r.Status())
	})
}

// Changes of the mode alone say nothing about a plan.
func TestFaultF14_ChmodIsIgnored(t *testing.T) {
	r := start(t, fast())
	write(t, r.path("tasks.md"), "x")
	r.watch(r.path("tasks.md"))
	r.settle()
	for _, mode := range []fs.FileMode{0o600, 0o644} {
		require.NoError(t, os.Chmod(r.path("tasks.md"), mode))
	}
	require.NotContains(t, r.settle(), r.path("tasks.md"))
}

// The name that is watched and the name that a writer used differ in case, and are one
// file: here because of a hard link, elsewhere because the system ignores case.
func TestFaultF17_NamesAreComparedByFold(t *testing.T) {
	for _, names := range [][2]string{{"tasks.md", "TASKS.md"}, {"caf\u00e9.md", "CAF\u00c9.md"}, {"caf\u00e9.md", "cafe\u0301.md"}} {
		r := start(t, fast())
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
func TestFaultF17_OtherFileOfAlmostTheSameName(t *testing.T) {
	r := start(t, fast())
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

func symlink(t testing.TB, target, name string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	if err := os.Symlink(target, name); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
}

// The plan is a link, or in a folder that is one: what it leads to is watched too.
func TestFaultF15_TargetsOfLinksAreWatched(t *testing.T) {
	bothModes(t, func(t *testing.T, o tuned) {
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
func TestFaultF15_CircleOfLinks(t *testing.T) {
	r := start(t, fast())
	symlink(t, "b.md", r.path("a.md"))
	symlink(t, "a.md", r.path("b.md"))
	r.watch(r.path("a.md"))
	r.change(func() {
		require.NoError(t, os.Remove(r.path("b.md")))
		write(t, r.path("b.md"), "x")
	}, "a.md")
}

// The whole workspace is deleted during the run, and comes back.
func TestFaultF24_WorkspaceDeletedAndRecreated(t *testing.T) {
	bothModes(t, func(t *testing.T, o tuned) {
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

// A second Run is refused, a later one watches on and reports what happened between.
func TestRunAgain(t *testing.T) {
	bothModes(t, func(t *testing.T, o tuned) {
		w := o.watcher()
		file := filepath.Join(t.TempDir(), "tasks.md")
		require.NoError(t, w.Add(file))
		require.Equal(t, watcher.Polling, w.Status().Mode)
		require.Contains(t, w.Status().Reason, "not running")
		for range 3 {
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- w.Run(ctx) }()
			<-w.Wake()
			require.Equal(t, []string{file}, w.Take())
			require.ErrorContains(t, w.Run(ctx), "running already")
			write(t, file, "x")
			<-w.Wake()
			require.Equal(t, []string{file}, w.Take())
			cancel()
			require.NoError(t, <-ended)
			require.Contains(t, w.Status().Reason, "not running")
			write(t, file, "while nobody watched")
		}
	})
}

// Starting, stopping and all methods at once, many times: nothing hangs, nothing leaks.
func TestStartStopStress(t *testing.T) {
	bothModes(t, func(t *testing.T, o tuned) {
		o.SafetyEvery, o.RetryNotifyEvery = time.Millisecond, time.Millisecond
		dir := t.TempDir()
		w := o.watcher()
		for i := range 60 {
			ctx, cancel := context.WithCancel(t.Context())
			var all sync.WaitGroup
			all.Go(func() { _ = w.Run(ctx) })
			for j := range 3 {
				all.Go(func() {
					path := filepath.Join(dir, fmt.Sprint("d", j), "tasks.md")
					_ = w.Add(path)
					_ = os.MkdirAll(filepath.Dir(path), 0o755)
					_ = os.WriteFile(path, []byte("x"), 0o644)
					w.Status()
					w.Take()
					if i%2 == 0 {
						_ = os.RemoveAll(filepath.Dir(path))
					}
				})
			}
			if i%3 == 0 {
				select {
				case <-w.Wake():
				case <-time.After(time.Millisecond):
				}
			}
			cancel()
			all.Wait()
		}
	})
}
