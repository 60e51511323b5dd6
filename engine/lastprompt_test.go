package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/run"
	"waybill/engine"
	"waybill/store"
)

// storeWithRuns returns a store with the runs run_0 to run_n-1.
func storeWithRuns(t *testing.T, n int) *hookedStore {
	t.Helper()
	st := newHookedStore(t)
	require.NoError(t, st.Store.Update(t.Context(), func(tx store.Tx) error {
		for i := range n {
			id := fmt.Sprint("run_", i)
			run, _ := run.Start(id, "tasks.md", id, "", coretest.Policy(), 1)
			require.NoError(t, tx.PutRun(run))
		}
		return nil
	}))
	return st
}

// givenPrompt returns a prompt of the run with that number, and a time that is too recent for pruning.
func givenPrompt(run int, at core.Instant, text string) store.Prompt {
	now := core.Instant(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro())
	return store.Prompt{RunID: fmt.Sprint("run_", run), Role: core.Worker, At: now + at, Version: "1", Cursor: "c", Tokens: 3, Text: text}
}

// A promptFixture keeps prompts in fake time, on a store that a test may let fail.
type promptFixture struct {
	t  *testing.T
	st *hookedStore
	e  *engine.Engine
}

func withPrompts(t *testing.T, runs int, test func(t *testing.T, f *promptFixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		st := storeWithRuns(t, runs)
		test(t, &promptFixture{t, st, start(t, st)})
	})
}

// pause lets what is kept go to the store.
func (f *promptFixture) pause() {
	time.Sleep(time.Second)
	synctest.Wait()
}

// requireLast checks the last prompt of the engine.
func (f *promptFixture) requireLast(want store.Prompt) {
	f.t.Helper()
	got, ok, err := f.e.LastPrompt(f.t.Context(), want.RunID, want.Role)
	require.NoError(f.t, err)
	require.True(f.t, ok)
	require.Equal(f.t, want, got)
}

// requireStored checks the last prompt of a run in the store, which is none if it has no text.
func (f *promptFixture) requireStored(want store.Prompt) {
	f.t.Helper()
	require.NoError(f.t, f.st.View(f.t.Context(), func(tx store.Tx) error {
		got, ok, err := tx.Prompt(want.RunID, core.Worker)
		require.Equal(f.t, want.At != 0, ok)
		if ok {
			require.Equal(f.t, want, got)
		}
		return err
	}))
}

func (f *promptFixture) requireTally(n int64) {
	f.t.Helper()
	for _, run := range []string{"run_0", ""} {
		counts, err := f.e.Tallies(f.t.Context(), run)
		require.NoError(f.t, err)
		require.Equal(f.t, n, counts[engine.TallyPrompts], "of %q", run)
	}
}

// Keeping prompts costs one commit for all of them.
func TestLastPromptsAreStoredTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &promptFixture{t: t, st: storeWithRuns(t, 2)}
		f.e = build(t, engine.Options{Open: open(f.st)})
		stop := runEngine(t, f.e)
		_, ok, err := f.e.LastPrompt(t.Context(), "run_0", core.Worker)
		require.NoError(t, err)
		require.False(t, ok)
		do(t, f.e, queue("default", "look")) // and what is old is looked for
		synctest.Wait()
		before := f.st.number()
		newest, other := givenPrompt(0, 3, "newest"), givenPrompt(1, 2, "other")
		f.e.Tally("run_0", store.Tally{Name: engine.TallyPrompts, N: 3})
		for _, p := range []store.Prompt{givenPrompt(0, 1, "first"), newest, other} {
			f.e.KeepPrompt(p)
		}
		f.requireLast(newest)
		f.requireStored(store.Prompt{RunID: "run_0"})
		require.Equal(t, before, f.st.number())
		f.pause()
		require.Equal(t, before+2, f.st.number(), "one commit for all prompts, behind that of the counts")
		for _, p := range []store.Prompt{newest, other} {
			f.requireStored(p)
			f.requireLast(p)
		}
		last := givenPrompt(0, 4, "last")
		f.e.KeepPrompt(last)
		f.requireLast(last)
		f.requireStored(newest)
		stop()
		f.requireStored(last)
	})
}

// A store without writes causes no error: the prompt stays in memory and is not tried again.
func TestLastPromptOfAStoreThatTakesNoWrites(t *testing.T) {
	for _, kind := range []store.Kind{store.Full, store.ReadOnly} {
		withPrompts(t, 2, func(t *testing.T, f *promptFixture) {
			fault := error(&store.Error{Kind: kind, Message: "no"})
			f.st.before = func(int) error { return fault }
			lost, kept := givenPrompt(0, 1, "lost"), givenPrompt(1, 2, "kept")
			f.e.KeepPrompt(lost)
			f.pause()
			require.Equal(t, 1, f.st.number())
			f.requireLast(lost)
			fault = nil
			f.e.KeepPrompt(kept)
			f.pause()
			f.requireStored(kept)
			f.requireStored(store.Prompt{RunID: "run_0"})
			f.requireLast(lost)
		})
	}
}

// The last prompt is decided by the order of calls, not by the clock. One that is too large is kept without its text; an
// invalid one is not kept.
func TestLastPromptIsThatOfTheLastCall(t *testing.T) {
	withPrompts(t, 1, func(t *testing.T, f *promptFixture) {
		f.e.KeepPrompt(givenPrompt(0, 100, "before"))
		behind := givenPrompt(0, 50, "behind")
		f.e.KeepPrompt(behind)
		f.requireLast(behind)
		f.pause()
		f.requireStored(behind)
		large := givenPrompt(0, 2, strings.Repeat("x", store.MaxPromptText+1))
		f.e.KeepPrompt(large)
		large.Text = ""
		f.requireLast(large)
		strange := givenPrompt(0, 3, "strange")
		strange.Role = 0
		f.e.KeepPrompt(strange)
		f.pause()
		f.requireStored(large)
	})
}

// If the disk has no room for a prompt, nothing else is lost.
func TestPromptWithoutRoomTakesNothingWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := fullStore{storeWithRuns(t, 1)}
		f := &promptFixture{t, st.hookedStore, start(t, st)}
		release := blockEngine(t, f.e)
		before := submit(t.Context(), f.e, queue("default", "before"))
		f.e.Tally("run_0", store.Tally{Name: engine.TallyPrompts, N: 1})
		large := givenPrompt(0, 1, "large")
		f.e.KeepPrompt(large)
		f.pause()
		behind := submit(t.Context(), f.e, queue("default", "behind"))
		release()
		require.NoError(t, (<-before).err)
		require.NoError(t, (<-behind).err)
		f.requireStored(store.Prompt{RunID: "run_0"})
		f.requireLast(large)
		require.NoError(t, st.View(t.Context(), func(tx store.Tx) error {
			counts, err := tx.Tallies("run_0")
			require.Equal(t, []store.Tally{{Name: engine.TallyPrompts, N: 1}}, counts)
			return err
		}))
	})
}

// A fullStore has no room for prompts, which shows at the end of the transaction.
type fullStore struct{ *hookedStore }

func (s fullStore) Update(ctx context.Context, fn func(store.Tx) error) error {
	return s.hookedStore.Update(ctx, func(tx store.Tx) error {
		cramped := &fullRunContents{RunContents: tx.RunContents}
		tx.RunContents = cramped
		return errors.Join(fn(tx), cramped.fault)
	})
}

type fullRunContents struct {
	store.RunContents
	fault error
}

func (tx *fullRunContents) PutPrompt(p store.Prompt) error {
	tx.fault = &store.Error{Kind: store.Full, Message: "no room for a prompt"}
	return tx.RunContents.PutPrompt(p)
}

// A prompt kept while an older one is being stored is not lost.
func TestLastPromptWhileAnotherIsStored(t *testing.T) {
	withPrompts(t, 1, func(t *testing.T, f *promptFixture) {
		older, newer := givenPrompt(0, 1, "older"), givenPrompt(0, 2, "newer")
		f.st.after = func(n int) {
			if n == 1 {
				f.e.KeepPrompt(newer)
			}
		}
		f.e.KeepPrompt(older)
		f.pause()
		f.requireStored(older)
		f.requireLast(newer)
		f.pause()
		f.requireStored(newer)
	})
}

// Prompts of many runs are kept until they are stored.
func TestManyPromptsWithinTheirPauseAreAllKept(t *testing.T) {
	const many = 500
	withPrompts(t, many, func(t *testing.T, f *promptFixture) {
		f.e.KeepPrompt(givenPrompt(0, 1, "older"))
		f.pause()
		f.requireStored(givenPrompt(0, 1, "older"))
		for n := range many {
			f.e.KeepPrompt(givenPrompt(n, core.Instant(n+2), "newest"))
		}
		for n := range many {
			f.requireLast(givenPrompt(n, core.Instant(n+2), "newest"))
		}
		f.pause()
		for n := range many {
			f.requireStored(givenPrompt(n, core.Instant(n+2), "newest"))
		}
	})
}

// An older stored prompt is not returned in place of one whose text was dropped from memory.
func TestNoStoredPromptPassesForOneWhoseTextIsForgotten(t *testing.T) {
	withPrompts(t, 1, func(t *testing.T, f *promptFixture) {
		older := givenPrompt(0, 1, "older")
		require.NoError(t, f.st.Store.Update(t.Context(), func(tx store.Tx) error { return tx.PutPrompt(older) }))
		f.st.before = func(int) error { return errBroken }
		const all, fit = 70, 63 // of 64 MiB, with their cursors
		text := strings.Repeat("x", store.MaxPromptText)
		given := func(n int) store.Prompt { return givenPrompt(n, core.Instant(n+2), text) }
		for n := range all {
			f.e.KeepPrompt(given(n))
		}
		forgotten := given(0)
		forgotten.Text, forgotten.Cursor = "", ""
		for n := range all {
			want := given(n)
			if n < all-fit {
				want.Text, want.Cursor = "", ""
			}
			f.requireLast(want)
		}
		f.pause()
		f.requireStored(older)
		f.requireLast(forgotten)
	})
}

// The sums include counts that are being stored.
func TestCountsThatAreOnTheirWayToTheStoreAreInTheSums(t *testing.T) {
	for _, committed := range []bool{false, true} {
		withPrompts(t, 1, func(t *testing.T, f *promptFixture) {
			free, e := make(chan struct{}), f.e
			if committed {
				f.st.after = func(int) { <-free }
			} else {
				f.st.before = func(int) error { <-free; return nil }
			}
			one := store.Tally{Name: engine.TallyPrompts, N: 1}
			e.Tally("run_0", one)
			f.requireTally(1)
			f.pause() // now it is under way
			e.Tally("run_0", one)
			sum := make(chan int64, 1)
			go func() { // ends when it has the sum
				counts, _ := e.Tallies(context.WithoutCancel(t.Context()), "run_0")
				sum <- counts[engine.TallyPrompts]
			}()
			synctest.Wait()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := e.Tallies(ctx, "run_0")
			require.ErrorIs(t, err, context.Canceled)
			waits := len(sum) == 0
			close(free)
			require.True(t, waits, "it was not known yet what is stored")
			require.EqualValues(t, 2, <-sum)
			time.Sleep(2 * time.Second)
			f.requireTally(2)
		})
	}
}

// A slowStore delays the results of reads.
type slowStore struct {
	*hookedStore
	slow atomic.Bool // the next time
}

func (s *slowStore) View(ctx context.Context, fn func(store.Tx) error) error {
	err := s.hookedStore.View(ctx, fn)
	if s.slow.CompareAndSwap(true, false) {
		time.Sleep(2 * time.Second)
		synctest.Wait()
	}
	return err
}

// Counts submitted during a read make it read again.
func TestCountsThatGoTheirWayWhileTheStoreIsReadAreInTheSumsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &slowStore{hookedStore: storeWithRuns(t, 1)}
		f := &promptFixture{t, st.hookedStore, start(t, st)}
		f.requireTally(0)
		f.e.Tally("run_0", store.Tally{Name: engine.TallyPrompts, N: 5})
		st.slow.Store(true)
		f.requireTally(5)
		require.False(t, st.slow.Load())
	})
}

func TestCountsThatTheStoreRefusesAreKept(t *testing.T) {
	for _, kind := range []store.Kind{store.Full, store.ReadOnly, store.IO} {
		withPrompts(t, 1, func(t *testing.T, f *promptFixture) {
			var fault error
			f.st.before = func(int) error { return fault }
			tally := func(want int64) {
				t.Helper()
				f.e.Tally("run_0", store.Tally{Name: engine.TallyPrompts, N: 2})
				f.pause()
				f.requireTally(want)
			}
			fault = &store.Error{Kind: kind, Outcome: store.NotApplied, Message: "no"}
			tally(2)
			tally(4)
			fault = nil
			tally(6)
			time.Sleep(time.Minute)
			require.NoError(t, f.e.View(t.Context(), func(tx store.Tx) error {
				list, err := tx.Tallies("run_0")
				require.Equal(t, []store.Tally{{Name: engine.TallyPrompts, N: 6}}, list)
				return err
			}))
			fault = &store.Error{Kind: kind, Outcome: store.Unknown, Message: "no"}
			tally(6) // they may be stored, and none is counted twice
		})
	}
}
