package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/engine"
	"waybill/engine/commit"
	"waybill/store"
	"waybill/test/teststore"
)

const waitTimeout = 10 * time.Second

// next returns a change that waits for an instruction of the session and sends it. Its result is the contents.
func next(session string, minAge time.Duration) engine.Change {
	var last engine.Dispatched
	return engine.Change{
		Apply: func(tx *engine.Tx) (any, error) {
			var err error
			last, err = tx.Dispatch(engine.Pass{
				Session: session, Limit: 50, MaxBytes: 1 << 20, MinAge: minAge.Microseconds(),
			})
			got := []string{}
			for _, d := range last.Deliveries {
				got = append(got, d.Instruction.Content)
			}
			return got, err
		},
		Wait: waitTimeout, Session: session,
		Idle: func(any) bool { return last.Empty() },
		Due:  func(any) core.Instant { return last.Due },
	}
}

// tracked returns a change that queues a tracked instruction.
func tracked(session, content string, retries int) engine.Change {
	return engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		return tx.Queue(instruction.Instruction{Session: session, Content: content, Tracked: true, MaxRetries: retries})
	}}
}

// do applies a change.
func do(t *testing.T, e *engine.Engine, c engine.Change) any {
	t.Helper()
	result, err := e.Do(t.Context(), c)
	require.NoError(t, err)
	return result
}

// waits asserts that a change waits, and returns its outcome.
func waits(t *testing.T, ctx context.Context, e *engine.Engine, c engine.Change) <-chan outcome {
	t.Helper()
	done := submit(ctx, e, c)
	synctest.Wait()
	require.Empty(t, done, "it did not wait")
	return done
}

// inFakeTime runs a test in fake time; elapsed returns the time since its start.
func inFakeTime(t *testing.T, test func(t *testing.T, elapsed func() time.Duration)) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		test(t, func() time.Duration { return time.Since(began) })
	})
}

// Each row is a story of calls that wait for an instruction, in fake time. Call n belongs to another session than a and b.
//
//	a waits, a begins [AGE]  submits a call, which must wait or may; AGE is how old an instruction is before it is sent again
//	a keyed                  submits a call with an idempotency key
//	a gets TEXT TIME         asserts what the call gets, and how long after the beginning; - is nothing
//	a replays TIME           asserts that the call gets the stored answer, which is nothing
//	ab share TEXT            asserts that one of two calls gets it and the other one goes on
//	a ends, a hurries        cancels the call, or has it answered with what there is
//	queue, track TEXT        queues an instruction, to be sent once or twice
//	elsewhere, late TEXT     another process queues one now, or while the next update is committed
//	send, undo               sends what there is in another call, and takes it back
//	hold, release            what is submitted in between is one group
//	sleep, slow              time passes now, or while the next update is committed
//	commits N, stop          asserts the number of updates since the last look; ends the engine
func TestWaits(t *testing.T) {
	for name, story := range map[string]string{
		"it is over when its session gets something":            "a waits; n waits; sleep 1s; queue x; a gets x 1s; n gets - 10s",
		"it is over when something comes in the same commit":    "hold; a begins; queue x; release; a gets x 0s",
		"of two, one gets it and the other goes on":             "a waits; b waits; queue x; ab share x",
		"it is not tried for what is none of its business":      "queue x; n waits; commits 2; queue y; commits 1; n gets - 10s",
		"it is over exactly when a repeat or a failure is due":  "track x; a begins 3s; a gets x 0s; a begins 3s; a gets x 3s; a begins 3s; a gets - 6s",
		"it is over when a send that did not arrive comes back": "queue x; send; a waits; undo; a gets x 0s",
		"it is given up when its context ends":                  "a waits; a ends; a gets cancelled 0s",
		"it is answered with what there is in a hurry":          "a keyed; a hurries; a gets - 0s; a keyed; a replays 0s",
		"a stop ends each, also one that begins meanwhile":      "a waits; hold; b begins; stop; release; a gets - 0s; b gets - 0s",
		"it is over when another process commits":               "a waits; elsewhere x; a gets x 0s",
		"it misses nothing that is committed just before":       "queue y; a begins; a gets y 0s; late x; a begins; a gets x 0s",
		"a stored answer is not waited for":                     "a keyed; a gets - 10s; a keyed; a replays 10s",
		"its answer is stored though it ends during the commit": "slow 10s; a keyed; a gets - 10s; queue x; a keyed; a replays 10s",
	} {
		t.Run(name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T, elapsed func() time.Duration) {
				w := &waiters{t: t, st: newHookedStore(t), elapsed: elapsed, calls: map[string]<-chan outcome{}, end: map[string]context.CancelCauseFunc{}}
				w.e = build(t, engine.Options{Open: open(w.st)})
				w.stop = runEngine(t, w.e)
				for step := range strings.SplitSeq(story, "; ") {
					w.step(strings.Fields(step + " . ."))
				}
			})
		})
	}
}

// waiters are the calls of a story.
type waiters struct {
	t             *testing.T
	st            *hookedStore
	e             *engine.Engine
	elapsed       func() time.Duration
	calls         map[string]<-chan outcome
	end           map[string]context.CancelCauseFunc
	release, stop func()
	lost          []engine.Delivery
	commits       int
}

func (w *waiters) step(words []string) {
	length, _ := time.ParseDuration(words[1])
	switch words[0] {
	case "queue":
		submit(w.t.Context(), w.e, queue("s", words[1]))
	case "track":
		submit(w.t.Context(), w.e, tracked("s", words[1], 1))
	case "elsewhere":
		queueFromOtherProcess(w.t, w.st, "s", words[1])
		w.st.changed <- struct{}{}
	case "late":
		w.during(func() {
			queueFromOtherProcess(w.t, w.st, "s", words[1])
			w.st.changed <- struct{}{}
			time.Sleep(time.Nanosecond) // until the signal has been taken
		})
	case "send":
		do(w.t, w.e, engine.Change{Apply: func(tx *engine.Tx) (any, error) {
			d, err := tx.Dispatch(engine.Pass{Session: "s", Limit: 1, MaxBytes: 1})
			w.lost = d.Deliveries
			return nil, err
		}})
	case "undo":
		do(w.t, w.e, engine.Change{Apply: func(tx *engine.Tx) (any, error) { return nil, tx.Undeliver(w.lost) }})
	case "hold":
		w.release = blockEngine(w.t, w.e)
	case "release":
		w.release()
	case "sleep":
		time.Sleep(length)
	case "slow":
		w.during(func() { time.Sleep(length) })
	case "stop":
		go w.stop() // ends with the engine
	case "commits":
		require.Equal(w.t, words[1], fmt.Sprint(w.st.number()-w.commits))
		w.commits = w.st.number()
	default:
		w.call(words[0], words[1], words[2:])
	}
	synctest.Wait()
}

// during has something happen before the next update returns.
func (w *waiters) during(happen func()) {
	next := w.st.number() + 1
	w.st.after = func(n int) {
		if n == next {
			happen()
		}
	}
}

func (w *waiters) call(name, verb string, words []string) {
	switch verb {
	case "waits", "begins", "keyed":
		minAge, _ := time.ParseDuration(words[0])
		c := next(map[bool]string{true: "other", false: "s"}[name == "n"], minAge)
		if verb == "keyed" {
			c = keyed("k", "f", c)
		}
		ctx, cancel := context.WithCancelCause(w.t.Context())
		w.calls[name], w.end[name] = submit(ctx, w.e, c), cancel
		synctest.Wait()
		require.True(w.t, verb != "waits" || len(w.calls[name]) == 0, "it did not wait")
	case "ends":
		w.end[name](context.Canceled)
	case "hurries":
		w.end[name](commit.ErrHurry)
	case "share":
		a, b := w.calls[name[:1]], w.calls[name[1:]]
		require.Equal(w.t, 1, len(a)+len(b))
		for _, done := range []<-chan outcome{a, b} {
			if len(done) > 0 {
				require.Equal(w.t, outcome{result: words[:1]}, <-done)
			}
		}
	case "replays":
		require.Equal(w.t, outcome{result: commit.Replay{JSON: "[]"}}, <-w.calls[name])
		require.Equal(w.t, words[0], w.elapsed().Round(time.Millisecond).String())
	case "gets":
		want := outcome{result: strings.FieldsFunc(words[0], func(r rune) bool { return r == '-' })}
		if words[0] == "cancelled" {
			want = outcome{err: context.Canceled}
		}
		require.Equal(w.t, want, <-w.calls[name])
		require.Equal(w.t, words[1], w.elapsed().Round(time.Millisecond).String())
	default:
		require.Fail(w.t, "no such step", verb)
	}
}

// queueFromOtherProcess queues an instruction directly in the store.
func queueFromOtherProcess(t *testing.T, st *hookedStore, session, content string) {
	t.Helper()
	require.NoError(t, st.Store.Update(t.Context(), func(tx store.Tx) error {
		seq, err := tx.Append(store.Event{Type: core.InstructionQueued, Subject: content, Data: "{}"})
		if err != nil {
			return err
		}
		return tx.PutInstruction(instruction.Instruction{
			ID: content, Session: session, Content: content, Position: seq, Phase: instruction.Queued{},
		})
	}))
}

// The clock is corrected by an hour during the wait.
func TestWaitEndsInTimeWhenTheClockIsSet(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		inFakeTime(t, func(t *testing.T, elapsed func() time.Duration) {
			var ahead atomic.Int64
			records := teststore.New(t)
			e := build(t, engine.Options{
				Open: func(context.Context) (store.Store, error) {
					ahead.Store(int64(by))
					return records, nil
				},
				Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
			})
			runEngine(t, e)
			require.Equal(t, []string{}, do(t, e, next("s", 0)))
			require.Equal(t, waitTimeout, elapsed(), "%v", by)
		})
	}
}

func TestOtherProcessesCountForTheBound(t *testing.T) {
	inFakeTime(t, func(t *testing.T, _ func() time.Duration) {
		st := newHookedStore(t)
		e := build(t, engine.Options{Open: open(st), MaxPending: 2})
		runEngine(t, e)
		do(t, e, queue("s", "a"))
		queueFromOtherProcess(t, st, "s", "b")
		st.changed <- struct{}{}
		synctest.Wait()
		requireRefused(t, e, queue("s", "c"), core.QueueFull)
	})
}

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
	require.Equal(t, commit.Replay{JSON: `"x"`}, do(t, e, keyed("k", "f", queue("s", "x"))))
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
			if again, ok := result.(commit.Replay); ok {
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
		require.ElementsMatch(t, []outcome{{result: []string{"x"}}, {result: commit.Replay{JSON: `["x"]`}}}, got)
	})
}
