package engine_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/run"
	"waybill/engine"
	"waybill/ledger"
	"waybill/plan"
	"waybill/store"
)

// A runFixture is an engine with a workspace.
type runFixture struct {
	*engine.Engine
	*planFixture
}

// newRunFixture returns a running engine with plans of its own for the workspace.
func newRunFixture(t *testing.T, st store.Store, plans *planFixture) *runFixture {
	t.Helper()
	e := build(t, engine.Options{Open: open(st), Plans: plans.Plans})
	runEngine(t, e)
	return &runFixture{e, plans}
}

// begin starts a run of an item.
func (f *runFixture) begin(item string) run.Run {
	f.t.Helper()
	plan, err := f.Plan(f.t.Context(), "tasks.md")
	require.NoError(f.t, err)
	progress, err := ledger.Progress(plan.Reading, "tasks.md", "tasks.md", item)
	require.NoError(f.t, err)
	r := do(f.t, f.Engine, engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		run, _, err := tx.StartRun(progress, coretest.Policy(), false)
		return run, err
	}})
	return r.(run.Run)
}

// look returns the view of a run.
func (f *runFixture) look(id string) engine.RunView {
	f.t.Helper()
	v, err := f.Look(f.t.Context(), id)
	require.NoError(f.t, err)
	return v
}

// changes returns the data of the ledger.changed events of tasks.md.
func (f *runFixture) changes() (changed [][]string) {
	f.t.Helper()
	for _, ev := range events(f.t, f.Engine) {
		if ev.Type != core.LedgerChanged {
			continue
		}
		require.Equal(f.t, "tasks.md", ev.Subject)
		var data struct {
			Hash string   `json:"hash"`
			IDs  []string `json:"changed_ids"`
		}
		require.NoError(f.t, json.Unmarshal([]byte(ev.Data), &data))
		require.Len(f.t, data.Hash, 64)
		changed = append(changed, data.IDs)
	}
	return changed
}

func TestLookRenewsTheFactsOnceAfterAChange(t *testing.T) {
	f := newRunFixture(t, newHookedStore(t), newPlanFixture(t))
	f.write("tasks.md", twoItems, time.Hour)
	id := f.begin("1").ID
	v := f.look(id)
	require.False(t, v.Rebuilt)
	require.EqualValues(t, 1, v.Run.Revision)
	f.write("tasks.md", twoItems, time.Minute) // touched
	require.False(t, f.look(id).Rebuilt)
	f.write("tasks.md", twoItems+"- [ ] 3. Third\n", time.Minute)
	v = f.look(id)
	require.True(t, v.Rebuilt)
	require.EqualValues(t, 2, v.Run.Revision)
	require.Equal(t, 3, v.Progress.Totals.Total)
	v = f.look(id)
	require.False(t, v.Rebuilt)
	require.EqualValues(t, 2, v.Run.Revision)
}

func TestItemThatIsGoneStaysGone(t *testing.T) {
	plans := newPlanFixture(t)
	st := newHookedStore(t)
	f := newRunFixture(t, st, plans)
	f.write("tasks.md", twoItems, time.Hour)
	id := f.begin("1").ID
	f.write("tasks.md", "- [ ] 2. Second\n", time.Minute)
	for i := range 3 {
		v := f.look(id)
		require.Equal(t, &plan.ItemError{Plan: "tasks.md", ItemID: "1"}, v.Gone)
		require.Nil(t, v.Progress.CurrentItem)
		require.Equal(t, 1, v.Progress.Totals.Total)
		require.Equal(t, i == 0, v.Rebuilt)
	}
	// Another process that cannot read the file either has only the facts, and they know it too.
	require.NoError(t, os.Remove(filepath.Join(plans.dir, "tasks.md")))
	other := newRunFixture(t, st, plans.secondReader(t))
	v := other.look(id)
	require.Equal(t, engine.StaleRebuild, v.Fallback)
	require.Equal(t, &plan.ItemError{Plan: "tasks.md", ItemID: "1"}, v.Gone)
}

func TestLookFallsBackToTheStoredFacts(t *testing.T) {
	plans := newPlanFixture(t)
	st := newHookedStore(t)
	f := newRunFixture(t, st, plans)
	f.write("tasks.md", twoItems, time.Hour)
	id := f.begin("1").ID
	require.NoError(t, os.Remove(filepath.Join(plans.dir, "tasks.md")))
	for name, f := range map[string]*runFixture{"same process": f, "next process": newRunFixture(t, st, plans.secondReader(t))} {
		v := f.look(id)
		require.Equal(t, engine.StaleRebuild, v.Fallback, name)
		require.Error(t, v.Fault, name)
		require.Equal(t, "First", v.Progress.CurrentItem.Title, name)
		require.False(t, v.Rebuilt, name)
	}
}

// Two processes with different last good readings must not overwrite each other's facts.
func TestLastGoodReadingIsNotStored(t *testing.T) {
	st, plans := newHookedStore(t), newPlanFixture(t)
	plans.write("tasks.md", twoItems, time.Hour)
	early := newRunFixture(t, st, plans)
	id := early.begin("1").ID // has read two items, and looks away
	late := newRunFixture(t, st, plans.secondReader(t))
	plans.write("tasks.md", twoItems+"- [ ] 3. Third\n", time.Minute)
	require.True(t, late.look(id).Rebuilt)
	plans.write("tasks.md", "", time.Second)
	for range 3 {
		for _, f := range []*runFixture{early, late} {
			v := f.look(id)
			require.Equal(t, engine.StaleEmpty, v.Fallback)
			require.Equal(t, 3, v.Progress.Totals.Total, "an older reading won")
			require.False(t, v.Rebuilt)
			require.EqualValues(t, 2, v.Run.Revision)
		}
	}
}

// Two processes see an edit, and only the first stores it.
func TestTwoProcessesRenewTheFactsOnce(t *testing.T) {
	st, plans := newHookedStore(t), newPlanFixture(t)
	slow, quick := newRunFixture(t, st, plans), newRunFixture(t, st, plans.secondReader(t))
	plans.write("tasks.md", twoItems, time.Hour)
	id := slow.begin("1").ID
	_, err := slow.Plan(t.Context(), "tasks.md")
	require.NoError(t, err)
	plans.write("tasks.md", twoItems+"- [ ] 3. Third\n", time.Minute)
	_, err = slow.Plan(t.Context(), "tasks.md") // so that its next update is that of the facts
	require.NoError(t, err)
	renewing := st.number() + 1
	st.before = func(n int) error {
		if n == renewing {
			quick.look(id)
		}
		return nil
	}
	v := slow.look(id)
	require.Equal(t, 3, v.Progress.Totals.Total)
	require.EqualValues(t, 2, v.Run.Revision)
}

func TestLookWithoutTheRun(t *testing.T) {
	f := newRunFixture(t, newHookedStore(t), newPlanFixture(t))
	_, err := f.Look(t.Context(), "run_nobody")
	require.Equal(t, core.Missing("run", "run_nobody"), err)
}

func TestReadOnlyStoreDoesNotStopLooking(t *testing.T) {
	st := newHookedStore(t)
	f := newRunFixture(t, st, newPlanFixture(t))
	f.write("tasks.md", twoItems, time.Hour)
	id := f.begin("1").ID
	do(t, f.Engine, queue("s", "x"))
	st.before = func(int) error { return &store.Error{Kind: store.ReadOnly, Message: "read only"} }
	f.write("tasks.md", twoItems+"- [ ] 3. Third\n", time.Minute)
	v := f.look(id)
	require.Equal(t, 3, v.Progress.Totals.Total)
	require.Empty(t, v.Fallback)
	require.EqualValues(t, 1, v.Run.Revision)
	require.Empty(t, f.changes())
}

func TestChangeOfAPlanIsRecordedOnce(t *testing.T) {
	plans := newPlanFixture(t)
	plans.write("tasks.md", twoItems, time.Hour)
	st := newHookedStore(t)
	sites := []*runFixture{newRunFixture(t, st, plans), newRunFixture(t, st, plans.secondReader(t))}
	look := func() {
		for range 2 {
			for _, f := range sites {
				_, err := f.Plan(t.Context(), "tasks.md")
				require.NoError(t, err)
			}
		}
	}
	look()
	require.Empty(t, sites[0].changes(), "what was there from the start is no change")
	plans.write("tasks.md", "- [ ] 1. First\n- [x] 2. Second\n- [ ] 3. Third\n", time.Minute)
	look()
	require.Equal(t, [][]string{{"2", "3"}}, sites[0].changes())
	plans.write("tasks.md", twoItems, time.Minute)
	look()
	require.Equal(t, [][]string{{"2", "3"}, {"3", "2"}}, sites[0].changes())
	plans.write("tasks.md", "A remark.\n\n"+twoItems, time.Minute)
	look()
	require.Equal(t, [][]string{{"2", "3"}, {"3", "2"}, {}}, sites[0].changes())
}

// A file that returns to its recorded content is a change, if another content was seen in between.
func TestChangeBackToWhatWasRecordedLastIsRecorded(t *testing.T) {
	st, plans := newHookedStore(t), newPlanFixture(t)
	f := newRunFixture(t, st, plans)
	for _, text := range []string{twoItems, twoItems + "- [ ] 3. Third\n"} {
		plans.write("tasks.md", text, time.Minute)
		_, err := f.Plan(t.Context(), "tasks.md")
		require.NoError(t, err)
	}
	require.Equal(t, [][]string{{"3"}}, f.changes())

	plans.write("tasks.md", twoItems, time.Minute)
	f = newRunFixture(t, st, plans.secondReader(t)) // comes in here
	for _, text := range []string{twoItems, twoItems + "- [ ] 3. Third\n"} {
		plans.write("tasks.md", text, time.Minute)
		_, err := f.Plan(t.Context(), "tasks.md")
		require.NoError(t, err)
	}
	require.Equal(t, [][]string{{"3"}, {}, {"3"}}, f.changes(), "the second was made while nobody looked")
}

func TestChangeThatCouldNotBeRecordedIsRecordedLater(t *testing.T) {
	st, plans := newHookedStore(t), newPlanFixture(t)
	broken := true
	st.before = func(int) error {
		if broken {
			return &store.Error{Kind: store.IO, Message: "not now"}
		}
		return nil
	}
	f := newRunFixture(t, st, plans)
	for _, text := range []string{twoItems, twoItems + "- [ ] 3. Third\n"} {
		plans.write("tasks.md", text, time.Minute)
		plan, err := f.Plan(t.Context(), "tasks.md")
		require.NoError(t, err)
		require.NotNil(t, plan.Reading)
	}
	require.Empty(t, f.changes())
	broken = false
	_, err := f.Plan(t.Context(), "tasks.md")
	require.NoError(t, err)
	require.Equal(t, [][]string{{"3"}}, f.changes())
}

func TestPlansCanBeReadWithoutAStore(t *testing.T) {
	plans := newPlanFixture(t)
	plans.write("tasks.md", twoItems, time.Hour)
	e := build(t, engine.Options{Plans: plans.Plans, Open: func(context.Context) (store.Store, error) {
		return nil, &store.Error{Kind: store.Busy, Message: "in use"}
	}})
	runEngine(t, e)
	plan, err := e.Plan(t.Context(), "tasks.md")
	require.NoError(t, err)
	require.Len(t, plan.Reading.Items(), 2)
}

// Look returns the run after its facts were stored, not before.
func TestLookShowsTheRunAsItWasStored(t *testing.T) {
	plans := newPlanFixture(t)
	f := newRunFixture(t, newHookedStore(t), plans)
	plans.write("tasks.md", twoItems, time.Hour)
	begun := f.begin("1")
	plans.write("tasks.md", twoItems+"- [ ] 3. Third\n", time.Hour)
	v := f.look(begun.ID)
	require.True(t, v.Rebuilt)
	require.Equal(t, begun.Revision+1, v.Run.Revision)
}
