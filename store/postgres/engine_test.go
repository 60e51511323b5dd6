package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core/task"
	"waybill/engine"
	"waybill/engine/commit"
	"waybill/store"
	"waybill/store/postgres"
	"waybill/store/postgres/pgtest"
)

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
		return tx.CreateTask(task.Spec{Prompt: "count the shelves", MaxAttempts: 5}, nil)
	}})
	require.NoError(t, err)
}

// TestFaultS19_ClocksDiffer: two machines are an hour off, each in another direction. The time of the server is that of
// both, so that neither ends the lease that the other has given.
func TestFaultS19_ClocksDiffer(t *testing.T) {
	_, o := shared(t)
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

// TestFaultS18_UnknownOutcomeIsResolvedByItsKey: who could not be told whether a change was made asks again with the same
// key, and it was made once.
func TestFaultS18_UnknownOutcomeIsResolvedByItsKey(t *testing.T) {
	t.Parallel()
	o := options(t, pgtest.Shared(t))
	o.Clock = new(postgres.Clock)
	p := startProxy(t, o.URL)
	through := o.Limiting(2 * time.Second)
	through.URL = p.url
	e := begin(t, through)
	create(t, e)
	p.whenCut.Store(new(func() { p.closed.Store(true) }))
	claims := claiming()
	claims.Key, claims.Fingerprint = "the one claim", "claim_task"
	claims.Encode = func(result any) ([]byte, error) { return []byte(result.(engine.Claimed).Task.ID), nil }
	apply := claims.Apply
	claims.Apply = func(tx *engine.Tx) (any, error) {
		got, err := apply(tx)
		p.dropAnswer.Store(true)
		return got, err
	}
	_, err := e.Do(t.Context(), claims)
	fault, ok := errors.AsType[*store.Error](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, store.Unknown, fault.Outcome)
	p.closed.Store(false)
	again := claiming()
	again.Key, again.Fingerprint, again.Encode = claims.Key, claims.Fingerprint, claims.Encode
	got, err := e.Do(t.Context(), again)
	require.NoError(t, err)
	require.Contains(t, got.(commit.Replay).JSON, "tsk_")
	require.True(t, claim(t, begin(t, o)).Empty(), "there was one task, and it was claimed once")
}
