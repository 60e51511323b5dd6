package instruction_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/instruction"
	"waybill/test/golden"
)

// A situation is a row of the matrix. Events alone lead to it, so that the matrix shows nothing that cannot happen.
type situation struct {
	name string
	in   instruction.Instruction
}

func situations(t *testing.T) []situation {
	sentTwice := []instruction.Event{dispatch(200), dispatch(300)}
	usedUp := append(slices.Clone(sentTwice), dispatch(400), dispatch(500))
	failed := append(slices.Clone(usedUp), dispatch(600))
	with := func(events []instruction.Event, more ...instruction.Event) []instruction.Event {
		return append(slices.Clone(events), more...)
	}
	withdrawn := instruction.Cancel{At: 700, Reason: "no longer needed"}
	return []situation{
		{"plain, queued", plain()},
		{"plain, sent", after(t, plain(), dispatch(200))},
		{"plain, cancelled", after(t, plain(), withdrawn)},
		{"no retries, queued", tracked(0)},
		{"no retries, sent", after(t, tracked(0), dispatch(200))},
		{"tracked, queued", tracked(3)},
		{"tracked, sent once", after(t, tracked(3), dispatch(200))},
		{"tracked, sent, below the maximum", after(t, tracked(3), sentTwice...)},
		{"tracked, sent, at the maximum", after(t, tracked(3), usedUp...)},
		{"tracked, acknowledged before its first send", after(t, tracked(3), ackCall(700))},
		{"tracked, acknowledged", after(t, tracked(3), with(sentTwice, ackEvent(700))...)},
		{"tracked, failed", after(t, tracked(3), failed...)},
		{"tracked, failed, acknowledged late", after(t, tracked(3), with(failed, ackCall(700))...)},
		{"tracked, cancelled before its first send", after(t, tracked(3), withdrawn)},
		{"tracked, cancelled", after(t, tracked(3), with(sentTwice, withdrawn)...)},
		{"standing, armed", standing(1)},
		{"standing, due", after(t, standing(1), fire)},
		{"standing, sent, below the maximum", after(t, standing(1), fire, dispatch(200))},
		{"standing, sent, at the maximum", after(t, standing(1), fire, dispatch(200), dispatch(300))},
		{"standing, acknowledged", after(t, standing(1), fire, dispatch(200), ackEvent(700))},
		{"standing, failed", after(t, standing(1), fire, dispatch(200), dispatch(300), dispatch(400))},
		{"standing, cancelled", after(t, standing(1), withdrawn)},
	}
}

// fire fires the trigger of a standing instruction.
var fire = instruction.Fire{}

// A column is an event of the matrix.
type column struct {
	name  string
	event func(instruction.Instruction) instruction.Event
}

func columns() []column {
	constant := func(event instruction.Event) func(instruction.Instruction) instruction.Event {
		return func(instruction.Instruction) instruction.Event { return event }
	}
	return []column{
		{"fire, long after the send", constant(instruction.Fire{At: 1000, MinAge: 500})},
		{"fire, soon after the send", constant(instruction.Fire{At: 1000, MinAge: 5000})},
		{"dispatch, due", constant(instruction.Dispatch{At: 1000, MinAge: 500})},
		{"dispatch, not due", constant(instruction.Dispatch{At: 1000, MinAge: 5000})},
		{"dispatch, clock set back", constant(instruction.Dispatch{At: 150, MinAge: 5000})},
		{"acknowledge, by call", constant(ackCall(1000))},
		{"acknowledge, by event", constant(ackEvent(1000))},
		{"undeliver, last send", func(in instruction.Instruction) instruction.Event {
			return instruction.Undeliver{Send: in.Sends(), At: in.LastSentAt(), Previous: previousSend(in)}
		}},
		{"undeliver, earlier send", func(in instruction.Instruction) instruction.Event {
			return instruction.Undeliver{Send: in.Sends() - 1, At: previousSend(in)}
		}},
		{"undeliver, of an earlier firing", func(in instruction.Instruction) instruction.Event {
			return instruction.Undeliver{Send: in.Sends(), At: 100}
		}},
		{"cancel", constant(instruction.Cancel{At: 1000, Reason: "superseded"})},
	}
}

// previousSend returns when the send before the last one was. The rows send at 200, 300, 400 and 500.
func previousSend(in instruction.Instruction) core.Instant {
	if in.Sends() < 2 {
		return 0
	}
	return in.LastSentAt() - 100
}

const matrixLegend = `The next state of an instruction (row) after an event (column).

A cell has the next state, the sends so far of the sends allowed, and the time of the last one, then the
effects: "deliver n" hands out the n-th send, "log x" appends a record to the event log, "notice x" leaves
a notice. "unchanged" is the same value without effects.
"refused (x)" is the same value, and a refusal that is spelled out below the table.
Events happen at 1000. A dispatch is due when the last send is at least 500 ago; one that is not due
asks for 5000; one with the clock set back happens at 150, before every send. A firing asks for the same ages. If no
send of a standing instruction is left, the next firing allows all of them again.

`

func TestInstructionMatrix(t *testing.T) {
	rows, columns := situations(t), columns()
	var names, titles []string
	for _, row := range rows {
		names = append(names, strings.ReplaceAll(row.name, ", ", ",\n")+"\n"+described(row.in))
	}
	for _, column := range columns {
		titles = append(titles, column.name)
	}
	golden.Equal(t, "matrix.golden", matrixLegend+coretest.Matrix(names, titles, func(i, j int, refusals *golden.Footnotes) string {
		in := rows[i].in
		next, effects, err := in.Step(columns[j].event(in))
		return coretest.Cell(refusals, []string{described(next)}, next != in, effects, err)
	}))
}

// described returns the state, the sends, and the facts of the phase.
func described(in instruction.Instruction) string {
	text := fmt.Sprintf("%s %d/%d", in.State(), in.Sends(), in.SendsMax())
	if in.LastSentAt() != 0 {
		text += fmt.Sprintf(" @%d", in.LastSentAt())
	}
	switch p := in.Phase.(type) {
	case instruction.Armed, instruction.Queued, instruction.Sent:
	case instruction.Acknowledged:
		text += fmt.Sprintf("\nby %s at %d", p.By, p.At)
	case instruction.Failed:
		text += fmt.Sprintf("\nat %d", p.At)
		if p.LateAckAt != 0 {
			text += fmt.Sprintf(", late ack %d", p.LateAckAt)
		}
	case instruction.Cancelled:
		text += fmt.Sprintf("\nat %d", p.At)
	}
	return text
}
