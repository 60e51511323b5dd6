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
	"waybill/engine"
	"waybill/ledger"
	"waybill/store"
)

// A site is an engine with a workspace.
type site struct {
	*engine.Engine
	*desk
}

// newSite gives a running engine on the store, with eyes of its own for the desk's workspace.
func newSite(t *testing.T, st store.Store, d *desk) *site {
	t.Helper()
	e := build(t, engine.Options{Open: open(st), Plans: d.Plans})
	run(t, e)
	return &site{e, d}
}

// begin starts a run of an item.
func (s *site) begin(item string) core.Run {
	s.t.Helper()
	plan, err := s.Plan(s.t.Context(), "tasks.md")
	require.NoError(s.t, err)
	progress, err := ledger.Progress(plan.Reading, "tasks.md", "tasks.md", item)
	require.NoError(s.t, err)
	run := do(s.t, s.Engine, engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		run, _, err := tx.StartRun(progress, core.DefaultPolicy(), false)
		return run, err
	}})
	return run.(core.Run)
}

// look looks at a run.
func (s *site) look(id string) engine.RunView {
	s.t.Helper()
	v, err := s.Look(s.t.Context(), id)
	require.NoError(s.t, err)
	return v
}

// changes gives the data of the ledger.changed events of tasks.md.
func (s *site) changes() (changed [][]string) {
	s.t.Helper()
	for _, ev := range events(s.t, s.Engine) {
		if ev.Type != core.LedgerChanged {
			continue
		}
		require.Equal(s.t, "tasks.md", ev.Subject)
		var data struct {
			Hash string   `json:"hash"`
			IDs  []string `json:"changed_ids"`
		}
		require.NoError(s.t, json.Unmarshal([]byte(ev.Data), &data))
		require.Len(s.t, data.Hash, 64)
		changed = append(changed, data.IDs)
	}
	return changed
}

func TestLookRenewsTheFactsOnceAfterAChange(t *testing.T) {
	s := newSite(t, watch(), newDesk(t))
	s.write("tasks.md", twoItems, time.Hour)
	id := s.begin("1").ID
	v := s.look(id)
	require.False(t, v.Rebuilt)
	require.EqualValues(t, 1, v.Run.Revision)
	s.write("tasks.md", twoItems, time.Minute) // touched
	require.False(t, s.look(id).Rebuilt)
	s.write("tasks.md", twoItems+"- [ ] 3. Third\n", time.Minute)
	v = s.look(id)
	require.True(t, v.Rebuilt)
	require.EqualValues(t, 2, v.Run.Revision)
	require.Equal(t, 3, v.Progress.Totals.Total)
	v = s.look(id)
	require.False(t, v.Rebuilt)
	require.EqualValues(t, 2, v.Run.Revision)
}

func TestItemThatIsGoneStaysGone(t *testing.T) {
	d := newDesk(t)
	st := watch()
	s := newSite(t, st, d)
	s.write("tasks.md", twoItems, time.Hour)
	id := s.begin("1").ID
	s.write("tasks.md", "- [ ] 2. Second\n", time.Minute)
	for i := range 3 {
		v := s.look(id)
		require.Equal(t, &ledger.ItemError{Plan: "tasks.md", ItemID: "1"}, v.Gone)
		require.Nil(t, v.Progress.CurrentItem)
		require.Equal(t, 1, v.Progress.Totals.Total)
		require.Equal(t, i == 0, v.Rebuilt)
	}
	// Another process that cannot read the file either has only the facts, and they know it too.
	require.NoError(t, os.Remove(filepath.Join(d.dir, "tasks.md")))
	other := newSite(t, st, d.another(t))
	v := other.look(id)
	require.Equal(t, engine.StaleRebuild, v.Fallback)
	require.Equal(t, &ledger.ItemError{Plan: "tasks.md", ItemID: "1"}, v.Gone)
}

func TestLookFallsBackToTheStoredFacts(t *testing.T) {
	d := newDesk(t)
	st := watch()
	s := newSite(t, st, d)
	s.write("tasks.md", twoItems, time.Hour)
	id := s.begin("1").ID
	require.NoError(t, os.Remove(filepath.Join(d.dir, "tasks.md")))
	for name, s := range map[string]*site{"same process": s, "next process": newSite(t, st, d.another(t))} {
		v := s.look(id)
		require.Equal(t, engine.StaleRebuild, v.Fallback, name)
		require.Error(t, v.Fault, name)
		require.Equal(t, "First", v.Progress.CurrentItem.Title, name)
		require.False(t, v.Rebuilt, name)
	}
}

// Two processes have different last good readings of a file that is empty now. Neither may take its
// own for news and write it over the other's.
func TestLastGoodReadingIsNotStored(t *testing.T) {
	st, d := watch(), newDesk(t)
	d.write("tasks.md", twoItems, time.Hour)
	early := newSite(t, st, d)
	id := early.begin("1").ID // has read two items, and looks away
	late := newSite(t, st, d.another(t))
	d.write("tasks.md", twoItems+"- [ ] 3. Third\n", time.Minute)
	require.True(t, late.look(id).Rebuilt)
	d.write("tasks.md", "", time.Second)
	for range 3 {
		for _, s := range []*site{early, late} {
			v := s.look(id)
			require.Equal(t, engine.StaleEmpty, v.Fallback)
			require.Equal(t, 3, v.Progress.Totals.Total, "an older reading won")
			require.False(t, v.Rebuilt)
			require.EqualValues(t, 2, v.Run.Revision)
		}
	}
}

// Both processes see the edit, and the one that is slower finds it stored already.
func TestTwoProcessesRenewTheFactsOnce(t *testing.T) {
	st, d := watch(), newDesk(t)
	slow, quick := newSite(t, st, d), newSite(t, st, d.another(t))
	d.write("tasks.md", twoItems, time.Hour)
	id := slow.begin("1").ID
	_, err := slow.Plan(t.Context(), "tasks.md")
	require.NoError(t, err)
	d.write("tasks.md", twoItems+"- [ ] 3. Third\n", time.Minute)
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
	s := newSite(t, watch(), newDesk(t))
	_, err := s.Look(t.Context(), "run_nobody")
	require.Equal(t, core.Missing("run", "run_nobody"), err)
}

func TestReadOnlyStoreDoesNotStopLooking(t *testing.T) {
	st := watch()
	s := newSite(t, st, newDesk(t))
	s.write("tasks.md", twoItems, time.Hour)
	id := s.begin("1").ID
	do(t, s.Engine, queue("s", "x"))
	st.before = func(int) error { return &store.Error{Kind: store.ReadOnly, Message: "read only"} }
	s.write("tasks.md", twoItems+"- [ ] 3. Third\n", time.Minute)
	v := s.look(id)
	require.Equal(t, 3, v.Progress.Totals.Total)
	require.Empty(t, v.Fallback)
	require.EqualValues(t, 1, v.Run.Revision)
	require.Empty(t, s.changes())
}

func TestChangeOfAPlanIsRecordedOnce(t *testing.T) {
	d := newDesk(t)
	d.write("tasks.md", twoItems, time.Hour)
	st := watch()
	sites := []*site{newSite(t, st, d), newSite(t, st, d.another(t))}
	look := func() {
		for range 2 {
			for _, s := range sites {
				_, err := s.Plan(t.Context(), "tasks.md")
				require.NoError(t, err)
			}
		}
	}
	look()
	require.Empty(t, sites[0].changes(), "what was there from the start is no change")
	d.write("tasks.md", "- [ ] 1. First\n- [x] 2. Second\n- [ ] 3. Third\n", time.Minute)
	look()
	require.Equal(t, [][]string{{"2", "3"}}, sites[0].changes())
	d.write("tasks.md", twoItems, time.Minute)
	look()
	require.Equal(t, [][]string{{"2", "3"}, {"3", "2"}}, sites[0].changes())
	d.write("tasks.md", "A remark.\n\n"+twoItems, time.Minute)
	look()
	require.Equal(t, [][]string{{"2", "3"}, {"3", "2"}, {}}, sites[0].changes())
}

// While nobody looked, the file was edited. When it then comes back to what the log knew last, that
// is an edit that somebody saw.
func TestChangeBackToWhatWasRecordedLastIsRecorded(t *testing.T) {
	st, d := watch(), newDesk(t)
	s := newSite(t, st, d)
	for _, text := range []string{twoItems, twoItems + "- [ ] 3. Third\n"} {
		d.write("tasks.md", text, time.Minute)
		_, err := s.Plan(t.Context(), "tasks.md")
		require.NoError(t, err)
	}
	require.Equal(t, [][]string{{"3"}}, s.changes())

	d.write("tasks.md", twoItems, time.Minute)
	s = newSite(t, st, d.another(t)) // comes in here
	for _, text := range []string{twoItems, twoItems + "- [ ] 3. Third\n"} {
		d.write("tasks.md", text, time.Minute)
		_, err := s.Plan(t.Context(), "tasks.md")
		require.NoError(t, err)
	}
	require.Equal(t, [][]string{{"3"}, {}, {"3"}}, s.changes(), "the second was made while nobody looked")
}

func TestChangeThatCouldNotBeRecordedIsRecordedLater(t *testing.T) {
	st, d := watch(), newDesk(t)
	broken := true
	st.before = func(int) error {
		if broken {
			return &store.Error{Kind: store.IO, Message: "not now"}
		}
		return nil
	}
	s := newSite(t, st, d)
	for _, text := range []string{twoItems, twoItems + "- [ ] 3. Third\n"} {
		d.write("tasks.md", text, time.Minute)
		plan, err := s.Plan(t.Context(), "tasks.md")
		require.NoError(t, err)
		require.NotNil(t, plan.Reading)
	}
	require.Empty(t, s.changes())
	broken = false
	_, err := s.Plan(t.Context(), "tasks.md")
	require.NoError(t, err)
	require.Equal(t, [][]string{{"3"}}, s.changes())
}

func TestPlansCanBeReadWithoutAStore(t *testing.T) {
	d := newDesk(t)
	d.write("tasks.md", twoItems, time.Hour)
	e := build(t, engine.Options{Plans: d.Plans, Open: func(context.Context) (store.Store, error) {
		return nil, &store.Error{Kind: store.Busy, Message: "in use"}
	}})
	run(t, e)
	plan, err := e.Plan(t.Context(), "tasks.md")
	require.NoError(t, err)
	require.Len(t, plan.Reading.Items(), 2)
}

// Look once returned the run as it was before its facts were stored: it took the value and waited
// in one statement, whose order the language leaves open.
func TestLookShowsTheRunAsItWasStored(t *testing.T) {
	d := newDesk(t)
	s := newSite(t, watch(), d)
	d.write("tasks.md", twoItems, time.Hour)
	begun := s.begin("1")
	d.write("tasks.md", twoItems+"- [ ] 3. Third\n", time.Hour)
	v := s.look(begun.ID)
	require.True(t, v.Rebuilt)
	require.Equal(t, begun.Revision+1, v.Run.Revision)
}
