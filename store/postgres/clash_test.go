package postgres_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/store"
	"waybill/store/postgres"
	"waybill/store/postgres/pgtest"
)

// clashes has the server refuse that many of the next changes of a store with an SQLSTATE.
func clashes(t testing.TB, server *pgtest.Server, database, state string, n int) {
	t.Helper()
	server.Run(t, database, fmt.Sprintf(`
		DROP TRIGGER IF EXISTS clash ON waybill.events;
		DROP SEQUENCE IF EXISTS public.clashes;
		CREATE SEQUENCE public.clashes;
		CREATE OR REPLACE FUNCTION public.clash() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF nextval('public.clashes') <= %d THEN RAISE EXCEPTION 'in the way' USING ERRCODE = '%s'; END IF;
			RETURN NEW;
		END $$;
		CREATE TRIGGER clash BEFORE INSERT ON waybill.events FOR EACH ROW EXECUTE FUNCTION public.clash()`, n, state))
}

// TestFaultS19_OthersAreInTheWay: a transaction that could not be serialized, or was in a deadlock, is tried again, but
// no more than three times.
func TestFaultS19_OthersAreInTheWay(t *testing.T) {
	t.Parallel()
	server, o := shared(t)
	s := open(t, o)
	committed := int64(0)
	for _, state := range []string{"40001", "40P01"} {
		for n, want := range map[int]int{0: 1, 1: 2, 3: 4, 4: 4, 100: 4} {
			clashes(t, server, o.URL, state, n)
			runs := 0
			err := s.Update(t.Context(), func(tx store.Tx) error {
				runs++
				return appendOne(tx)
			})
			require.Equal(t, want, runs, "runs after %d times %s", n, state)
			if n < want {
				require.NoError(t, err)
				committed++
				continue
			}
			requireKind(t, err, store.Busy)
			requireNotApplied(t, err)
		}
	}
	require.Equal(t, committed, newest(t, s))
}

// TestFaultS19_NoConnectionIsLeft: a store without a free connection is Busy, and continues once there is one.
func TestFaultS19_NoConnectionIsLeft(t *testing.T) {
	server, o := own(t, "max_connections = 8", "superuser_reserved_connections = 0", "max_wal_senders = 0", "wal_level = minimal")
	s, err := postgres.Open(t.Context(), o)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	held := []*pgtest.Conn{server.Connect(t, o.URL)} // also counts the others, because a connection for that alone would still be open
	for others := ""; others != "0"; {
		results, err := held[0].Exec(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()").ReadAll()
		require.NoError(t, err)
		others = string(results[0].Rows[0][0])
	}
	for len(held) < 8 {
		held = append(held, server.Connect(t, o.URL))
	}
	_, err = postgres.Open(t.Context(), o)
	requireKind(t, err, store.Busy)
	require.ErrorContains(t, err, "max_connections")
	held[0].Hang()
	s = open(t, o)
	require.NoError(t, s.Update(t.Context(), appendOne), "the one that it has is enough")
	require.NoError(t, s.View(t.Context(), func(store.Tx) error {
		err := s.Update(t.Context(), appendOne)
		requireKind(t, err, store.Busy)
		requireNotApplied(t, err)
		return nil
	}))
	held[1].Hang()
	require.NoError(t, s.Update(t.Context(), appendOne))
	require.EqualValues(t, 2, newest(t, s))
}
