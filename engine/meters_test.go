package engine_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/engine"
	"waybill/store"
)

// queued queues a tracked instruction and returns its id.
func queued(t *testing.T, e *engine.Engine, in instruction.Instruction) string {
	t.Helper()
	in.Session, in.Content, in.Tracked = "s", "look", true
	return do(t, e, engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		in, err := tx.Queue(in)
		return in.ID, err
	}}).(string)
}

func acknowledge(id string) engine.Change {
	return engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		_, _, _, err := tx.Acknowledge(id)
		return nil, err
	}}
}

// dispatch sends the due instructions.
func dispatch(t *testing.T, e *engine.Engine) {
	t.Helper()
	do(t, e, engine.Change{Apply: func(tx *engine.Tx) (any, error) { return tx.Dispatch(engine.Pass{Limit: 10, MaxBytes: 1 << 20}) }})
}

// An acknowledgement is counted once, with the time since queueing.
func TestStatsSpreadAcknowledgements(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, newHookedStore(t))
		called := queued(t, e, instruction.Instruction{MaxRetries: 3})
		queued(t, e, instruction.Instruction{AckOn: instruction.AckRule{EventType: "built"}})
		dispatch(t, e)
		time.Sleep(10 * time.Second)
		do(t, e, acknowledge(called))
		do(t, e, acknowledge(called)) // it is known
		time.Sleep(50 * time.Second)
		do(t, e, engine.Change{Apply: func(tx *engine.Tx) (any, error) {
			acknowledged, _, err := tx.Report("s", "built", "", "")
			return acknowledged, err
		}})

		got := e.Stats().AckLatency
		require.EqualValues(t, 2, got.Count)
		require.Equal(t, 70*time.Second, got.Sum)
		for i, bound := range got.Bounds {
			want := int64(0)
			if bound == 15*time.Second || bound == time.Minute {
				want = 1
			}
			require.Equal(t, want, got.Within[i], bound)
		}
	})
}

// An acknowledgement after a failure is not counted.
func TestStatsLeaveOutLateAcknowledgements(t *testing.T) {
	e := start(t, newHookedStore(t))
	id := queued(t, e, instruction.Instruction{})
	dispatch(t, e)
	dispatch(t, e)
	do(t, e, acknowledge(id))
	require.Zero(t, e.Stats().AckLatency.Count)
}

// A change that runs twice counts once, and one that is not committed does not count.
func TestStatsCountWhatIsCommitted(t *testing.T) {
	st := newHookedStore(t)
	var fault error
	st.before = func(int) error { return fault }
	e := start(t, st)
	first, second := queued(t, e, instruction.Instruction{}), queued(t, e, instruction.Instruction{})

	release := blockEngine(t, e)
	one := submit(t.Context(), e, acknowledge(first))
	broken := submit(t.Context(), e, engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		_, _, _, err := tx.Acknowledge(second)
		return nil, errors.Join(err, errBroken)
	}})
	release()
	require.NoError(t, (<-one).err)
	require.ErrorIs(t, (<-broken).err, errBroken)
	require.EqualValues(t, 1, e.Stats().AckLatency.Count)

	fault = errUnwanted
	require.ErrorIs(t, (<-submit(t.Context(), e, acknowledge(second))).err, errUnwanted)
	require.EqualValues(t, 1, e.Stats().AckLatency.Count)
}

// Each reason for a rebuild is counted by the process that stores the facts.
func TestStatsCountRebuilds(t *testing.T) {
	plans, st := newPlanFixture(t), newHookedStore(t)
	f, id := begun(t, st, plans)
	other := newRunFixture(t, st, plans.secondReader(t))
	requireRebuilds := func(f *runFixture, changed, factsLost, gone int64) {
		t.Helper()
		require.Equal(t, map[engine.Rebuild]int64{
			engine.RebuildChanged: changed, engine.RebuildFactsLost: factsLost, engine.RebuildItemGone: gone,
		}, f.Stats().Rebuilds)
	}
	requireRebuilds(f, 0, 0, 0)
	f.write("tasks.md", threeItems, time.Minute)
	f.look(id)
	f.look(id)
	other.look(id) // it is stored
	requireRebuilds(f, 1, 0, 0)
	do(t, f.Engine, engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		facts, err := tx.Facts(id)
		n := len(facts)
		facts = slices.DeleteFunc(facts, func(f store.Fact) bool { return strings.HasSuffix(f.Key, "source_fingerprint") })
		require.Len(t, facts, n-1)
		_, again := tx.Append(store.Event{Type: core.RunReplanned, Subject: id, Data: "{}"})
		return nil, errors.Join(err, tx.PutFacts(id, facts), again)
	}})
	f.look(id)
	requireRebuilds(f, 1, 1, 0)
	f.write("tasks.md", "- [ ] 2. Second\n", time.Second)
	f.look(id)
	requireRebuilds(f, 1, 1, 1)
	requireRebuilds(other, 0, 0, 0)
}

// An unreadable plan counts, but not while an editor may be saving it.
func TestStatsTellOfPlansThatCannotBeRead(t *testing.T) {
	f := newRunFixture(t, newHookedStore(t), newPlanFixture(t))
	f.write("tasks.md", twoItems, time.Hour)
	f.read()
	require.Zero(t, f.Stats().Unreadable)
	f.breakPlan()
	f.read()
	require.Zero(t, f.Stats().Unreadable, "an editor may be about to write it anew")
	f.advance(time.Second)
	require.Equal(t, 1, f.Stats().Unreadable)
	f.repairPlan(twoItems, time.Hour)
	f.read()
	require.Zero(t, f.Stats().Unreadable)
}

func TestStatsSpreadPrompts(t *testing.T) {
	e := start(t, storeWithRuns(t, 1))
	e.KeepPrompt(givenPrompt(0, 1, strings.Repeat("a", 1024)))
	e.KeepPrompt(givenPrompt(0, 2, strings.Repeat("a", 300_000)))
	got := e.Stats().PromptBytes
	require.EqualValues(t, 2, got.Count)
	require.EqualValues(t, 301_024, got.Sum)
	require.EqualValues(t, 1024, got.Bounds[0])
	require.EqualValues(t, 1, got.Within[0])
}
