package watcher_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/watcher"
)

func TestChangesOfAFileAreReported(t *testing.T) {
	bothModes(t, func(t *testing.T, o testOptions) {
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
	r := start(t, fastOptions(), "tasks.md")
	write(t, r.path("tasks.md"), "")
	r.await(r.path("tasks.md"))
	r.settle()
	for _, name := range []string{"tasks.md.tmp", "other.md", "sub/tasks.md", "TASKS2.md"} {
		write(t, r.path(name), "x")
	}
	require.Empty(t, r.settle())
}

func TestAddIsIdempotentAndRefusesRelativePaths(t *testing.T) {
	r := start(t, fastOptions(), "tasks.md")
	r.settle()
	require.NoError(t, r.Add(r.path("tasks.md")))
	require.NoError(t, r.Add(r.path("sub/../tasks.md")))
	require.Empty(t, r.settle())
	require.Equal(t, 2, r.Status().Files)
	require.ErrorContains(t, r.Add("tasks.md"), "absolute")
	require.ErrorContains(t, r.Add(""), "absolute")
}

func TestTakeIsSortedAndEmptiesTheList(t *testing.T) {
	r := start(t, fastOptions())
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
func TestSavesByRenameAreReported(t *testing.T) {
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
	bothModes(t, func(t *testing.T, o testOptions) {
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

// The file system does not tell of changes: the file is polled, the others are not.
func TestRemoteFilesArePolled(t *testing.T) {
	o := fastOptions()
	w := o.watcher()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	r := &harness{Watcher: w, t: t, dir: filepath.Join(base, "ws"), marker: filepath.Join(base, "marker", "file")}
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
func TestManyChangesCauseFewWakes(t *testing.T) {
	o := fastOptions()
	o.Quiet, o.MaxWait = 20*time.Millisecond, 100*time.Millisecond
	bothModes(t, func(t *testing.T, mode testOptions) {
		o := o
		o.ForcePolling = mode.ForcePolling
		r := start(t, o, "tasks.md")
		r.settle()
		began := time.Now()
		var wakes atomic.Int64
		var storm sync.WaitGroup
		storm.Go(func() {
			for i := 0; i < 500 || wakes.Load() < 5; i++ { // no end of it is waited for
				write(t, r.path("tasks.md"), fmt.Sprint(i))
				if i%10 == 0 {
					write(t, r.path(fmt.Sprint("out", i)), "")
				}
			}
			write(t, r.marker, "the storm is over")
		})
		for over := false; !over; {
			<-r.Wake()
			wakes.Add(1)
			over = slices.Contains(r.Take(), r.marker)
		}
		most := int64(time.Since(began)/o.Quiet) + 1
		storm.Wait()
		require.LessOrEqual(t, wakes.Load(), most)
		t.Logf("%d wakes in %v; %+v", wakes.Load(), time.Since(began), r.Status())
	})
}

// Changes of the mode alone say nothing about a plan.
func TestChmodIsIgnored(t *testing.T) {
	r := start(t, fastOptions())
	write(t, r.path("tasks.md"), "x")
	r.watch(r.path("tasks.md"))
	r.settle()
	for _, mode := range []fs.FileMode{0o600, 0o644} {
		require.NoError(t, os.Chmod(r.path("tasks.md"), mode))
	}
	require.NotContains(t, r.settle(), r.path("tasks.md"))
}

// A second Run is refused, a later one watches on and reports what happened between.
func TestRunMayBeCalledAgain(t *testing.T) {
	bothModes(t, func(t *testing.T, o testOptions) {
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
	bothModes(t, func(t *testing.T, o testOptions) {
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
