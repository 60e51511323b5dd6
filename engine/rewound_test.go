package engine_test

import (
	"bytes"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/engine"
	"waybill/store"
	"waybill/store/memory"
	"waybill/store/move"
)

// putBack puts another store in the place of the one in a bubble, as a restore beside this process does it.
func putBack(st *watched, other *memory.Store) {
	synctest.Wait()
	st.Store = other
	st.changed <- struct{}{}
	synctest.Wait()
}

// saved gives another store that a process of its own has filled.
func saved(t *testing.T, fill func(st *watched)) *memory.Store {
	t.Helper()
	st := watch()
	fill(st)
	return st.Store
}

// TestPlanWasTakenForAnnouncedInAnotherLog: the log that was put back says less of a plan than the one before. That the
// plan reads differently is recorded in it soon, once, although the file has not been touched.
func TestPlanWasTakenForAnnouncedInAnotherLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, st := t.TempDir(), watch()
		s := newSite(t, st, deskAt(t, dir))
		s.write("tasks.md", twoItems, time.Hour)
		wake := following(t, s)
		s.write("tasks.md", twoItems+"- [ ] 3. Third\n", 0)
		wake("tasks.md")
		old := saved(t, func(other *watched) {
			require.NoError(t, st.Store.View(t.Context(), func(tx store.Tx) error {
				kept, err := tx.Events(0, 10, nil)
				require.Len(t, kept, 1)
				return errors.Join(err, other.Store.Update(t.Context(), func(to store.Tx) error {
					_, err := to.Append(kept[0])
					return err
				}))
			}))
		})
		s.write("tasks.md", twoItems+"- [ ] 3. Third\n- [ ] 4. Fourth\n", 0)
		wake("tasks.md")
		require.Equal(t, []string{"[3]", "[4]"}, s.records())
		putBack(st, old)
		require.Equal(t, []string{"[3]", "unseen"}, s.records())
		wake("tasks.md")
		require.Equal(t, []string{"[3]", "unseen"}, s.records())
	})
}

// TestRememberedPromptWasOfAnotherLog: the prompt that was given for a run which is not there any more is not given for
// the last one of that which is.
func TestRememberedPromptWasOfAnotherLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := prompted(t, "run_1")
		require.NoError(t, st.Store.Update(t.Context(), func(tx store.Tx) error {
			_, err := tx.Append(store.Event{Type: core.RunStarted, Subject: "run_1", At: 1, Data: "{}"})
			return err
		}))
		e := build(t, engine.Options{Open: open(st)})
		run(t, e)
		require.Empty(t, contents(t, e)) // opens it
		synctest.Wait()
		e.KeepPrompt(givenPrompt("run_1", 2, "of the log that is gone"))
		putBack(st, prompted(t, "run_1").Store)
		_, ok, err := e.LastPrompt(t.Context(), "run_1", core.Worker)
		require.NoError(t, err)
		require.False(t, ok)
	})
}

// TestRestoreEndedTheLeasesOfThoseAtWork: a copy has a lease that was extended since, many times. Its holder, who works on,
// has as much time as a process that begins gives him.
func TestRestoreEndedTheLeasesOfThoseAtWork(t *testing.T) {
	inYard(t, func(t *testing.T, y *yard) {
		id := y.create(3)
		c := y.claim(10 * time.Second)
		var file bytes.Buffer
		_, err := move.Export(t.Context(), y.st.Store, &file, "w")
		require.NoError(t, err)
		copied := memory.New()
		_, err = move.Import(t.Context(), copied, bytes.NewReader(file.Bytes()))
		require.NoError(t, err)
		y.create(1) // an event, by which the logs differ
		for range 10 {
			y.sleep(9 * time.Second)
			require.True(t, y.beat(c, 0).Applied)
		}
		putBack(y.st.watched, copied)
		y.sleep(4 * time.Second)
		y.is(id, core.StatusRunning, 1)
		require.True(t, y.beat(c, 0).Applied)
		y.sleep(9 * time.Second)
		y.is(id, core.StatusRunning, 1)
		y.sleep(time.Minute)
		y.is(id, core.StatusQueued, 2)
	})
}
