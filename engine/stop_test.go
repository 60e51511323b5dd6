package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/engine"
	"waybill/engine/commit"
	"waybill/plan"
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
	require.ErrorIs(t, (<-submit(t.Context(), e, queue("s", "late"))).err, commit.ErrStopped)
}

func TestRunClosesTheStore(t *testing.T) {
	e := build(t, engine.Options{Open: func(ctx context.Context) (store.Store, error) {
		return sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(t.TempDir(), "waybill.db")})
	}})
	stop := runEngine(t, e)
	do(t, e, queue("s", "x"))
	stop()
	err := e.View(t.Context(), func(store.Tx) error { return nil })
	var fault *store.Error
	require.ErrorAs(t, err, &fault)
	require.Equal(t, store.Closed, fault.Kind)
}

func TestStoreIsNotOpenedAfterTheStop(t *testing.T) {
	e := build(t, engine.Options{Open: func(context.Context) (store.Store, error) { panic("it must not be opened") }})
	runEngine(t, e)() // and stop
	require.ErrorIs(t, e.View(t.Context(), func(store.Tx) error { return nil }), commit.ErrStopped)
}

func TestStoreThatDoesNotOpenIsTriedAgain(t *testing.T) {
	tries, records := 0, teststore.New(t)
	e := build(t, engine.Options{Open: func(context.Context) (store.Store, error) {
		if tries++; tries < 3 {
			return nil, errBroken
		}
		return records, nil
	}})
	runEngine(t, e)
	_, err := e.Do(t.Context(), queue("s", "x"))
	require.ErrorIs(t, err, errBroken)
	_, err = e.StoreStatus(t.Context())
	require.ErrorIs(t, err, errBroken)
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

func TestHeadIsWhereTheLogWasWhenTheStoreWasOpened(t *testing.T) {
	st := newHookedStore(t)
	e := build(t, engine.Options{Open: open(st)})
	stop := runEngine(t, e)
	for range 3 {
		do(t, e, queue("s", "x"))
	}
	require.Zero(t, e.Head().Seq)
	stop()
	e = start(t, st)
	do(t, e, queue("s", "x"))
	require.EqualValues(t, 3, e.Head().Seq)
}

// Many goroutines queue, wait, acknowledge, cancel, fail and read at once. Every instruction is sent exactly once,
// and every call is answered.
func TestManyAtOnce(t *testing.T) {
	const sessions, each = 4, 100
	st := newHookedStore(t)
	e := start(t, st)
	var all sync.WaitGroup
	for s := range sessions {
		session := fmt.Sprint("s", s)
		all.Go(func() {
			for i := range each {
				_, err := e.Do(t.Context(), queue(session, fmt.Sprint(i)))
				if err != nil {
					t.Error(err)
				}
				_, err = e.Do(t.Context(), breaks(func() error { panic(i) }))
				if err == nil {
					t.Error("a change that panics succeeded")
				}
			}
		})
		all.Go(func() { receive(t, e, session, each) })
	}
	all.Go(func() {
		for range each {
			ctx, cancel := context.WithCancel(t.Context())
			done := submit(ctx, e, next("nobody", 0))
			cancel()
			if o := <-done; o.err == nil {
				t.Error("a wait that was given up succeeded")
			}
		}
	})
	all.Go(func() {
		for range each {
			select {
			case st.changed <- struct{}{}:
			default:
			}
			if err := e.View(t.Context(), func(tx store.Tx) error {
				_, err := tx.InstructionCounts()
				return err
			}); err != nil {
				t.Error(err)
			}
		}
	})
	all.Wait()
	oldest, newest := bounds(t, e)
	require.EqualValues(t, 1, oldest)
	require.EqualValues(t, 2*sessions*each, newest, "each instruction is queued and sent once")
}

// receive waits until n instructions of the session arrived, each once and in order.
func receive(t *testing.T, e *engine.Engine, session string, n int) {
	for got := 0; got < n; {
		c := next(session, 0)
		c.Wait = time.Minute
		result, err := e.Do(t.Context(), c)
		if err != nil {
			t.Error(err)
			return
		}
		for _, content := range result.([]string) {
			if content != fmt.Sprint(got) {
				t.Errorf("session %s got %s, want %d", session, content, got)
			}
			got++
		}
	}
}

// Engines start and stop under load: every call is answered.
func TestStartAndStopUnderLoad(t *testing.T) {
	st := newHookedStore(t)
	for range 20 {
		e := build(t, engine.Options{Open: open(st)})
		stop := runEngine(t, e)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for {
					if _, err := e.Do(t.Context(), next("nobody", 0)); err != nil {
						if !errors.Is(err, commit.ErrStopped) {
							t.Error(err)
						}
						return
					}
				}
			})
			all.Go(func() {
				for {
					if _, err := e.Do(t.Context(), tracked("s", "x", 0)); err != nil {
						return
					}
				}
			})
		}
		_, err := e.Do(t.Context(), queue("s", "x"))
		require.NoError(t, err)
		stop()
		all.Wait()
	}
	require.NoError(t, st.View(t.Context(), func(tx store.Tx) error {
		counts, err := tx.InstructionCounts()
		_, newest, boundsErr := tx.Bounds()
		require.NoError(t, boundsErr)
		require.EqualValues(t, newest, counts[instruction.StateQueued])
		return err
	}))
}

// Two processes read a plan while it is edited. Each record is a change, and the last one matches the file.
func TestManyLookAtAPlanThatIsEdited(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is being read cannot be replaced here")
	}
	st, plans := newHookedStore(t), newPlanFixture(t)
	first, id := begun(t, st, plans)
	sites := []*runFixture{first, newRunFixture(t, st, plans.secondReader(t))}
	sites[1].look(id)
	ctx, done := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for _, f := range sites {
		for range 3 {
			all.Go(func() {
				for ctx.Err() == nil {
					if _, err := f.Look(t.Context(), id); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	for i := range 40 {
		plans.write("next.md", fmt.Sprintf("%s- [ ] 3. Edit %d\n", twoItems, i), time.Hour)
		require.NoError(t, os.Rename(filepath.Join(plans.dir, "next.md"), filepath.Join(plans.dir, "tasks.md")))
		sites[i%2].look(id)
	}
	done()
	all.Wait()
	text, err := os.ReadFile(filepath.Join(plans.dir, "tasks.md"))
	require.NoError(t, err)
	last := ""
	for _, ev := range events(t, first.Engine) {
		if ev.Type == core.LedgerChanged {
			var data engine.LedgerEvent
			require.NoError(t, json.Unmarshal([]byte(ev.Data), &data))
			require.NotEqual(t, last, data.Hash, "the same news twice")
			last = data.Hash
		}
	}
	require.Equal(t, plan.Hash(string(text)), last)
	for _, f := range sites {
		require.Equal(t, last, f.look(id).Progress.Fingerprint.Hash)
	}
}
