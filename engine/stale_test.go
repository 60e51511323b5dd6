package engine_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	planfile "waybill/plan/file"
)

// breakPlan replaces tasks.md by a folder.
func (plans *planFixture) breakPlan() {
	plans.t.Helper()
	path := filepath.Join(plans.dir, "tasks.md")
	require.NoError(plans.t, os.RemoveAll(path))
	require.NoError(plans.t, os.Mkdir(path, 0o755))
}

// repairPlan writes tasks.md in place of anything.
func (plans *planFixture) repairPlan(text string) {
	plans.t.Helper()
	require.NoError(plans.t, os.RemoveAll(filepath.Join(plans.dir, "tasks.md")))
	plans.write("tasks.md", text, time.Hour)
}

// lookAll lets all engines read tasks.md more than once.
func lookAll(sites ...*runFixture) {
	for range 3 {
		for _, f := range sites {
			f.read()
		}
	}
}

// Follow records an unreadable plan and its return without a call.
func TestFollowRecordsAPlanThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLiveFixture(t)
		f.write("tasks.md", twoItems, time.Hour)
		wake := startFollow(t, f)
		f.breakPlan()
		wake("tasks.md")
		require.Empty(t, f.records())
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, []string{"not_regular"}, f.records())
		f.repairPlan(threeItems)
		wake("tasks.md")
		require.Equal(t, []string{"not_regular", "[3]"}, f.records())
	})
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
	plans.repairPlan(twoItems)
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
	plans, _ := folders(t)
	plans.write("tasks.md", twoItems, time.Hour)
	plans.write("specs/a/tasks.md", twoItems, time.Hour)
	plans.writeCard("BACK-1", "To Do", time.Hour)
	require.Equal(t, map[string]string{"tasks.md": "", "specs/a/tasks.md": "", backlog: ""}, plans.list())
	plans.breakPlan()
	plans.removeCard("BACK-1", time.Hour)
	require.Equal(t, map[string]string{"tasks.md": "not_regular", "specs/a/tasks.md": "", backlog: "missing"}, plans.list())
	require.NoError(t, os.RemoveAll(filepath.Join(plans.dir, "specs", "a")))
	plans.repairPlan("no plan\n")
	require.Equal(t, map[string]string{"tasks.md": "no_items", backlog: "missing"}, plans.list())
	path, err := plans.Resolve("tasks")
	require.NoError(t, err)
	require.Equal(t, backlog, path, "it keeps its short name")
}
