package watcher_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/watcher"
)

// Each story of testdata/stories.txt has a line for each step: what happens to files and folders of the workspace, and
// behind the arrow what is reported because of it. A story in which "notified" stands is not told to a watcher that polls.
func TestStories(t *testing.T) {
	text, err := os.ReadFile("testdata/stories.txt")
	require.NoError(t, err)
	bothModes(t, func(t *testing.T, o testOptions) {
		for _, story := range strings.Split("\n"+string(text), "\n# ")[1:] {
			title, steps, _ := strings.Cut(strings.TrimSpace(story), "\n")
			title, terms, _ := strings.Cut(strings.TrimSuffix(title, ")"), " (")
			if o.ForcePolling && strings.Contains(terms, "notified") {
				continue
			}
			t.Run(title, func(t *testing.T) {
				o := o
				base, err := filepath.EvalSymlinks(t.TempDir())
				require.NoError(t, err)
				workspace := filepath.Join(base, "home", "ws")
				if strings.Contains(terms, "root") {
					o.Root = workspace
				}
				if strings.Contains(terms, "at once") {
					o.Quiet = 1
				}
				r := startIn(t, o, base, workspace)
				times, repeated := 0, []string(nil)
				for _, line := range append(strings.Split(steps, "\n"), "") {
					if step, ok := strings.CutPrefix(line, "\t"); ok {
						repeated = append(repeated, step)
						continue
					}
					for _, step := range slices.Repeat(repeated, times) {
						r.step(step)
					}
					repeated = nil
					if _, err := fmt.Sscanf(line, "%d times", &times); err != nil && line != "" {
						r.step(line)
					}
				}
				s := r.Status()
				require.Equal(t, o.ForcePolling, s.Mode == watcher.Polling)
				require.Equal(t, o.ForcePolling, s.Reason != "", s.Reason)
				require.Equal(t, map[bool]int{true: s.Files}[o.ForcePolling], s.Polled)
			})
		}
	})
}

// step does what a line says, and checks what is reported.
func (r *harness) step(line string) {
	r.t.Helper()
	what, reported, _ := strings.Cut(line, " -> ")
	if reported != "" {
		r.settle()
	}
	for event := range strings.SplitSeq(what, "; ") {
		r.happen(strings.Fields(event))
	}
	switch only, ok := strings.CutPrefix(reported, "only "); {
	case ok:
		require.Equal(r.t, r.paths(strings.Fields(only)), r.withoutMarker(r.await(r.paths(strings.Fields(only))...)), line)
	case reported == "nothing":
		require.Empty(r.t, r.settle(), line)
	case reported != "whatever":
		r.await(r.paths(strings.Fields(reported))...)
	}
}

func (r *harness) happen(event []string) {
	r.t.Helper()
	verb, names := event[0], event[1:]
	first, last := r.path(names[0]), r.path(names[len(names)-1])
	var err error
	switch verb {
	case "watch":
		before := r.Status().Files
		r.watch(r.paths(names)...)
		require.Equal(r.t, before+len(names), r.Status().Files)
	case "write": // each text has another length
		r.writes++
		write(r.t, first, strings.Repeat("x", r.writes))
	case "cut":
		err = os.Truncate(first, 0)
	case "chmod":
		mode, _ := strconv.ParseUint(names[0], 8, 32)
		err = os.Chmod(last, fs.FileMode(mode))
	case "mkdir":
		err = os.Mkdir(first, 0o755)
	case "rm":
		err = os.RemoveAll(first)
	case "mv":
		err = os.Rename(first, last)
	case "link":
		err = os.Link(first, last)
	case "ln":
		target := filepath.FromSlash(names[0])
		if filepath.IsAbs(target) {
			target = first
		}
		require.NoError(r.t, os.MkdirAll(filepath.Dir(last), 0o755))
		if err := os.Symlink(target, last); err != nil {
			r.t.Skipf("links cannot be made here: %v", err)
		}
	default:
		require.Fail(r.t, "nobody knows this verb", verb)
	}
	require.NoError(r.t, err, event)
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
