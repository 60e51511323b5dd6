package law

import (
	"github.com/stretchr/testify/require"

	"waybill/core/instruction"
	"waybill/store"
)

func instructionLaws() []Law {
	return []Law{
		law("an instruction comes back in every phase", everyPhaseComesBack),
		law("only the phase of an instruction is replaced", onlyPhaseReplaced),
		law("no two instructions share a position", positionsAreTaken),
		law("counts by state agree with the rows", countsAgree),
		law("queries select by every field", queriesSelect),
		law("standing instructions are found by their trigger until they are cancelled", triggersSelect),
		law("a count heeds neither page nor limit", countIgnoresPages),
	}
}

// journey returns one instruction in every phase that it can be in, in an order that core allows.
func journey(i instruction.Instruction) []instruction.Instruction {
	at := start + day
	return []instruction.Instruction{
		in(i, instruction.Queued{}),
		in(i, instruction.Sent{Sends: 1, At: at}),
		in(i, instruction.Sent{Sends: 4, At: at + 1}),
		in(i, instruction.Sent{Sends: 1}),
		in(i, instruction.Acknowledged{Sends: 2, SentAt: at, At: at + 2, By: instruction.ByCall}),
		in(i, instruction.Acknowledged{At: at + 2, By: instruction.ByEvent}),
		in(i, instruction.Failed{Sends: 4, SentAt: at, At: at + 3}),
		in(i, instruction.Failed{Sends: 4, SentAt: at, At: at + 3, LateAckAt: at + 4}),
		in(i, instruction.Cancelled{At: at + 5}),
		in(i, instruction.Cancelled{Sends: 3, SentAt: at, At: at + 5, Reason: "session reset"}),
	}
}

func everyPhaseComesBack(t T, s store.Store) {
	full := tracked("a", 7)
	full.Priority = true
	full.AckOn = instruction.AckRule{EventType: "tool.done", Match: `{"command":"make"}`}
	view(t, s, func(tx store.Tx) {
		_, ok, err := tx.Instruction("a")
		require.NoError(t, err)
		require.False(t, ok)
	})
	for _, want := range journey(full) {
		update(t, s, func(tx store.Tx) { put(t, tx, want) })
		view(t, s, func(tx store.Tx) { requireInstruction(t, tx, want) })
	}
	rule := recurring("c", 9)
	for _, phase := range []instruction.Phase{
		rule.Phase, instruction.Queued{}, instruction.Sent{Sends: 4, At: start}, rule.Phase, instruction.Cancelled{At: start},
	} {
		update(t, s, func(tx store.Tx) { put(t, tx, in(rule, phase)) })
		view(t, s, func(tx store.Tx) { requireInstruction(t, tx, in(rule, phase)) })
	}
	first := plain("b", 8)
	first.CreatedAt = 0
	update(t, s, func(tx store.Tx) {
		put(t, tx, in(first, instruction.Sent{Sends: 1, At: start}))
		requireInstruction(t, tx, in(first, instruction.Sent{Sends: 1, At: start}))
	})
}

func requireInstruction(t T, tx store.Tx, want instruction.Instruction) {
	t.Helper()
	got, ok, err := tx.Instruction(want.ID)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, want, got)
	listed, err := tx.Instructions(store.InstructionQuery{After: want.Position - 1, Limit: 1})
	require.NoError(t, err)
	require.Equal(t, []instruction.Instruction{want}, listed)
}

func onlyPhaseReplaced(t T, s store.Store) {
	original := tracked("a", 7)
	update(t, s, func(tx store.Tx) { put(t, tx, original) })
	changes := map[string]func(*instruction.Instruction){
		"session":     func(i *instruction.Instruction) { i.Session = "other" },
		"content":     func(i *instruction.Instruction) { i.Content = "other" },
		"tracked":     func(i *instruction.Instruction) { i.Tracked = false },
		"priority":    func(i *instruction.Instruction) { i.Priority = true },
		"max retries": func(i *instruction.Instruction) { i.MaxRetries = 9 },
		"rule":        func(i *instruction.Instruction) { i.AckOn.EventType = "other" },
		"trigger":     func(i *instruction.Instruction) { i.Trigger.Path = "*.c" },
		"creation":    func(i *instruction.Instruction) { i.CreatedAt++ },
		"position":    func(i *instruction.Instruction) { i.Position = 8 },
	}
	for name, change := range changes {
		changed := in(original, instruction.Sent{Sends: 1, At: start})
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
	requireCounts := func(want map[instruction.State]int) {
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
	count := func(queued, sent, acknowledged, failed, cancelled int) map[instruction.State]int {
		return map[instruction.State]int{
			instruction.StateQueued: queued, instruction.StateSent: sent, instruction.StateAcknowledged: acknowledged,
			instruction.StateFailed: failed, instruction.StateCancelled: cancelled, instruction.StateDelivered: 0, instruction.StateArmed: 0,
		}
	}
	requireCounts(count(0, 0, 0, 0, 0))
	update(t, s, func(tx store.Tx) { put(t, tx, tracked("a", 1), tracked("b", 2), tracked("c", 3)) })
	requireCounts(count(3, 0, 0, 0, 0))
	update(t, s, func(tx store.Tx) {
		put(t, tx, in(tracked("a", 1), instruction.Sent{Sends: 1, At: start}))
		put(t, tx, in(tracked("a", 1), instruction.Acknowledged{Sends: 1, SentAt: start, At: start, By: instruction.ByCall}))
		put(t, tx, in(tracked("b", 2), instruction.Cancelled{At: start}))
		put(t, tx, in(tracked("b", 2), instruction.Cancelled{At: start}))
	})
	requireCounts(count(1, 0, 1, 0, 1))
	require.Error(t, s.Update(t.Context(), func(tx store.Tx) error {
		put(t, tx, in(tracked("c", 3), instruction.Failed{Sends: 4, SentAt: start, At: start}))
		return errNo
	}))
	requireCounts(count(1, 0, 1, 0, 1))
	update(t, s, func(tx store.Tx) {
		_, err := tx.Prune(start+day, 1)
		require.NoError(t, err)
	})
	requireCounts(count(1, 0, 0, 0, 1))
	update(t, s, func(tx store.Tx) { put(t, tx, recurring("d", 4)) })
	armed := count(1, 0, 0, 0, 1)
	armed[instruction.StateArmed] = 1
	requireCounts(armed)
	update(t, s, func(tx store.Tx) {
		_, err := tx.Prune(start+9*day, 9)
		require.NoError(t, err)
		put(t, tx, in(recurring("d", 4), instruction.Queued{}))
	})
	requireCounts(count(2, 0, 0, 0, 0))
}

// crowd puts ten instructions of two sessions in all kinds of phases.
func crowd(t T, s store.Store) {
	rule := instruction.AckRule{EventType: "tool.done"}
	with := func(i instruction.Instruction, change func(*instruction.Instruction)) instruction.Instruction {
		change(&i)
		return i
	}
	other := func(i *instruction.Instruction) { i.Session = "other" }
	ruled := func(i *instruction.Instruction) { i.AckOn = rule }
	urgent := func(i *instruction.Instruction) { i.Priority = true }
	update(t, s, func(tx store.Tx) {
		put(t, tx,
			with(tracked("q1", 10), ruled),
			plain("q2", 20),
			with(tracked("q3", 30), urgent),
			with(tracked("q4", 40), other),
			with(in(tracked("s1", 50), instruction.Sent{Sends: 1, At: start + 3*day}), ruled),
			in(tracked("s2", 60), instruction.Sent{Sends: 4, At: start + day}),
			in(plain("s3", 70), instruction.Sent{Sends: 1, At: start + 2*day}),
			with(in(tracked("s4", 80), instruction.Sent{Sends: 1, At: start + 2*day}), other),
			with(in(tracked("k1", 90), instruction.Acknowledged{Sends: 1, SentAt: start, At: start + day, By: instruction.ByCall}), ruled),
			with(in(tracked("f1", 100), instruction.Failed{Sends: 4, SentAt: start, At: start + day}), ruled),
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
		"queued":                    {query{State: instruction.StateQueued}, []string{"q1", "q2", "q3", "q4"}},
		"sent":                      {query{State: instruction.StateSent}, []string{"s1", "s2", "s4"}},
		"delivered":                 {query{State: instruction.StateDelivered}, []string{"s3"}},
		"acknowledged":              {query{State: instruction.StateAcknowledged}, []string{"k1"}},
		"failed":                    {query{State: instruction.StateFailed}, []string{"f1"}},
		"cancelled":                 {query{State: instruction.StateCancelled}, []string{}},
		"no such state":             {query{State: "lost"}, []string{}},
		"session and state":         {query{Session: "default", State: instruction.StateQueued}, []string{"q1", "q2", "q3"}},
		"sent before":               {query{SentBefore: start + 2*day, Now: start + 9*day}, []string{"s2", "s3", "s4", "k1", "f1"}},
		"sent before, clock back":   {query{SentBefore: start + day, Now: start + 2*day}, []string{"s1", "s2", "k1", "f1"}},
		"exhausted":                 {query{Exhausted: &yes}, []string{"s2", "s3", "f1"}},
		"not exhausted":             {query{Exhausted: &no, State: instruction.StateSent}, []string{"s1", "s4"}},
		"rule":                      {query{AckEvent: "tool.done"}, []string{"q1", "s1"}},
		"rule and state":            {query{AckEvent: "tool.done", State: instruction.StateSent}, []string{"s1"}},
		"rule and final state":      {query{AckEvent: "tool.done", State: instruction.StateFailed}, []string{}},
		"no such rule":              {query{AckEvent: "tool"}, []string{}},
		"all fields, next dispatch": {query{Session: "default", State: instruction.StateSent, SentBefore: start + day, Now: start + 9*day, Exhausted: &yes, Order: store.ByLastSend}, []string{"s2"}},
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

func triggersSelect(t T, s store.Store) {
	crowd(t, s)
	other := recurring("t4", 140)
	other.Trigger = instruction.Trigger{EventType: "tool_failed"}
	update(t, s, func(tx store.Tx) {
		put(t, tx, recurring("t1", 110), in(recurring("t2", 120), instruction.Queued{}), in(recurring("t3", 130), instruction.Sent{Sends: 4, At: start}), other)
		put(t, tx, in(recurring("t5", 150), instruction.Cancelled{At: start}))
	})
	view(t, s, func(tx store.Tx) {
		require.Equal(t, []string{"t1", "t2", "t3"}, selected(t, tx, store.InstructionQuery{Trigger: "tool"}))
		require.Equal(t, []string{"t4"}, selected(t, tx, store.InstructionQuery{Trigger: "tool_failed", State: instruction.StateArmed}))
		require.Equal(t, []string{"t3"}, selected(t, tx, store.InstructionQuery{Trigger: "tool", After: 120}))
		require.Empty(t, selected(t, tx, store.InstructionQuery{Trigger: "tool.done"}))
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
