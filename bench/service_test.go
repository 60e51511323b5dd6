package bench

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/engine"
	"waybill/engine/workspace"
	planfile "waybill/plan/file"
	"waybill/store"
	"waybill/store/sqlite"
)

// inProcess returns the methods of waybill in this process, on an SQLite store, without a watcher. later
// is how far its clock is ahead.
func inProcess(b *testing.B, root string, later time.Duration) *api.Table {
	table, end, err := serviceOf(root, filepath.Join(b.TempDir(), "store.db"), later)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, end()) })
	return table
}

// serviceOf is inProcess for who has no benchmark.
func serviceOf(root, path string, later time.Duration) (table *api.Table, end func() error, err error) {
	files, err := planfile.Open(root, planfile.Options{Now: func() time.Time { return time.Now().Add(later) }})
	if err != nil {
		return nil, nil, err
	}
	plans := engine.NewPlans(files, engine.PlanOptions{})
	e, err := engine.New(engine.Options{Plans: plans, Open: func(ctx context.Context) (store.Store, error) {
		return sqlite.Open(ctx, sqlite.Options{Path: path})
	}})
	if err != nil {
		return nil, nil, errors.Join(err, files.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }() // ends with end
	end = func() error {
		cancel()
		return errors.Join(<-ended, files.Close())
	}
	s, err := api.New(api.Options{
		Sources: workspace.Sources{Flag: root, StateBase: filepath.Dir(path)},
		Start: func(workspace.Workspace) (*engine.Engine, *engine.Plans, error) {
			return e, plans, nil
		},
	})
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return s.Table(), end, nil
}

// called carries out a method and returns its result.
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
