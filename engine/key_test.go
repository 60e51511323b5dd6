package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/engine"
)

// keyed adds an idempotency key and a fingerprint to a change.
func keyed(key, fingerprint string, c engine.Change) engine.Change {
	c.Key, c.Fingerprint, c.Encode = key, fingerprint, func(v any) ([]byte, error) { return json.Marshal(v) }
	return c
}

func TestFailuresAreNotRemembered(t *testing.T) {
	e := start(t, newHookedStore(t))
	for name, failing := range map[string]engine.Change{
		"refused": {Apply: func(*engine.Tx) (any, error) { return nil, core.Missing("run", "r") }},
		"broken":  breaks(func() error { return errBroken }),
		"panics":  breaks(func() error { panic(errBroken) }),
	} {
		_, err := e.Do(t.Context(), keyed(name, "f", failing))
		require.Error(t, err)
		require.Equal(t, name, do(t, e, keyed(name, "another one", queue("s", name))), "its key is taken")
	}
}

func TestAnswerThatCannotBeRememberedIsNotApplied(t *testing.T) {
	e := start(t, newHookedStore(t))
	unspeakable := errors.New("unspeakable")
	c := keyed("k", "f", queue("s", "x"))
	c.Encode = func(any) ([]byte, error) { return nil, unspeakable }
	_, err := e.Do(t.Context(), c)
	require.ErrorIs(t, err, unspeakable)
	require.Empty(t, contents(t, e))
}

// The same key is the same answer, also in the next process, and another change with it is refused.
func TestKeyOutlivesTheProcess(t *testing.T) {
	st := newHookedStore(t)
	e := build(t, engine.Options{Open: open(st)})
	stop := runEngine(t, e)
	do(t, e, keyed("k", "f", queue("s", "x")))
	stop()
	e = start(t, st)
	require.Equal(t, engine.Replay{JSON: `"x"`}, do(t, e, keyed("k", "f", queue("s", "x"))))
	requireRefused(t, e, keyed("k", "g", queue("s", "y")), core.KeyReused)
	require.Equal(t, []string{"x"}, contents(t, e))
}

func TestKeyThatManyUseAtOnceHasOneEffect(t *testing.T) {
	e := start(t, newHookedStore(t))
	var applied atomic.Int32
	answers := make(chan string)
	for range 64 {
		go func() { // ends with its answer
			result, err := e.Do(t.Context(), keyed("k", "f", engine.Change{Apply: func(tx *engine.Tx) (any, error) {
				applied.Add(1)
				in, err := tx.Queue(instruction.Instruction{Session: "s", Content: "x"})
				return in.ID, err
			}}))
			if again, ok := result.(engine.Replay); ok {
				answers <- again.JSON
			} else {
				answers <- fmt.Sprintf("%q", result)
			}
			if err != nil {
				t.Error(err)
			}
		}()
	}
	first := <-answers
	require.Regexp(t, `^"ins_[0-9a-f-]{36}"$`, first)
	for range 63 {
		require.Equal(t, first, <-answers)
	}
	require.EqualValues(t, 1, applied.Load())
	require.Equal(t, []string{"x"}, contents(t, e))
}

func TestWaitersWithOneKeyGetOneAnswer(t *testing.T) {
	inFakeTime(t, func(t *testing.T, _ func() time.Duration) {
		e := start(t, newHookedStore(t))
		a, b := waits(t, t.Context(), e, keyed("k", "f", next("s", 0))), waits(t, t.Context(), e, keyed("k", "f", next("s", 0)))
		do(t, e, tracked("s", "x", 3))
		got := []outcome{<-a, <-b}
		require.ElementsMatch(t, []outcome{{result: []string{"x"}}, {result: engine.Replay{JSON: `["x"]`}}}, got)
	})
}
