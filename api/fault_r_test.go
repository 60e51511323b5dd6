package api_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/schema"
	"waybill/store"
)

// A trapped store panics when it is to keep a certain content.
type trapped struct{ *lasting }

func (s trapped) Update(ctx context.Context, fn func(store.Tx) error) error {
	return s.lasting.Update(ctx, func(tx store.Tx) error { return fn(trap{tx}) })
}

type trap struct{ store.Tx }

func (tx trap) PutInstruction(in core.Instruction) error {
	if in.Content == "trap" {
		panic("caught in the trap")
	}
	return tx.Tx.PutInstruction(in)
}

// A handler panics in the middle of a change.
func TestFaultR24_PanicInAChange(t *testing.T) {
	h := newHost(t, setup{store: trapped{newLasting()}})
	h.call("queue_instruction", `{"content":"before"}`)
	before := h.begin(t.Context(), "queue_instruction", `{"content":"beside"}`)
	a := <-h.begin(t.Context(), "queue_instruction", `{"content":"trap","idempotency_key":"k"}`)
	require.Equal(t, schema.Internal, a.Err.Data.Code)
	require.Equal(t, -32603, a.Err.Code)
	require.Equal(t, schema.OutcomeNotApplied, a.Err.Data.Outcome)
	require.NotContains(t, a.Err.Message, "trap", "what is inside stays inside")
	require.ErrorContains(t, a.Cause, "caught in the trap")
	require.ErrorContains(t, a.Cause, "fault_r_test.go", "the stack is missing")
	h.result(<-before)
	h.call("queue_instruction", `{"content":"after","idempotency_key":"k"}`)
	require.Equal(t, []string{"before", "beside", "after"}, h.pass().sent())
}
