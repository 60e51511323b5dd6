package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/store"
)

// TestOneLargeCommitIsAnalysed: the rows count and not the commits, because many changes share one. Without statistics
// the server keeps the plans that it made for empty tables.
func TestOneLargeCommitIsAnalysed(t *testing.T) {
	server, o := own(t, "autovacuum = off")
	s := open(t, o)
	require.NoError(t, s.Update(t.Context(), func(tx store.Tx) error {
		for range 200 {
			if err := appendOne(tx); err != nil {
				return err
			}
		}
		return nil
	}))
	require.Eventually(t, func() bool {
		return server.Ask(t, o.URL, "SELECT reltuples::bigint FROM pg_class WHERE oid = 'waybill.events'::regclass") == "200"
	}, soon, 5*time.Millisecond)
}
