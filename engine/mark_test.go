package engine_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/engine"
	"waybill/plan"
	planfile "waybill/plan/file"
)

// A half-written file must not be replaced, because the editor would write the rest into the removed file. Package file
// tests what else can happen to a plan while it is written.
func TestHalfSavedPlanIsNotWritten(t *testing.T) {
	for half, settled := range map[string]error{"": &plan.ItemError{}, "# Plan\n\n- [ ] 1. First\n": nil} {
		f := newRunFixture(t, newHookedStore(t), newPlanFixture(t))
		f.write("tasks.md", twoItems, time.Hour)
		f.read()
		f.write("tasks.md", half, 0)
		complete := func() error {
			change := &engine.StatusChange{Marking: plan.Marking{Plan: "tasks.md", ItemID: "1", Status: plan.Completed}}
			_, err := f.Do(t.Context(), engine.Change{Apply: func(tx *engine.Tx) (any, error) { return tx.SetItemStatus(change) }})
			return err
		}
		var conflict *planfile.ConflictError
		require.ErrorAs(t, complete(), &conflict)
		require.Equal(t, plan.Hash([]byte(twoItems)), conflict.Expected)
		text, err := os.ReadFile(filepath.Join(f.dir, "tasks.md"))
		require.NoError(t, err)
		require.Equal(t, half, string(text))
		f.advance(time.Second)
		require.IsType(t, settled, complete(), "the file may stay like that")
	}
}
