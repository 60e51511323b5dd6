package law

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"waybill/core/instruction"
	"waybill/store"
)

func orderLaws() []Law {
	return []Law{
		law("pages by position neither skip nor repeat", pagesByPosition),
		law("by urgency, priority comes first", byUrgency),
		law("by last send, the longest unsent comes first", byLastSend),
		law("a page is as long as its limit", pageLimit),
		law("a cursor goes with the order by position only", cursorNeedsPosition),
	}
}

func pagesByPosition(t T, s store.Store) {
	crowd(t, s)
	view(t, s, func(tx store.Tx) {
		for size := 1; size <= 11; size++ {
			requirePages(t, tx, store.InstructionQuery{Limit: size},
				[]string{"q1", "q2", "q3", "q4", "s1", "s2", "s3", "s4", "k1", "f1"})
			requirePages(t, tx, store.InstructionQuery{Limit: size, Session: "default", State: instruction.StateQueued},
				[]string{"q1", "q2", "q3"})
			requirePages(t, tx, store.InstructionQuery{Limit: size, State: instruction.StateSent},
				[]string{"s1", "s2", "s4"})
			requirePages(t, tx, store.InstructionQuery{Limit: size, AckEvent: "tool.done"}, []string{"q1", "s1"})
		}
	})
}

// requirePages walks through all pages of q.
func requirePages(t T, tx store.Tx, q store.InstructionQuery, want []string) {
	t.Helper()
	got := []string{}
	for len(got) <= len(want) {
		page, err := tx.Instructions(q)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page), q.Limit)
		if len(page) == 0 {
			break
		}
		got = append(got, ids(page)...)
		q.After = page[len(page)-1].Position
	}
	require.Equal(t, want, got, "pages of %d", q.Limit)
}

func byUrgency(t T, s store.Store) {
	update(t, s, func(tx store.Tx) {
		for i, urgent := range []bool{false, true, false, true} {
			next := tracked(fmt.Sprint("i", i), int64(i)+1)
			next.Priority = urgent
			put(t, tx, next)
		}
	})
	view(t, s, func(tx store.Tx) {
		q := store.InstructionQuery{Order: store.ByUrgency}
		require.Equal(t, []string{"i1", "i3", "i0", "i2"}, selected(t, tx, q))
		q.Limit = 3
		require.Equal(t, []string{"i1", "i3", "i0"}, selected(t, tx, q))
		q.Session, q.State = "default", instruction.StateQueued
		require.Equal(t, []string{"i1", "i3", "i0"}, selected(t, tx, q))
	})
}

func byLastSend(t T, s store.Store) {
	update(t, s, func(tx store.Tx) {
		put(t, tx,
			in(tracked("late", 1), instruction.Sent{Sends: 1, At: start + 2*day}),
			in(tracked("early", 2), instruction.Sent{Sends: 2, At: start}),
			in(tracked("late too", 3), instruction.Sent{Sends: 1, At: start + 2*day}),
			in(tracked("in the future", 4), instruction.Sent{Sends: 1, At: start + 9*day}),
			tracked("never", 5),
		)
	})
	view(t, s, func(tx store.Tx) {
		q := store.InstructionQuery{Order: store.ByLastSend}
		require.Equal(t, []string{"never", "early", "late", "late too", "in the future"}, selected(t, tx, q))
		q.Session, q.State = "default", instruction.StateSent
		require.Equal(t, []string{"early", "late", "late too", "in the future"}, selected(t, tx, q))
		q.Limit = 2
		require.Equal(t, []string{"early", "late"}, selected(t, tx, q))
		q.Limit, q.SentBefore, q.Now = 0, start+day, start+3*day
		require.Equal(t, []string{"early", "in the future"}, selected(t, tx, q), "the clock was set back")
	})
}

func pageLimit(t T, s store.Store) {
	update(t, s, func(tx store.Tx) {
		for i := range store.DefaultLimit + 2 {
			put(t, tx, plain(fmt.Sprint("i", i), int64(i)+1))
		}
	})
	view(t, s, func(tx store.Tx) {
		for limit, want := range map[int]int{
			0: store.DefaultLimit, 1: 1, store.DefaultLimit + 1: store.DefaultLimit + 1, 10_000: store.DefaultLimit + 2,
		} {
			for _, order := range []store.Order{store.ByPosition, store.ByUrgency, store.ByLastSend} {
				require.Len(t, selected(t, tx, store.InstructionQuery{Limit: limit, Order: order}), want)
			}
		}
	})
}

func cursorNeedsPosition(t T, s store.Store) {
	crowd(t, s)
	view(t, s, func(tx store.Tx) {
		for _, order := range []store.Order{store.ByUrgency, store.ByLastSend} {
			_, err := tx.Instructions(store.InstructionQuery{Order: order, After: 10})
			require.Error(t, err)
		}
	})
}
