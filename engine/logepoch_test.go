package engine_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/task"
	"waybill/engine"
	"waybill/store"
)

// replaceStore replaces the store in fake time, as a restore does.
func replaceStore(st *hookedStore, other store.Store) {
	synctest.Wait()
	st.Store = other
	st.changed <- struct{}{}
	synctest.Wait()
}

// storeWith returns another store that fill has written to.
func storeWith(t *testing.T, fill func(st *hookedStore)) store.Store {
	t.Helper()
	st := newHookedStore(t)
	fill(st)
	return st.Store
}

// After the log was replaced, the state of the plan is recorded in it once, without a change of the file.
func TestPlanIsRecordedAgainInAReplacedLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, st := t.TempDir(), newHookedStore(t)
		f := newRunFixture(t, st, planFixtureAt(t, dir))
		f.write("tasks.md", twoItems, time.Hour)
		wake := startFollow(t, f)
		f.write("tasks.md", twoItems+"- [ ] 3. Third\n", 0)
		wake("tasks.md")
		old := storeWith(t, func(other *hookedStore) {
			require.NoError(t, st.Store.View(t.Context(), func(tx store.Tx) error {
				kept, err := tx.Events(0, 10, nil)
				require.Len(t, kept, 1)
				return errors.Join(err, other.Store.Update(t.Context(), func(to store.Tx) error {
					_, err := to.Append(kept[0])
					return err
				}))
			}))
		})
		f.write("tasks.md", twoItems+"- [ ] 3. Third\n- [ ] 4. Fourth\n", 0)
		wake("tasks.md")
		require.Equal(t, []string{"[3]", "[4]"}, f.records())
		replaceStore(st, old)
		require.Equal(t, []string{"[3]", "unseen"}, f.records())
		wake("tasks.md")
		require.Equal(t, []string{"[3]", "unseen"}, f.records())
	})
}

// The last prompt of a run in the replaced log is not returned for a run of the new log.
func TestLastPromptOfAReplacedLogIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := storeWithRuns(t, 1)
		require.NoError(t, st.Store.Update(t.Context(), func(tx store.Tx) error {
			_, err := tx.Append(store.Event{Type: core.RunStarted, Subject: "run_0", At: 1, Data: "{}"})
			return err
		}))
		e := build(t, engine.Options{Open: open(st)})
		runEngine(t, e)
		require.Empty(t, contents(t, e)) // opens it
		synctest.Wait()
		e.KeepPrompt(givenPrompt(0, 2, "of the log that is gone"))
		replaceStore(st, storeWithRuns(t, 1).Store)
		_, ok, err := e.LastPrompt(t.Context(), "run_0", core.Worker)
		require.NoError(t, err)
		require.False(t, ok)
	})
}

// After a restore, holders of extended leases get the time that a new process would give them.
func TestRestoreEndsNoLeaseOfAnActiveWorker(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		h.play("claim 1 10s")
		copied := copied(t, h.st.Store)
		h.create(task.Spec{}) // an event, by which the logs differ
		h.play(strings.Repeat("sleep 9s; beat 10s; ", 9) + "sleep 9s; beat 10s")
		replaceStore(h.st.hookedStore, copied)
		h.play("sleep 4s; lost 0; beat 10s; sleep 9s; lost 0; sleep 1m; lost 1")
	})
}
