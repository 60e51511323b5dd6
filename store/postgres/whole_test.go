package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/store"
)

// TestWholeStoresHaveLongerTimeoutsAtTheServer: a call about a whole store is ended by nobody, neither while a statement
// of it takes longer than other calls may, nor while the server waits for the next one.
func TestWholeStoresHaveLongerTimeoutsAtTheServer(t *testing.T) {
	t.Parallel()
	const limit = 500 * time.Millisecond
	server, o := shared(t)
	require.NoError(t, open(t, o).Update(t.Context(), appendOne))
	o.Whole = soon
	s := open(t, o)
	s.LimitCalls(limit)
	// The connections that there are were made before that.
	server.Run(t, o.URL, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")

	holder := server.Connect(t, o.URL)
	_, err := holder.Exec(t.Context(), "BEGIN; LOCK TABLE waybill.head IN ACCESS EXCLUSIVE MODE").ReadAll()
	require.NoError(t, err)
	viewed := make(chan error, 1)
	go func() { // ends with the View
		viewed <- s.View(t.Context(), func(tx store.Tx) error {
			if _, _, err := tx.Bounds(); err != nil {
				return err
			}
			// The server is asked, so that it is its clock that counts.
			if _, err := server.Query(o.URL, fmt.Sprintf("SELECT pg_sleep(%f)", (3*limit).Seconds())); err != nil {
				return err
			}
			_, err := tx.CountNotices()
			return err
		})
	}()
	waits := "FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
	require.Eventually(t, func() bool { return server.Ask(t, o.URL, "SELECT count(*) "+waits) == "1" }, soon, time.Millisecond)
	server.Run(t, o.URL, fmt.Sprintf("SELECT pg_sleep(%f)", (2*limit).Seconds()))
	require.Equal(t, "1", server.Ask(t, o.URL, "SELECT count(*) "+waits+fmt.Sprintf(
		" AND clock_timestamp() > query_start + interval '%d ms'", limit.Milliseconds())), "it waits, and for longer than the limit")
	holder.Hang()
	require.NoError(t, <-viewed)
}
