package api_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/instruction"
	"waybill/schema"
	"waybill/store"
)

// A failingStore panics when it stores a certain content.
type failingStore struct{ *sharedStore }

func (s failingStore) Update(ctx context.Context, fn func(store.Tx) error) error {
	return s.sharedStore.Update(ctx, func(tx store.Tx) error { return fn(failingTx{tx}) })
}

type failingTx struct{ store.Tx }

func (tx failingTx) PutInstruction(in instruction.Instruction) error {
	if in.Content == "trap" {
		panic("caught in the trap")
	}
	return tx.Tx.PutInstruction(in)
}

func TestPanicInAChange(t *testing.T) {
	h := newHost(t, setup{store: failingStore{newSharedStore(t)}})
	h.call("queue_instruction", `{"content":"before"}`)
	before := h.begin(t.Context(), "queue_instruction", `{"content":"beside"}`)
	a := <-h.begin(t.Context(), "queue_instruction", `{"content":"trap","idempotency_key":"k"}`)
	require.Equal(t, schema.Internal, a.Err.Data.Code)
	require.Equal(t, -32603, a.Err.Code)
	require.Equal(t, schema.OutcomeNotApplied, a.Err.Data.Outcome)
	require.NotContains(t, a.Err.Message, "trap", "what is inside stays inside")
	require.ErrorContains(t, a.Cause, "caught in the trap")
	require.ErrorContains(t, a.Cause, "panic_test.go", "the stack is missing")
	h.result(<-before)
	h.call("queue_instruction", `{"content":"after","idempotency_key":"k"}`)
	require.Equal(t, []string{"before", "beside", "after"}, h.pass().sent())
}
