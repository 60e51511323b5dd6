package store_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/run"
	"waybill/store"
	"waybill/test/teststore"
)

// A run that a check refutes waits for a person, however many runs were done after it.
func TestOldRefutedRunIsNotLost(t *testing.T) {
	s := teststore.New(t)
	require.NoError(t, s.Update(t.Context(), func(tx store.Tx) error {
		for i := range 2*store.DefaultLimit + 1 {
			r, _ := run.Start(fmt.Sprintf("r%04d", i), "tasks.md", fmt.Sprint(i), "", coretest.Policy(), 1)
			r.State = run.Done
			if i < 2 {
				r.Proof.Red = "test"
			}
			if err := tx.PutRun(r); err != nil {
				return err
			}
		}
		return nil
	}))
	for since, done := range map[core.Instant]int{math.MaxInt64: 0, 0: store.MostWaiting - 1} {
		var found store.Waiting
		require.NoError(t, s.View(t.Context(), func(tx store.Tx) (err error) {
			found, err = store.ReadWaiting(tx, since)
			return err
		}))
		require.Len(t, found.Runs, 2)
		require.Equal(t, "r0000", found.Runs[0].ID, "the oldest is the first")
		require.Len(t, found.Done, done)
		require.False(t, found.Cut)
	}
}
