package law

import (
	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/store"
)

func noticeLaws() []Law {
	return []Law{
		law("a notice stays until it is consumed", noticeStays),
		law("a notice is replaced by its id", noticeReplaced),
		law("notices are paged by position and session", noticesPaged),
		law("no two notices share a position", noticePositionsAreTaken),
		law("notices are found by what they are about", noticesBySubject),
	}
}

func answerLaws() []Law {
	return []Law{law("the first answer stays", firstAnswerStays)}
}

func pruneLaws() []Law {
	return []Law{
		law("prune spares what somebody waits for", pruneSpares),
		law("prune removes the oldest first, up to the limit", pruneRemoves),
		law("numbering goes on after a prune", numbersAfterPrune),
	}
}

func noticeStays(t T, s store.Store) {
	want := notice("n", 4)
	update(t, s, func(tx store.Tx) { require.NoError(t, tx.PutNotice(want)) })
	for range 3 {
		view(t, s, func(tx store.Tx) { requireNotice(t, tx, want) })
		update(t, s, func(tx store.Tx) {
			_, err := tx.Prune(start+9*day, 100)
			require.NoError(t, err)
		})
	}
	update(t, s, func(tx store.Tx) {
		ok, err := tx.ConsumeNotice("n")
		require.NoError(t, err)
		require.True(t, ok)
		_, ok, err = tx.Notice("n")
		require.NoError(t, err)
		require.False(t, ok)
		ok, err = tx.ConsumeNotice("n")
		require.NoError(t, err)
		require.False(t, ok, "it is consumed once")
	})
	view(t, s, func(tx store.Tx) {
		n, err := tx.CountNotices()
		require.NoError(t, err)
		require.Zero(t, n)
	})
}

func requireNotice(t T, tx store.Tx, want store.Notice) {
	t.Helper()
	got, ok, err := tx.Notice(want.ID)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, want, got)
	listed, err := tx.Notices("", 0, 100)
	require.NoError(t, err)
	require.Contains(t, listed, want)
}

func noticeReplaced(t T, s store.Store) {
	want := notice("n", 4)
	update(t, s, func(tx store.Tx) { require.NoError(t, tx.PutNotice(want)) })
	want.Deliveries, want.Position, want.Text, want.Session = 2, 6, "told again", "other"
	update(t, s, func(tx store.Tx) { require.NoError(t, tx.PutNotice(want)) })
	view(t, s, func(tx store.Tx) {
		requireNotice(t, tx, want)
		n, err := tx.CountNotices()
		require.NoError(t, err)
		require.Equal(t, 1, n)
	})
}

func noticesPaged(t T, s store.Store) {
	update(t, s, func(tx store.Tx) {
		for i, session := range []string{"a", "b", "a", "", "a"} {
			n := notice(string(rune('v'+i)), int64(50-10*i))
			n.Session = session
			require.NoError(t, tx.PutNotice(n))
		}
	})
	rows := []struct {
		session string
		after   int64
		limit   int
		want    []int64
	}{
		{"", 0, 100, []int64{10, 20, 30, 40, 50}},
		{"", 0, 2, []int64{10, 20}},
		{"", 20, 2, []int64{30, 40}},
		{"", 50, 2, []int64{}},
		{"a", 0, 2, []int64{10, 30}},
		{"a", 30, 2, []int64{50}},
		{"b", 0, 100, []int64{40}},
		{"c", 0, 100, []int64{}},
		{"", 0, 0, []int64{}},
		{"a", 0, -1, []int64{}},
	}
	view(t, s, func(tx store.Tx) {
		for _, row := range rows {
			page, err := tx.Notices(row.session, row.after, row.limit)
			require.NoError(t, err)
			got := []int64{}
			for _, n := range page {
				got = append(got, n.Position)
			}
			require.Equal(t, row.want, got, "of %q after %d, limit %d", row.session, row.after, row.limit)
		}
	})
}

func noticePositionsAreTaken(t T, s store.Store) {
	update(t, s, func(tx store.Tx) {
		require.NoError(t, tx.PutNotice(notice("n", 4)))
		require.Error(t, tx.PutNotice(notice("m", 4)))
		require.Error(t, tx.PutNotice(notice("m", 0)))
		require.NoError(t, tx.PutNotice(notice("m", 5)))
		require.Error(t, tx.PutNotice(notice("m", 4)), "a replacement cannot take it either")
		requireNotice(t, tx, notice("n", 4))
		requireNotice(t, tx, notice("m", 5))
	})
}

func noticesBySubject(t T, s store.Store) {
	of := func(id, subject string, position int64) store.Notice {
		n := notice(id, position)
		n.Subject = subject
		return n
	}
	update(t, s, func(tx store.Tx) {
		for _, n := range []store.Notice{of("late", "tsk_1", 30), of("other", "tsk_2", 20), of("early", "tsk_1", 10)} {
			require.NoError(t, tx.PutNotice(n))
		}
	})
	requireAbout := func(want ...store.Notice) {
		t.Helper()
		view(t, s, func(tx store.Tx) {
			got, err := tx.NoticesAbout("tsk_1")
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
	requireAbout(of("early", "tsk_1", 10), of("late", "tsk_1", 30))
	update(t, s, func(tx store.Tx) {
		_, err := tx.ConsumeNotice("early")
		require.NoError(t, err)
		require.NoError(t, tx.PutNotice(of("other", "tsk_1", 20)))
	})
	requireAbout(of("other", "tsk_1", 20), of("late", "tsk_1", 30))
}

func firstAnswerStays(t T, s store.Store) {
	first := store.Answer{Key: "key", Fingerprint: "one", Result: `{"a":1}`, At: start}
	update(t, s, func(tx store.Tx) {
		_, ok, err := tx.Answered("key")
		require.NoError(t, err)
		require.False(t, ok)
		require.NoError(t, tx.PutAnswer(first))
	})
	update(t, s, func(tx store.Tx) {
		require.NoError(t, tx.PutAnswer(store.Answer{Key: "key", Fingerprint: "two", Result: `{}`, At: start + day}))
		got, ok, err := tx.Answered("key")
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, first, got)
	})
	view(t, s, func(tx store.Tx) {
		got, _, err := tx.Answered("key")
		require.NoError(t, err)
		require.Equal(t, first, got)
		_, ok, err := tx.Answered("KEY")
		require.NoError(t, err)
		require.False(t, ok, "keys differ by case")
	})
}

func pruneSpares(t T, s store.Store) {
	crowd(t, s)
	update(t, s, func(tx store.Tx) {
		require.NoError(t, tx.PutRun(newRun("r", "1")))
		require.NoError(t, tx.PutFacts("r", facts("a", "1")))
		require.NoError(t, tx.PutNotice(notice("n", 1)))
	})
	update(t, s, func(tx store.Tx) {
		n, err := tx.Prune(start+100*day, 1000)
		require.NoError(t, err)
		require.Equal(t, 2, n, "the acknowledged and the plain sent one")
	})
	view(t, s, func(tx store.Tx) {
		require.Equal(t, []string{"q1", "q2", "q3", "q4", "s1", "s2", "s4", "f1"},
			selected(t, tx, store.InstructionQuery{}))
		requireFacts(t, tx, "r", facts("a", "1"))
		requireRun(t, tx, newRun("r", "1"))
		requireNotice(t, tx, notice("n", 1))
	})
}

func pruneRemoves(t T, s store.Store) {
	update(t, s, func(tx store.Tx) {
		put(t, tx,
			in(tracked("day 3", 1), instruction.Acknowledged{At: start + 3*day, By: instruction.ByCall}),
			in(plain("day 1", 2), instruction.Sent{Sends: 1, At: start + day}),
			in(tracked("day 2", 3), instruction.Cancelled{Sends: 1, SentAt: start, At: start + 2*day}),
			in(tracked("day 9", 4), instruction.Cancelled{At: start + 9*day}),
		)
		for i, key := range []string{"day 2", "day 1", "day 3", "day 9"} {
			at := start + []core.Instant{2, 1, 3, 9}[i]*day
			require.NoError(t, tx.PutAnswer(store.Answer{Key: key, At: at}))
		}
	})
	left := func(instructions, answers []string) {
		t.Helper()
		view(t, s, func(tx store.Tx) {
			require.Equal(t, instructions, selected(t, tx, store.InstructionQuery{}))
			found := []string{}
			for _, key := range []string{"day 1", "day 2", "day 3", "day 9"} {
				if _, ok, _ := tx.Answered(key); ok {
					found = append(found, key)
				}
			}
			require.Equal(t, answers, found)
		})
	}
	prune(t, s, start, 100, 0)
	prune(t, s, start+9*day, 0, 0)
	prune(t, s, start+9*day, 1, 2)
	left([]string{"day 3", "day 2", "day 9"}, []string{"day 2", "day 3", "day 9"})
	prune(t, s, start+2*day+1, 100, 2)
	left([]string{"day 3", "day 9"}, []string{"day 3", "day 9"})
	prune(t, s, start+9*day, 100, 2)
	left([]string{"day 9"}, []string{"day 9"})
}

func prune(t T, s store.Store, before core.Instant, limit, want int) {
	t.Helper()
	update(t, s, func(tx store.Tx) {
		n, err := tx.Prune(before, limit)
		require.NoError(t, err)
		require.Equal(t, want, n)
	})
}

func numbersAfterPrune(t T, s store.Store) {
	mixedLog(t, s)
	prune(t, s, start+3*day, 2, 2)
	requireBounds := func(oldest, newest int64) {
		t.Helper()
		view(t, s, func(tx store.Tx) {
			gotOldest, gotNewest := bounds(t, tx)
			require.Equal(t, oldest, gotOldest)
			require.Equal(t, newest, gotNewest)
		})
		damage, err := s.Verify(t.Context())
		require.NoError(t, err)
		require.Empty(t, damage)
	}
	requireBounds(3, 6)
	view(t, s, func(tx store.Tx) { require.Equal(t, []int64{3, 4, 5, 6}, seqs(allEvents(t, tx))) })
	prune(t, s, start+100*day, 100, 4)
	requireBounds(7, 6)
	view(t, s, func(tx store.Tx) {
		require.Empty(t, allEvents(t, tx))
		seq, err := tx.SeqBefore(start + 100*day)
		require.NoError(t, err)
		require.EqualValues(t, 6, seq)
	})
	update(t, s, func(tx store.Tx) {
		require.EqualValues(t, 7, appendTo(t, tx, event(core.LedgerChanged, "plan", start)))
		require.Equal(t, start+5*day, allEvents(t, tx)[0].At, "time goes on, too")
	})
	requireBounds(7, 7)
}
