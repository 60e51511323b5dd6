package store_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/store"
)

var record = store.Event{Seq: 7, At: 11, Type: core.InstructionQueued, Subject: "ins_1", Data: `{"a":1}`}

// TestChainStaysWhatItIs: a store that was written years ago must still be found to be what was written.
func TestChainStaysWhatItIs(t *testing.T) {
	for want, got := range map[string]store.Hash{
		"834a709ba2534ebe3ee1397fd4f7bd288b2acc1d20a08d6c862dcd99b6f04400": store.Chain(store.Hash{}, store.Event{}),
		"b1da30517048f546706493027d44b9b00a0fe3a9702fbaf7d58ab3199896813f": store.Chain(store.Hash{1, 2, 3}, record),
	} {
		require.Equal(t, want, hex.EncodeToString(got[:]))
	}
}

// TestChainHoldsEveryField: whatever is changed in a record, moved from one field to the next, or put
// before it, gives another hash.
func TestChainHoldsEveryField(t *testing.T) {
	changed := map[string]func(prev *store.Hash, ev *store.Event){
		"nothing":              func(*store.Hash, *store.Event) {},
		"the record before":    func(prev *store.Hash, _ *store.Event) { prev[31] = 1 },
		"Seq":                  func(_ *store.Hash, ev *store.Event) { ev.Seq++ },
		"At":                   func(_ *store.Hash, ev *store.Event) { ev.At++ },
		"Seq and At":           func(_ *store.Hash, ev *store.Event) { ev.Seq, ev.At = int64(ev.At), core.Instant(ev.Seq) },
		"Type":                 func(_ *store.Hash, ev *store.Event) { ev.Type = core.InstructionSent },
		"Subject":              func(_ *store.Hash, ev *store.Event) { ev.Subject = "ins_2" },
		"Data":                 func(_ *store.Hash, ev *store.Event) { ev.Data = `{"a":2}` },
		"from Subject to Data": func(_ *store.Hash, ev *store.Event) { ev.Subject, ev.Data = "ins_", "1"+ev.Data },
		"from Type to Subject": func(_ *store.Hash, ev *store.Event) {
			ev.Type, ev.Subject = ev.Type[:4], string(ev.Type[4:])+ev.Subject
		},
	}
	seen := map[store.Hash]string{}
	for name, change := range changed {
		prev, ev := store.Hash{}, record
		change(&prev, &ev)
		hash := store.Chain(prev, ev)
		require.NotContains(t, seen, hash, "%s and %s", name, seen[hash])
		seen[hash] = name
	}
	with := record
	with.Hash = store.Hash{9}
	require.Equal(t, store.Chain(store.Hash{}, record), store.Chain(store.Hash{}, with), "its own hash is not part of it")
}

// TestKindsHaveNames: every kind has a name of its own, and a stranger shows its number.
func TestKindsHaveNames(t *testing.T) {
	seen := map[string]store.Kind{}
	for k := store.Full; k <= store.Cancelled; k++ {
		require.NotContains(t, k.String(), "kind(")
		require.NotContains(t, seen, k.String())
		seen[k.String()] = k
	}
	require.Equal(t, "kind(0)", store.Kind(0).String())
	require.Equal(t, fmt.Sprintf("kind(%d)", store.Cancelled+1), (store.Cancelled + 1).String())
}

// TestErrorSaysAndKeepsItsCause: the message comes first, and the cause can be asked for.
func TestErrorSaysAndKeepsItsCause(t *testing.T) {
	require.EqualError(t, &store.Error{Kind: store.Busy, Message: "try again"}, "try again")
	cause := errors.New("EIO")
	err := &store.Error{Kind: store.IO, Message: "check the disk", Err: cause}
	require.EqualError(t, err, "check the disk: EIO")
	require.ErrorIs(t, err, cause)
	require.Equal(t, store.NotApplied, err.Outcome, "what says nothing was not applied")
}
