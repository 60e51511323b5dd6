package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/engine"
	"waybill/engine/planfile"
)

const twoItems = "# Plan\n\n- [ ] 1. First\n- [ ] 2. Second\n"

// A desk is a workspace with plans, and a clock that only moves when it is told to.
type desk struct {
	*engine.Plans
	t       *testing.T
	dir     string
	clock   func() time.Time
	watched []string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := deskAt(t, t.TempDir())
	d.set(time.Now().Truncate(time.Second))
	return d
}

// deskAt gives plans of a folder with the clock of the test.
func deskAt(t *testing.T, dir string) *desk {
	t.Helper()
	d := &desk{t: t, dir: dir, clock: time.Now}
	root, err := planfile.Open(dir, planfile.Options{MaxBytes: 1 << 10})
	require.NoError(t, err)
	t.Cleanup(func() { _ = root.Close() })
	d.Plans = engine.NewPlans(root, engine.PlanOptions{
		Now:   func() time.Time { return d.clock() },
		Watch: func(path string) { d.watched = append(d.watched, path) },
	})
	return d
}

// set stops the clock at a moment.
func (d *desk) set(now time.Time) { d.clock = func() time.Time { return now } }

// pass moves the clock.
func (d *desk) pass(by time.Duration) { d.set(d.clock().Add(by)) }

// another gives a second desk in the same workspace, as another process has it.
func (d *desk) another(t *testing.T) *desk {
	t.Helper()
	other := deskAt(t, d.dir)
	other.clock = func() time.Time { return d.clock() }
	return other
}

// write writes a file whose writing ended so long ago.
func (d *desk) write(name, text string, ago time.Duration) {
	d.t.Helper()
	path := filepath.Join(d.dir, filepath.FromSlash(name))
	require.NoError(d.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(d.t, os.WriteFile(path, []byte(text), 0o644))
	then := d.clock().Add(-ago)
	require.NoError(d.t, os.Chtimes(path, then, then))
}

// ids gives the item ids of a plan that can be read, and why it is stale.
func (d *desk) ids(name string) (ids []string, stale string) {
	d.t.Helper()
	p, err := d.Read(name)
	require.NoError(d.t, err)
	require.Equal(d.t, p.Stale != "", p.Fault != nil, "stale %q, fault %v", p.Stale, p.Fault)
	ids = []string{}
	for _, it := range p.Reading.Items() {
		ids = append(ids, it.ID)
	}
	return ids, p.Stale
}

func (d *desk) require(want []string, stale string) {
	d.t.Helper()
	ids, why := d.ids("tasks.md")
	require.Equal(d.t, want, ids)
	require.Equal(d.t, stale, why)
}

func TestPlanIsReadAnewOnlyWhenItChanged(t *testing.T) {
	d := newDesk(t)
	d.write("tasks.md", twoItems, time.Hour)
	first, err := d.Read("tasks.md")
	require.NoError(t, err)
	d.write("tasks.md", twoItems, time.Minute) // touched
	again, err := d.Read("tasks.md")
	require.NoError(t, err)
	require.Same(t, first.Reading, again.Reading)
	d.write("tasks.md", strings.Replace(twoItems, "[ ]", "[x]", 1), time.Hour)
	changed, err := d.Read("tasks.md")
	require.NoError(t, err)
	require.NotEqual(t, first.Reading.Hash, changed.Reading.Hash)
	require.Equal(t, 1, changed.Reading.Totals.Completed)
}

func TestEmptiedPlanIsStaleUntilItSaysSomethingAgain(t *testing.T) {
	d := newDesk(t)
	d.write("tasks.md", twoItems, time.Hour)
	d.require([]string{"1", "2"}, "")
	d.write("tasks.md", " \n", time.Second)
	d.require([]string{"1", "2"}, engine.StaleEmpty)
	p, err := d.Read("tasks.md")
	require.NoError(t, err)
	var stale *engine.StaleError
	require.ErrorAs(t, p.Fault, &stale)
	require.Equal(t, engine.StaleError{Path: "tasks.md", Reason: engine.StaleEmpty}, *stale)
	require.ErrorContains(t, stale, `"tasks.md" was emptied`)
	d.write("tasks.md", twoItems, time.Second)
	d.require([]string{"1", "2"}, "")
}

func TestPlanThatWasEmptyFromTheStartIsEmpty(t *testing.T) {
	d := newDesk(t)
	d.write("tasks.md", "", 0)
	d.require([]string{}, "")
	d.write("tasks.md", twoItems, 0)
	d.require([]string{"1", "2"}, "")
}

func TestOnlyPlansAreWatchedAndRemembered(t *testing.T) {
	d := newDesk(t)
	d.write("tasks.md", twoItems, time.Hour)
	for _, name := range []string{"nowhere.md", "../outside.md", "tasks.md", "tasks.md"} {
		_, _ = d.Read(name)
	}
	require.Equal(t, []string{"tasks.md"}, d.watched)
	require.Equal(t, []string{"tasks.md"}, d.Known())
}

func TestResolve(t *testing.T) {
	d := newDesk(t)
	d.write("specs/login/tasks.md", twoItems, time.Hour)
	d.write("specs/003/tasks.md", twoItems, time.Hour)
	d.write("TODO", twoItems, time.Hour)
	for name, want := range map[string]string{
		"login":                  "specs/login/tasks.md",
		"003":                    "specs/003/tasks.md",
		"TODO":                   "TODO",
		"specs/login/tasks.md":   "specs/login/tasks.md",
		"./specs//003/tasks.md":  "specs/003/tasks.md",
		"nowhere.md":             "nowhere.md",
		"../outside/of/tasks.md": "../outside/of/tasks.md",
	} {
		got, err := d.Resolve(name)
		require.NoError(t, err, name)
		require.Equal(t, want, got, name)
	}
	_, err := d.Resolve("logout")
	var refusal *core.Refusal
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, "logout", refusal.Subject)
	require.EqualError(t, refusal, `no plan has the name or the path "logout"`)
}

func TestListFindsWhatLiesInTheUsualPlaces(t *testing.T) {
	d := newDesk(t)
	d.write("tasks.md", twoItems, time.Hour)
	d.write("specs/login/tasks.md", twoItems, time.Hour)
	d.write("plans/a.md", twoItems, time.Hour)
	found, err := d.List()
	require.NoError(t, err)
	require.Equal(t, []string{"specs/login/tasks.md", "tasks.md"}, found)
}
