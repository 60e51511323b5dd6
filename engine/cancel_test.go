package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/engine"
	"waybill/store"
	"waybill/test/teststore"
)

// A heldStore behaves as if another process held its lock: an Update waits until it is released or cancelled.
type heldStore struct {
	store.Store
	asked chan struct{} // receives one value per Update unless full; never closed
	free  chan struct{} // releases one Update; never closed
	ended <-chan struct{}
}

func newHeldStore(t *testing.T) heldStore {
	return heldStore{teststore.New(t), make(chan struct{}, 8), make(chan struct{}), t.Context().Done()}
}

func (h heldStore) Update(ctx context.Context, fn func(store.Tx) error) error {
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

// A cancelled change is answered at once while its group waits for the store, also for the second time after a failure
// of another change. The rest of the group is applied.
func TestGivenUpWhileTheStoreIsHeld(t *testing.T) {
	for _, again := range []bool{false, true} {
		h := newHeldStore(t)
		e := build(t, engine.Options{Open: open(h)})
		var broken <-chan outcome
		if again {
			broken = submit(t.Context(), e, breaks(func() error { return errBroken }))
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		inGroup := submit(ctx, e, queue("s", "given up"))
		kept := submit(t.Context(), e, queue("s", "kept"))
		runEngine(t, e)
		<-h.asked
		if again {
			h.free <- struct{}{}
			require.ErrorIs(t, (<-broken).err, errBroken)
			<-h.asked
		}
		behind := submit(ctx, e, queue("s", "given up, too"))
		cancel(errUnwanted)
		require.ErrorIs(t, (<-inGroup).err, errUnwanted)
		require.ErrorIs(t, (<-behind).err, errUnwanted)
		h.free <- struct{}{}
		require.NoError(t, (<-kept).err)
		require.Equal(t, []string{"kept"}, contents(t, e))
		require.Empty(t, inGroup, "answered twice")
	}
}

// The transaction is cancelled together with the last change of its group.
func TestGroupEndsWithItsLastChange(t *testing.T) {
	h := newHeldStore(t)
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

// ErrHurry does not cancel a change that has not begun.
func TestHurriedChangeIsApplied(t *testing.T) {
	h := newHeldStore(t)
	e := start(t, h)
	ctx, cancel := context.WithCancelCause(t.Context())
	done := submit(ctx, e, queue("s", "hurried"))
	<-h.asked
	cancel(engine.ErrHurry)
	h.free <- struct{}{}
	require.NoError(t, (<-done).err)
	require.Equal(t, []string{"hurried"}, contents(t, e))
}
