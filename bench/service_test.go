package bench

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/engine"
	"waybill/engine/planfile"
	"waybill/engine/workspace"
	"waybill/store"
	"waybill/store/sqlite"
)

// inProcess gives the methods of waybill in this process, on an SQLite store, without a watcher. later
// is how far its clock is ahead.
func inProcess(b *testing.B, root string, later time.Duration) *api.Table {
	state := b.TempDir()
	files, err := planfile.Open(root, planfile.Options{Now: func() time.Time { return time.Now().Add(later) }})
	require.NoError(b, err)
	plans := engine.NewPlans(files, engine.PlanOptions{})
	e, err := engine.New(engine.Options{Plans: plans, Open: func(ctx context.Context) (store.Store, error) {
		return sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(state, "store.db")})
	}})
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }() // ends in the cleanup
	b.Cleanup(func() {
		cancel()
		require.NoError(b, <-ended)
		require.NoError(b, files.Close())
	})
	s, err := api.New(api.Options{
		Sources: workspace.Sources{Flag: root, StateBase: state},
		Start: func(workspace.Workspace) (*engine.Engine, *engine.Plans, error) {
			return e, plans, nil
		},
	})
	require.NoError(b, err)
	return s.Table()
}

// called carries out a method and gives its result.
func called[R any](b *testing.B, table *api.Table, method, params string) *R {
	entry, ok := table.Entry(method)
	require.True(b, ok, method)
	answers := make(chan api.Answer, 1)
	entry.Start(context.Background(), []byte(params), func(a api.Answer) { answers <- a })
	answer := <-answers
	if answer.Err != nil {
		b.Fatalf("%s: %v %v", method, answer.Err, answer.Cause)
	}
	return answer.Result.(*R)
}
