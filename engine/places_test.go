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

	"waybill/core"
	"waybill/engine"
	"waybill/plan"
	planfile "waybill/plan/file"
)

// survey returns the plans of a workspace and the other files.
func (d *planFixture) survey() (plans, others []string) {
	d.t.Helper()
	l, err := d.Survey()
	require.NoError(d.t, err)
	for _, o := range l.Others {
		require.Error(d.t, o.Why)
		others = append(others, o.Path)
	}
	return l.Paths, others
}

// In mixed folders, only files with items are plans.
func TestListAsksWhatLiesInAMixedPlace(t *testing.T) {
	d := folders(t)
	d.write("docs/plans/a.md", twoItems, time.Hour)
	d.write("docs/plans/README.md", twoItems, time.Hour)
	d.write("docs/plans/notes.md", "# Notes\n\nNothing to do.\n", time.Hour)
	d.write("docs/plans/blank.md", "\n", time.Hour)
	d.write("docs/stories/1.1.a.md", twoItems, time.Hour)
	d.write("tasks.md", "# Nothing in it, but it is a plan by its name\n", time.Hour)
	plans, others := d.survey()
	require.Equal(t, []string{"docs/plans/a.md", "docs/stories/1.1.a.md", "tasks.md"}, plans)
	require.Equal(t, []string{"docs/plans/blank.md", "docs/plans/notes.md"}, others)
	require.Contains(t, d.expected, "docs/plans")
	require.Contains(t, d.expected, "backlog/tasks")
	require.Empty(t, d.watched, "a look is no reading")

	d.write("docs/plans/notes.md", twoItems, time.Minute)
	plans, others = d.survey()
	require.Contains(t, plans, "docs/plans/notes.md")
	require.Equal(t, []string{"docs/plans/blank.md"}, others)
}

// Of many plans, the last changed ones are listed, with an error that there are more.
func TestListHasALimit(t *testing.T) {
	d := folders(t)
	for i := range 101 {
		ago := time.Hour
		if i == 50 {
			ago = 2 * time.Hour
		}
		d.write(fmt.Sprintf("specs/%03d/tasks.md", i), twoItems, ago)
	}
	plans, err := d.List()
	require.ErrorContains(t, err, "there are 101 plans; the 100 that changed last")
	require.Len(t, plans, 100)
	require.NotContains(t, plans, "specs/050/tasks.md")
	require.True(t, slices.IsSorted(plans))
	require.NoError(t, os.RemoveAll(filepath.Join(d.dir, "specs", "007")))
	plans, err = d.List()
	require.NoError(t, err)
	require.Len(t, plans, 100)
}

// The first rule that matches counts, and a change of the rules takes effect without a change of a plan.
func TestPlansFollowTheDialectRules(t *testing.T) {
	rules := []engine.DialectRule{{Pattern: "specs/a/tasks.md", Dialect: "openspec"}, {Pattern: "./specs/*/tasks.md", Dialect: "kiro"}}
	plans, set := folders(t), folders(t, rules...)
	dialects := func(plans *planFixture) (got string) {
		for _, path := range []string{"specs/a/tasks.md", "specs/b/tasks.md", "tasks.md"} {
			p, err := plans.Read(path)
			if err != nil {
				plans.write(path, twoItems, time.Hour)
				p, err = plans.Read(path)
			}
			require.NoError(t, err)
			require.Empty(t, p.Stale)
			got += p.Reading.Dialect + " "
		}
		return got
	}
	require.Equal(t, "openspec kiro spec-context ", dialects(set))
	require.Equal(t, rules, set.Dialects())
	for _, row := range []struct {
		rules []engine.DialectRule
		want  string
	}{
		{nil, "spec-context spec-context spec-context "},
		{rules, "openspec kiro spec-context "},
		{[]engine.DialectRule{{Pattern: "*.md", Dialect: "spec-workflow"}}, "spec-context spec-context spec-workflow "},
		{nil, "spec-context spec-context spec-context "},
		{nil, "spec-context spec-context spec-context "}, // there may be none to remove
	} {
		require.NoError(t, engine.WriteDialects(plans.dialects, row.rules))
		require.Equal(t, row.want, dialects(plans))
		require.Len(t, plans.Dialects(), len(row.rules))
	}
	p, err := set.Read("specs/b/tasks.md")
	require.NoError(t, err)
	require.Equal(t, plan.Evidence{Dialect: "kiro", Signal: "set by configuration for ./specs/*/tasks.md"}, p.Reading.Evidence[0])
}

func TestDialectRulesAreChecked(t *testing.T) {
	for want, rule := range map[string]engine.DialectRule{
		`no dialect "kiri"; perhaps: kiro`:         {Pattern: "*.md", Dialect: "kiri"},
		`the part "[b" of the pattern "a/[b/c.md"`: {Pattern: "a/[b/c.md", Dialect: "kiro"},
		`has "**": write one * for each folder`:    {Pattern: "**/a.md", Dialect: "kiro"},
		"the pattern is empty":                     {Dialect: "kiro"},
	} {
		require.ErrorContains(t, engine.CheckDialectRule(rule), want)
	}
	require.NoError(t, engine.CheckDialectRule(engine.DialectRule{Pattern: ".kiro/specs/*/tasks.md", Dialect: "kiro"}))
}

// A new plan is read and watched without a call.
func TestFollowFindsNewPlans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plans := folders(t)
		plans.set(time.Now())
		f := newRunFixture(t, newHookedStore(t), plans)
		wake := startFollow(t, f)
		require.Empty(t, plans.watched)
		require.Contains(t, plans.expected, ".kiro/specs")

		plans.write(".kiro/specs/a/tasks.md", twoItems, time.Hour)
		wake(".kiro/specs")
		require.Equal(t, []string{".kiro/specs/a/tasks.md"}, plans.watched)
		plans.write("docs/plans/b.md", "# Notes\n", time.Hour)
		wake("docs/plans")
		require.Len(t, plans.watched, 1, "it is none yet")
		plans.write("docs/plans/b.md", twoItems, time.Minute)
		wake("docs/plans", "docs/plans/b.md")
		require.Equal(t, []string{".kiro/specs/a/tasks.md", "docs/plans/b.md"}, plans.watched)
		plans.write("tasks.md", twoItems, time.Hour)
		wake("tasks.md")
		require.Equal(t, "tasks.md", plans.watched[2])
		plans.write("tasks.md", twoItems+"- [ ] 3. Third\n", 0)
		wake("tasks.md")
		require.Equal(t, []string{"[3]"}, f.records())
	})
}

func TestResolve(t *testing.T) {
	plans := folders(t)
	for _, path := range []string{
		"specs/login/tasks.md", "specs/003/tasks.md", "TODO", "docs/plans/2026-01-01-a.md", "tasks/tasks-prd-b.md", "openspec/changes/add-c/tasks.md",
		"backlog/tasks/back-1 - D.md", "conductor/tracks/e_1/plan.md", "specs/v1.2/tasks.md", "docs/plans/2026-01-01-v1.2.md", "v2.0", "specs/v2.0/tasks.md",
	} {
		plans.write(path, twoItems, time.Hour)
	}
	for name, want := range map[string]string{
		// A short name, which may have a version number.
		"login": "specs/login/tasks.md", "003": "specs/003/tasks.md", "2026-01-01-a": "docs/plans/2026-01-01-a.md", "tasks-prd-b": "tasks/tasks-prd-b.md",
		"add-c": "openspec/changes/add-c/tasks.md", "tasks": "backlog/tasks", "e_1": "conductor/tracks/e_1/plan.md",
		"v1.2": "specs/v1.2/tasks.md", "2026-01-01-v1.2": "docs/plans/2026-01-01-v1.2.md",
	} {
		got, err := plans.Resolve(name)
		require.NoError(t, err, name)
		require.Equal(t, want, got, name)
		require.Contains(t, plans.Candidates(name), want, "it is found by that name when it is gone")
	}
	for name, want := range map[string]string{
		"TODO": "TODO", "specs/login/tasks.md": "specs/login/tasks.md", "./specs//003/tasks.md": "specs/003/tasks.md", "backlog/tasks/": "backlog/tasks",
		"nowhere.md": "nowhere.md", "../outside/of/tasks.md": "../outside/of/tasks.md", "v2.0": "v2.0", "v9.md": "v9.md", "..": "..",
	} {
		got, err := plans.Resolve(name)
		require.NoError(t, err, name)
		require.Equal(t, want, got, name)
	}
	for _, path := range plans.Candidates("x") {
		require.NotContains(t, path, "*")
	}
	_, err := plans.Resolve("logout")
	require.EqualError(t, err, `no plan has the name or path "logout"`)
	var refusal *core.Refusal
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, "logout", refusal.Subject)

	_, err = plans.Read("v2.0")
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(plans.dir, "v2.0")))
	got, err := plans.Resolve("v2.0")
	require.NoError(t, err)
	require.Equal(t, "v2.0", got, "it was a plan, and its name means no other one now")
	plans.write(".taskmaster/tasks/task_001.txt", "# Task ID: 1\n", time.Hour)
	for _, want := range []string{".taskmaster/tasks", ".taskmaster/tasks/tasks.json"} {
		got, err = plans.Resolve("./.taskmaster/tasks/")
		require.NoError(t, err)
		require.Equal(t, want, got)
		plans.write(".taskmaster/tasks/tasks.json", "{}", time.Hour) // it has all tasks of the folder
	}
}

func TestDialectFileIsReadAsFarAsPossible(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dialects")
	require.NoError(t, os.WriteFile(file, []byte("a.md=klingon\n*=b.md=kiro\n"), 0o600))
	rules, err := engine.ReadDialects(file)
	require.ErrorContains(t, err, `there is no dialect "klingon"`)
	require.Equal(t, []engine.DialectRule{{Pattern: "*=b.md", Dialect: "kiro"}}, rules)
	require.Error(t, engine.CheckDialectRule(engine.DialectRule{Pattern: "a\nb", Dialect: "kiro"}), "it would be two lines")
	require.Error(t, engine.WriteDialects(filepath.Join(file, "below"), rules))

	large, link := filepath.Join(t.TempDir(), "large"), filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.WriteFile(large, make([]byte, 2<<20), 0o600))
	_, err = engine.ReadDialects(large)
	require.ErrorContains(t, err, "has more than")
	if os.Symlink(file, link) == nil {
		_, err = engine.ReadDialects(link)
		require.ErrorContains(t, err, "is a symbolic link")
	}
}

const backlog = "backlog/tasks"

// card returns one file of a plan that is a folder.
func card(id, status string) string {
	return fmt.Sprintf("---\nid: %s\ntitle: Card %s\nstatus: %s\n---\n\nWhat is to be done.\n", id, id, status)
}

// writeCard writes a file with an old modification time and keeps that of the folder old too.
func (plans *planFixture) writeCard(id, status string, ago time.Duration) {
	plans.t.Helper()
	plans.write(backlog+"/"+id+" - Card.md", card(id, status), ago)
	plans.listed(ago)
}

// listed sets the modification time of the folder.
func (plans *planFixture) listed(ago time.Duration) {
	plans.t.Helper()
	then := plans.clock().Add(-ago)
	require.NoError(plans.t, os.Chtimes(filepath.Join(plans.dir, filepath.FromSlash(backlog)), then, then))
}

func (plans *planFixture) removeCard(id string, ago time.Duration) {
	plans.t.Helper()
	require.NoError(plans.t, os.Remove(filepath.Join(plans.dir, filepath.FromSlash(backlog), id+" - Card.md")))
	plans.listed(ago)
}

func TestFolderIsAPlan(t *testing.T) {
	d := folders(t)
	d.writeCard("BACK-10", "To Do", time.Hour)
	d.writeCard("BACK-2", "In Progress", time.Minute)
	plans, others := d.survey()
	require.Equal(t, []string{backlog}, plans)
	require.Empty(t, others)
	p, err := d.Read(backlog)
	require.NoError(t, err)
	require.Equal(t, []string{"BACK-2", "BACK-10"}, slicesOf(p.Reading))
	require.Equal(t, d.clock().Add(-time.Minute).UnixMilli(), p.Reading.MtimeMs)
	require.NotEmpty(t, p.Reading.Hash)
	require.Equal(t, []string{backlog}, d.watched)
	again, err := d.Read(backlog)
	require.NoError(t, err)
	require.Same(t, p.Reading, again.Reading)

	d.writeCard("BACK-2", "Done", time.Minute)
	changed, err := d.Read(backlog)
	require.NoError(t, err)
	require.NotEqual(t, p.Reading.Hash, changed.Reading.Hash)
	require.Equal(t, 1, changed.Reading.Totals.Completed)
}

func slicesOf(r *plan.Reading) (ids []string) {
	for id := range r.IDs() {
		ids = append(ids, id)
	}
	return ids
}

// An editor removes a file of the folder and writes it again.
func TestFileOfAFolderIsAwayForAMoment(t *testing.T) {
	plans := folders(t)
	plans.writeCard("BACK-1", "To Do", time.Hour)
	plans.writeCard("BACK-2", "To Do", time.Hour)
	_, err := plans.Read(backlog)
	require.NoError(t, err)
	plans.removeCard("BACK-1", 0)
	p, err := plans.Read(backlog)
	require.NoError(t, err)
	require.Equal(t, engine.StaleSettling, p.Stale)
	require.Equal(t, []string{"BACK-1", "BACK-2"}, slicesOf(p.Reading))
	plans.advance(time.Second)
	p, err = plans.Read(backlog)
	require.NoError(t, err)
	require.Empty(t, p.Stale)
	require.Equal(t, []string{"BACK-2"}, slicesOf(p.Reading))
}

// A folder that is removed and restored is recorded like a file.
func TestFolderGoesAndComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plans := folders(t)
		plans.set(time.Now())
		plans.now.Store(time.Now)
		plans.writeCard("BACK-1", "To Do", time.Hour)
		plans.writeCard("BACK-2", "To Do", time.Hour)
		f := newRunFixture(t, newHookedStore(t), plans)
		wake := startFollow(t, f)
		plans.writeCard("BACK-2", "Done", 0)
		wake(backlog)
		require.Equal(t, []string{"[BACK-2]"}, f.records())
		require.NoError(t, os.RemoveAll(filepath.Join(plans.dir, "backlog")))
		wake(backlog)
		time.Sleep(time.Second)
		synctest.Wait()
		plans.writeCard("BACK-1", "Done", time.Second)
		wake(backlog)
		require.Equal(t, []string{"[BACK-2]", "gone", "[BACK-2,BACK-1]"}, f.records())
	})
}

func TestFoldersWithinAPlanAreExpected(t *testing.T) {
	plans := folders(t)
	plan := "---\nphase: \"01\"\nplan: \"01\"\nwave: 1\n---\n<task type=\"auto\">\n  <name>Task 1: Pigeon register</name>\n  <done>every ring number is unique</done>\n</task>\n"
	plans.write(".planning/phases/01-a/01-01-PLAN.md", plan, time.Hour)
	_, err := plans.Read(".planning/phases")
	require.NoError(t, err)
	require.Contains(t, plans.expected, ".planning/phases/01-a")
}

// An unreadable file of the folder makes the plan stale, and the fault names the file.
func TestLinkInAFolderDegradesThePlan(t *testing.T) {
	plans := folders(t)
	plans.writeCard("BACK-1", "To Do", time.Hour)
	_, err := plans.Read(backlog)
	require.NoError(t, err)
	link := filepath.Join(plans.dir, filepath.FromSlash(backlog), "BACK-2 - Card.md")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
	p, err := plans.Read(backlog)
	require.NoError(t, err)
	require.Equal(t, engine.StaleRebuild, p.Stale)
	require.ErrorIs(t, p.Fault, planfile.OutsideWorkspace)
	require.ErrorContains(t, p.Fault, "BACK-2 - Card.md")
	require.Equal(t, []string{"BACK-1"}, slicesOf(p.Reading))
}
