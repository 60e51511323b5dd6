package watcher_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/watcher"
)

// These variables tell a test that it runs in a child that it started, and where.
const (
	limitEnv   = "WAYBILL_TEST_LIMIT"
	foldersEnv = "WAYBILL_TEST_FOLDERS"
)

// runChild runs the test again, in a process that command starts, and wants it to pass.
func runChild(t *testing.T, env string, command ...string) {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	args := append(command[1:], os.Args[0], "-test.run=^"+name+"$", "-test.v")
	c := exec.CommandContext(t.Context(), command[0], args...)
	c.Env = append(os.Environ(), env)
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+name)
}

// The system has no more watches to give. The limit is set in a user namespace, in a
// child, so that no other process is affected.
func TestExhaustedNotificationsFallBackToPolling(t *testing.T) {
	if limit := os.Getenv(limitEnv); limit != "" {
		watchWithLimit(t, limit)
		return
	}
	if err := exec.Command("unshare", "-Ur", "true").Run(); err != nil {
		t.Skipf("no user namespaces here: %v", err)
	}
	for _, limit := range []string{"max_inotify_instances", "max_inotify_watches"} {
		t.Run(limit, func(t *testing.T) {
			path := "/proc/sys/user/" + limit
			runChild(t, limitEnv+"="+path, "unshare", "-Ur", "sh", "-c", `echo 0 > `+path+` && exec "$0" "$@"`)
		})
	}
}

// watchWithLimit watches while limit is 0, and raises it.
func watchWithLimit(t *testing.T, limit string) {
	o := fastOptions()
	o.RetryNotifyEvery = 50 * time.Millisecond
	r := start(t, o, "tasks.md")
	s := r.Status()
	require.Equal(t, watcher.Polling, s.Mode)
	require.Equal(t, 2, s.Polled)
	require.Contains(t, s.Reason, "sysctl fs.inotify.max_user_")
	require.Contains(t, s.Reason, filepath.Base(limit)+"=0")
	require.Contains(t, s.Reason, strings.Split(filepath.Base(limit), "_")[2])
	r.change(func() { write(t, r.path("tasks.md"), "polled") }, "tasks.md")
	require.Equal(t, watcher.Polling, r.Status().Mode)

	require.NoError(t, os.WriteFile(limit, []byte("100"), 0o644))
	for r.Status().Mode == watcher.Polling {
		r.await(r.marker) // a change of mode reports every file
	}
	require.Equal(t, watcher.Inotify, r.Status().Mode)
	require.Empty(t, r.Status().Reason)
	events := r.Status().Events
	r.change(func() { write(t, r.path("tasks.md"), "notified") }, "tasks.md")
	require.Greater(t, r.Status().Events, events)
}

// A folder that may be entered but not read cannot be watched: its file is polled, and
// watched once it may be. Root may read everything, so a child gives that up.
func TestUnreadableFolderIsPolled(t *testing.T) {
	if os.Geteuid() == 0 && os.Getenv(foldersEnv) == "" {
		if err := exec.Command("setpriv", "--bounding-set=-all", "true").Run(); err != nil {
			t.Skipf("root cannot give up its rights here: %v", err)
		}
		runChild(t, foldersEnv+"=1", "setpriv", "--bounding-set=-all")
		return
	}
	r := start(t, fastOptions())
	file := r.path("closed/tasks.md")
	write(t, file, "x")
	require.NoError(t, os.Chmod(filepath.Dir(file), 0o300))
	r.watch(file)
	s := r.Status()
	require.Equal(t, watcher.Inotify, s.Mode)
	require.Equal(t, 1, s.Polled)
	require.Contains(t, s.Reason, file)
	require.Contains(t, s.Reason, "permission denied")
	r.change(func() { write(t, file, "polled") }, "closed/tasks.md")

	r.change(func() { require.NoError(t, os.Chmod(filepath.Dir(file), 0o700)) }, "closed/tasks.md")
	require.Zero(t, r.Status().Polled)
	require.Empty(t, r.Status().Reason)
	r.change(func() { write(t, file, "notified") }, "closed/tasks.md")
}

// The process got no time while more happened than the system keeps for it. Every file and folder may have changed.
func TestOverflowReportsEveryFileAndFolder(t *testing.T) {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	require.NoError(t, err)
	kept, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	if kept > 1<<16 {
		t.Skipf("this system keeps %d notifications; overflowing it takes too long", kept)
	}
	r := start(t, fastOptions(), "tasks.md", "docs/tasks.md")
	require.NoError(t, os.Mkdir(r.path("docs"), 0o755))
	write(t, r.path("plans/a.md"), "a")
	r.watch(r.path("plans"))
	r.settle()
	require.Zero(t, r.Status().LastRescan)
	began := time.Now()
	resume := r.PauseDrain()
	for i := range kept/2 + 4096 { // two notifications each, and what is in the buffers
		f, err := os.Create(r.path(fmt.Sprint("f", i)))
		require.NoError(t, err)
		require.NoError(t, f.Close())
		require.NoError(t, os.Remove(f.Name()))
	}
	write(t, r.path("tasks.md"), "its notification was dropped")
	write(t, r.path("plans/a.md"), "so was this one")
	resume()
	r.await(r.paths([]string{"tasks.md", "docs/tasks.md", "plans"})...)
	s := r.Status()
	require.Equal(t, watcher.Inotify, s.Mode)
	require.NotZero(t, s.Overflows)
	require.NotZero(t, s.Rescans)
	require.False(t, s.LastRescan.Before(began))
	r.change(func() { write(t, r.path("docs/tasks.md"), "x") }, "docs/tasks.md")
	r.change(func() { write(t, r.path("tasks.md"), "xy") }, "tasks.md")
	r.change(func() { write(t, r.path("plans/b.md"), "x") }, "plans")
}
