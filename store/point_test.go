package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/store"
	"waybill/test/teststore"
)

// logOf makes a store whose log has a record about each subject.
func logOf(t *testing.T, subjects ...string) store.Store {
	t.Helper()
	s := teststore.New(t)
	require.NoError(t, s.Update(t.Context(), func(tx store.Tx) error {
		for i, subject := range subjects {
			if _, err := tx.Append(store.Event{Type: core.LedgerChanged, Subject: subject, At: core.Instant(i + 1), Data: "{}"}); err != nil {
				return err
			}
		}
		return nil
	}))
	return s
}

func endOf(t *testing.T, s store.Store) (p store.Point) {
	t.Helper()
	require.NoError(t, s.View(t.Context(), func(tx store.Tx) (err error) {
		p, err = tx.Tip()
		return err
	}))
	return p
}

// TestPointTellsLogsApart: a log that was put back does not go on from where another one was, also when it has grown again.
func TestPointTellsLogsApart(t *testing.T) {
	three, other := endOf(t, logOf(t, "a", "b", "c")), endOf(t, logOf(t, "a", "x", "c"))
	require.EqualValues(t, 3, three.Seq)
	require.NotEqual(t, three, other)
	for _, row := range []struct {
		name      string
		log       []string
		from      store.Point
		continues bool
	}{
		{"itself", []string{"a", "b", "c"}, three, true},
		{"grown", []string{"a", "b", "c", "d"}, three, true},
		{"shorter", []string{"a", "b"}, three, false},
		{"as long", []string{"a", "x", "c"}, three, false},
		{"longer", []string{"a", "x", "c", "d"}, three, false},
		{"empty", nil, three, false},
		{"from the beginning", []string{"a"}, store.Point{}, true},
		{"from the beginning of an empty one", nil, store.Point{}, true},
		{"from a damaged record", []string{"a", "b", "c"}, store.Point{Seq: 2}, true},
	} {
		require.NoError(t, logOf(t, row.log...).View(t.Context(), func(tx store.Tx) error {
			got, err := row.from.Continues(tx)
			require.Equal(t, row.continues, got, row.name)
			return err
		}))
	}
}

// TestPointBehindWhatIsKept: a log that was cut goes on from the record that it stands on, and from no earlier one.
func TestPointBehindWhatIsKept(t *testing.T) {
	s := logOf(t, "a", "b", "c")
	var points []store.Point
	view := func(fn func(tx store.Tx)) {
		require.NoError(t, s.View(t.Context(), func(tx store.Tx) error {
			fn(tx)
			return nil
		}))
	}
	view(func(tx store.Tx) {
		for seq := range int64(4) {
			p, ok, err := store.PointAt(tx, seq)
			require.NoError(t, err)
			require.True(t, ok)
			points = append(points, p)
		}
		_, ok, err := store.PointAt(tx, 4)
		require.NoError(t, err)
		require.False(t, ok)
	})
	require.NoError(t, s.Update(t.Context(), func(tx store.Tx) error {
		removed, err := tx.Prune(3, 10)
		require.Equal(t, 2, removed)
		return err
	}))
	view(func(tx store.Tx) {
		for i, want := range []bool{false, false, true, true} {
			got, err := points[i].Continues(tx)
			require.NoError(t, err)
			require.Equal(t, want, got, i)
		}
	})
}
