package engine_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/engine"
	"waybill/plan"
	planfile "waybill/plan/file"
)

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
		plans.clock = time.Now
		plans.writeCard("BACK-1", "To Do", time.Hour)
		plans.writeCard("BACK-2", "To Do", time.Hour)
		f := newRunFixture(t, newHookedStore(t), plans)
		wake := startFollow(t, f)
		plans.writeCard("BACK-2", "Done", 0)
		wake(backlog)
		require.Equal(t, []string{"BACK-2"}, lastLedger(t, f).Changed)
		require.NoError(t, os.RemoveAll(filepath.Join(plans.dir, "backlog")))
		wake(backlog)
		time.Sleep(time.Second)
		synctest.Wait()
		require.True(t, lastLedger(t, f).Gone)
		plans.writeCard("BACK-1", "Done", time.Second)
		wake(backlog)
		last := lastLedger(t, f)
		require.False(t, last.Gone)
		require.ElementsMatch(t, []string{"BACK-1", "BACK-2"}, last.Changed)
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

// lastLedger returns the newest ledger.changed event of the folder.
func lastLedger(t *testing.T, f *runFixture) (last engine.LedgerEvent) {
	t.Helper()
	found := false
	for _, ev := range events(t, f.Engine) {
		if ev.Type == core.LedgerChanged && ev.Subject == backlog {
			last, found = engine.LedgerEvent{}, true
			require.NoError(t, json.Unmarshal([]byte(ev.Data), &last))
		}
	}
	require.True(t, found, "nothing was said about the folder")
	return last
}
