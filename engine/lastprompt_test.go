package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
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

// storeWithRuns returns a store with the given runs.
func storeWithRuns(t *testing.T, runs ...string) *hookedStore {
	t.Helper()
	st := newHookedStore(t)
	require.NoError(t, st.Store.Update(t.Context(), func(tx store.Tx) error {
		for _, id := range runs {
			run, _ := run.Start(id, "tasks.md", id, "", coretest.Policy(), 1)
			require.NoError(t, tx.PutRun(run))
		}
		return nil
	}))
	return st
}

// givenPrompt returns a prompt with a time that is too recent for pruning.
func givenPrompt(run string, at core.Instant, text string) store.Prompt {
	now := core.Instant(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro())
	return store.Prompt{RunID: run, Role: core.Worker, At: now + at, Version: "1", Cursor: "c", Tokens: 3, Text: text}
}

// requireLastPrompt checks the last prompt of an engine.
func requireLastPrompt(t *testing.T, e *engine.Engine, want store.Prompt) {
	t.Helper()
	got, ok, err := e.LastPrompt(t.Context(), want.RunID, want.Role)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, want, got)
}

// requireStoredPrompt checks the last prompt in the store.
func requireStoredPrompt(t *testing.T, st store.Store, want store.Prompt) {
	t.Helper()
	require.NoError(t, st.View(t.Context(), func(tx store.Tx) error {
		got, ok, err := tx.Prompt(want.RunID, want.Role)
		require.True(t, ok)
		require.Equal(t, want, got)
		return err
	}))
}

func requireNoStoredPrompt(t *testing.T, st store.Store, run string) {
	t.Helper()
	require.NoError(t, st.View(t.Context(), func(tx store.Tx) error {
		_, ok, err := tx.Prompt(run, core.Worker)
		require.False(t, ok)
		return err
	}))
}

// Keeping prompts costs one commit for all of them.
func TestLastPromptsAreStoredTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := storeWithRuns(t, "run_1", "run_2")
		e := build(t, engine.Options{Open: open(st)})
		stop := runEngine(t, e)
		_, ok, err := e.LastPrompt(t.Context(), "run_1", core.Worker)
		require.NoError(t, err)
		require.False(t, ok)

		_, err = e.Do(t.Context(), queue("default", "look")) // and what is old is looked for
		require.NoError(t, err)
		synctest.Wait()
		before := st.number()
		first, newest, other := givenPrompt("run_1", 1, "first"), givenPrompt("run_1", 3, "newest"), givenPrompt("run_2", 2, "other")
		e.Tally("run_1", store.Tally{Name: engine.TallyPrompts, N: 3})
		for _, p := range []store.Prompt{first, newest, other} {
			e.KeepPrompt(p)
		}
		requireLastPrompt(t, e, newest)
		requireNoStoredPrompt(t, st, "run_1")
		require.Equal(t, before, st.number())
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, before+2, st.number(), "one commit for all prompts, behind that of the counts")
		for _, p := range []store.Prompt{newest, other} {
			requireStoredPrompt(t, st, p)
			requireLastPrompt(t, e, p)
		}

		last := givenPrompt("run_1", 4, "last")
		e.KeepPrompt(last)
		requireLastPrompt(t, e, last)
		requireStoredPrompt(t, st, newest)
		stop()
		requireStoredPrompt(t, st, last)
	})
}

// A store without writes causes no error: the prompt stays in memory and is not tried again.
func TestLastPromptOfAStoreThatTakesNoWrites(t *testing.T) {
	for _, kind := range []store.Kind{store.Full, store.ReadOnly} {
		synctest.Test(t, func(t *testing.T) {
			st := storeWithRuns(t, "run_1", "run_2")
			refused := true
			st.before = func(int) error {
				if refused {
					return &store.Error{Kind: kind, Message: "no"}
				}
				return nil
			}
			e := start(t, st)
			lost, kept := givenPrompt("run_1", 1, "lost"), givenPrompt("run_2", 2, "kept")
			e.KeepPrompt(lost)
			time.Sleep(time.Second)
			synctest.Wait()
			require.Equal(t, 1, st.number())
			requireLastPrompt(t, e, lost)
			refused = false
			e.KeepPrompt(kept)
			time.Sleep(time.Second)
			synctest.Wait()
			requireStoredPrompt(t, st, kept)
			requireNoStoredPrompt(t, st, "run_1")
			requireLastPrompt(t, e, lost)
		})
	}
}

// The last prompt is decided by the order of calls, not by the clock.
func TestLastPromptWhenTheClockIsSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := storeWithRuns(t, "run_1")
		e := start(t, st)
		e.KeepPrompt(givenPrompt("run_1", 100, "before"))
		behind := givenPrompt("run_1", 50, "behind")
		e.KeepPrompt(behind)
		requireLastPrompt(t, e, behind)
		time.Sleep(time.Second)
		synctest.Wait()
		requireStoredPrompt(t, st, behind)
	})
}

// If the disk has no room for a prompt, nothing else is lost.
func TestPromptWithoutRoomTakesNothingWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := fullStore{storeWithRuns(t, "run_1")}
		e := start(t, st)
		release := blockEngine(t, e)
		before := submit(t.Context(), e, queue("default", "before"))
		e.Tally("run_1", store.Tally{Name: engine.TallyPrompts, N: 1})
		large := givenPrompt("run_1", 1, "large")
		e.KeepPrompt(large)
		time.Sleep(time.Second)
		synctest.Wait()
		behind := submit(t.Context(), e, queue("default", "behind"))
		release()
		require.NoError(t, (<-before).err)
		require.NoError(t, (<-behind).err)
		requireNoStoredPrompt(t, st, "run_1")
		requireLastPrompt(t, e, large)
		require.NoError(t, st.View(t.Context(), func(tx store.Tx) error {
			counts, err := tx.Tallies("run_1")
			require.Equal(t, []store.Tally{{Name: engine.TallyPrompts, N: 1}}, counts)
			return err
		}))
	})
}

// A fullStore has no room for prompts, which shows at the end of the transaction.
type fullStore struct{ *hookedStore }

func (s fullStore) Update(ctx context.Context, fn func(store.Tx) error) error {
	return s.hookedStore.Update(ctx, func(tx store.Tx) error {
		cramped := &fullTx{Tx: tx}
		if err := fn(cramped); err != nil {
			return err
		}
		return cramped.fault
	})
}

type fullTx struct {
	store.Tx
	fault error
}

func (tx *fullTx) PutPrompt(p store.Prompt) error {
	tx.fault = &store.Error{Kind: store.Full, Message: "no room for a prompt"}
	return tx.Tx.PutPrompt(p)
}

// A prompt kept while an older one is being stored is not lost.
func TestLastPromptWhileAnotherIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := storeWithRuns(t, "run_1")
		older, newer := givenPrompt("run_1", 1, "older"), givenPrompt("run_1", 2, "newer")
		var e *engine.Engine
		st.after = func(n int) {
			if n == 1 {
				e.KeepPrompt(newer)
			}
		}
		e = start(t, st)
		e.KeepPrompt(older)
		time.Sleep(time.Second)
		synctest.Wait()
		requireStoredPrompt(t, st, older)
		requireLastPrompt(t, e, newer)
		time.Sleep(time.Second)
		synctest.Wait()
		requireStoredPrompt(t, st, newer)
	})
}

// A prompt that is too large is kept without its text. An invalid prompt is not kept and does not affect the counts.
func TestLastPromptWithinLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := storeWithRuns(t, "run_1")
		e := start(t, st)
		e.KeepPrompt(givenPrompt("run_1", 1, "small"))
		large := givenPrompt("run_1", 2, strings.Repeat("x", store.MaxPromptText+1))
		e.KeepPrompt(large)
		large.Text = ""
		requireLastPrompt(t, e, large)
		strange := givenPrompt("run_1", 3, "strange")
		strange.Role = 0
		e.KeepPrompt(strange)
		time.Sleep(time.Second)
		synctest.Wait()
		requireStoredPrompt(t, st, large)
	})
}

// Prompts of many runs are kept until they are stored.
func TestManyPromptsWithinTheirPauseAreAllKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ids := make([]string, 500)
		for n := range ids {
			ids[n] = fmt.Sprint("run_", n)
		}
		st := storeWithRuns(t, ids...)
		e := start(t, st)
		e.KeepPrompt(givenPrompt(ids[0], 1, "older"))
		time.Sleep(time.Second)
		synctest.Wait()
		requireStoredPrompt(t, st, givenPrompt(ids[0], 1, "older"))
		newest := func(n int) store.Prompt { return givenPrompt(ids[n], core.Instant(n+2), "newest") }
		for n := range ids {
			e.KeepPrompt(newest(n))
		}
		for n := range ids {
			requireLastPrompt(t, e, newest(n))
		}
		time.Sleep(time.Second)
		synctest.Wait()
		for n := range ids {
			requireStoredPrompt(t, st, newest(n))
		}
	})
}

// An older stored prompt is not returned in place of one whose text was dropped from memory.
func TestNoStoredPromptPassesForOneWhoseTextIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := storeWithRuns(t, "run_0")
		older := givenPrompt("run_0", 1, "older")
		require.NoError(t, st.Store.Update(t.Context(), func(tx store.Tx) error { return tx.PutPrompt(older) }))
		st.before = func(int) error { return errors.New("no") }
		e := start(t, st)
		text := strings.Repeat("x", store.MaxPromptText)
		given := func(n int) store.Prompt { return givenPrompt(fmt.Sprint("run_", n), core.Instant(n+2), text) }
		const all, fit = 70, 63 // of 64 MiB, with their cursors
		for n := range all {
			e.KeepPrompt(given(n))
		}
		for n := range all {
			want := given(n)
			if n < all-fit {
				want.Text, want.Cursor = "", ""
			}
			requireLastPrompt(t, e, want)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		requireStoredPrompt(t, st, older)
		requireLastPrompt(t, e, store.Prompt{
			RunID: "run_0", Role: core.Worker, At: given(0).At, Version: "1", Tokens: 3,
		})
	})
}
