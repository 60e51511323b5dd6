package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/engine"
	"waybill/store"
	"waybill/store/memory"
)

// A held store is one that another process has the lock of: an Update waits until it is let in, or
// given up. When the test ends, all are let in.
type held struct {
	*memory.Store
	asked chan struct{} // gets one for each Update, as far as there is room; nobody closes it
	free  chan struct{} // lets one in; nobody closes it
	ended <-chan struct{}
}

func hold(t *testing.T) held {
	return held{memory.New(), make(chan struct{}, 8), make(chan struct{}), t.Context().Done()}
}

func (h held) Update(ctx context.Context, fn func(store.Tx) error) error {
	select {
	case h.asked <- struct{}{}:
	default:
	}
	select {
	case <-h.free:
	case <-h.ended:
	case <-ctx.Done():
		return &store.Error{Kind: store.Cancelled, Err: ctx.Err()}
	}
	return h.Store.Update(ctx, fn)
}

var errUnwanted = errors.New("nobody wants it any more")

// What is cancelled while its group waits for the store is answered at once, whether it is in the group
// or behind it. The rest of the group is applied.
func TestFaultR27_GivenUpWhileTheStoreIsHeld(t *testing.T) {
	h := hold(t)
	e := build(t, engine.Options{Open: open(h)})
	ctx, cancel := context.WithCancelCause(t.Context())
	inGroup := submit(ctx, e, queue("s", "given up"))
	kept := submit(t.Context(), e, queue("s", "kept"))
	run(t, e)
	<-h.asked
	behind := submit(ctx, e, queue("s", "given up, too"))
	cancel(errUnwanted)
	require.ErrorIs(t, (<-inGroup).err, errUnwanted)
	require.ErrorIs(t, (<-behind).err, errUnwanted)
	h.free <- struct{}{}
	require.NoError(t, (<-kept).err)
	require.Equal(t, []string{"kept"}, contents(t, e))
	require.Empty(t, inGroup, "answered twice")
}

// With the last of its group the transaction is given up, so that nobody waits behind it for nothing.
func TestFaultR27_GroupEndsWithItsLastChange(t *testing.T) {
	h := hold(t)
	e := start(t, h)
	ctx, cancel := context.WithCancelCause(t.Context())
	given := submit(ctx, e, queue("s", "given up"))
	<-h.asked
	next := submit(t.Context(), e, queue("s", "next"))
	cancel(errUnwanted)
	require.ErrorIs(t, (<-given).err, errUnwanted)
	<-h.asked
	h.free <- struct{}{}
	require.NoError(t, (<-next).err)
	require.Equal(t, []string{"next"}, contents(t, e))
}

// A change that broke half-way takes the transaction with it. What is cancelled while the others wait
// to begin again is answered at once, although it had begun before.
func TestFaultR27_GivenUpBeforeTheSecondTry(t *testing.T) {
	h := hold(t)
	e := build(t, engine.Options{Open: open(h)})
	broken := submit(t.Context(), e, breaks(func() error { return errBroken }))
	ctx, cancel := context.WithCancelCause(t.Context())
	given := submit(ctx, e, queue("s", "given up"))
	kept := submit(t.Context(), e, queue("s", "kept"))
	run(t, e)
	<-h.asked
	h.free <- struct{}{}
	require.ErrorIs(t, (<-broken).err, errBroken)
	<-h.asked
	cancel(errUnwanted)
	require.ErrorIs(t, (<-given).err, errUnwanted)
	h.free <- struct{}{}
	require.NoError(t, (<-kept).err)
	require.Equal(t, []string{"kept"}, contents(t, e))
}

// Who is to hurry is not given up, whatever the group waits for.
func TestHurriedChangeIsApplied(t *testing.T) {
	h := hold(t)
	e := start(t, h)
	ctx, cancel := context.WithCancelCause(t.Context())
	done := submit(ctx, e, queue("s", "hurried"))
	<-h.asked
	cancel(engine.ErrHurry)
	h.free <- struct{}{}
	require.NoError(t, (<-done).err)
	require.Equal(t, []string{"hurried"}, contents(t, e))
}
