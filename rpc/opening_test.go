package rpc_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/engine"
	"waybill/engine/workspace"
	planfile "waybill/plan/file"
	"waybill/rpc"
	"waybill/store"
	"waybill/test/teststore"
)

// A script pipes one change in and closes the pipe. Under load, and on slow disks, to open the store took longer than
// the way out, and the change was refused.
func TestPipedChangeIsAppliedWhenTheStoreOpensSlowly(t *testing.T) {
	require.Equal(t, []string{`1 {"instruction":{`}, pipeIntoSlowStore(t, 2900*time.Millisecond, 5*time.Second))
}

// A store that never opens does not keep the process.
func TestServeDoesNotWaitForAStoreThatNeverOpens(t *testing.T) {
	require.Equal(t, []string{"1 5030 SHUTTING_DOWN"}, pipeIntoSlowStore(t, time.Hour, 4600*time.Millisecond))
}

// pipeIntoSlowStore returns what is answered to a change, behind which the input ends, while the store takes so long to
// open; the process ends within the limit.
func pipeIntoSlowStore(t *testing.T, takes, limit time.Duration) (answers []string) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		dir, records := t.TempDir(), teststore.New(t)
		service, err := api.New(api.Options{
			Version: "test", Sources: workspace.Sources{Flag: dir},
			Start: func(ws workspace.Workspace) (*engine.Engine, *engine.Plans, error) {
				root, err := planfile.Open(ws.Root, planfile.Options{MaxBytes: 1 << 20})
				if err != nil {
					return nil, nil, err
				}
				t.Cleanup(func() { _ = root.Close() })
				plans := engine.NewPlans(root, engine.PlanOptions{})
				e, err := engine.New(engine.Options{Plans: plans, MaxPending: 10, Open: func(context.Context) (store.Store, error) {
					time.Sleep(takes)
					return records, nil
				}})
				if err != nil {
					return nil, nil, err
				}
				go func() { ended <- e.Run(ctx) }() // ends with ctx
				return e, plans, nil
			},
		})
		require.NoError(t, err)
		start := time.Now()
		h := connect(t, newFixture(), func(o *rpc.Options) { o.Table = service.Table() })
		h.send(request(1, "queue_instruction", `{"content":"Go."}`))
		require.Zero(t, h.end())
		require.Less(t, time.Since(start), limit)
		for _, a := range briefs(t, h.received()) {
			code, _, _ := strings.Cut(a, `"instruction_id"`)
			answers = append(answers, code)
		}
		cancel()
		require.NoError(t, <-ended)
	})
	return answers
}
