package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/engine"
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
	server := pgtest.Shared(t)
	o := options(t, server)
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

// TestFaultS19_NoConnectionIsLeft: who has none is refused as Busy, and goes on when there is one.
func TestFaultS19_NoConnectionIsLeft(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t, "max_connections = 8", "superuser_reserved_connections = 0", "max_wal_senders = 0", "wal_level = minimal")
	o := options(t, server)
	s, err := postgres.Open(t.Context(), o)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	held := []*pgtest.Conn{}
	for range 8 {
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

// begin runs an engine on a store.
func begin(t testing.TB, o postgres.Options) *engine.Engine {
	t.Helper()
	e, err := engine.New(engine.Options{
		Open: func(ctx context.Context) (store.Store, error) { return postgres.Open(ctx, o) }, Now: o.Clock.Now,
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }() // ends with the test
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	return e
}

func claim(t testing.TB, e *engine.Engine) engine.Claimed {
	t.Helper()
	got, err := e.Do(t.Context(), claiming())
	require.NoError(t, err)
	return got.(engine.Claimed)
}

func claiming() engine.Change {
	return engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		return tx.ClaimTask(engine.Claim{Worker: "w", Length: time.Minute.Microseconds()})
	}}
}

func create(t testing.TB, e *engine.Engine) {
	t.Helper()
	_, err := e.Do(t.Context(), engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		return tx.CreateTask(core.Launch{Prompt: "count the shelves", MaxAttempts: 5}, nil)
	}})
	require.NoError(t, err)
}

// TestFaultS19_ClocksDiffer: two machines are an hour off, each in another direction. The time of the server is that of
// both, so that neither ends the lease that the other has given.
func TestFaultS19_ClocksDiffer(t *testing.T) {
	server := pgtest.Shared(t)
	o := options(t, server)
	ahead, behind := o, o
	ahead.Clock, behind.Clock = postgres.Wrong(time.Hour), postgres.Wrong(-time.Hour)
	one, other := begin(t, ahead), begin(t, behind)
	create(t, one)
	got := claim(t, other)
	require.False(t, got.Empty())
	require.True(t, claim(t, one).Empty(), "it is under a lease")
	require.True(t, claim(t, begin(t, ahead)).Empty())
	for _, clock := range []*postgres.Clock{ahead.Clock, behind.Clock} {
		require.InDelta(t, float64(time.Now().Unix()), float64(clock.Now().Unix()), 120, "the server is on this machine")
	}
	left := time.Until(time.UnixMicro(int64(got.Lease.ExpiresAt)))
	require.InDelta(t, time.Minute, left, float64(2*time.Minute))
}

// TestFaultS19_ServerRestartsInAClaim: it ends as if it were killed while a claim is being carried out, and comes back.
// The claim is made once, and nobody else gets the task.
func TestFaultS19_ServerRestartsInAClaim(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	o := options(t, server)
	o.Clock = new(postgres.Clock)
	one, other := begin(t, o), begin(t, o)
	create(t, one)
	create(t, one)
	runs := 0
	change := claiming()
	apply := change.Apply
	change.Apply = func(tx *engine.Tx) (any, error) {
		got, err := apply(tx)
		if runs++; runs == 1 {
			require.NoError(t, server.End("immediate"))
			require.NoError(t, server.Start())
		}
		return got, err
	}
	got, err := one.Do(t.Context(), change)
	require.NoError(t, err)
	require.Greater(t, runs, 1)
	first := got.(engine.Claimed)
	second := claim(t, other)
	require.False(t, first.Empty() || second.Empty())
	require.NotEqual(t, first.Task.ID, second.Task.ID)
	require.Equal(t, 1, first.Task.Current.Number)
	require.True(t, claim(t, one).Empty())
}
