package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/audit"
	"waybill/core/coretest"
	"waybill/core/run"
	"waybill/engine"
	"waybill/ledger"
	"waybill/plan"
	"waybill/plan/criteria"
	planfile "waybill/plan/file"
	"waybill/store"
)

const twoItems = "# Plan\n\n- [ ] 1. First\n- [ ] 2. Second\n"

// A planFixture is a workspace with plans and a clock that only the test moves.
type planFixture struct {
	*engine.Plans
	t                 *testing.T
	dir               string
	now               atomic.Value // a func() time.Time, because the engine reads it in the background
	watched, expected []string     // paths
	dialects          string       // the file of the dialect rules
}

func newPlanFixture(t *testing.T) *planFixture {
	t.Helper()
	plans := planFixtureAt(t, t.TempDir())
	plans.set(time.Now().Truncate(time.Second))
	return plans
}

// planFixtureAt returns the plans of a folder with the clock of the test.
func planFixtureAt(t *testing.T, dir string) *planFixture {
	t.Helper()
	return openPlans(t, dir, planfile.Options{MaxBytes: 1 << 10})
}

// folders returns a fixture whose plan paths may name a folder.
func folders(t *testing.T, rules ...engine.DialectRule) *planFixture {
	t.Helper()
	plans := openPlans(t, t.TempDir(), planfile.Options{MaxBytes: 1 << 10, Folders: true}, rules...)
	plans.set(time.Now().Truncate(time.Second))
	return plans
}

func openPlans(t *testing.T, dir string, o planfile.Options, rules ...engine.DialectRule) *planFixture {
	t.Helper()
	plans := &planFixture{t: t, dir: dir}
	plans.now.Store(time.Now)
	if o.Folders {
		o.Now = plans.clock
	}
	if len(rules) == 0 {
		plans.dialects = filepath.Join(t.TempDir(), "dialects")
	}
	root, err := planfile.Open(dir, o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = root.Close() })
	plans.Plans = engine.NewPlans(root, engine.PlanOptions{
		Now: plans.clock, Dialects: rules, DialectFile: plans.dialects,
		Watch:  func(path string) { plans.watched = append(plans.watched, path) },
		Expect: func(path string) { plans.expected = append(plans.expected, path) },
	})
	return plans
}

func (plans *planFixture) clock() time.Time { return plans.now.Load().(func() time.Time)() }

// set stops the clock at a moment.
func (plans *planFixture) set(now time.Time) { plans.now.Store(func() time.Time { return now }) }

// advance moves the clock.
func (plans *planFixture) advance(by time.Duration) { plans.set(plans.clock().Add(by)) }

// secondReader returns the plans of the same workspace for another process.
func (plans *planFixture) secondReader(t *testing.T) *planFixture {
	t.Helper()
	other := planFixtureAt(t, plans.dir)
	other.now.Store(plans.clock)
	return other
}

// write writes a file with an old modification time.
func (plans *planFixture) write(name, text string, ago time.Duration) {
	plans.t.Helper()
	path := filepath.Join(plans.dir, filepath.FromSlash(name))
	require.NoError(plans.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(plans.t, os.WriteFile(path, []byte(text), 0o644))
	then := plans.clock().Add(-ago)
	require.NoError(plans.t, os.Chtimes(path, then, then))
}

func TestPlanIsReadAnewOnlyWhenItChanged(t *testing.T) {
	plans := newPlanFixture(t)
	plans.write("tasks.md", twoItems, time.Hour)
	first, err := plans.Read("tasks.md")
	require.NoError(t, err)
	plans.write("tasks.md", twoItems, time.Minute) // touched
	again, err := plans.Read("tasks.md")
	require.NoError(t, err)
	require.Same(t, first.Reading, again.Reading)
	plans.write("tasks.md", strings.Replace(twoItems, "[ ]", "[x]", 1), time.Hour)
	changed, err := plans.Read("tasks.md")
	require.NoError(t, err)
	require.NotEqual(t, first.Reading.Hash, changed.Reading.Hash)
	require.Equal(t, 1, changed.Reading.Totals.Completed)
}

func TestOnlyPlansAreWatchedAndRemembered(t *testing.T) {
	plans := newPlanFixture(t)
	plans.write("tasks.md", twoItems, time.Hour)
	for _, name := range []string{"nowhere.md", "../outside.md", "tasks.md", "tasks.md"} {
		_, _ = plans.Read(name)
	}
	require.Equal(t, []string{"tasks.md"}, plans.watched)
	require.Equal(t, []string{"tasks.md"}, plans.Known())
}

func TestDeletedWorkspaceKeepsTheLastGoodReading(t *testing.T) {
	f := newRunFixture(t, newHookedStore(t), newPlanFixture(t))
	f.write("tasks.md", twoItems, time.Hour)
	require.Equal(t, "12", f.reading())
	if err := os.RemoveAll(f.dir); err != nil {
		t.Skipf("this system does not remove a folder that is open: %v", err)
	}
	p, err := f.Read("tasks.md")
	require.NoError(t, err)
	require.Equal(t, engine.StaleRebuild, p.Stale)
	require.Equal(t, 2, p.Reading.Len())
	_, err = f.List()
	var search *engine.SearchError
	require.ErrorAs(t, err, &search)
	require.True(t, search.Gone())
	require.NoError(t, os.Mkdir(f.dir, 0o755))
	f.write("tasks.md", twoItems, time.Hour)
	require.Equal(t, "12", f.reading())
}

const rainCriteria = "### Requirement 1\n#### Acceptance Criteria\n1. WHEN it rains THEN the siren SHALL sound\n"

func (plans *planFixture) criteria() []criteria.Criterion {
	plans.t.Helper()
	c, err := plans.Criteria("tasks.md", "")
	require.NoError(plans.t, err)
	return c.List
}

func TestCriteriaStandWhereTheDialectHasThem(t *testing.T) {
	plans := newPlanFixture(t)
	for name, text := range map[string]string{
		"rain/requirements.md": rainCriteria,
		"rain/spec.md":         "- **FR-001**: it MUST be loud\n",
		"rain/story.md":        "## Acceptance Criteria\n1. loud\n2. red\n",
		"requirements.md":      "WHEN a SHALL b\n\nWHEN c SHALL d\n\nWHEN e SHALL f\n",
	} {
		plans.write(name, text, time.Hour)
	}
	for _, c := range []struct {
		plan, dialect, path string
		n                   int
	}{
		{"rain/tasks.md", "kiro", "rain/requirements.md", 1},
		{"rain/tasks.md", "", "rain/requirements.md", 1},
		{"rain/tasks.md", "spec-kit", "rain/spec.md", 1},
		{"rain/story.md", "bmad", "rain/story.md", 2},
		{"tasks.md", "kiro", "requirements.md", 3},
		{"tasks.md", "spec-kit", "", 0},
		{"sun/tasks.md", "kiro", "", 0},
	} {
		got, err := plans.Criteria(c.plan, c.dialect)
		require.NoError(t, err)
		require.Equal(t, c.path, got.Path)
		require.Len(t, got.List, c.n)
	}
}

func TestCriteriaAreReadAgainOnlyAfterAChange(t *testing.T) {
	plans := folders(t)
	plans.advance(time.Hour) // the files count as settled
	plans.write("requirements.md", rainCriteria, time.Hour)
	first := plans.criteria()
	require.Len(t, first, 1)
	require.Same(t, &first[0], &plans.criteria()[0])
	plans.write("requirements.md", rainCriteria+"2. IF it stops THEN it SHALL say so\n", time.Hour)
	require.Len(t, plans.criteria(), 2)
	require.NoError(t, os.Remove(filepath.Join(plans.dir, "requirements.md")))
	require.Empty(t, plans.criteria())
	plans.write("requirements.md", rainCriteria, time.Hour)
	require.Equal(t, first, plans.criteria())

	plans.write("requirements.md", strings.Repeat("WHEN a SHALL b\n\n", 1<<10), time.Hour)
	got, err := plans.Criteria("tasks.md", "")
	require.ErrorIs(t, err, planfile.TooLarge)
	require.Equal(t, engine.Criteria{Path: "requirements.md"}, got)
	plans.write("requirements.md", rainCriteria, time.Hour)
	require.Len(t, plans.criteria(), 1)
}

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
		run, _, err := tx.StartRun(progress, coretest.Policy(), audit.Start{}, false)
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

func TestLookWithoutTheRun(t *testing.T) {
	f := newRunFixture(t, newHookedStore(t), newPlanFixture(t))
	_, err := f.Look(t.Context(), "run_nobody")
	require.Equal(t, core.Missing("run", "run_nobody"), err)
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

// A half-written file must not be replaced, because the editor would write the rest into the removed file. Package file
// tests what else can happen to a plan while it is written.
func TestHalfSavedPlanIsNotWritten(t *testing.T) {
	for half, settled := range map[string]error{"": &plan.ItemError{}, "# Plan\n\n- [ ] 1. First\n": nil} {
		f := newRunFixture(t, newHookedStore(t), newPlanFixture(t))
		f.write("tasks.md", twoItems, time.Hour)
		f.read()
		f.write("tasks.md", half, 0)
		complete := func() error {
			change := &engine.StatusChange{Marking: plan.Marking{Plan: "tasks.md", ItemID: "1", Status: plan.Completed}}
			_, err := f.Do(t.Context(), engine.Change{Apply: func(tx *engine.Tx) (any, error) { return tx.SetItemStatus(change) }})
			return err
		}
		var conflict *planfile.ConflictError
		require.ErrorAs(t, complete(), &conflict)
		require.Equal(t, plan.Hash(twoItems), conflict.Expected)
		text, err := os.ReadFile(filepath.Join(f.dir, "tasks.md"))
		require.NoError(t, err)
		require.Equal(t, half, string(text))
		f.advance(time.Second)
		require.IsType(t, settled, complete(), "the file may stay like that")
	}
}
