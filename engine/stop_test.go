package engine_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/engine"
	"waybill/store"
	"waybill/store/sqlite"
	"waybill/test/teststore"
)

func TestWhatWasSubmittedIsCarriedOutOnTheWayOut(t *testing.T) {
	st := newHookedStore(t)
	e := build(t, engine.Options{Open: open(st)})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- e.Run(ctx) }()
	release := blockEngine(t, e)
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
	e := build(t, engine.Options{Open: func(ctx context.Context) (store.Store, error) {
		return sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(t.TempDir(), "waybill.db")})
	}})
	stop := runEngine(t, e)
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
		return nil, errors.New("it must not be opened")
	}})
	runEngine(t, e)() // and stop
	require.ErrorIs(t, e.View(t.Context(), func(store.Tx) error { return nil }), engine.ErrStopped)
	require.Zero(t, opened.Load())
}

func TestStoreThatDoesNotOpenIsTriedAgain(t *testing.T) {
	locked := errors.New("locked")
	tries, records := 0, teststore.New(t)
	e := build(t, engine.Options{Open: func(context.Context) (store.Store, error) {
		if tries++; tries < 3 {
			return nil, locked
		}
		return records, nil
	}})
	runEngine(t, e)
	_, err := e.Do(t.Context(), queue("s", "x"))
	require.ErrorIs(t, err, locked)
	_, err = e.StoreStatus(t.Context())
	require.ErrorIs(t, err, locked)
	select {
	case <-e.Opened():
		require.Fail(t, "it was not opened yet")
	default:
	}
	do(t, e, queue("s", "y"))
	<-e.Opened()
	status, err := e.StoreStatus(t.Context())
	require.NoError(t, err)
	require.Equal(t, "sqlite", status.Kind)
	require.Equal(t, 3, tries)
}

// An unreadable store fails every View, so it does not count as opened.
type unreadable struct{ *hookedStore }

func (unreadable) View(context.Context, func(store.Tx) error) error {
	return &store.Error{Kind: store.Corrupt, Message: "not a database"}
}

func TestStoreThatCannotBeReadIsNotOpened(t *testing.T) {
	e := start(t, unreadable{newHookedStore(t)})
	_, err := e.Do(t.Context(), queue("s", "x"))
	var fault *store.Error
	require.ErrorAs(t, err, &fault)
	require.Equal(t, store.Corrupt, fault.Kind)
}

func TestSubmitDoesNotWaitForTheStoreToOpen(t *testing.T) {
	opening, free, records := make(chan struct{}), make(chan struct{}), teststore.New(t)
	e := build(t, engine.Options{Open: func(context.Context) (store.Store, error) {
		close(opening)
		<-free
		return records, nil
	}})
	runEngine(t, e)
	first := submit(t.Context(), e, queue("s", "x"))
	<-opening
	second := submit(t.Context(), e, queue("s", "y")) // hangs if Submit waits for the store
	close(free)
	require.NoError(t, (<-first).err)
	require.NoError(t, (<-second).err)
}

// The end of the input must not abort a long commit.
func TestCommitThatTakesLongIsWork(t *testing.T) {
	inside, free := make(chan struct{}), make(chan struct{})
	e := start(t, teststore.New(t))
	require.False(t, e.AtWork())
	done := submit(t.Context(), e, engine.Change{Apply: func(*engine.Tx) (any, error) {
		close(inside)
		<-free
		return nil, nil
	}})
	<-inside
	require.True(t, e.AtWork())
	close(free)
	require.NoError(t, (<-done).err)
	_, err := e.Do(t.Context(), queue("s", "the commit before is over"))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return !e.AtWork() }, 10*time.Second, time.Millisecond)
}

// The end of the input must not abort a long read.
func TestReadThatTakesLongIsWork(t *testing.T) {
	e := start(t, teststore.New(t))
	require.NoError(t, e.View(t.Context(), func(store.Tx) error {
		require.True(t, e.AtWork())
		return nil
	}))
	require.Eventually(t, func() bool { return !e.AtWork() }, 10*time.Second, time.Millisecond)
}

func TestHeadIsWhereTheLogWasWhenTheStoreWasOpened(t *testing.T) {
	st := newHookedStore(t)
	e := build(t, engine.Options{Open: open(st)})
	stop := runEngine(t, e)
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
