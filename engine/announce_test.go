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
)

const threeItems = twoItems + "- [ ] 3. Third\n"

// read reads tasks.md, which may be gone.
func (s *site) read() { _, _ = s.Plan(s.t.Context(), "tasks.md") }

// remove removes tasks.md.
func (s *site) remove() {
	s.t.Helper()
	require.NoError(s.t, os.Remove(filepath.Join(s.dir, "tasks.md")))
}

// records gives the ledger.changed events of tasks.md: what changed, or "unseen" or "gone", or why it cannot be read.
func (s *site) records() []string {
	s.t.Helper()
	list := []string{}
	for _, ev := range events(s.t, s.Engine) {
		if ev.Type != core.LedgerChanged {
			continue
		}
		var data engine.LedgerEvent
		require.NoError(s.t, json.Unmarshal([]byte(ev.Data), &data))
		require.NotNil(s.t, data.Changed)
		switch {
		case data.Gone:
			require.Empty(s.t, data.Changed)
			list = append(list, "gone")
		case data.Stale != "":
			require.Empty(s.t, data.Changed)
			require.False(s.t, data.Unseen)
			list = append(list, data.Stale+": "+data.StaleReason)
		case data.Unseen:
			require.Empty(s.t, data.Changed)
			list = append(list, "unseen")
		default:
			list = append(list, fmt.Sprint(data.Changed))
		}
	}
	return list
}

// The defect: what was edited while no process ran was the first reading of the next one, and nobody
// was told.
func TestEditWhileNobodyLookedIsRecorded(t *testing.T) {
	st, d := watch(), newDesk(t)
	s := newSite(t, st, d)
	for _, text := range []string{twoItems, threeItems} {
		s.write("tasks.md", text, time.Hour)
		s.read()
	}
	s.write("tasks.md", twoItems, time.Hour)
	next, third := newSite(t, st, d.another(t)), newSite(t, st, d.another(t))
	for range 2 {
		next.read()
		third.read()
	}
	require.Equal(t, []string{"[3]", "unseen"}, next.records())
	s.write("tasks.md", threeItems, time.Hour)
	next.read()
	require.Equal(t, []string{"[3]", "unseen", "[3]"}, next.records())
}

// The same, for a plan that never changed while somebody looked: the facts of its run know it.
func TestEditWhileNobodyLookedIsRecordedIfOnlyARunKnowsThePlan(t *testing.T) {
	for name, look := range map[string]func(s *site, id string){
		"plan": func(s *site, _ string) { s.read() },
		"run":  func(s *site, id string) { s.look(id) },
		"run whose item is gone": func(s *site, id string) {
			s.write("tasks.md", "- [ ] 9. Another\n", time.Hour)
			s.look(id)
		},
	} {
		t.Run(name, func(t *testing.T) {
			st, d := watch(), newDesk(t)
			s := newSite(t, st, d)
			s.write("tasks.md", twoItems, time.Hour)
			id := s.begin("2").ID
			same := newSite(t, st, d.another(t))
			look(same, id)
			if name != "run whose item is gone" {
				require.Empty(t, same.records())
			}
			s.write("tasks.md", threeItems, time.Hour)
			next := newSite(t, st, d.another(t))
			look(next, id)
			look(next, id)
			require.Equal(t, []string{"unseen"}, next.records())
		})
	}
}

// A plan that nobody knows begins with its first reading.
func TestFirstReadingOfAPlanIsNoChange(t *testing.T) {
	s := newSite(t, watch(), newDesk(t))
	s.write("tasks.md", twoItems, time.Hour)
	s.write("other.md", twoItems, time.Hour)
	s.begin("1")
	_, err := s.Plan(t.Context(), "other.md")
	require.NoError(t, err)
	require.Empty(t, s.records())
}

// The defect: nobody was told that a plan was deleted.
func TestPlanThatVanishesIsRecordedOnceAndAgainWhenItComesBack(t *testing.T) {
	st, d := watch(), newDesk(t)
	s := newSite(t, st, d)
	s.write("tasks.md", twoItems, time.Hour)
	s.read()
	other := newSite(t, st, d.another(t))
	other.read()
	s.remove()
	look := func() {
		for range 3 {
			s.read()
			other.read()
		}
	}
	look()
	require.Empty(t, s.records(), "an editor may be about to write it anew")
	s.pass(150 * time.Millisecond)
	look()
	require.Equal(t, []string{"gone"}, s.records())
	s.write("tasks.md", twoItems, time.Hour)
	look()
	require.Equal(t, []string{"gone", "[]"}, s.records())
	s.remove()
	look()
	s.pass(150 * time.Millisecond)
	look()
	s.write("tasks.md", threeItems, time.Hour)
	look()
	require.Equal(t, []string{"gone", "[]", "gone", "[3]"}, s.records())
}

// An editor removes the file and writes it anew.
func TestPlanThatIsGoneForAMomentIsNotRecorded(t *testing.T) {
	s := newSite(t, watch(), newDesk(t))
	s.write("tasks.md", twoItems, time.Hour)
	s.read()
	s.remove()
	s.read()
	s.write("tasks.md", threeItems, time.Hour)
	s.read()
	s.pass(time.Second)
	s.read()
	require.Equal(t, []string{"[3]"}, s.records())
}

// The plan vanishes while no process runs. The next one notices when it looks at the run.
func TestPlanThatVanishedWhileNobodyLookedIsRecorded(t *testing.T) {
	st, d := watch(), newDesk(t)
	s := newSite(t, st, d)
	s.write("tasks.md", twoItems, time.Hour)
	id := s.begin("1").ID
	s.remove()
	next := newSite(t, st, d.another(t))
	require.Equal(t, engine.StaleRebuild, next.look(id).Fallback)
	s.pass(time.Second)
	next.look(id)
	next.look(id)
	require.Equal(t, []string{"gone"}, next.records())
	require.Equal(t, []string{"tasks.md"}, next.Known())
	s.write("tasks.md", threeItems, time.Hour)
	require.True(t, next.look(id).Rebuilt)
	require.Equal(t, []string{"gone", "unseen"}, next.records())
}

func TestFollowRecordsAPlanThatVanishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := live(t)
		s.write("tasks.md", twoItems, time.Hour)
		wake := following(t, s)
		s.remove()
		wake("tasks.md")
		require.Empty(t, s.records())
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, []string{"gone"}, s.records())
	})
}

// The defect: each edit of a plan put one more renewal of the facts into the queue.
func TestRapidEditsDoNotPileUp(t *testing.T) {
	const edits = 100
	st := watch()
	s := newSite(t, st, newDesk(t))
	s.write("tasks.md", twoItems, time.Hour)
	id := s.begin("1").ID
	release := plug(t, s.Engine)
	for i := range edits {
		s.write("tasks.md", fmt.Sprintf("%s- [ ] 3. Version %d\n", twoItems, i), time.Hour)
		v, err := s.Peek(t.Context(), id)
		require.NoError(t, err)
		require.True(t, v.Rebuilt)
		again, err := s.Peek(t.Context(), id)
		require.NoError(t, err)
		require.False(t, again.Rebuilt, "somebody stores it already")
	}
	release()
	v := s.look(id) // waits for what is on its way
	require.LessOrEqual(t, v.Run.Revision, int64(3), "the first reading and the last one")
	require.LessOrEqual(t, len(s.records()), 2)
	var final engine.LedgerEvent
	for _, ev := range events(t, s.Engine) {
		if ev.Type == core.LedgerChanged {
			require.NoError(t, json.Unmarshal([]byte(ev.Data), &final))
		}
	}
	require.Equal(t, v.Progress.Fingerprint.Hash, final.Hash, "the last state was lost")
}

// A plan turns back to what it was while the change before is being stored.
func TestPlanThatTurnsBackWhileItIsStoredIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := live(t)
		s.write("tasks.md", twoItems, time.Hour)
		id := s.begin("1").ID
		release := plug(t, s.Engine)
		s.write("tasks.md", threeItems, time.Hour)
		_, err := s.Peek(t.Context(), id)
		require.NoError(t, err)
		s.write("tasks.md", twoItems, time.Hour)
		s.read()
		release()
		synctest.Wait()
		require.Equal(t, []string{"[3]", "[3]"}, s.records())
	})
}
