package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/engine"
	"waybill/plan"
	planfile "waybill/plan/file"
)

// An editor truncates a file before it writes it.
func TestHalfWrittenPlanKeepsTheLastGoodReading(t *testing.T) {
	for name, half := range map[string]string{
		"cut off":      "# Plan\n\n- [ ] 1. First\n",
		"empty":        "",
		"without item": "# Plan\n",
	} {
		t.Run(name, func(t *testing.T) {
			plans := newPlanFixture(t)
			plans.write("tasks.md", twoItems, time.Hour)
			plans.requireItems([]string{"1", "2"}, "")
			plans.write("tasks.md", half, 100*time.Millisecond)
			plans.requireItems([]string{"1", "2"}, engine.StaleSettling)
			plans.write("tasks.md", twoItems+"- [ ] 3. Third\n", 0) // the rest came
			plans.requireItems([]string{"1", "2", "3"}, "")
		})
	}
}

// After the settle period the file is used, whatever its content.
func TestFileWinsWhenItHasSettled(t *testing.T) {
	plans := newPlanFixture(t)
	plans.write("tasks.md", twoItems, time.Hour)
	plans.requireItems([]string{"1", "2"}, "")
	plans.write("tasks.md", "# Plan\n\n- [ ] 2. Second\n", 0)
	plans.requireItems([]string{"1", "2"}, engine.StaleSettling)
	plans.advance(149 * time.Millisecond)
	plans.requireItems([]string{"1", "2"}, engine.StaleSettling)
	plans.advance(time.Millisecond)
	plans.requireItems([]string{"2"}, "")
}

func TestPlanThatAppearsLaterIsPickedUp(t *testing.T) {
	plans := newPlanFixture(t)
	_, err := plans.Read("tasks.md")
	require.ErrorIs(t, err, planfile.Missing)
	plans.write("tasks.md", twoItems, 0)
	plans.requireItems([]string{"1", "2"}, "")
}

func TestMissingPlanKeepsTheLastGoodReading(t *testing.T) {
	plans := newPlanFixture(t)
	plans.write("tasks.md", twoItems, time.Hour)
	plans.requireItems([]string{"1", "2"}, "")
	require.NoError(t, os.Remove(filepath.Join(plans.dir, "tasks.md")))
	plans.requireItems([]string{"1", "2"}, engine.StaleRebuild)
	p, err := plans.Read("tasks.md")
	require.NoError(t, err)
	require.ErrorIs(t, p.Fault, planfile.Missing)
	plans.write("tasks.md", twoItems, time.Hour)
	plans.requireItems([]string{"1", "2"}, "")
}

// unusable asserts that a broken plan is an error before the first reading, and later keeps the last good one.
func unusable(t *testing.T, damage func(plans *planFixture), check func(err error)) {
	t.Helper()
	plans := newPlanFixture(t)
	damage(plans)
	_, err := plans.Read("tasks.md")
	check(err)
	require.NoError(t, os.Remove(filepath.Join(plans.dir, "tasks.md")))

	plans.write("tasks.md", twoItems, time.Hour)
	plans.requireItems([]string{"1", "2"}, "")
	require.NoError(t, os.Remove(filepath.Join(plans.dir, "tasks.md")))
	damage(plans)
	plans.requireItems([]string{"1", "2"}, engine.StaleRebuild)
	p, err := plans.Read("tasks.md")
	require.NoError(t, err)
	check(p.Fault)
}

func TestFolderInThePlaceOfThePlan(t *testing.T) {
	unusable(t, func(plans *planFixture) {
		require.NoError(t, os.Mkdir(filepath.Join(plans.dir, "tasks.md"), 0o755))
	}, func(err error) {
		require.ErrorIs(t, err, planfile.NotRegular)
	})
}

func TestPlanWithoutPermission(t *testing.T) {
	probe := filepath.Join(t.TempDir(), "probe")
	require.NoError(t, os.WriteFile(probe, nil, 0o000))
	if f, err := os.Open(probe); err == nil {
		_ = f.Close()
		t.Skip("this user or system reads files without permission")
	}
	unusable(t, func(plans *planFixture) {
		plans.write("tasks.md", twoItems, time.Hour)
		require.NoError(t, os.Chmod(filepath.Join(plans.dir, "tasks.md"), 0o000))
	}, func(err error) {
		require.ErrorIs(t, err, planfile.Unreadable)
	})
}

func TestPlanThatIsTooLarge(t *testing.T) {
	unusable(t, func(plans *planFixture) {
		plans.write("tasks.md", strings.Repeat("x", 2<<10), time.Hour)
	}, func(err error) {
		require.ErrorIs(t, err, planfile.TooLarge)
	})
}

// The plan is binary or has an invalid UTF-8 byte.
func TestPlanThatIsNotText(t *testing.T) {
	for reason, text := range map[string]string{
		plan.ReasonNotText:     "a\x00\x01\x02b",
		plan.ReasonInvalidUTF8: "- [ ] 1. a\xffb\n",
	} {
		t.Run(reason, func(t *testing.T) { unparsed(t, text, reason) })
	}
}

func TestPlanWithoutItems(t *testing.T) { unparsed(t, "# Only a title\n", plan.ReasonNoItems) }

// unparsed is unusable for a text that is not a plan.
func unparsed(t *testing.T, text, reason string) {
	t.Helper()
	unusable(t, func(plans *planFixture) {
		plans.write("tasks.md", text, time.Hour)
	}, func(err error) {
		var parse *plan.ParseError
		require.ErrorAs(t, err, &parse)
		require.Equal(t, reason, parse.Reason)
	})
}

func TestDeletedWorkspaceKeepsTheLastGoodReading(t *testing.T) {
	plans := newPlanFixture(t)
	plans.write("tasks.md", twoItems, time.Hour)
	plans.requireItems([]string{"1", "2"}, "")
	if err := os.RemoveAll(plans.dir); err != nil {
		t.Skipf("this system does not remove a folder that is open: %v", err)
	}
	plans.requireItems([]string{"1", "2"}, engine.StaleRebuild)
	_, err := plans.List()
	var search *engine.SearchError
	require.ErrorAs(t, err, &search)
	require.True(t, search.Gone())
	require.NoError(t, os.Mkdir(plans.dir, 0o755))
	plans.write("tasks.md", twoItems, time.Hour)
	plans.requireItems([]string{"1", "2"}, "")
}
