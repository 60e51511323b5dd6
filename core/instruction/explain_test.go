package instruction_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/instruction"
	"waybill/test/golden"
)

// played returns a newly queued instruction after the events, one second apart, and its log.
func played(t *testing.T, in instruction.Instruction, events ...func(at core.Instant) instruction.Event) (instruction.Instruction, []core.Occurrence) {
	t.Helper()
	in.CreatedAt = coretest.Noon
	var d coretest.Log
	d.Record(coretest.Noon, []core.Effect{core.Record{Type: core.InstructionQueued}})
	for n, event := range events {
		at := coretest.Noon + core.Instant(n+1)*1_000_000
		next, effects, err := in.Step(event(at))
		require.NoError(t, err)
		d.Record(at, effects)
		in = next
	}
	return in, d.History
}

func cancelled(reason string) func(core.Instant) instruction.Event {
	return func(at core.Instant) instruction.Event { return instruction.Cancel{At: at, Reason: reason} }
}

func undelivered(send int, previous core.Instant) func(core.Instant) instruction.Event {
	return func(at core.Instant) instruction.Event { // the event before it was the send
		return instruction.Undeliver{Send: send, At: at - 1_000_000, Previous: previous}
	}
}

func onEvent(t *testing.T, in instruction.Instruction, match string) instruction.Instruction {
	t.Helper()
	in.AckOn = rule(t, match)
	return in
}

// An example is an instruction with its log.
type example struct {
	title   string
	in      instruction.Instruction
	history core.History
}

func examples(t *testing.T) []example {
	var all []example
	add := func(title string, in instruction.Instruction, events ...func(core.Instant) instruction.Event) {
		in, history := played(t, in, events...)
		all = append(all, example{title, in, history})
	}
	urgent := plain()
	urgent.Priority = true
	listening := onEvent(t, tracked(3), "{\n\"result.exit_code\": 0\n}")

	add("queued, plain", plain())
	add("queued, plain, with priority", urgent)
	add("queued, tracked", tracked(3))
	add("queued, tracked, listening", listening)
	add("queued again: its send never arrived", tracked(3), dispatch, undelivered(1, 0))
	add("sent, plain", plain(), dispatch)
	add("sent, tracked, sends are left", listening, dispatch, dispatch)
	add("sent, tracked, the last send is out", tracked(1), dispatch, dispatch)
	add("sent, tracked, two sends never arrived", tracked(3),
		dispatch, dispatch, undelivered(2, coretest.Noon+1_000_000), dispatch, undelivered(2, coretest.Noon+1_000_000))
	add("acknowledged by a call", tracked(3), dispatch, ackCall)
	add("acknowledged by an event", listening, dispatch, dispatch, ackEvent)
	add("acknowledged before its first send", tracked(3), ackCall)
	add("failed", onEvent(t, tracked(1), ""), dispatch, dispatch, dispatch)
	add("failed, no retries", tracked(0), dispatch, dispatch)
	add("failed, acknowledged late", tracked(0), dispatch, dispatch, ackCall)
	add("cancelled, plain", plain(), cancelled(""))
	add("cancelled with a reason", tracked(3), dispatch, cancelled("the branch\nis gone"))
	formatter := onEvent(t, standing(0), "")
	add("standing, armed", formatter)
	add("standing, due", formatter, fires)
	add("standing, sent", formatter, fires, dispatch)
	add("standing, armed again by an acknowledgement", formatter, fires, dispatch, ackEvent)
	add("standing, armed again by a failure", formatter, fires, dispatch, dispatch)
	add("standing, cancelled", formatter, cancelled("the formatter is gone"))
	return all
}

func fires(core.Instant) instruction.Event { return fire }

func TestExplainInstruction(t *testing.T) {
	var b strings.Builder
	for _, c := range examples(t) {
		fmt.Fprintf(&b, "== %s ==\n%s\n", c.title, coretest.Written(t, c.in.Explain(c.history)))
	}
	in, _ := played(t, tracked(0), dispatch, dispatch)
	fmt.Fprintf(&b, "== failed, and the log does not go back so far ==\n%s\n", coretest.Written(t, in.Explain(nil)))
	golden.Equal(t, "explain.golden", b.String())
}

// An explanation must not promise what Step would refuse, nor leave out what it would allow.
func TestExplainPromisesExactlyWhatStepAllows(t *testing.T) {
	for _, c := range examples(t) {
		explained := c.in.Explain(c.history)
		require.NotEmpty(t, explained.Because, c.title)
		require.NotNil(t, explained.Next, c.title)
		at := coretest.Noon + 60_000_000
		for name, event := range map[string]instruction.Event{
			"dispatch_instructions": dispatch(at), "acknowledge": ackCall(at), "cancel_instruction": instruction.Cancel{At: at},
		} {
			_, effects, err := c.in.Step(event)
			moves := err == nil && len(effects) > 0
			require.Equal(t, moves, coretest.Promises(explained, name), "%s: %s", c.title, name)
		}
		listens := c.in.Outstanding() && c.in.AckOn != instruction.AckRule{} || c.in.State() == instruction.StateArmed
		require.Equal(t, listens, coretest.Promises(explained, "report_event"), c.title)
	}
}
