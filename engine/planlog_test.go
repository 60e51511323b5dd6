package engine_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/engine"
	"waybill/store"
)

// The last record of a plan is found wherever it lies in a long log.
func TestLastRecordOfALongHistoryIsFound(t *testing.T) {
	for name, behind := range map[string]int{"the newest": 0, "one before": 1, "long ago": 3000} {
		t.Run(name, func(t *testing.T) {
			st, plans := newHookedStore(t), newPlanFixture(t)
			f := newRunFixture(t, st, plans)
			f.write("tasks.md", twoItems, time.Hour)
			plan, err := f.Plan(t.Context(), "tasks.md")
			require.NoError(t, err)
			say := func(tx store.Tx, subject, hash string) {
				text, err := json.Marshal(engine.LedgerEvent{Hash: hash, Changed: []string{}})
				require.NoError(t, err)
				_, err = tx.Append(store.Event{Type: core.LedgerChanged, Subject: subject, Data: string(text)})
				require.NoError(t, err)
			}
			history := func(last string) {
				require.NoError(t, st.Update(t.Context(), func(tx store.Tx) error {
					for n := range 1200 {
						say(tx, "other.md", "other")
						say(tx, "tasks.md", fmt.Sprint("hash ", n))
					}
					say(tx, "tasks.md", last)
					for range behind {
						say(tx, "other.md", "other")
					}
					return nil
				}))
			}
			unseen := func() (n int) {
				next := newRunFixture(t, st, plans.secondReader(t))
				next.read()
				for _, ev := range events(t, next.Engine) {
					var data engine.LedgerEvent
					require.NoError(t, json.Unmarshal([]byte(ev.Data), &data))
					if ev.Subject == "tasks.md" && data.Unseen {
						n++
					}
				}
				return n
			}
			history(plan.Reading.Hash)
			require.Zero(t, unseen(), "it is what was said last")
			history("another")
			require.Equal(t, 1, unseen())
			require.Equal(t, 1, unseen())
		})
	}
}
