package storetest

import (
	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/store"
)

func instructionLaws() []Law {
	return []Law{
		law("an instruction comes back in every phase", everyPhaseComesBack),
		law("only the phase of an instruction is replaced", onlyPhaseReplaced),
		law("no two instructions share a position", positionsAreTaken),
		law("counts by state agree with the rows", countsAgree),
		law("queries select by every field", queriesSelect),
		law("a count heeds neither page nor limit", countIgnoresPages),
	}
}

// journey gives one instruction in every phase that it can be in, in an order that core allows.
func journey(i core.Instruction) []core.Instruction {
	at := start + day
	return []core.Instruction{
		in(i, core.Queued{}),
		in(i, core.Sent{Sends: 1, At: at}),
		in(i, core.Sent{Sends: 4, At: at + 1}),
		in(i, core.Sent{Sends: 1}),
		in(i, core.Acknowledged{Sends: 2, SentAt: at, At: at + 2, By: core.ByCall}),
		in(i, core.Acknowledged{At: at + 2, By: core.ByEvent}),
		in(i, core.Failed{Sends: 4, SentAt: at, At: at + 3}),
		in(i, core.Failed{Sends: 4, SentAt: at, At: at + 3, LateAckAt: at + 4}),
		in(i, core.Cancelled{At: at + 5}),
		in(i, core.Cancelled{Sends: 3, SentAt: at, At: at + 5, Reason: "session reset"}),
	}
}

func everyPhaseComesBack(t T, s store.Store) {
	full := tracked("a", 7)
	full.Priority = true
	full.AckOn = core.AckRule{EventType: "tool.done", Match: `{"command":"make"}`}
	view(t, s, func(tx store.Tx) {
		_, ok, err := tx.Instruction("a")
		require.NoError(t, err)
		require.False(t, ok)
	})
	for _, want := range journey(full) {
		update(t, s, func(tx store.Tx) { put(t, tx, want) })
		view(t, s, func(tx store.Tx) { requireInstruction(t, tx, want) })
	}
	first := plain("b", 8)
	first.CreatedAt = 0
	update(t, s, func(tx store.Tx) {
		put(t, tx, in(first, core.Sent{Sends: 1, At: start}))
		requireInstruction(t, tx, in(first, core.Sent{Sends: 1, At: start}))
	})
}

func requireInstruction(t T, tx store.Tx, want core.Instruction) {
	t.Helper()
	got, ok, err := tx.Instruction(want.ID)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, want, got)
	listed, err := tx.Instructions(store.InstructionQuery{After: want.Position - 1, Limit: 1})
	require.NoError(t, err)
	require.Equal(t, []core.Instruction{want}, listed)
}

func onlyPhaseReplaced(t T, s store.Store) {
	original := tracked("a", 7)
	update(t, s, func(tx store.Tx) { put(t, tx, original) })
	changes := map[string]func(*core.Instruction){
		"session":     func(i *core.Instruction) { i.Session = "other" },
		"content":     func(i *core.Instruction) { i.Content = "other" },
		"tracked":     func(i *core.Instruction) { i.Tracked = false },
		"priority":    func(i *core.Instruction) { i.Priority = true },
		"max retries": func(i *core.Instruction) { i.MaxRetries = 9 },
		"rule":        func(i *core.Instruction) { i.AckOn.EventType = "other" },
		"creation":    func(i *core.Instruction) { i.CreatedAt++ },
		"position":    func(i *core.Instruction) { i.Position = 8 },
	}
	for name, change := range changes {
		changed := in(original, core.Sent{Sends: 1, At: start})
		change(&changed)
		update(t, s, func(tx store.Tx) {
			require.Error(t, tx.PutInstruction(changed), name)
			requireInstruction(t, tx, original)
			require.Error(t, tx.PutInstruction(changed), "%s, after a reading", name)
		})
	}
	view(t, s, func(tx store.Tx) { requireInstruction(t, tx, original) })
}

func positionsAreTaken(t T, s store.Store) {
	update(t, s, func(tx store.Tx) {
		put(t, tx, tracked("a", 7))
		require.Error(t, tx.PutInstruction(tracked("b", 7)))
		require.Error(t, tx.PutInstruction(tracked("b", 0)))
		require.Error(t, tx.PutInstruction(tracked("b", -1)))
		put(t, tx, tracked("b", 6))
	})
	view(t, s, func(tx store.Tx) {
		require.Equal(t, []string{"b", "a"}, selected(t, tx, store.InstructionQuery{}))
	})
}

func countsAgree(t T, s store.Store) {
	requireCounts := func(want map[core.State]int) {
		t.Helper()
		view(t, s, func(tx store.Tx) {
			got, err := tx.InstructionCounts()
			require.NoError(t, err)
			require.Equal(t, want, got)
			for state, n := range want {
				rows, err := tx.CountInstructions(store.InstructionQuery{State: state})
				require.NoError(t, err)
				require.Equal(t, n, rows, "rows that are %s", state)
			}
		})
	}
	count := func(queued, sent, acknowledged, failed, cancelled int) map[core.State]int {
		return map[core.State]int{
			core.StateQueued: queued, core.StateSent: sent, core.StateAcknowledged: acknowledged,
			core.StateFailed: failed, core.StateCancelled: cancelled,
		}
	}
	requireCounts(count(0, 0, 0, 0, 0))
	update(t, s, func(tx store.Tx) { put(t, tx, tracked("a", 1), tracked("b", 2), tracked("c", 3)) })
	requireCounts(count(3, 0, 0, 0, 0))
	update(t, s, func(tx store.Tx) {
		put(t, tx, in(tracked("a", 1), core.Sent{Sends: 1, At: start}))
		put(t, tx, in(tracked("a", 1), core.Acknowledged{Sends: 1, SentAt: start, At: start, By: core.ByCall}))
		put(t, tx, in(tracked("b", 2), core.Cancelled{At: start}))
		put(t, tx, in(tracked("b", 2), core.Cancelled{At: start}))
	})
	requireCounts(count(1, 0, 1, 0, 1))
	require.Error(t, s.Update(t.Context(), func(tx store.Tx) error {
		put(t, tx, in(tracked("c", 3), core.Failed{Sends: 4, SentAt: start, At: start}))
		return errNo
	}))
	requireCounts(count(1, 0, 1, 0, 1))
	update(t, s, func(tx store.Tx) {
		_, err := tx.Prune(start+day, 1)
		require.NoError(t, err)
	})
	requireCounts(count(1, 0, 0, 0, 1))
}

// crowd puts ten instructions of two sessions in all kinds of phases.
func crowd(t T, s store.Store) {
	rule := core.AckRule{EventType: "tool.done"}
	with := func(i core.Instruction, change func(*core.Instruction)) core.Instruction {
		change(&i)
		return i
	}
	other := func(i *core.Instruction) { i.Session = "other" }
	ruled := func(i *core.Instruction) { i.AckOn = rule }
	urgent := func(i *core.Instruction) { i.Priority = true }
	update(t, s, func(tx store.Tx) {
		put(t, tx,
			with(tracked("q1", 10), ruled),
			plain("q2", 20),
			with(tracked("q3", 30), urgent),
			with(tracked("q4", 40), other),
			with(in(tracked("s1", 50), core.Sent{Sends: 1, At: start + 3*day}), ruled),
			in(tracked("s2", 60), core.Sent{Sends: 4, At: start + day}),
			in(plain("s3", 70), core.Sent{Sends: 1, At: start + 2*day}),
			with(in(tracked("s4", 80), core.Sent{Sends: 1, At: start + 2*day}), other),
			with(in(tracked("k1", 90), core.Acknowledged{Sends: 1, SentAt: start, At: start + day, By: core.ByCall}), ruled),
			with(in(tracked("f1", 100), core.Failed{Sends: 4, SentAt: start, At: start + day}), ruled),
		)
	})
}

func queriesSelect(t T, s store.Store) {
	crowd(t, s)
	yes, no := true, false
	type query = store.InstructionQuery
	rows := map[string]struct {
		q    query
		want []string
	}{
		"all":                       {query{}, []string{"q1", "q2", "q3", "q4", "s1", "s2", "s3", "s4", "k1", "f1"}},
		"session":                   {query{Session: "other"}, []string{"q4", "s4"}},
		"no such session":           {query{Session: "nobody"}, []string{}},
		"queued":                    {query{State: core.StateQueued}, []string{"q1", "q2", "q3", "q4"}},
		"sent":                      {query{State: core.StateSent}, []string{"s1", "s2", "s3", "s4"}},
		"acknowledged":              {query{State: core.StateAcknowledged}, []string{"k1"}},
		"failed":                    {query{State: core.StateFailed}, []string{"f1"}},
		"cancelled":                 {query{State: core.StateCancelled}, []string{}},
		"no such state":             {query{State: "lost"}, []string{}},
		"session and state":         {query{Session: "default", State: core.StateQueued}, []string{"q1", "q2", "q3"}},
		"tracked":                   {query{Tracked: true, Session: "default", State: core.StateSent}, []string{"s1", "s2"}},
		"sent before":               {query{SentBefore: start + 2*day, Now: start + 9*day}, []string{"s2", "s3", "s4", "k1", "f1"}},
		"sent before, clock back":   {query{SentBefore: start + day, Now: start + 2*day}, []string{"s1", "s2", "k1", "f1"}},
		"exhausted":                 {query{Exhausted: &yes}, []string{"s2", "s3", "f1"}},
		"not exhausted":             {query{Exhausted: &no, State: core.StateSent}, []string{"s1", "s4"}},
		"rule":                      {query{AckEvent: "tool.done"}, []string{"q1", "s1"}},
		"rule and state":            {query{AckEvent: "tool.done", State: core.StateSent}, []string{"s1"}},
		"rule and final state":      {query{AckEvent: "tool.done", State: core.StateFailed}, []string{}},
		"no such rule":              {query{AckEvent: "tool"}, []string{}},
		"all fields, next dispatch": {query{Session: "default", State: core.StateSent, Tracked: true, SentBefore: start + day, Now: start + 9*day, Exhausted: &yes, Order: store.ByLastSend}, []string{"s2"}},
	}
	view(t, s, func(tx store.Tx) {
		for name, row := range rows {
			require.Equal(t, row.want, selected(t, tx, row.q), name)
			n, err := tx.CountInstructions(row.q)
			require.NoError(t, err)
			require.Equal(t, len(row.want), n, name)
		}
	})
}

func countIgnoresPages(t T, s store.Store) {
	crowd(t, s)
	view(t, s, func(tx store.Tx) {
		for _, q := range []store.InstructionQuery{{Limit: 1}, {After: 60}, {After: 60, Limit: 2}} {
			n, err := tx.CountInstructions(q)
			require.NoError(t, err)
			require.Equal(t, 10, n)
		}
	})
}
