//go:build unix

package postgres_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/store"
	"waybill/store/postgres"
	"waybill/store/postgres/pgtest"
)

// TestFaultS3_StandbyIsRead, and never written; a workspace that is not there is not made.
func TestFaultS3_StandbyIsRead(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	o := options(t, server)
	s, err := postgres.Open(t.Context(), o)
	require.NoError(t, err)
	require.NoError(t, s.Update(t.Context(), appendOne))
	require.NoError(t, s.Close())
	require.NoError(t, server.BecomeStandby())
	s = open(t, o)
	require.EqualValues(t, 1, newest(t, s))
	requireKind(t, s.Update(t.Context(), appendOne), store.ReadOnly)
	require.True(t, s.Status(t.Context()).ReadOnly)
	o.Workspace = pgtest.Name(t)
	_, err = postgres.Open(t.Context(), o)
	requireKind(t, err, store.ReadOnly)
}

// TestFaultS5_ManyOpenAnEmptyDatabase: one of them makes the tables and one the workspace, and all of them use it.
func TestFaultS5_ManyOpenAnEmptyDatabase(t *testing.T) {
	o := options(t, pgtest.Shared(t))
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			s, err := postgres.Open(t.Context(), o)
			if err != nil {
				t.Errorf("open: %v", err)
				return
			}
			if err := s.Update(t.Context(), appendOne); err != nil {
				t.Errorf("update: %v", err)
			}
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 6, newest(t, open(t, o)))
}
