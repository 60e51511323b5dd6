package engine_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/engine"
	"waybill/engine/commit"
	"waybill/store"
	"waybill/test/teststore"
)

func TestNewNeedsAStore(t *testing.T) {
	_, err := engine.New(engine.Options{})
	require.ErrorContains(t, err, "Options.Open")
}

func TestChangesOfOneMomentShareACommit(t *testing.T) {
	st := newHookedStore(t)
	e := start(t, st)
	release := blockEngine(t, e)
	var dones []<-chan outcome
	for i := range 100 {
		dones = append(dones, submit(t.Context(), e, engine.Change{Apply: func(tx *engine.Tx) (any, error) {
			_, err := tx.Queue(instruction.Instruction{Session: "s", Content: fmt.Sprint(i)})
			return st.number(), err
		}}))
	}
	release()
	for i, done := range dones {
		o := <-done
		require.NoError(t, o.err)
		require.Equal(t, 2, o.result, "change %d went into update %d", i, o.result)
	}
}

func TestChangesThatArriveDuringTheOpeningShareTheFirstCommit(t *testing.T) {
	st := newHookedStore(t)
	opening, opened := make(chan struct{}), make(chan struct{})
	e := build(t, engine.Options{Open: func(context.Context) (store.Store, error) {
		close(opening)
		<-opened
		return st, nil
	}})
	runEngine(t, e)
	inUpdate := engine.Change{Apply: func(*engine.Tx) (any, error) { return st.number(), nil }}
	first := submit(t.Context(), e, inUpdate)
	<-opening
	second := submit(t.Context(), e, inUpdate)
	close(opened)
	require.Equal(t, outcome{result: 1}, <-first)
	require.Equal(t, outcome{result: 1}, <-second)
}

// Ending a watch of files takes Linux 10 ms. A hook has 5 ms.
func TestABriefEngineWatchedOtherProcesses(t *testing.T) {
	st := &countingChanged{hookedStore: newHookedStore(t)}
	e := build(t, engine.Options{Open: open(st), Brief: true})
	stop := runEngine(t, e)
	require.NoError(t, (<-submit(t.Context(), e, engine.Change{Apply: func(*engine.Tx) (any, error) { return nil, nil }})).err)
	stop()
	require.Zero(t, st.asked.Load())

	e = build(t, engine.Options{Open: open(st), Brief: true})
	runEngine(t, e)
	_, unsubscribe := e.Subscribe()
	defer unsubscribe()
	require.NoError(t, (<-submit(t.Context(), e, engine.Change{Apply: func(*engine.Tx) (any, error) { return nil, nil }})).err)
	for range 2 { // the second one is taken only after the first was received
		st.changed <- struct{}{} // another process commits
	}
	require.EqualValues(t, 1, st.asked.Load())
}

// A countingChanged counts the calls of Changed.
type countingChanged struct {
	*hookedStore
	asked atomic.Int32
}

func (w *countingChanged) Changed() <-chan struct{} {
	w.asked.Add(1)
	return w.hookedStore.Changed()
}

func TestChangesAreAppliedInTheOrderOfSubmission(t *testing.T) {
	e := start(t, newHookedStore(t))
	release := blockEngine(t, e)
	var want []string
	var last <-chan outcome
	for i := range 600 { // more than share one commit
		content := fmt.Sprintf("%03d", i)
		want = append(want, content)
		last = submit(t.Context(), e, queue("s", content))
	}
	release()
	require.NoError(t, (<-last).err)
	require.Equal(t, want, contents(t, e))
}

var errBroken = errors.New("broke half-way")

// breaks writes something and then fails.
func breaks(how func() error) engine.Change {
	return engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		if _, err := tx.Queue(instruction.Instruction{Session: "s", Content: "broken"}); err != nil {
			return nil, err
		}
		return nil, how()
	}}
}

func TestChangeThatBreaksTakesNothingWithItAndLeavesTheOthers(t *testing.T) {
	for name, how := range map[string]func() error{
		"error":   func() error { return errBroken },
		"panic":   func() error { panic(errBroken) },
		"refusal": func() error { return core.Missing("run", errBroken.Error()) },
	} {
		for _, broken := range [][]int{{0}, {2}, {4}, {0, 4}, {1, 2}, {0, 1, 2, 3, 4}} {
			t.Run(fmt.Sprintf("%s of %v", name, broken), func(t *testing.T) {
				e := start(t, newHookedStore(t))
				release := blockEngine(t, e)
				want := []string{}
				dones := make([]<-chan outcome, 5)
				for i := range dones {
					if slices.Contains(broken, i) {
						dones[i] = submit(t.Context(), e, breaks(how))
						continue
					}
					want = append(want, fmt.Sprint(i))
					dones[i] = submit(t.Context(), e, queue("s", fmt.Sprint(i)))
				}
				release()
				for i, done := range dones {
					o := <-done
					if slices.Contains(broken, i) {
						require.ErrorContains(t, o.err, errBroken.Error(), "change %d", i)
						require.Nil(t, o.result)
						continue
					}
					require.NoError(t, o.err, "change %d", i)
				}
				require.Equal(t, want, contents(t, e))
				log := events(t, e)
				require.Len(t, log, len(want))
				for i, ev := range log {
					require.EqualValues(t, i+1, ev.Seq, "the log has a gap")
				}
			})
		}
	}
}

func TestPanicSaysWhereItWas(t *testing.T) {
	e := start(t, newHookedStore(t))
	_, err := e.Do(t.Context(), engine.Change{Apply: func(*engine.Tx) (any, error) { panic("a defect") }})
	var p *commit.Panic
	require.ErrorAs(t, err, &p)
	require.Equal(t, "a defect", p.Value)
	require.Contains(t, p.Stack, "commit_test.go")
	require.EqualError(t, p, "panic: a defect")
}

func TestAnswersComeAfterTheCommit(t *testing.T) {
	st := newHookedStore(t)
	applied, free := make(chan struct{}), make(chan struct{})
	st.after = func(n int) {
		if n == 1 {
			close(applied)
			<-free
		}
	}
	e := start(t, st)
	done := submit(t.Context(), e, queue("s", "x"))
	<-applied
	require.Empty(t, done, "answered before Update returned")
	close(free)
	require.NoError(t, (<-done).err)
}

// An error of the store is that of every change of the group. On a full disk, the changes that finish something use the
// reserve of the store.
func TestStoreErrorsOfAGroup(t *testing.T) {
	finishes := func(c engine.Change) engine.Change {
		c.Finishes = true
		return c
	}
	gone := &store.Error{Kind: store.IO, Outcome: store.Unknown, Message: "the disk is gone"}
	full := &store.Error{Kind: store.Full, Message: "no space left"}
	for name, row := range map[string]struct {
		fault, reserve error
		errs           []error
		want           []string
	}{
		"a broken disk":  {gone, nil, []error{gone, gone, gone, gone}, []string{}},
		"a full disk":    {full, nil, []error{nil, full, errBroken, nil}, []string{"a", "d"}},
		"a full reserve": {full, full, []error{full, full, full, full}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			st := newHookedStore(t)
			st.before = func(n int) error {
				if n == 2 {
					return row.fault
				}
				return nil
			}
			st.reserved = func() error { return row.reserve }
			e := start(t, st)
			release := blockEngine(t, e)
			var dones []<-chan outcome
			for _, c := range []engine.Change{
				finishes(queue("s", "a")), queue("s", "b"), finishes(breaks(func() error { return errBroken })), finishes(queue("s", "d")),
			} {
				dones = append(dones, submit(t.Context(), e, c))
			}
			release()
			for i, done := range dones {
				require.ErrorIs(t, (<-done).err, row.errs[i], "change %d", i)
			}
			require.Equal(t, row.want, contents(t, e))
			do(t, e, queue("s", "later"))
		})
	}
}

func TestCancelledAfterItWasAppliedIsApplied(t *testing.T) {
	st := newHookedStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	st.after = func(int) { cancel() }
	e := start(t, st)
	require.Equal(t, outcome{result: "x"}, <-submit(ctx, e, queue("s", "x")))
}

func TestTooManyWaitingChangesAreRefused(t *testing.T) {
	const most = 1 << 14
	e := start(t, newHookedStore(t))
	release := blockEngine(t, e)
	nothing := engine.Change{Apply: func(*engine.Tx) (any, error) { return nil, nil }}
	dones := make([]<-chan outcome, most)
	for i := range dones {
		dones[i] = submit(t.Context(), e, nothing)
	}
	require.ErrorIs(t, (<-submit(t.Context(), e, nothing)).err, commit.ErrOverloaded)
	release()
	for _, done := range dones {
		require.NoError(t, (<-done).err)
	}
}

func TestSubscribersAreSignalledByCommitsOnly(t *testing.T) {
	e := start(t, newHookedStore(t))
	wake, stop := e.Subscribe()
	other, stopOther := e.Subscribe()
	defer stopOther()
	do(t, e, queue("s", "x"))
	<-wake
	<-other
	stop()
	do(t, e, queue("s", "y"))
	<-other
	require.Empty(t, wake)
	_, err := e.Do(t.Context(), breaks(func() error { return errBroken }))
	require.ErrorIs(t, err, errBroken)
	do(t, e, engine.Change{Apply: func(*engine.Tx) (any, error) { return nil, nil }})
	require.Empty(t, other, "somebody was told of a change that did not happen")
}

// While another process held the store, a change that was sent behind another one waited as long again as that.
func TestChangeBehindABusyStoreWaitedAsLongAgain(t *testing.T) {
	st, busy := newHookedStore(t), &store.Error{Kind: store.Busy}
	e := build(t, engine.Options{Open: open(st)})
	var behind <-chan outcome
	st.before = func(n int) error {
		if n == 1 {
			behind = submit(t.Context(), e, queue("s", "behind"))
		}
		return busy
	}
	first := submit(t.Context(), e, queue("s", "first"))
	runEngine(t, e)
	require.ErrorIs(t, (<-first).err, busy)
	require.ErrorIs(t, (<-behind).err, busy)
	require.Equal(t, 1, st.number())
}

// Calls that needed the store of a process that had just started waited for its lock one after the other.
func TestCallsTriedABusyStoreOneAfterTheOther(t *testing.T) {
	const calls = 5
	tries := 0
	e := build(t, engine.Options{Open: func(context.Context) (store.Store, error) {
		tries++
		require.Eventually(t, func() bool { return waitingToOpen() >= calls-tries }, time.Minute, time.Millisecond)
		return nil, &store.Error{Kind: store.Busy}
	}})
	done := make(chan error)
	for range calls {
		go func() { done <- e.View(t.Context(), func(store.Tx) error { return nil }) }() // ends with the answer
	}
	for range calls {
		require.Error(t, <-done)
	}
	require.Equal(t, 1, tries)
}

// waitingToOpen counts the goroutines that wait while another one opens a store.
func waitingToOpen() (n int) {
	text := make([]byte, 1<<20)
	text = text[:runtime.Stack(text, true)]
	for one := range strings.SplitSeq(string(text), "\n\n") {
		if strings.Contains(one, "[sync.Mutex.Lock") && strings.Contains(one, "(*source).Store(") {
			n++
		}
	}
	return n
}

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
	cancel(commit.ErrHurry)
	h.free <- struct{}{}
	require.NoError(t, (<-done).err)
	require.Equal(t, []string{"hurried"}, contents(t, e))
}
