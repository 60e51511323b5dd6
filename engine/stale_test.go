package engine_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/engine"
	"waybill/engine/planfile"
	"waybill/ledger"
	"waybill/store"
)

// spoil puts a folder in the place of tasks.md, which may be there.
func (d *desk) spoil() {
	d.t.Helper()
	path := filepath.Join(d.dir, "tasks.md")
	require.NoError(d.t, os.RemoveAll(path))
	require.NoError(d.t, os.Mkdir(path, 0o755))
}

// mend writes tasks.md anew, whatever is there.
func (d *desk) mend(text string) {
	d.t.Helper()
	require.NoError(d.t, os.RemoveAll(filepath.Join(d.dir, "tasks.md")))
	d.write("tasks.md", text, time.Hour)
}

// lookAll lets all processes look at tasks.md more than once.
func lookAll(sites ...*site) {
	for range 3 {
		for _, s := range sites {
			s.read()
		}
	}
}

// The defect: a plan that could not be read any more was told of to nobody who did not ask.
func TestPlanThatCannotBeReadIsRecordedOnceAndAgainWhenItComesBack(t *testing.T) {
	st, d := watch(), newDesk(t)
	s, other := newSite(t, st, d), newSite(t, st, d.another(t))
	s.write("tasks.md", twoItems, time.Hour)
	lookAll(s, other)
	s.spoil()
	lookAll(s, other)
	require.Empty(t, s.records(), "an editor may be about to write it anew")
	s.pass(150 * time.Millisecond)
	lookAll(s, other)
	require.Equal(t, []string{"rebuild_failed: not_regular"}, s.records())
	s.pass(time.Hour)
	lookAll(s, other)
	late := newSite(t, st, d.another(t)) // knows it from the log
	lookAll(late)
	require.Len(t, s.records(), 1, "it stays as it is")

	s.mend(twoItems)
	lookAll(s, other, late)
	require.Equal(t, []string{"rebuild_failed: not_regular", "[]"}, s.records())
	s.spoil()
	s.pass(time.Second)
	lookAll(s, other, late)
	s.pass(time.Second)
	lookAll(s, other, late)
	s.mend(threeItems)
	lookAll(s, other, late)
	require.Equal(t, []string{"rebuild_failed: not_regular", "[]", "rebuild_failed: not_regular", "[3]"}, s.records())
}

// Each thing that can be wrong with the file has a name of its own, and each change of it is one record.
func TestEveryReasonWhyAPlanCannotBeReadIsRecorded(t *testing.T) {
	s := newSite(t, watch(), newDesk(t))
	s.write("tasks.md", twoItems, time.Hour)
	s.read()
	want := []string{}
	for _, step := range []struct {
		change func()
		record string
	}{
		{s.remove, "gone"},
		{s.spoil, "rebuild_failed: not_regular"},
		{func() { s.mend("# Nothing\n") }, "rebuild_failed: " + ledger.ReasonNoItems},
		{func() { s.mend("- [ ] 1. a\xffb\n") }, "rebuild_failed: " + ledger.ReasonInvalidUTF8},
		{func() { s.mend("") }, "empty: empty"},
		{func() { s.mend("\n") }, ""},
		{s.remove, "gone"},
		{func() { s.mend(threeItems) }, "[3]"},
	} {
		step.change()
		s.read()
		s.pass(time.Second)
		s.read()
		if step.record != "" {
			want = append(want, step.record)
		}
		require.Equal(t, want, s.records())
	}
}

// An editor cuts the file off, and writes the rest: that is one change. If the rest does not come, it is another.
func TestFaultF8_HalfWrittenPlanIsRecordedOnlyIfItStaysSo(t *testing.T) {
	for half, left := range map[string]string{"": "empty: empty", "# Plan\n": "rebuild_failed: no_items", "# Plan\n\n- [ ] 1. First\n": "[2]"} {
		s := newSite(t, watch(), newDesk(t))
		s.write("tasks.md", twoItems, time.Hour)
		s.read()
		s.write("tasks.md", half, 0)
		s.read()
		s.pass(100 * time.Millisecond)
		s.read()
		s.write("tasks.md", threeItems, 0)
		s.read()
		s.pass(time.Second)
		s.read()
		require.Equal(t, []string{"[3]"}, s.records(), "%q", half)

		s.write("tasks.md", twoItems, time.Hour)
		s.read()
		s.write("tasks.md", half, 0)
		s.read()
		s.pass(150 * time.Millisecond)
		lookAll(s)
		require.Equal(t, []string{"[3]", "[3]", left}, s.records(), "%q", half)
	}
}

// The defect: a process that was slow recorded what it had seen although another one had recorded meanwhile that it
// was no more so.
func TestWhatAnotherProcessSawLaterIsNotUndone(t *testing.T) {
	st, d := watch(), newDesk(t)
	s, quick := newSite(t, st, d), newSite(t, st, d.another(t))
	s.write("tasks.md", twoItems, time.Hour)
	lookAll(s, quick)
	s.spoil()
	lookAll(s, quick)
	s.pass(150 * time.Millisecond)
	slow := st.number() + 1
	st.before = func(n int) error {
		if n == slow {
			lookAll(quick)
			s.mend(threeItems)
			lookAll(quick)
		}
		return nil
	}
	lookAll(s)
	require.Equal(t, []string{"rebuild_failed: not_regular", "[3]"}, s.records())
	s.mend(threeItems + "- [ ] 4. Fourth\n")
	lookAll(s, quick)
	require.Equal(t, []string{"rebuild_failed: not_regular", "[3]", "[4]"}, s.records(), "compared with what was recorded last")
}

// The defect: a process that had not seen the last edit before the plan could not be read said, when it was back, that
// nobody knew what had changed.
func TestWhatChangedIsKnownAfterAnEditThatThisProcessMissed(t *testing.T) {
	st, d := watch(), newDesk(t)
	s, slow := newSite(t, st, d), newSite(t, st, d.another(t))
	s.write("tasks.md", twoItems, time.Hour)
	lookAll(s, slow)
	s.write("tasks.md", threeItems, time.Hour)
	lookAll(s)
	s.spoil()
	lookAll(slow)
	s.pass(150 * time.Millisecond)
	lookAll(slow, s)
	s.mend(threeItems + "- [ ] 4. Fourth\n")
	lookAll(slow, s)
	require.Equal(t, []string{"[3]", "rebuild_failed: not_regular", "[3 4]"}, s.records(), "3 once more, and nothing is missing")
}

// Nobody calls: the watcher wakes, and the record comes by itself, also that the plan is back.
func TestFollowRecordsAPlanThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := live(t)
		s.write("tasks.md", twoItems, time.Hour)
		wake := following(t, s)
		s.spoil()
		wake("tasks.md")
		require.Empty(t, s.records())
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, []string{"rebuild_failed: not_regular"}, s.records())
		s.mend(threeItems)
		wake("tasks.md")
		require.Equal(t, []string{"rebuild_failed: not_regular", "[3]"}, s.records())
	})
}

// A version that knew no reasons has recorded that the plan is gone. That is no news.
func TestPlanThatIsOnRecordAsGoneWithoutAReasonIsNotRecordedAnew(t *testing.T) {
	st, d := watch(), newDesk(t)
	s := newSite(t, st, d)
	s.write("tasks.md", twoItems, time.Hour)
	s.begin("1")
	do(t, s.Engine, engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		return tx.Append(store.Event{Type: core.LedgerChanged, Subject: "tasks.md", Data: `{"hash":"x","changed_ids":[],"gone":true}`})
	}})
	s.remove()
	next := newSite(t, st, d.another(t))
	lookAll(next)
	s.pass(time.Second)
	lookAll(next)
	require.Equal(t, []string{"gone"}, next.records())
}

// Since when, and of when what is used: until the plan can be read again, whatever is wrong with it meanwhile.
func TestStalePlanHasAnAge(t *testing.T) {
	d := newDesk(t)
	s := newSite(t, watch(), d)
	d.write("tasks.md", twoItems, time.Hour)
	written := d.clock().Add(-time.Hour).UnixMilli()
	id := s.begin("1").ID
	p, err := d.Read("tasks.md")
	require.NoError(t, err)
	require.Zero(t, p.Since)
	d.pass(time.Minute)
	began := d.clock()
	for _, reason := range []planfile.Reason{planfile.NotRegular, planfile.Missing} {
		require.NoError(t, os.RemoveAll(filepath.Join(d.dir, "tasks.md")))
		if reason == planfile.NotRegular {
			d.spoil()
		}
		p, err := d.Read("tasks.md")
		require.NoError(t, err)
		require.Equal(t, string(reason), p.Reason)
		require.Equal(t, began, p.Since)
		require.Equal(t, written, p.Reading.MtimeMs)
		v := s.look(id)
		require.Equal(t, began, v.Since)
		require.Equal(t, written, v.Progress.Fingerprint.MtimeMs)
		d.pass(time.Minute)
	}
	d.mend(twoItems)
	require.Zero(t, s.look(id).Since)
	d.spoil()
	require.Equal(t, began.Add(2*time.Minute), s.look(id).Since)
}

// The defect: a plan that was emptied while no process ran was read as one without items by the next one, which
// then knew nothing of the run's item any more.
func TestPlanThatWasEmptiedWhileNobodyLookedIsStale(t *testing.T) {
	for name, recorded := range map[string]bool{"known by its run": false, "known by the log": true} {
		t.Run(name, func(t *testing.T) {
			st, d := watch(), newDesk(t)
			s := newSite(t, st, d)
			s.write("tasks.md", twoItems, time.Hour)
			id := s.begin("1").ID
			want := []string{"empty: empty"}
			if recorded {
				s.write("tasks.md", threeItems, time.Hour)
				s.look(id)
				want = []string{"[3]", "empty: empty"}
			}
			s.write("tasks.md", "", time.Minute)
			next := newSite(t, st, d.another(t))
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

// list gives the paths that are listed and why each one cannot be read.
func (d *desk) list() (reasons map[string]string) {
	d.t.Helper()
	paths, err := d.List()
	require.NoError(d.t, err)
	reasons = map[string]string{}
	for _, path := range paths {
		p, _ := d.Read(path)
		reasons[path] = p.Reason
	}
	return reasons
}

// The defect: a plan in whose place something else came was not listed any more, and so nobody saw what was wrong.
func TestListKeepsAPlanWhateverIsInItsPlace(t *testing.T) {
	d, _ := folders(t)
	d.write("tasks.md", twoItems, time.Hour)
	d.write("specs/a/tasks.md", twoItems, time.Hour)
	d.card("BACK-1", "To Do", time.Hour)
	require.Equal(t, map[string]string{"tasks.md": "", "specs/a/tasks.md": "", backlog: ""}, d.list())
	d.spoil()
	d.uncard("BACK-1", time.Hour)
	require.Equal(t, map[string]string{"tasks.md": "not_regular", "specs/a/tasks.md": "", backlog: "missing"}, d.list())
	require.NoError(t, os.RemoveAll(filepath.Join(d.dir, "specs", "a")))
	d.mend("no plan\n")
	require.Equal(t, map[string]string{"tasks.md": "no_items", backlog: "missing"}, d.list())
	path, err := d.Resolve("tasks")
	require.NoError(t, err)
	require.Equal(t, backlog, path, "it keeps its short name")
}
