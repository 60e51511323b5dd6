package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/engine"
	"waybill/engine/planfile"
	"waybill/ledger"
)

// An editor truncates a file before it writes it.
func TestFaultF8_HalfWrittenPlanKeepsTheLastGoodReading(t *testing.T) {
	for name, half := range map[string]string{
		"cut off":      "# Plan\n\n- [ ] 1. First\n",
		"empty":        "",
		"without item": "# Plan\n",
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.write("tasks.md", twoItems, time.Hour)
			d.require([]string{"1", "2"}, "")
			d.write("tasks.md", half, 100*time.Millisecond)
			d.require([]string{"1", "2"}, engine.StaleSettling)
			d.write("tasks.md", twoItems+"- [ ] 3. Third\n", 0) // the rest came
			d.require([]string{"1", "2", "3"}, "")
		})
	}
}

// After the window the file is believed, whatever it says.
func TestFaultF8_FileWinsWhenItHasSettled(t *testing.T) {
	d := newDesk(t)
	d.write("tasks.md", twoItems, time.Hour)
	d.require([]string{"1", "2"}, "")
	d.write("tasks.md", "# Plan\n\n- [ ] 2. Second\n", 0)
	d.require([]string{"1", "2"}, engine.StaleSettling)
	d.pass(149 * time.Millisecond)
	d.require([]string{"1", "2"}, engine.StaleSettling)
	d.pass(time.Millisecond)
	d.require([]string{"2"}, "")
}

// The plan is missing at first.
func TestFaultF1_PlanThatAppearsLaterIsPickedUp(t *testing.T) {
	d := newDesk(t)
	_, err := d.Read("tasks.md")
	require.ErrorIs(t, err, planfile.Missing)
	d.write("tasks.md", twoItems, 0)
	d.require([]string{"1", "2"}, "")
}

// The plan goes missing after it was read.
func TestFaultF2_MissingPlanKeepsTheLastGoodReading(t *testing.T) {
	d := newDesk(t)
	d.write("tasks.md", twoItems, time.Hour)
	d.require([]string{"1", "2"}, "")
	require.NoError(t, os.Remove(filepath.Join(d.dir, "tasks.md")))
	d.require([]string{"1", "2"}, engine.StaleRebuild)
	p, err := d.Read("tasks.md")
	require.NoError(t, err)
	require.ErrorIs(t, p.Fault, planfile.Missing)
	d.write("tasks.md", twoItems, time.Hour)
	d.require([]string{"1", "2"}, "")
}

// unusable asserts that a plan is an error while nothing was read yet, and keeps the last good reading
// when it is spoilt later.
func unusable(t *testing.T, spoil func(d *desk), check func(err error)) {
	t.Helper()
	d := newDesk(t)
	spoil(d)
	_, err := d.Read("tasks.md")
	check(err)
	require.NoError(t, os.Remove(filepath.Join(d.dir, "tasks.md")))

	d.write("tasks.md", twoItems, time.Hour)
	d.require([]string{"1", "2"}, "")
	require.NoError(t, os.Remove(filepath.Join(d.dir, "tasks.md")))
	spoil(d)
	d.require([]string{"1", "2"}, engine.StaleRebuild)
	p, err := d.Read("tasks.md")
	require.NoError(t, err)
	check(p.Fault)
}

// Something that is not a file is in the place of the plan.
func TestFaultF3_FolderInThePlaceOfThePlan(t *testing.T) {
	unusable(t, func(d *desk) {
		require.NoError(t, os.Mkdir(filepath.Join(d.dir, "tasks.md"), 0o755))
	}, func(err error) {
		require.ErrorIs(t, err, planfile.NotRegular)
	})
}

// The plan must not be read.
func TestFaultF4_PlanWithoutPermission(t *testing.T) {
	probe := filepath.Join(t.TempDir(), "probe")
	require.NoError(t, os.WriteFile(probe, nil, 0o000))
	if f, err := os.Open(probe); err == nil {
		_ = f.Close()
		t.Skip("this user or system reads files without permission")
	}
	unusable(t, func(d *desk) {
		d.write("tasks.md", twoItems, time.Hour)
		require.NoError(t, os.Chmod(filepath.Join(d.dir, "tasks.md"), 0o000))
	}, func(err error) {
		require.ErrorIs(t, err, planfile.Unreadable)
	})
}

// The plan is larger than any plan.
func TestFaultF5_PlanThatIsTooLarge(t *testing.T) {
	unusable(t, func(d *desk) {
		d.write("tasks.md", strings.Repeat("x", 2<<10), time.Hour)
	}, func(err error) {
		require.ErrorIs(t, err, planfile.TooLarge)
	})
}

// The plan is binary, or has a byte that is not UTF-8.
func TestFaultF6_PlanThatIsNotText(t *testing.T) {
	for reason, text := range map[string]string{
		ledger.ReasonNotText:     "a\x00\x01\x02b",
		ledger.ReasonInvalidUTF8: "- [ ] 1. a\xffb\n",
	} {
		t.Run(reason, func(t *testing.T) { unparsed(t, text, reason) })
	}
}

func TestPlanWithoutItems(t *testing.T) { unparsed(t, "# Only a title\n", ledger.ReasonNoItems) }

// unparsed is unusable for a text that is no plan.
func unparsed(t *testing.T, text, reason string) {
	t.Helper()
	unusable(t, func(d *desk) {
		d.write("tasks.md", text, time.Hour)
	}, func(err error) {
		var parse *ledger.ParseError
		require.ErrorAs(t, err, &parse)
		require.Equal(t, reason, parse.Reason)
	})
}

// The folder of the workspace is deleted during the run.
func TestFaultF24_DeletedWorkspaceKeepsTheLastGoodReading(t *testing.T) {
	d := newDesk(t)
	d.write("tasks.md", twoItems, time.Hour)
	d.require([]string{"1", "2"}, "")
	if err := os.RemoveAll(d.dir); err != nil {
		t.Skipf("this system does not remove a folder that is open: %v", err)
	}
	d.require([]string{"1", "2"}, engine.StaleRebuild)
	_, err := d.List()
	var search *engine.SearchError
	require.ErrorAs(t, err, &search)
	require.True(t, search.Gone())
	require.NoError(t, os.Mkdir(d.dir, 0o755))
	d.write("tasks.md", twoItems, time.Hour)
	d.require([]string{"1", "2"}, "")
}
