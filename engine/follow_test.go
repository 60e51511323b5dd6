package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	planfile "waybill/plan/file"
)

// startFollow runs Follow in fake time and returns a function that reports changed paths to it.
func startFollow(t *testing.T, f *runFixture) (wake func(paths ...string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	signal, taken, ended := make(chan struct{}, 1), []string(nil), make(chan struct{})
	go func() { // ends with ctx
		defer close(ended)
		f.Follow(ctx, signal, func() []string { return taken })
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	synctest.Wait() // it has looked at everything once
	return func(paths ...string) {
		taken = paths
		signal <- struct{}{}
		synctest.Wait()
	}
}

// Follow records what becomes of a file without a call, and looks again when the file has settled.
func TestFollow(t *testing.T) {
	for name, story := range map[string]string{
		"a change":                    "write 123 0s; wake; log [3]",
		"a file that is half-written": "write 2 0s; wake; log; wait 1s; log [1]",
		"a file that cannot be read":  "folder; wake; log; wait 1s; log not_regular; write 123; wake; log not_regular [3]",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newObservers(t, planFixtureAt(t, t.TempDir()))
				o.play("write 12")
				o.wake = startFollow(t, o.named['a'])
				o.play(story)
			})
		})
	}
}

// breakPlan replaces tasks.md by a folder.
func (plans *planFixture) breakPlan() {
	plans.t.Helper()
	path := filepath.Join(plans.dir, "tasks.md")
	require.NoError(plans.t, os.RemoveAll(path))
	require.NoError(plans.t, os.Mkdir(path, 0o755))
}

// A stale plan says since when it is unreadable and when its last good reading was written.
func TestStalePlanHasAnAge(t *testing.T) {
	plans := newPlanFixture(t)
	f := newRunFixture(t, newHookedStore(t), plans)
	plans.write("tasks.md", twoItems, time.Hour)
	written := plans.clock().Add(-time.Hour).UnixMilli()
	id := f.begin("1").ID
	p, err := plans.Read("tasks.md")
	require.NoError(t, err)
	require.Zero(t, p.Since)
	plans.advance(time.Minute)
	began := plans.clock()
	for _, reason := range []planfile.Reason{planfile.NotRegular, planfile.Missing} {
		require.NoError(t, os.RemoveAll(filepath.Join(plans.dir, "tasks.md")))
		if reason == planfile.NotRegular {
			plans.breakPlan()
		}
		p, err := plans.Read("tasks.md")
		require.NoError(t, err)
		require.Equal(t, string(reason), p.Reason)
		require.Equal(t, began, p.Since)
		require.Equal(t, written, p.Reading.MtimeMs)
		v := f.look(id)
		require.Equal(t, began, v.Since)
		require.Equal(t, written, v.Progress.Fingerprint.MtimeMs)
		plans.advance(time.Minute)
	}
	plans.repairPlan(twoItems, time.Hour)
	require.Zero(t, f.look(id).Since)
	plans.breakPlan()
	require.Equal(t, began.Add(2*time.Minute), f.look(id).Since)
}

// list returns the listed paths and why each is unreadable.
func (plans *planFixture) list() (reasons map[string]string) {
	plans.t.Helper()
	paths, err := plans.List()
	require.NoError(plans.t, err)
	reasons = map[string]string{}
	for _, path := range paths {
		p, _ := plans.Read(path)
		reasons[path] = p.Reason
	}
	return reasons
}

func TestListKeepsAPlanWhateverIsInItsPlace(t *testing.T) {
	plans := folders(t)
	plans.write("tasks.md", twoItems, time.Hour)
	plans.write("specs/a/tasks.md", twoItems, time.Hour)
	plans.writeCard("BACK-1", "To Do", time.Hour)
	require.Equal(t, map[string]string{"tasks.md": "", "specs/a/tasks.md": "", backlog: ""}, plans.list())
	plans.breakPlan()
	plans.removeCard("BACK-1", time.Hour)
	require.Equal(t, map[string]string{"tasks.md": "not_regular", "specs/a/tasks.md": "", backlog: "missing"}, plans.list())
	require.NoError(t, os.RemoveAll(filepath.Join(plans.dir, "specs", "a")))
	plans.repairPlan("no plan\n", time.Hour)
	require.Equal(t, map[string]string{"tasks.md": "no_items", backlog: "missing"}, plans.list())
	path, err := plans.Resolve("tasks")
	require.NoError(t, err)
	require.Equal(t, backlog, path, "it keeps its short name")
}
