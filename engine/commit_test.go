package engine_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/engine"
	"waybill/store"
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
	var got []string
	for after := int64(0); len(got) < len(want); {
		require.NoError(t, e.View(t.Context(), func(tx store.Tx) error {
			page, err := tx.Instructions(store.InstructionQuery{After: after})
			for _, in := range page {
				got, after = append(got, in.Content), in.Position
			}
			return err
		}))
	}
	require.Equal(t, want, got)
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
	for _, broken := range [][]int{{0}, {2}, {4}, {0, 4}, {1, 2}, {0, 1, 2, 3, 4}} {
		for name, how := range map[string]func() error{
			"error": func() error { return errBroken },
			"panic": func() error { panic(errBroken) },
		} {
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

func TestPanicIsContained(t *testing.T) {
	e := start(t, newHookedStore(t))
	_, err := e.Do(t.Context(), engine.Change{Apply: func(*engine.Tx) (any, error) { panic("a defect") }})
	var p *engine.Panic
	require.ErrorAs(t, err, &p)
	require.Equal(t, "a defect", p.Value)
	require.Contains(t, p.Stack, "commit_test.go")
	require.EqualError(t, p, "panic: a defect")
	_, err = e.Do(t.Context(), queue("s", "after"))
	require.NoError(t, err)
	require.Equal(t, []string{"after"}, contents(t, e))
}

func TestRefusalChangesNothing(t *testing.T) {
	e := start(t, newHookedStore(t))
	release := blockEngine(t, e)
	first := submit(t.Context(), e, queue("s", "first"))
	refused := submit(t.Context(), e, engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		in, _, _, err := tx.Acknowledge("ins_nobody")
		return in, err
	}})
	last := submit(t.Context(), e, queue("s", "last"))
	release()
	o := <-refused
	var refusal *core.Refusal
	require.ErrorAs(t, o.err, &refusal)
	require.Equal(t, core.NotFound, refusal.Kind)
	require.Nil(t, o.result)
	require.NoError(t, (<-first).err)
	require.NoError(t, (<-last).err)
	require.Equal(t, []string{"first", "last"}, contents(t, e))
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
	select {
	case o := <-done:
		require.Fail(t, "answered before Update returned", "%v", o)
	default:
	}
	close(free)
	require.NoError(t, (<-done).err)
}

func TestStoreErrorReachesEveryChangeOfTheGroup(t *testing.T) {
	broken := &store.Error{Kind: store.IO, Outcome: store.Unknown, Message: "the disk is gone"}
	st := newHookedStore(t)
	st.before = func(n int) error {
		if n == 2 {
			return broken
		}
		return nil
	}
	e := start(t, st)
	release := blockEngine(t, e)
	dones := []<-chan outcome{
		submit(t.Context(), e, queue("s", "a")),
		submit(t.Context(), e, engine.Change{Finishes: true, Apply: queue("s", "b").Apply}),
	}
	release()
	for _, done := range dones {
		o := <-done
		require.ErrorIs(t, o.err, broken)
		require.Nil(t, o.result)
	}
	require.Empty(t, contents(t, e))
	_, err := e.Do(t.Context(), queue("s", "c"))
	require.NoError(t, err)
}

func TestFullDiskLetsInWhatFinishes(t *testing.T) {
	full := &store.Error{Kind: store.Full, Message: "no space left"}
	st := newHookedStore(t)
	st.before = func(n int) error {
		if n == 2 {
			return full
		}
		return nil
	}
	e := start(t, st)
	release := blockEngine(t, e)
	finishes := func(c engine.Change) engine.Change {
		c.Finishes = true
		return c
	}
	a := submit(t.Context(), e, finishes(queue("s", "a")))
	b := submit(t.Context(), e, queue("s", "b"))
	c := submit(t.Context(), e, finishes(breaks(func() error { return errBroken })))
	d := submit(t.Context(), e, finishes(queue("s", "d")))
	release()
	require.NoError(t, (<-a).err)
	require.ErrorIs(t, (<-b).err, full)
	require.ErrorIs(t, (<-c).err, errBroken)
	require.NoError(t, (<-d).err)
	require.Equal(t, []string{"a", "d"}, contents(t, e))
}

func TestFullReserveIsAnError(t *testing.T) {
	full := &store.Error{Kind: store.Full, Message: "no space left"}
	st := newHookedStore(t)
	st.before = func(int) error { return full }
	st.reserved = func() error { return full }
	e := start(t, st)
	_, err := e.Do(t.Context(), engine.Change{Finishes: true, Apply: queue("s", "a").Apply})
	require.ErrorIs(t, err, full)
}

func TestCancelledAfterItWasAppliedIsApplied(t *testing.T) {
	st := newHookedStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	st.after = func(int) { cancel() }
	e := start(t, st)
	o := <-submit(ctx, e, queue("s", "x"))
	require.NoError(t, o.err)
	require.Equal(t, "x", o.result)
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
	require.ErrorIs(t, (<-submit(t.Context(), e, nothing)).err, engine.ErrOverloaded)
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
	_, err := e.Do(t.Context(), queue("s", "x"))
	require.NoError(t, err)
	<-wake
	<-other
	stop()
	_, err = e.Do(t.Context(), queue("s", "y"))
	require.NoError(t, err)
	<-other
	require.Empty(t, wake)
	_, err = e.Do(t.Context(), breaks(func() error { return errBroken }))
	require.ErrorIs(t, err, errBroken)
	_, err = e.Do(t.Context(), engine.Change{Apply: func(*engine.Tx) (any, error) { return nil, nil }})
	require.NoError(t, err)
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
		if strings.Contains(one, "[sync.Mutex.Lock") && strings.Contains(one, "(*Engine).store(") {
			n++
		}
	}
	return n
}
