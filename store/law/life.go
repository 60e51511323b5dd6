package law

import (
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/store"
)

func lifeLaws() []Law {
	return []Law{
		{Name: "what was put is there after a reopening", Holds: durable, Reopens: true},
		{Name: "numbering goes on after a reopening", Holds: numberingGoesOn, Reopens: true},
		law("a closed store refuses", closedRefuses),
		law("verify finds nothing in a good store", verifyFindsNothing),
		law("status names the kind", statusNamesKind),
		law("status counts the commits", statusCountsCommits),
		law("the signal of changes stays open", changedStaysOpen),
		{Name: "a commit of one handle is signalled to the other", Holds: commitIsSignalled, Shares: true},
		law("texts come back byte for byte", textsComeBack),
	}
}

func durable(t T, open func() store.Store) {
	s := open()
	update(t, s, func(tx store.Tx) { everything(t, tx) })
	var events []store.Event
	view(t, s, func(tx store.Tx) { events = allEvents(t, tx) })
	require.NoError(t, s.Close())

	s = open()
	defer func() { require.NoError(t, s.Close()) }()
	view(t, s, func(tx store.Tx) {
		requireCensus(t, tx, 1)
		require.Equal(t, events, allEvents(t, tx))
		got, _, err := tx.Instruction("a")
		require.NoError(t, err)
		require.Equal(t, tracked("a", 1), got)
	})
}

func numberingGoesOn(t T, open func() store.Store) {
	for i := range int64(3) {
		s := open()
		update(t, s, func(tx store.Tx) {
			require.Equal(t, i+1, appendTo(t, tx, event(core.LedgerChanged, "plan", start)))
		})
		damage, err := s.Verify(t.Context())
		require.NoError(t, err)
		require.Empty(t, damage, "the chain goes on, too")
		require.NoError(t, s.Close())
	}
}

func closedRefuses(t T, s store.Store) {
	require.NoError(t, s.Close())
	nothing := func(store.Tx) error { return nil }
	isKind(t, s.Update(t.Context(), nothing), store.Closed)
	isKind(t, s.UpdateReserved(t.Context(), nothing), store.Closed)
	isKind(t, s.View(t.Context(), nothing), store.Closed)
	_, err := s.Verify(t.Context())
	isKind(t, err, store.Closed)
	require.NoError(t, s.Close(), "a second Close does nothing")
}

func verifyFindsNothing(t T, s store.Store) {
	update(t, s, func(tx store.Tx) { everything(t, tx) })
	damage, err := s.Verify(t.Context())
	require.NoError(t, err)
	require.Empty(t, damage)
}

func statusNamesKind(t T, s store.Store) {
	status := s.Status(t.Context())
	require.NotEmpty(t, status.Kind)
	require.False(t, status.ReadOnly)
}

func statusCountsCommits(t T, s store.Store) {
	before := s.Status(t.Context()).Stats.Commits
	update(t, s, func(tx store.Tx) { appendTo(t, tx, event(core.LedgerChanged, "a", start)) })
	require.ErrorIs(t, s.Update(t.Context(), func(store.Tx) error { return errNo }), errNo)
	require.NoError(t, s.UpdateReserved(t.Context(), func(store.Tx) error { return nil }))
	after := s.Status(t.Context()).Stats.Commits
	require.Equal(t, before.Count+2, after.Count, "two were committed, and one was not")
	require.Equal(t, store.Latencies[:], after.Bounds)
	require.Len(t, after.Within, len(store.Latencies))
	require.GreaterOrEqual(t, after.Sum, before.Sum)
}

func changedStaysOpen(t T, s store.Store) {
	changed := s.Changed()
	require.Equal(t, 1, cap(changed))
	require.NoError(t, s.Close())
	select {
	case _, ok := <-changed:
		require.True(t, ok, "the channel is closed")
	default:
	}
}

// commitIsSignalled commits through two stores in turn. Each must be signalled about the other's commits, and then see
// them.
func commitIsSignalled(t T, open func() store.Store) {
	handles := [2]store.Store{open(), open()}
	changed := [2]<-chan struct{}{handles[0].Changed(), handles[1].Changed()}
	for i := range int64(6) {
		writer, reader := i%2, 1-i%2
		update(t, handles[writer], func(tx store.Tx) { appendTo(t, tx, event(core.LedgerChanged, "plan", start)) })
		for newest := int64(0); newest <= i; {
			awaitSignal(t, changed[reader])
			view(t, handles[reader], func(tx store.Tx) { _, newest = bounds(t, tx) })
		}
	}
	require.NoError(t, handles[0].Close())
	require.NoError(t, handles[1].Close())
}

func awaitSignal(t T, changed <-chan struct{}) {
	t.Helper()
	select {
	case <-changed:
	case <-time.After(time.Minute):
		require.FailNow(t, "no signal came")
	}
}

// texts are contents that a careless store would alter.
func texts() []string {
	return []string{
		"", " ", "\n", " leading and trailing \r\n\t", "'; DROP TABLE instructions; --", `"\u0000" \x00 %s ?1 :a @b $c`,
		"Grüße, 世界, नमस्ते, שלום, 👩🏽‍🚀", "e\u0301 \u00e9", "\u202e\u200b\ufeff", "\U0010ffff\ufffd", "1e3", "0x10", "null", "NaN",
		strings.Repeat("0123456789abcdef", 1<<16),
	}
}

func textsComeBack(t T, s store.Store) {
	update(t, s, func(tx store.Tx) {
		require.NoError(t, tx.PutRun(newRun("r", "1.1")))
		for i, text := range texts() {
			putText(t, tx, i, text)
		}
	})
	view(t, s, func(tx store.Tx) {
		for i, text := range texts() {
			requireText(t, tx, i, text)
		}
	})
	damage, err := s.Verify(t.Context())
	require.NoError(t, err)
	require.Empty(t, damage)
}

func putText(t T, tx store.Tx, i int, text string) {
	t.Helper()
	name, position := fmt.Sprint("t", i), int64(i)+1
	instr := tracked(name, position)
	instr.Content = text
	instr.AckOn = instruction.AckRule{EventType: "tool", Match: text}
	instr.Phase = instruction.Cancelled{At: start, Reason: text}
	put(t, tx, instr)
	ev := event(core.InstructionQueued, name, start)
	ev.Data = text
	appendTo(t, tx, ev)
	putTaskText(t, tx, name, position, text)
	n := notice(name, position)
	n.Text = text
	require.NoError(t, tx.PutNotice(n))
	require.NoError(t, tx.PutAnswer(store.Answer{Key: "k" + text, Result: text, At: start}))
	require.NoError(t, tx.PutFacts("r", []store.Fact{{Key: text, Value: text}}))
	facts, err := tx.Facts("r")
	require.NoError(t, err)
	require.True(t, len(facts) == 1 && facts[0] == store.Fact{Key: text, Value: text}, "fact %d is altered", i)
}

// requireText compares without printing a text, because one of them is a mebibyte long.
func requireText(t T, tx store.Tx, i int, text string) {
	t.Helper()
	name, position := fmt.Sprint("t", i), int64(i)+1
	got, _, err := tx.Instruction(name)
	require.NoError(t, err)
	require.True(t, got.Content == text, "content %d is altered", i)
	require.True(t, got.AckOn.Match == text, "match %d is altered", i)
	require.True(t, got.Phase == instruction.Cancelled{At: start, Reason: text}, "reason %d is altered", i)
	evs, err := tx.Events(position-1, 1, nil)
	require.NoError(t, err)
	require.Len(t, evs, 1)
	require.True(t, evs[0].Data == text, "event %d is altered", i)
	requireTaskText(t, tx, name, text)
	n, _, err := tx.Notice(name)
	require.NoError(t, err)
	require.True(t, n.Text == text, "notice %d is altered", i)
	a, _, err := tx.Answered("k" + text)
	require.NoError(t, err)
	require.True(t, a.Result == text, "answer %d is altered", i)
}
