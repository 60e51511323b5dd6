package engine_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/engine"
	"waybill/store"
	"waybill/store/memory"
)

func TestWhatWasSubmittedIsCarriedOutOnTheWayOut(t *testing.T) {
	st := watch()
	e := build(t, engine.Options{Open: open(st)})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- e.Run(ctx) }()
	release := plug(t, e)
	dones := make([]<-chan outcome, 600) // more than share one commit
	for i := range dones {
		dones[i] = submit(t.Context(), e, queue("s", "x"))
	}
	cancel()
	release()
	require.NoError(t, <-ended)
	for _, done := range dones {
		require.NoError(t, (<-done).err)
	}
	require.ErrorIs(t, (<-submit(t.Context(), e, queue("s", "late"))).err, engine.ErrStopped)
}

func TestRunClosesTheStore(t *testing.T) {
	e := build(t, engine.Options{Open: open(memory.New())})
	stop := run(t, e)
	_, err := e.Do(t.Context(), queue("s", "x"))
	require.NoError(t, err)
	stop()
	err = e.View(t.Context(), func(store.Tx) error { return nil })
	var fault *store.Error
	require.ErrorAs(t, err, &fault)
	require.Equal(t, store.Closed, fault.Kind)
}

func TestStoreIsNotOpenedAfterTheStop(t *testing.T) {
	var opened atomic.Int32
	e := build(t, engine.Options{Open: func(context.Context) (store.Store, error) {
		opened.Add(1)
		return memory.New(), nil
	}})
	run(t, e)() // and stop
	require.ErrorIs(t, e.View(t.Context(), func(store.Tx) error { return nil }), engine.ErrStopped)
	require.Zero(t, opened.Load())
}

func TestStoreThatDoesNotOpenIsTriedAgain(t *testing.T) {
	locked := errors.New("locked")
	tries := 0
	e := build(t, engine.Options{Open: func(context.Context) (store.Store, error) {
		if tries++; tries < 3 {
			return nil, locked
		}
		return memory.New(), nil
	}})
	run(t, e)
	_, err := e.Do(t.Context(), queue("s", "x"))
	require.ErrorIs(t, err, locked)
	_, err = e.StoreStatus(t.Context())
	require.ErrorIs(t, err, locked)
	select {
	case <-e.Opened():
		require.Fail(t, "it was not opened yet")
	default:
	}
	_, err = e.Do(t.Context(), queue("s", "y"))
	require.NoError(t, err)
	<-e.Opened()
	status, err := e.StoreStatus(t.Context())
	require.NoError(t, err)
	require.Equal(t, "memory", status.Kind)
	require.Equal(t, 3, tries)
}

// A view that fails for good is not an opened store.
type unreadable struct{ *watched }

func (unreadable) View(context.Context, func(store.Tx) error) error {
	return &store.Error{Kind: store.Corrupt, Message: "not a database"}
}

func TestStoreThatCannotBeReadIsNotOpened(t *testing.T) {
	e := start(t, unreadable{watch()})
	_, err := e.Do(t.Context(), queue("s", "x"))
	var fault *store.Error
	require.ErrorAs(t, err, &fault)
	require.Equal(t, store.Corrupt, fault.Kind)
}

func TestSubmitDoesNotWaitForTheStoreToOpen(t *testing.T) {
	opening, free := make(chan struct{}), make(chan struct{})
	e := build(t, engine.Options{Open: func(context.Context) (store.Store, error) {
		close(opening)
		<-free
		return memory.New(), nil
	}})
	run(t, e)
	first := submit(t.Context(), e, queue("s", "x"))
	<-opening
	second := submit(t.Context(), e, queue("s", "y")) // hangs if Submit waits for the store
	close(free)
	require.NoError(t, (<-first).err)
	require.NoError(t, (<-second).err)
}

func TestHeadIsWhereTheLogWasWhenTheStoreWasOpened(t *testing.T) {
	st := watch()
	e := build(t, engine.Options{Open: open(st)})
	stop := run(t, e)
	for range 3 {
		_, err := e.Do(t.Context(), queue("s", "x"))
		require.NoError(t, err)
	}
	require.Zero(t, e.Head().Seq)
	stop()
	e = start(t, st)
	_, err := e.Do(t.Context(), queue("s", "x"))
	require.NoError(t, err)
	require.EqualValues(t, 3, e.Head().Seq)
}
