package watcher_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/watcher"
)

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
