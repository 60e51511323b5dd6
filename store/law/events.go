package law

import (
	"errors"
	"fmt"
	"sync"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/store"
)

func eventLaws() []Law {
	return []Law{
		law("numbers have no gaps, whatever fails", gapFree),
		law("numbers follow the order of commits", commitOrder),
		{Name: "who reads on skips no number that another handle commits", Holds: nothingIsSkipped, Shares: true},
		law("time runs forwards in the log", timeRunsForwards),
		law("records are chained", recordsAreChained),
		law("records come back as they were appended", recordsComeBack),
		law("events are paged and picked by type", eventsByType),
		law("events of a subject are paged", eventsOfSubject),
		law("an empty log has bounds", emptyBounds),
		law("a log ends with its newest record", endOfLog),
		law("a number is found by its time", seqBefore),
	}
}

func gapFree(t T, s store.Store) {
	for i := range int64(5) {
		require.Same(t, errNo, s.Update(t.Context(), func(tx store.Tx) error {
			appendTo(t, tx, event(core.InstructionQueued, "failed", start))
			return errNo
		}))
		require.Panics(t, func() {
			_ = s.Update(t.Context(), func(tx store.Tx) error {
				appendTo(t, tx, event(core.InstructionQueued, "panicked", start))
				panic("no")
			})
		})
		update(t, s, func(tx store.Tx) {
			require.Equal(t, 2*i+1, appendTo(t, tx, event(core.InstructionQueued, "a", start)))
			require.Equal(t, 2*i+2, appendTo(t, tx, event(core.InstructionSent, "a", start)))
		})
	}
	view(t, s, func(tx store.Tx) {
		for i, ev := range allEvents(t, tx) {
			require.EqualValues(t, i+1, ev.Seq)
			require.Equal(t, "a", ev.Subject)
		}
		oldest, newest := bounds(t, tx)
		require.EqualValues(t, 1, oldest)
		require.EqualValues(t, 10, newest)
	})
}

// commitOrder runs writers that record the newest number before they begin. Their own number must be greater, and every
// record must have the number that its writer received.
func commitOrder(t T, s store.Store) {
	const writers, each = 4, 10
	var wg sync.WaitGroup
	var mu sync.Mutex // guards given
	given := make(map[int64]string)
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				subject := fmt.Sprint(w, "/", i)
				seq, err := appendAfter(t, s, subject)
				if err != nil {
					t.Errorf("writer %d: %v", w, err)
					return
				}
				mu.Lock()
				given[seq] = subject
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	view(t, s, func(tx store.Tx) {
		evs := allEvents(t, tx)
		require.Len(t, evs, writers*each)
		for i, ev := range evs {
			require.EqualValues(t, i+1, ev.Seq)
			require.Equal(t, given[ev.Seq], ev.Subject, "the writer was given another number")
		}
	})
}

// nothingIsSkipped runs two writers and a reader that continues after the last number it saw. A lower number must not
// appear after a higher one.
func nothingIsSkipped(t T, open func() store.Store) {
	const writers, each = 2, 40
	handles := []store.Store{open(), open(), open()}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				err := handles[w].Update(t.Context(), func(tx store.Tx) error {
					if _, err := tx.Append(event(core.InstructionQueued, fmt.Sprint(w), start)); err != nil || i%4 > 0 {
						return err
					}
					return errNo // abandons a number, which the store must notice
				})
				if err != nil && !errors.Is(err, errNo) {
					t.Errorf("writer %d: %v", w, err)
				}
			}
		})
	}
	ended := make(chan struct{})
	go func() { // ends with the writers
		wg.Wait()
		close(ended)
	}()
	seen, last := int64(0), false
	for more := true; more; {
		select {
		case <-ended:
			last = true
		default:
		}
		view(t, handles[writers], func(tx store.Tx) {
			evs, err := tx.Events(seen, 7, nil)
			require.NoError(t, err)
			for _, ev := range evs {
				require.Equal(t, seen+1, ev.Seq, "a number was skipped")
				seen = ev.Seq
			}
			more = !last || len(evs) > 0
		})
	}
	require.EqualValues(t, writers*each*3/4, seen)
	for _, s := range handles {
		require.NoError(t, s.Close())
	}
}

func appendAfter(t T, s store.Store, subject string) (seq int64, err error) {
	var newest int64
	if err := s.View(t.Context(), func(tx store.Tx) error {
		_, newest, err = tx.Bounds()
		return err
	}); err != nil {
		return 0, err
	}
	err = s.Update(t.Context(), func(tx store.Tx) error {
		seq, err = tx.Append(event(core.InstructionQueued, subject, start))
		return err
	})
	if err == nil && seq <= newest {
		err = fmt.Errorf("number %d was given after %d was seen", seq, newest)
	}
	return seq, err
}

func timeRunsForwards(t T, s store.Store) {
	given := []core.Instant{start, start + 2*day, start + day, start + 2*day, start + 3*day, 0}
	stored := []core.Instant{start, start + 2*day, start + 2*day, start + 2*day, start + 3*day, start + 3*day}
	for _, at := range given {
		update(t, s, func(tx store.Tx) { appendTo(t, tx, event(core.LedgerChanged, "plan", at)) })
	}
	view(t, s, func(tx store.Tx) {
		for i, ev := range allEvents(t, tx) {
			require.Equal(t, stored[i], ev.At)
		}
	})
}

func recordsAreChained(t T, s store.Store) {
	for range 3 {
		update(t, s, func(tx store.Tx) {
			appendTo(t, tx, event(core.InstructionQueued, "a", start))
			appendTo(t, tx, event(core.InstructionSent, "a", start))
			requireChained(t, allEvents(t, tx))
		})
	}
	view(t, s, func(tx store.Tx) { requireChained(t, allEvents(t, tx)) })
}

// requireChained checks the hashes of a log that begins with its first record.
func requireChained(t T, evs []store.Event) {
	t.Helper()
	var prev store.Hash
	for _, ev := range evs {
		require.Equal(t, store.Chain(prev, ev), ev.Hash, "hash of record %d", ev.Seq)
		prev = ev.Hash
	}
}

func recordsComeBack(t T, s store.Store) {
	update(t, s, func(tx store.Tx) {
		for _, kind := range core.EventTypes() {
			ev := event(kind, "about "+string(kind), start)
			ev.Seq, ev.Hash = 99, store.Hash{1} // the store must ignore both
			appendTo(t, tx, ev)
		}
	})
	view(t, s, func(tx store.Tx) {
		evs := allEvents(t, tx)
		require.Len(t, evs, len(core.EventTypes()))
		for i, kind := range core.EventTypes() {
			want := event(kind, "about "+string(kind), start)
			want.Seq, want.Hash = int64(i)+1, evs[i].Hash
			require.Equal(t, want, evs[i])
		}
	})
}

// mixedLog appends six records: queued and sent in turn, about a, b and a, b, …
func mixedLog(t T, s store.Store) {
	update(t, s, func(tx store.Tx) {
		for i := range 6 {
			kind, subject := core.InstructionQueued, "a"
			if i%2 == 1 {
				kind = core.InstructionSent
			}
			if i%3 == 1 {
				subject = "b"
			}
			appendTo(t, tx, event(kind, subject, start+core.Instant(i)*day))
		}
	})
}

func seqs(evs []store.Event) []int64 {
	numbers := []int64{}
	for _, ev := range evs {
		numbers = append(numbers, ev.Seq)
	}
	return numbers
}

func eventsByType(t T, s store.Store) {
	mixedLog(t, s)
	sent, queued := core.InstructionSent, core.InstructionQueued
	rows := []struct {
		after int64
		limit int
		types []core.EventType
		want  []int64
	}{
		{0, 100, nil, []int64{1, 2, 3, 4, 5, 6}},
		{0, 2, nil, []int64{1, 2}},
		{2, 2, nil, []int64{3, 4}},
		{5, 2, nil, []int64{6}},
		{6, 2, nil, []int64{}},
		{0, 0, nil, []int64{}},
		{0, -1, nil, []int64{}},
		{0, 100, []core.EventType{sent}, []int64{2, 4, 6}},
		{2, 1, []core.EventType{sent}, []int64{4}},
		{0, 3, []core.EventType{sent, queued}, []int64{1, 2, 3}},
		{0, 3, []core.EventType{core.RunStarted}, []int64{}},
		{0, 100, []core.EventType{}, []int64{1, 2, 3, 4, 5, 6}},
	}
	view(t, s, func(tx store.Tx) {
		for _, row := range rows {
			evs, err := tx.Events(row.after, row.limit, row.types)
			require.NoError(t, err)
			require.Equal(t, row.want, seqs(evs), "after %d, limit %d, types %v", row.after, row.limit, row.types)
		}
	})
}

func eventsOfSubject(t T, s store.Store) {
	mixedLog(t, s)
	rows := []struct {
		subject string
		after   int64
		limit   int
		want    []int64
	}{
		{"a", 0, 100, []int64{1, 3, 4, 6}},
		{"a", 1, 2, []int64{3, 4}},
		{"b", 0, 100, []int64{2, 5}},
		{"b", 5, 100, []int64{}},
		{"b", 0, 0, []int64{}},
		{"c", 0, 100, []int64{}},
		{"", 0, 100, []int64{}},
	}
	view(t, s, func(tx store.Tx) {
		for _, row := range rows {
			evs, err := tx.EventsOf(row.subject, row.after, row.limit)
			require.NoError(t, err)
			require.Equal(t, row.want, seqs(evs), "of %q after %d, limit %d", row.subject, row.after, row.limit)
		}
	})
}

func emptyBounds(t T, s store.Store) {
	view(t, s, func(tx store.Tx) {
		oldest, newest := bounds(t, tx)
		require.EqualValues(t, 1, oldest)
		require.EqualValues(t, 0, newest)
		seq, err := tx.SeqBefore(start)
		require.NoError(t, err)
		require.EqualValues(t, 0, seq)
	})
}

func endOfLog(t T, s store.Store) {
	ends := func(tx store.Tx, seq int64, hash store.Hash) {
		end, err := tx.Tip()
		require.NoError(t, err)
		require.Equal(t, store.Point{Seq: seq, Hash: hash}, end)
	}
	view(t, s, func(tx store.Tx) { ends(tx, 0, store.Hash{}) })
	var last store.Event
	for i := range int64(3) {
		update(t, s, func(tx store.Tx) {
			appendTo(t, tx, event(core.InstructionQueued, "a", start))
			last = allEvents(t, tx)[i]
			ends(tx, i+1, last.Hash)
		})
	}
	view(t, s, func(tx store.Tx) { ends(tx, 3, last.Hash) })
	update(t, s, func(tx store.Tx) {
		_, err := tx.Prune(start+day, 10)
		require.NoError(t, err)
		require.Empty(t, allEvents(t, tx))
	})
	view(t, s, func(tx store.Tx) { ends(tx, 3, last.Hash) })
}

func seqBefore(t T, s store.Store) {
	mixedLog(t, s)
	update(t, s, func(tx store.Tx) {
		appendTo(t, tx, event(core.LedgerChanged, "plan", start)) // stored as at start+5*day
	})
	view(t, s, func(tx store.Tx) {
		for at, want := range map[core.Instant]int64{
			0: 0, start: 0, start + 1: 1, start + day: 1, start + 5*day: 5, start + 5*day + 1: 7, start + 9*day: 7,
		} {
			got, err := tx.SeqBefore(at)
			require.NoError(t, err)
			require.Equal(t, want, got, "before %d", at)
		}
	})
}
