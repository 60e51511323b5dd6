package api_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/schema"
	"waybill/store"
)

func TestSnapshot(t *testing.T) {
	h, run := planned(t, setup{})
	snapshot := h.call("get_snapshot", `{"run_id":%q}`, run)
	snapshot.has(run, "run_id")
	snapshot.has("running", "status")
	keys := snapshot.each("facts", "k")
	require.IsIncreasing(t, keys)
	require.Contains(t, keys, "ledger.task.attempts")
	require.Contains(t, keys, "ledger.progress.current_item")
	for _, key := range keys {
		require.Regexp(t, `^ledger\.(task|progress)\.[a-z_]+$`, key)
	}
}

func TestSnapshotThatCannotBeBroughtUpToDateIsRefused(t *testing.T) {
	st := &stumbling{sharedStore: newSharedStore(t)}
	h, run := planned(t, setup{store: st})
	h.write("tasks.md", twoItems+"- [ ] 3. Third\n", time.Hour)
	st.stumble.Store(true)
	a := <-h.begin(context.WithValue(t.Context(), stumbles{}, true), "get_snapshot", `{"run_id":%q}`, run)
	require.NotNil(t, a.Err)
	require.Equal(t, schema.StoreIO, a.Err.Data.Code)
	h.call("get_snapshot", `{"run_id":%q}`, run).has(2, "revision")
}

// stumbles marks the context of a call during which the store fails.
type stumbles struct{}

// A stumbling store fails the next View of a marked call.
type stumbling struct {
	*sharedStore
	stumble atomic.Bool
}

func (s *stumbling) View(ctx context.Context, fn func(store.Tx) error) error {
	if ctx.Value(stumbles{}) != nil && s.stumble.CompareAndSwap(true, false) {
		return &store.Error{Kind: store.IO, Message: "a bad moment"}
	}
	return s.sharedStore.View(ctx, fn)
}

func TestSnapshotShowsDamagedFacts(t *testing.T) {
	st := newSharedStore(t)
	h, run := planned(t, setup{store: st})
	h.call("get_snapshot", `{"run_id":%q}`, run)
	require.NoError(t, st.Update(t.Context(), func(tx store.Tx) error {
		facts, err := tx.Facts(run)
		if err != nil {
			return err
		}
		for i := range facts {
			if facts[i].Key == "ledger.task.attempts" {
				facts[i].Value = "many"
			}
		}
		if err := tx.PutFacts(run, facts); err != nil {
			return err
		}
		_, err = tx.Append(store.Event{Type: core.RunLedger, Subject: run, Data: "{}"})
		return err
	}))
	h.refused(schema.LedgerIncomplete, "get_ledger", `{"run_id":%q}`, run)
	require.Contains(t, h.call("get_snapshot", `{"run_id":%q}`, run).text, `{"k":"ledger.task.attempts","v":"many"}`)
}
