package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/engine"
	"waybill/engine/planfile"
	"waybill/ledger"
)

// folders gives a desk at which a path may name a folder, and what it was told to expect.
func folders(t *testing.T, rules ...engine.DialectRule) (d *desk, expected *[]string) {
	t.Helper()
	d, expected = &desk{t: t, dir: t.TempDir(), clock: time.Now}, new([]string)
	d.set(time.Now().Truncate(time.Second))
	root, err := planfile.Open(d.dir, planfile.Options{Folders: true, Now: func() time.Time { return d.clock() }})
	require.NoError(t, err)
	t.Cleanup(func() { _ = root.Close() })
	d.Plans = engine.NewPlans(root, engine.PlanOptions{
		Now:      func() time.Time { return d.clock() },
		Watch:    func(path string) { d.watched = append(d.watched, path) },
		Expect:   func(path string) { *expected = append(*expected, path) },
		Dialects: rules,
	})
	return d, expected
}

// survey gives the plans of a workspace, and what lies beside them.
func (d *desk) survey() (plans, others []string) {
	d.t.Helper()
	l, err := d.Survey()
	require.NoError(d.t, err)
	for _, o := range l.Others {
		require.Error(d.t, o.Why)
		others = append(others, o.Path)
	}
	return l.Paths, others
}

// Where there are other files besides plans, those count that have items, and no other.
func TestListAsksWhatLiesInAMixedPlace(t *testing.T) {
	d, expected := folders(t)
	d.write("docs/plans/a.md", twoItems, time.Hour)
	d.write("docs/plans/README.md", twoItems, time.Hour)
	d.write("docs/plans/notes.md", "# Notes\n\nNothing to do.\n", time.Hour)
	d.write("docs/plans/blank.md", "\n", time.Hour)
	d.write("docs/stories/1.1.a.md", twoItems, time.Hour)
	d.write("tasks.md", "# Nothing in it, but it is a plan by its name\n", time.Hour)
	plans, others := d.survey()
	require.Equal(t, []string{"docs/plans/a.md", "docs/stories/1.1.a.md", "tasks.md"}, plans)
	require.Equal(t, []string{"docs/plans/blank.md", "docs/plans/notes.md"}, others)
	require.Contains(t, *expected, "docs/plans")
	require.Contains(t, *expected, "backlog/tasks")
	require.Empty(t, d.watched, "a look is no reading")

	d.write("docs/plans/notes.md", twoItems, time.Minute)
	plans, others = d.survey()
	require.Contains(t, plans, "docs/plans/notes.md")
	require.Equal(t, []string{"docs/plans/blank.md"}, others)
}

// A plan that was one stays one, also if nothing can be read from it now.
func TestListKeepsWhatWasAPlan(t *testing.T) {
	d, _ := folders(t)
	d.write("docs/plans/a.md", twoItems, time.Hour)
	_, err := d.Read("docs/plans/a.md")
	require.NoError(t, err)
	d.write("docs/plans/a.md", "# Emptied\n", time.Minute)
	plans, others := d.survey()
	require.Equal(t, []string{"docs/plans/a.md"}, plans)
	require.Empty(t, others)
}

// Of very many plans, those that changed last are listed, and it is said that there are more.
func TestListHasALimit(t *testing.T) {
	d, _ := folders(t)
	for i := range 101 {
		ago := time.Hour
		if i == 50 {
			ago = 2 * time.Hour
		}
		d.write(fmt.Sprintf("specs/%03d/tasks.md", i), twoItems, ago)
	}
	plans, err := d.List()
	require.ErrorContains(t, err, "there are 101 plans: the 100 that changed last")
	require.Len(t, plans, 100)
	require.NotContains(t, plans, "specs/050/tasks.md")
	require.True(t, slices.IsSorted(plans))
	require.NoError(t, os.RemoveAll(filepath.Join(d.dir, "specs", "007")))
	plans, err = d.List()
	require.NoError(t, err)
	require.Len(t, plans, 100)
}

func TestResolveShortNames(t *testing.T) {
	d, _ := folders(t)
	d.write("docs/plans/2026-01-01-a.md", twoItems, time.Hour)
	d.write("tasks/tasks-prd-b.md", twoItems, time.Hour)
	d.write("openspec/changes/add-c/tasks.md", twoItems, time.Hour)
	d.write("backlog/tasks/back-1 - D.md", twoItems, time.Hour)
	d.write("conductor/tracks/e_1/plan.md", twoItems, time.Hour)
	for name, want := range map[string]string{
		"2026-01-01-a": "docs/plans/2026-01-01-a.md", "tasks-prd-b": "tasks/tasks-prd-b.md", "add-c": "openspec/changes/add-c/tasks.md",
		"tasks": "backlog/tasks", "e_1": "conductor/tracks/e_1/plan.md", "backlog/tasks/": "backlog/tasks",
	} {
		got, err := d.Resolve(name)
		require.NoError(t, err, name)
		require.Equal(t, want, got, name)
		if name != "backlog/tasks/" {
			require.Contains(t, d.Candidates(name), want, "it is found by that name when it is gone")
		}
	}
	_, err := d.Resolve("plans")
	require.EqualError(t, err, `no plan has the name or the path "plans"`)
	for _, path := range d.Candidates("x") {
		require.NotContains(t, path, "*")
	}
}

// A version number in the name of a folder makes no path of it.
func TestResolveShortNamesWithADot(t *testing.T) {
	d, _ := folders(t)
	d.write("specs/v1.2/tasks.md", twoItems, time.Hour)
	d.write("docs/plans/2026-01-01-v1.2.md", twoItems, time.Hour)
	d.write("v2.0", twoItems, time.Hour)
	d.write("specs/v2.0/tasks.md", twoItems, time.Hour)
	for name, want := range map[string]string{
		"v1.2": "specs/v1.2/tasks.md", "2026-01-01-v1.2": "docs/plans/2026-01-01-v1.2.md", "v2.0": "v2.0", "v9.md": "v9.md", "..": "..",
	} {
		got, err := d.Resolve(name)
		require.NoError(t, err, name)
		require.Equal(t, want, got, name)
	}
	_, err := d.Read("v2.0")
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(d.dir, "v2.0")))
	got, err := d.Resolve("v2.0")
	require.NoError(t, err)
	require.Equal(t, "v2.0", got, "it was a plan, and its name means no other one now")
}

// The configuration sets the dialect of the plans that fit, and everybody who reads them hears of it.
func TestDialectRules(t *testing.T) {
	d, _ := folders(t,
		engine.DialectRule{Pattern: "specs/a/tasks.md", Dialect: "openspec"},
		engine.DialectRule{Pattern: "./specs/*/tasks.md", Dialect: "kiro"},
	)
	for name, want := range map[string]string{"specs/a/tasks.md": "openspec", "specs/b/tasks.md": "kiro", "tasks.md": "spec-context"} {
		d.write(name, twoItems, time.Hour)
		p, err := d.Read(name)
		require.NoError(t, err)
		require.Equal(t, want, p.Reading.Dialect, name)
	}
	p, err := d.Read("specs/b/tasks.md")
	require.NoError(t, err)
	require.Equal(t, ledger.Evidence{Dialect: "kiro", Signal: "set by configuration for ./specs/*/tasks.md"}, p.Reading.Evidence[0])
	require.Len(t, d.Dialects(), 2)
}

func TestDialectRulesAreChecked(t *testing.T) {
	for want, rule := range map[string]engine.DialectRule{
		"no dialect \"kiri\": use one of spec-context, spec-workflow, kiro": {Pattern: "*.md", Dialect: "kiri"},
		`the part "[b" of the pattern "a/[b/c.md"`:                          {Pattern: "a/[b/c.md", Dialect: "kiro"},
		`has "**": write one * for each folder`:                             {Pattern: "**/a.md", Dialect: "kiro"},
		"the pattern is empty":                                              {Dialect: "kiro"},
	} {
		require.ErrorContains(t, engine.CheckDialectRule(rule), want)
	}
	require.NoError(t, engine.CheckDialectRule(engine.DialectRule{Pattern: ".kiro/specs/*/tasks.md", Dialect: "kiro"}))
}

// A plan that appears later is read, and so watched, without anybody asking for it.
func TestFollowFindsNewPlans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, expected := folders(t)
		d.set(time.Now())
		s := newSite(t, watch(), d)
		wake := following(t, s)
		require.Empty(t, d.watched)
		require.Contains(t, *expected, ".kiro/specs")

		d.write(".kiro/specs/a/tasks.md", twoItems, time.Hour)
		wake(".kiro/specs")
		require.Equal(t, []string{".kiro/specs/a/tasks.md"}, d.watched)
		d.write("docs/plans/b.md", "# Notes\n", time.Hour)
		wake("docs/plans")
		require.Len(t, d.watched, 1, "it is none yet")
		d.write("docs/plans/b.md", twoItems, time.Minute)
		wake("docs/plans", "docs/plans/b.md")
		require.Equal(t, []string{".kiro/specs/a/tasks.md", "docs/plans/b.md"}, d.watched)
		d.write("tasks.md", twoItems, time.Hour)
		wake("tasks.md")
		require.Equal(t, "tasks.md", d.watched[2])
		d.write("tasks.md", twoItems+"- [ ] 3. Third\n", 0)
		wake("tasks.md")
		require.Equal(t, [][]string{{"3"}}, s.changes())
	})
}

// A folder with a file that has every task has one name, whatever it is called by.
func TestResolveAFolderWithAllTasksInOneFile(t *testing.T) {
	d, _ := folders(t)
	d.write(".taskmaster/tasks/task_001.txt", "# Task ID: 1\n", time.Hour)
	for _, want := range []string{".taskmaster/tasks", ".taskmaster/tasks/tasks.json"} {
		for _, name := range []string{".taskmaster/tasks", "./.taskmaster/tasks/"} {
			got, err := d.Resolve(name)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		d.write(".taskmaster/tasks/tasks.json", "{}", time.Hour)
	}
}
