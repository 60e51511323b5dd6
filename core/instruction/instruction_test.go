package instruction_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/instruction"
)

func tracked(maxRetries int) instruction.Instruction {
	return instruction.Instruction{
		ID: "ins_1", Session: "default", Content: "run the tests", Tracked: true, MaxRetries: maxRetries,
		CreatedAt: coretest.CreatedAt, Position: 1, Phase: instruction.Queued{},
	}
}

// plain returns a plain instruction. Its retries mean nothing.
func plain() instruction.Instruction {
	in := tracked(5)
	in.Tracked = false
	return in
}

// standing returns a standing instruction that waits for its trigger.
func standing(maxRetries int) instruction.Instruction {
	in := tracked(maxRetries)
	in.Trigger, in.Phase = instruction.Trigger{EventType: "tool", Path: "*.go"}, instruction.Armed{}
	return in
}

// after returns the instruction after events that are all allowed.
func after(t testing.TB, in instruction.Instruction, events ...instruction.Event) instruction.Instruction {
	t.Helper()
	for _, event := range events {
		next, _, err := in.Step(event)
		require.NoError(t, err)
		in = next
	}
	return in
}

// delivered returns the numbers of the sends that the effects hand out.
func delivered(effects []core.Effect) []int {
	var sends []int
	for _, effect := range effects {
		if d, ok := effect.(instruction.Deliver); ok {
			sends = append(sends, d.Send)
		}
	}
	return sends
}

func ackCall(at core.Instant) instruction.Event {
	return instruction.Acknowledge{At: at, By: instruction.ByCall}
}

func ackEvent(at core.Instant) instruction.Event {
	return instruction.Acknowledge{At: at, By: instruction.ByEvent}
}

func dispatch(at core.Instant) instruction.Event { return instruction.Dispatch{At: at} }

// Repeats differ, so that an agent that ignored one text does not get the same text again.
func TestRepeatsGrowMoreUrgent(t *testing.T) {
	for send, want := range []string{"x", "x", "**REMINDER:** x", "**IMPORTANT:** x", "**URGENT:** x", "**URGENT:** x"} {
		require.Equal(t, want, instruction.Escalated("x", send))
	}
}

// Only a failure that was never acknowledged needs attention.
func TestFailureIsUnsettledUntilItIsAcknowledged(t *testing.T) {
	failed := after(t, tracked(0), dispatch(200), dispatch(300))
	require.True(t, failed.Unsettled())
	for _, in := range []instruction.Instruction{tracked(0), after(t, failed, ackCall(400)), after(t, tracked(0), instruction.Cancel{At: 200})} {
		require.False(t, in.Unsettled())
	}
}

// A broken invariant is a bug of the program and must not pass for an answer.
func TestInstructionWithoutAPhaseOrAnUnknownEventPanics(t *testing.T) {
	none := tracked(1)
	none.Phase = nil
	require.Panics(t, func() { none.Sends() })
	require.Panics(t, func() { none.LastSentAt() })
	require.Panics(t, func() { none.Outstanding() })
	for _, event := range []instruction.Event{dispatch(200), ackCall(200), instruction.Undeliver{Send: 1}, instruction.Cancel{At: 200}} {
		require.Panics(t, func() { _, _, _ = none.Step(event) }, "%T", event)
	}
	require.Panics(t, func() { _, _, _ = tracked(1).Step(nil) })
}
