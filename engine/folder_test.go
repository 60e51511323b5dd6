package engine_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/engine"
	"waybill/engine/planfile"
	"waybill/ledger"
	"waybill/store/memory"
)

const backlog = "backlog/tasks"

// card is a file of a folder that is a plan.
func card(id, status string) string {
	return fmt.Sprintf("---\nid: %s\ntitle: Card %s\nstatus: %s\n---\n\nWhat is to be done.\n", id, id, status)
}

// card writes a file whose writing ended so long ago, as if the list of files had been as it is for long.
func (d *desk) card(id, status string, ago time.Duration) {
	d.t.Helper()
	d.write(backlog+"/"+id+" - Card.md", card(id, status), ago)
	d.listed(ago)
}

// listed sets when the list of files changed.
func (d *desk) listed(ago time.Duration) {
	d.t.Helper()
	then := d.clock().Add(-ago)
	require.NoError(d.t, os.Chtimes(filepath.Join(d.dir, filepath.FromSlash(backlog)), then, then))
}

func (d *desk) uncard(id string, ago time.Duration) {
	d.t.Helper()
	require.NoError(d.t, os.Remove(filepath.Join(d.dir, filepath.FromSlash(backlog), id+" - Card.md")))
	d.listed(ago)
}

func TestFolderIsAPlan(t *testing.T) {
	d, _ := folders(t)
	d.card("BACK-10", "To Do", time.Hour)
	d.card("BACK-2", "In Progress", time.Minute)
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

	d.card("BACK-2", "Done", time.Minute)
	changed, err := d.Read(backlog)
	require.NoError(t, err)
	require.NotEqual(t, p.Reading.Hash, changed.Reading.Hash)
	require.Equal(t, 1, changed.Reading.Totals.Completed)
}

func slicesOf(r *ledger.Reading) (ids []string) {
	for id := range r.IDs() {
		ids = append(ids, id)
	}
	return ids
}

// A file of the folder is away for a moment, as editors have it that save by removing it.
func TestFaultF9_FileOfAFolderIsAwayForAMoment(t *testing.T) {
	d, _ := folders(t)
	d.card("BACK-1", "To Do", time.Hour)
	d.card("BACK-2", "To Do", time.Hour)
	_, err := d.Read(backlog)
	require.NoError(t, err)
	d.uncard("BACK-1", 0)
	p, err := d.Read(backlog)
	require.NoError(t, err)
	require.Equal(t, engine.StaleSettling, p.Stale)
	require.Equal(t, []string{"BACK-1", "BACK-2"}, slicesOf(p.Reading))
	d.pass(time.Second)
	p, err = d.Read(backlog)
	require.NoError(t, err)
	require.Empty(t, p.Stale)
	require.Equal(t, []string{"BACK-2"}, slicesOf(p.Reading))
}

// The folder goes, and comes back: that is told as it is of a file. So is a change of any of its files.
func TestFaultF10_FolderGoesAndComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := folders(t)
		d.set(time.Now())
		d.clock = time.Now
		d.card("BACK-1", "To Do", time.Hour)
		d.card("BACK-2", "To Do", time.Hour)
		s := newSite(t, watch(), d)
		wake := following(t, s)
		d.card("BACK-2", "Done", 0)
		wake(backlog)
		require.Equal(t, []string{"BACK-2"}, lastLedger(t, s).Changed)
		require.NoError(t, os.RemoveAll(filepath.Join(d.dir, "backlog")))
		wake(backlog)
		time.Sleep(time.Second)
		synctest.Wait()
		require.True(t, lastLedger(t, s).Gone)
		d.card("BACK-1", "Done", time.Second)
		wake(backlog)
		last := lastLedger(t, s)
		require.False(t, last.Gone)
		require.ElementsMatch(t, []string{"BACK-1", "BACK-2"}, last.Changed)
	})
}

// A change below a folder within the plan is one of the plan.
func TestFoldersWithinAPlanAreExpected(t *testing.T) {
	d, expected := folders(t)
	plan := "---\nphase: \"01\"\nplan: \"01\"\nwave: 1\n---\n<task type=\"auto\">\n  <name>Task 1: Pigeon register</name>\n  <done>every ring number is unique</done>\n</task>\n"
	d.write(".planning/phases/01-a/01-01-PLAN.md", plan, time.Hour)
	_, err := d.Read(".planning/phases")
	require.NoError(t, err)
	require.Contains(t, *expected, ".planning/phases/01-a")
}

// Nothing can be read from a file of the folder: the last good reading is used, and the fault names the file.
func TestFaultF15_LinkInAFolderDegradesThePlan(t *testing.T) {
	d, _ := folders(t)
	d.card("BACK-1", "To Do", time.Hour)
	_, err := d.Read(backlog)
	require.NoError(t, err)
	link := filepath.Join(d.dir, filepath.FromSlash(backlog), "BACK-2 - Card.md")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
	p, err := d.Read(backlog)
	require.NoError(t, err)
	require.Equal(t, engine.StaleRebuild, p.Stale)
	require.ErrorIs(t, p.Fault, planfile.OutsideWorkspace)
	require.ErrorContains(t, p.Fault, "BACK-2 - Card.md")
	require.Equal(t, []string{"BACK-1"}, slicesOf(p.Reading))
}

// lastLedger gives what the event log says last about the folder.
func lastLedger(t *testing.T, s *site) (last engine.LedgerEvent) {
	t.Helper()
	found := false
	for _, ev := range events(t, s.Engine) {
		if ev.Type == core.LedgerChanged && ev.Subject == backlog {
			last, found = engine.LedgerEvent{}, true
			require.NoError(t, json.Unmarshal([]byte(ev.Data), &last))
		}
	}
	require.True(t, found, "nothing was said about the folder")
	return last
}

// Two writers set items of different files of a folder at once: both land, and nothing else changes.
func TestTwoWritersInOneFolder(t *testing.T) {
	dir := t.TempDir()
	for i := range 4 {
		path := filepath.Join(dir, filepath.FromSlash(backlog), fmt.Sprintf("BACK-%d - Card.md", i))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(card(fmt.Sprint("BACK-", i), "To Do")), 0o644))
	}
	lock := filepath.Join(t.TempDir(), "lock")
	var working sync.WaitGroup
	for half := range 2 {
		root, err := planfile.Open(dir, planfile.Options{Folders: true, LockPath: lock})
		require.NoError(t, err)
		t.Cleanup(func() { _ = root.Close() })
		plans := engine.NewPlans(root, engine.PlanOptions{})
		e := build(t, engine.Options{Open: open(memory.New()), Plans: plans})
		run(t, e)
		working.Go(func() { // ends with its two items
			for i := half; i < 4; i += 2 {
				change := &engine.StatusChange{Marking: ledger.Marking{Plan: backlog, ItemID: fmt.Sprint("BACK-", i), Status: ledger.Completed}}
				out := <-submit(t.Context(), e, engine.Change{Apply: func(tx *engine.Tx) (any, error) { return tx.SetItemStatus(change) }})
				if out.err != nil {
					t.Error(out.err)
				}
			}
		})
	}
	working.Wait()
	for i := range 4 {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(backlog), fmt.Sprintf("BACK-%d - Card.md", i)))
		require.NoError(t, err)
		require.Equal(t, card(fmt.Sprint("BACK-", i), "Done"), string(text))
	}
}
