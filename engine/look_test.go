package engine_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/audit"
	"waybill/core/coretest"
	"waybill/core/run"
	"waybill/engine"
	"waybill/ledger"
	"waybill/store"
)

// A runFixture is an engine with a workspace.
type runFixture struct {
	*engine.Engine
	*planFixture
}

// newRunFixture returns a running engine with plans of its own for the workspace.
func newRunFixture(t *testing.T, st store.Store, plans *planFixture) *runFixture {
	t.Helper()
	e := build(t, engine.Options{Open: open(st), Plans: plans.Plans})
	runEngine(t, e)
	return &runFixture{e, plans}
}

// begin starts a run of an item.
func (f *runFixture) begin(item string) run.Run {
	f.t.Helper()
	plan, err := f.Plan(f.t.Context(), "tasks.md")
	require.NoError(f.t, err)
	progress, err := ledger.Progress(plan.Reading, "tasks.md", "tasks.md", item)
	require.NoError(f.t, err)
	r := do(f.t, f.Engine, engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		run, _, err := tx.StartRun(progress, coretest.Policy(), audit.Start{}, false)
		return run, err
	}})
	return r.(run.Run)
}

// look returns the view of a run.
func (f *runFixture) look(id string) engine.RunView {
	f.t.Helper()
	v, err := f.Look(f.t.Context(), id)
	require.NoError(f.t, err)
	return v
}

// changes returns the data of the ledger.changed events of tasks.md.
func (f *runFixture) changes() (changed [][]string) {
	f.t.Helper()
	for _, ev := range events(f.t, f.Engine) {
		if ev.Type != core.LedgerChanged {
			continue
		}
		require.Equal(f.t, "tasks.md", ev.Subject)
		var data struct {
			Hash string   `json:"hash"`
			IDs  []string `json:"changed_ids"`
		}
		require.NoError(f.t, json.Unmarshal([]byte(ev.Data), &data))
		require.Len(f.t, data.Hash, 64)
		changed = append(changed, data.IDs)
	}
	return changed
}

func TestLookWithoutTheRun(t *testing.T) {
	f := newRunFixture(t, newHookedStore(t), newPlanFixture(t))
	_, err := f.Look(t.Context(), "run_nobody")
	require.Equal(t, core.Missing("run", "run_nobody"), err)
}

func TestPlansCanBeReadWithoutAStore(t *testing.T) {
	plans := newPlanFixture(t)
	plans.write("tasks.md", twoItems, time.Hour)
	e := build(t, engine.Options{Plans: plans.Plans, Open: func(context.Context) (store.Store, error) {
		return nil, &store.Error{Kind: store.Busy, Message: "in use"}
	}})
	runEngine(t, e)
	plan, err := e.Plan(t.Context(), "tasks.md")
	require.NoError(t, err)
	require.Len(t, plan.Reading.Items(), 2)
}
