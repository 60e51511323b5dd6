package engine_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/engine"
	"waybill/plan"
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

func TestPlanThatCannotBeReadIsRecordedOnceAndAgainWhenItComesBack(t *testing.T) {
	st, plans := newHookedStore(t), newPlanFixture(t)
	f, other := newRunFixture(t, st, plans), newRunFixture(t, st, plans.secondReader(t))
	f.write("tasks.md", twoItems, time.Hour)
	lookAll(f, other)
	f.breakPlan()
	lookAll(f, other)
	require.Empty(t, f.records(), "an editor may be about to write it anew")
	f.advance(150 * time.Millisecond)
	lookAll(f, other)
	require.Equal(t, []string{"rebuild_failed: not_regular"}, f.records())
	f.advance(time.Hour)
	lookAll(f, other)
	late := newRunFixture(t, st, plans.secondReader(t)) // knows it from the log
	lookAll(late)
	require.Len(t, f.records(), 1, "it stays as it is")

	f.repairPlan(twoItems)
	lookAll(f, other, late)
	require.Equal(t, []string{"rebuild_failed: not_regular", "[]"}, f.records())
	f.breakPlan()
	f.advance(time.Second)
	lookAll(f, other, late)
	f.advance(time.Second)
	lookAll(f, other, late)
	f.repairPlan(threeItems)
	lookAll(f, other, late)
	require.Equal(t, []string{"rebuild_failed: not_regular", "[]", "rebuild_failed: not_regular", "[3]"}, f.records())
}

// Each problem of the file has a name, and each change of it is one record.
func TestEveryReasonWhyAPlanCannotBeReadIsRecorded(t *testing.T) {
	f := newRunFixture(t, newHookedStore(t), newPlanFixture(t))
	f.write("tasks.md", twoItems, time.Hour)
	f.read()
	want := []string{}
	for _, step := range []struct {
		change func()
		record string
	}{
		{f.remove, "gone"},
		{f.breakPlan, "rebuild_failed: not_regular"},
		{func() { f.repairPlan("# Nothing\n") }, "rebuild_failed: " + plan.ReasonNoItems},
		{func() { f.repairPlan("- [ ] 1. a\xffb\n") }, "rebuild_failed: " + plan.ReasonInvalidUTF8},
		{func() { f.repairPlan("") }, "empty: empty"},
		{func() { f.repairPlan("\n") }, ""},
		{f.remove, "gone"},
		{func() { f.repairPlan(threeItems) }, "[3]"},
	} {
		step.change()
		f.read()
		f.advance(time.Second)
		f.read()
		if step.record != "" {
			want = append(want, step.record)
		}
		require.Equal(t, want, f.records())
	}
}

// A truncated file is one change if the rest follows, and two otherwise.
func TestHalfWrittenPlanIsRecordedOnlyIfItStaysSo(t *testing.T) {
	for half, left := range map[string]string{"": "empty: empty", "# Plan\n": "rebuild_failed: no_items", "# Plan\n\n- [ ] 1. First\n": "[2]"} {
		f := newRunFixture(t, newHookedStore(t), newPlanFixture(t))
		f.write("tasks.md", twoItems, time.Hour)
		f.read()
		f.write("tasks.md", half, 0)
		f.read()
		f.advance(100 * time.Millisecond)
		f.read()
		f.write("tasks.md", threeItems, 0)
		f.read()
		f.advance(time.Second)
		f.read()
		require.Equal(t, []string{"[3]"}, f.records(), "%q", half)

		f.write("tasks.md", twoItems, time.Hour)
		f.read()
		f.write("tasks.md", half, 0)
		f.read()
		f.advance(150 * time.Millisecond)
		lookAll(f)
		require.Equal(t, []string{"[3]", "[3]", left}, f.records(), "%q", half)
	}
}

// A slow process must not record an older state than another process has recorded meanwhile.
func TestWhatAnotherProcessSawLaterIsNotUndone(t *testing.T) {
	st, plans := newHookedStore(t), newPlanFixture(t)
	f, quick := newRunFixture(t, st, plans), newRunFixture(t, st, plans.secondReader(t))
	f.write("tasks.md", twoItems, time.Hour)
	lookAll(f, quick)
	f.breakPlan()
	lookAll(f, quick)
	f.advance(150 * time.Millisecond)
	slow := st.number() + 1
	st.before = func(n int) error {
		if n == slow {
			lookAll(quick)
			f.repairPlan(threeItems)
			lookAll(quick)
		}
		return nil
	}
	lookAll(f)
	require.Equal(t, []string{"rebuild_failed: not_regular", "[3]"}, f.records())
	f.repairPlan(threeItems + "- [ ] 4. Fourth\n")
	lookAll(f, quick)
	require.Equal(t, []string{"rebuild_failed: not_regular", "[3]", "[4]"}, f.records(), "compared with what was recorded last")
}

// The changed items are known even if this process missed the edit before the plan became unreadable.
func TestWhatChangedIsKnownAfterAnEditThatThisProcessMissed(t *testing.T) {
	st, plans := newHookedStore(t), newPlanFixture(t)
	f, slow := newRunFixture(t, st, plans), newRunFixture(t, st, plans.secondReader(t))
	f.write("tasks.md", twoItems, time.Hour)
	lookAll(f, slow)
	f.write("tasks.md", threeItems, time.Hour)
	lookAll(f)
	f.breakPlan()
	lookAll(slow)
	f.advance(150 * time.Millisecond)
	lookAll(slow, f)
	f.repairPlan(threeItems + "- [ ] 4. Fourth\n")
	lookAll(slow, f)
	require.Equal(t, []string{"[3]", "rebuild_failed: not_regular", "[3 4]"}, f.records(), "3 once more, and nothing is missing")
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
		require.Equal(t, []string{"rebuild_failed: not_regular"}, f.records())
		f.repairPlan(threeItems)
		wake("tasks.md")
		require.Equal(t, []string{"rebuild_failed: not_regular", "[3]"}, f.records())
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

// A plan emptied while no process ran must not be read as one without items.
func TestPlanEmptiedBetweenProcessesIsStale(t *testing.T) {
	for name, recorded := range map[string]bool{"known by its run": false, "known by the log": true} {
		t.Run(name, func(t *testing.T) {
			st, plans := newHookedStore(t), newPlanFixture(t)
			f := newRunFixture(t, st, plans)
			f.write("tasks.md", twoItems, time.Hour)
			id := f.begin("1").ID
			want := []string{"empty: empty"}
			if recorded {
				f.write("tasks.md", threeItems, time.Hour)
				f.look(id)
				want = []string{"[3]", "empty: empty"}
			}
			f.write("tasks.md", "", time.Minute)
			next := newRunFixture(t, st, plans.secondReader(t))
			plan, err := next.Plan(t.Context(), "tasks.md")
			require.Nil(t, plan.Reading)
			require.Equal(t, &engine.StaleError{Path: "tasks.md", Reason: engine.StaleEmpty}, err)
			for range 2 {
				v := next.look(id)
				require.Equal(t, engine.StaleEmpty, v.Fallback)
				require.Equal(t, "First", v.Progress.CurrentItem.Title)
				require.False(t, v.Rebuilt)
			}
			require.Equal(t, want, next.records())
			next.write("tasks.md", twoItems+"- [ ] 4. Fourth\n", time.Minute)
			require.Empty(t, next.look(id).Fallback)
			require.Equal(t, append(want, "unseen"), next.records())
		})
	}
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
