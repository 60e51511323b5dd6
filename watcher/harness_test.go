package watcher_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/watcher"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testTimeout ends a test that would hang; no assertion depends on it.
const testTimeout = 30 * time.Second

// fastOptions makes tests quick and disables the safety check: what they see, they
// see by notification or by polling.
func fastOptions() testOptions {
	return testOptions{Periods: watcher.Periods{
		Quiet: time.Millisecond, MaxWait: 20 * time.Millisecond,
		PollEvery: 2 * time.Millisecond, SafetyEvery: time.Hour, RetryNotifyEvery: time.Hour,
	}}
}

// testOptions are the options and periods of a watcher in a test.
type testOptions struct {
	watcher.Options
	watcher.Periods
}

func (o testOptions) watcher() *watcher.Watcher { return watcher.NewWith(o.Options, o.Periods) }

// harness is a running watcher of files in a new folder.
type harness struct {
	*watcher.Watcher
	t      testing.TB
	dir    string // the workspace; free of links
	marker string // a watched file outside of it
	marks  int
	writes int
}

func start(t testing.TB, o testOptions, rel ...string) *harness {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return startIn(t, o, base, filepath.Join(base, "home", "ws"), rel...)
}

// startIn is start with the folder of the test and the workspace in it.
func startIn(t testing.TB, o testOptions, base, ws string, rel ...string) *harness {
	t.Helper()
	w := o.watcher()
	r := &harness{Watcher: w, t: t, dir: ws, marker: filepath.Join(base, "marker", "file")}
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

func (r *harness) path(rel string) string { return filepath.Join(r.dir, filepath.FromSlash(rel)) }

func (r *harness) paths(rel []string) []string {
	paths := make([]string, len(rel))
	for i := range rel {
		paths[i] = r.path(rel[i])
	}
	return paths
}

// watch adds paths and waits until their watches are in place.
func (r *harness) watch(paths ...string) {
	r.t.Helper()
	for _, path := range paths {
		require.NoError(r.t, r.Add(path))
	}
	r.await(paths...)
}

// await returns when all paths were reported, with all that was reported until then.
func (r *harness) await(paths ...string) []string {
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
		case <-time.After(testTimeout):
			require.FailNow(r.t, "not reported", "%v; status %+v", slices.Sorted(maps.Keys(missing)), r.Status())
		}
	}
	return slices.Sorted(maps.Keys(reported))
}

// settle waits until everything that happened before has been reported, and returns
// what was reported meanwhile, without the marker.
func (r *harness) settle() []string {
	r.t.Helper()
	r.marks++
	write(r.t, r.marker, fmt.Sprint(r.marks))
	return r.withoutMarker(r.await(r.marker))
}

// withoutMarker returns the paths without the marker. A marker that is cut and written may be reported twice.
func (r *harness) withoutMarker(paths []string) []string {
	return slices.DeleteFunc(paths, func(path string) bool { return path == r.marker })
}

// change does something and waits until rel is reported because of it.
func (r *harness) change(what func(), rel ...string) {
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
func bothModes(t *testing.T, test func(t *testing.T, o testOptions)) {
	t.Run("notified", func(t *testing.T) { test(t, fastOptions()) })
	t.Run("polled", func(t *testing.T) {
		o := fastOptions()
		o.ForcePolling = true
		test(t, o)
	})
}
