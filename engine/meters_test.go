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
		do(t, e, engine.Change{Apply: func(tx *engine.Tx) (any, error) { return tx.Report("s", "built", "") }})

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
	full := errors.New("the disk is full")
	refused := false
	st.before = func(int) error {
		if refused {
			return full
		}
		return nil
	}
	e := start(t, st)
	first, second := queued(t, e, instruction.Instruction{}), queued(t, e, instruction.Instruction{})

	release := blockEngine(t, e)
	one := submit(t.Context(), e, acknowledge(first))
	broken := submit(t.Context(), e, engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		if _, _, _, err := tx.Acknowledge(second); err != nil {
			return nil, err
		}
		return nil, full
	}})
	release()
	require.NoError(t, (<-one).err)
	require.ErrorIs(t, (<-broken).err, full)
	require.EqualValues(t, 1, e.Stats().AckLatency.Count)

	refused = true
	require.ErrorIs(t, (<-submit(t.Context(), e, acknowledge(second))).err, full)
	require.EqualValues(t, 1, e.Stats().AckLatency.Count)
}

// Each reason for a rebuild is counted by the process that stores the facts.
func TestStatsCountRebuilds(t *testing.T) {
	plans, st := newPlanFixture(t), newHookedStore(t)
	s, other := newRunFixture(t, st, plans), newRunFixture(t, st, plans.secondReader(t))
	require.Equal(t, map[engine.Rebuild]int64{
		engine.RebuildChanged: 0, engine.RebuildItemGone: 0, engine.RebuildFactsLost: 0,
	}, s.Stats().Rebuilds)
	s.write("tasks.md", twoItems, time.Hour)
	id := s.begin("1").ID
	s.look(id)
	s.write("tasks.md", twoItems+"- [ ] 3. Third\n", time.Minute)
	s.look(id)
	s.look(id)
	other.look(id) // it is stored
	require.EqualValues(t, 1, s.Stats().Rebuilds[engine.RebuildChanged])

	do(t, s.Engine, engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		facts, err := tx.Facts(id)
		if err != nil {
			return nil, err
		}
		n := len(facts)
		facts = slices.DeleteFunc(facts, func(f store.Fact) bool { return strings.HasSuffix(f.Key, "source_fingerprint") })
		require.Len(t, facts, n-1)
		if err := tx.PutFacts(id, facts); err != nil {
			return nil, err
		}
		return tx.Append(store.Event{Type: core.RunReplanned, Subject: id, Data: "{}"})
	}})
	s.look(id)
	require.EqualValues(t, 1, s.Stats().Rebuilds[engine.RebuildFactsLost])

	s.write("tasks.md", "- [ ] 2. Second\n", time.Second)
	s.look(id)
	require.Equal(t, map[engine.Rebuild]int64{
		engine.RebuildChanged: 1, engine.RebuildItemGone: 1, engine.RebuildFactsLost: 1,
	}, s.Stats().Rebuilds)
	require.Equal(t, map[engine.Rebuild]int64{
		engine.RebuildChanged: 0, engine.RebuildItemGone: 0, engine.RebuildFactsLost: 0,
	}, other.Stats().Rebuilds)
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
	f.repairPlan(twoItems)
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
