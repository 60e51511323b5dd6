package law

import (
	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/task"
	"waybill/store"
)

// moveLaws are about the verbs that only a copy of a whole store needs.
func moveLaws() []Law {
	return []Law{
		law("the root of a log is what was pruned from it", rootOfPruned),
		law("a log goes on behind a root", goesOnBehindRoot),
		law("a log that has had a record takes no root", rootRefused),
		law("answers are paged by key", answersPaged),
		law("breakers are paged by key, opened or not", breakersPaged),
	}
}

func requireRoot(t T, s store.Store, want store.Root) {
	t.Helper()
	view(t, s, func(tx store.Tx) {
		got, err := tx.Root()
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func rootOfPruned(t T, s store.Store) {
	requireRoot(t, s, store.Root{})
	mixedLog(t, s)
	requireRoot(t, s, store.Root{})
	var hashes []store.Hash
	view(t, s, func(tx store.Tx) {
		for _, ev := range allEvents(t, tx) {
			hashes = append(hashes, ev.Hash)
		}
	})
	prune(t, s, start+3*day, 2, 2)
	requireRoot(t, s, store.Root{Seq: 2, Hash: hashes[1]})
	prune(t, s, start+100*day, 100, 4)
	requireRoot(t, s, store.Root{Seq: 6, Hash: hashes[5], At: start + 5*day})
}

func goesOnBehindRoot(t T, s store.Store) {
	root := store.Root{Seq: 41, Hash: store.Hash{7}, At: start + day}
	update(t, s, func(tx store.Tx) {
		require.NoError(t, tx.PutRoot(root))
		oldest, newest := bounds(t, tx)
		require.EqualValues(t, 42, oldest)
		require.EqualValues(t, 41, newest)
	})
	requireRoot(t, s, root)
	update(t, s, func(tx store.Tx) {
		require.EqualValues(t, 42, appendTo(t, tx, event(core.InstructionQueued, "a", start)))
		require.EqualValues(t, 43, appendTo(t, tx, event(core.InstructionSent, "a", start+2*day)))
	})
	view(t, s, func(tx store.Tx) {
		evs := allEvents(t, tx)
		require.Equal(t, []int64{42, 43}, seqs(evs))
		require.Equal(t, start+day, evs[0].At, "time goes on behind that of the root")
		require.Equal(t, store.Chain(root.Hash, evs[0]), evs[0].Hash)
	})
	requireRoot(t, s, store.Root{Seq: 41, Hash: root.Hash})
	damage, err := s.Verify(t.Context())
	require.NoError(t, err)
	require.Empty(t, damage)
}

func rootRefused(t T, s store.Store) {
	refused := func(r store.Root) {
		t.Helper()
		update(t, s, func(tx store.Tx) {
			require.Error(t, tx.PutRoot(r), "%+v", r)
			require.Zero(t, tx.Writes())
		})
	}
	refused(store.Root{})
	refused(store.Root{Seq: -1})
	mixedLog(t, s)
	refused(store.Root{Seq: 9})
	prune(t, s, start+100*day, 100, 6)
	refused(store.Root{Seq: 9})
	update(t, s, func(tx store.Tx) {
		require.EqualValues(t, 7, appendTo(t, tx, event(core.InstructionQueued, "a", start)))
	})
}

func answersPaged(t T, s store.Store) {
	keys := []string{"A", "B", "a", "a b", "b", "ä"} // in the order of their bytes
	given := make(map[string]store.Answer)
	update(t, s, func(tx store.Tx) {
		for _, i := range []int{3, 0, 5, 1, 4, 2} {
			a := store.Answer{Key: keys[i], Fingerprint: "of " + keys[i], Result: `{"n":1}`, At: start + core.Instant(i)}
			given[a.Key] = a
			require.NoError(t, tx.PutAnswer(a))
		}
	})
	pages(t, s, keys, func(tx store.Tx, after string, limit int) []string {
		page, err := tx.Answers(after, limit)
		require.NoError(t, err)
		var found []string
		for _, a := range page {
			require.Equal(t, given[a.Key], a)
			found = append(found, a.Key)
		}
		return found
	})
}

func breakersPaged(t T, s store.Store) {
	keys := []string{"A/x", "a/x", "a/y", "b/x"}
	given := make(map[string]task.Breaker)
	update(t, s, func(tx store.Tx) {
		for _, i := range []int{2, 0, 3, 1} {
			b := task.Breaker{Key: keys[i], Failures: i, Opened: i % 2}
			given[b.Key] = b
			require.NoError(t, tx.PutBreaker(b))
		}
	})
	pages(t, s, keys, func(tx store.Tx, after string, limit int) []string {
		page, err := tx.Breakers(after, limit)
		require.NoError(t, err)
		var found []string
		for _, b := range page {
			require.Equal(t, given[b.Key], b)
			found = append(found, b.Key)
		}
		return found
	})
}

// pages reads the keys page by page, and after keys that do not exist.
func pages(t T, s store.Store, keys []string, read func(tx store.Tx, after string, limit int) []string) {
	t.Helper()
	view(t, s, func(tx store.Tx) {
		require.Equal(t, keys, read(tx, "", 100))
		require.Equal(t, keys[:2], read(tx, "", 2))
		require.Equal(t, keys[1:3], read(tx, keys[0], 2))
		require.Equal(t, keys[1:], read(tx, keys[0]+"\x00", 100), "behind a key that is not there")
		require.Empty(t, read(tx, keys[len(keys)-1], 100))
		require.Empty(t, read(tx, "", 0))
		require.Empty(t, read(tx, "", -1))
	})
}
