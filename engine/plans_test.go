package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/engine"
	planfile "waybill/plan/file"
)

const twoItems = "# Plan\n\n- [ ] 1. First\n- [ ] 2. Second\n"

// A planFixture is a workspace with plans and a clock that only the test moves.
type planFixture struct {
	*engine.Plans
	t       *testing.T
	dir     string
	clock   func() time.Time
	watched []string
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
	plans := &planFixture{t: t, dir: dir, clock: time.Now}
	root, err := planfile.Open(dir, planfile.Options{MaxBytes: 1 << 10})
	require.NoError(t, err)
	t.Cleanup(func() { _ = root.Close() })
	plans.Plans = engine.NewPlans(root, engine.PlanOptions{
		Now:   func() time.Time { return plans.clock() },
		Watch: func(path string) { plans.watched = append(plans.watched, path) },
	})
	return plans
}

// set stops the clock at a moment.
func (plans *planFixture) set(now time.Time) { plans.clock = func() time.Time { return now } }

// advance moves the clock.
func (plans *planFixture) advance(by time.Duration) { plans.set(plans.clock().Add(by)) }

// secondReader returns the plans of the same workspace for another process.
func (plans *planFixture) secondReader(t *testing.T) *planFixture {
	t.Helper()
	other := planFixtureAt(t, plans.dir)
	other.clock = func() time.Time { return plans.clock() }
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

// ids returns the item ids of a plan, and why it is stale.
func (plans *planFixture) ids(name string) (ids []string, stale string) {
	plans.t.Helper()
	p, err := plans.Read(name)
	require.NoError(plans.t, err)
	require.Equal(plans.t, p.Stale != "", p.Fault != nil, "stale %q, fault %v", p.Stale, p.Fault)
	ids = []string{}
	for _, it := range p.Reading.Items() {
		ids = append(ids, it.ID)
	}
	return ids, p.Stale
}

func (plans *planFixture) requireItems(want []string, stale string) {
	plans.t.Helper()
	ids, why := plans.ids("tasks.md")
	require.Equal(plans.t, want, ids)
	require.Equal(plans.t, stale, why)
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
