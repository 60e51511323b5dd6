package core_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"waybill/core"
)

// A situation is a row of the matrix: an instruction in some phase, made by events alone, so that
// the matrix shows nothing that cannot happen.
type situation struct {
	name string
	in   core.Instruction
}

func situations(t *testing.T) []situation {
	sentTwice := []core.Event{dispatch(200), dispatch(300)}
	usedUp := append(slices.Clone(sentTwice), dispatch(400), dispatch(500))
	failed := append(slices.Clone(usedUp), dispatch(600))
	with := func(events []core.Event, more ...core.Event) []core.Event {
		return append(slices.Clone(events), more...)
	}
	withdrawn := core.Cancel{At: 700, Reason: "no longer needed"}
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
	}
}

// A happening is a column of the matrix.
type happening struct {
	name  string
	event func(core.Instruction) core.Event
}

func happenings() []happening {
	constant := func(event core.Event) func(core.Instruction) core.Event {
		return func(core.Instruction) core.Event { return event }
	}
	return []happening{
		{"dispatch, due", constant(core.Dispatch{At: 1000, MinAge: 500})},
		{"dispatch, not due", constant(core.Dispatch{At: 1000, MinAge: 5000})},
		{"dispatch, clock set back", constant(core.Dispatch{At: 150, MinAge: 5000})},
		{"acknowledge, by call", constant(ackCall(1000))},
		{"acknowledge, by event", constant(ackEvent(1000))},
		{"undeliver, last send", func(in core.Instruction) core.Event {
			return core.Undeliver{Send: in.Sends(), Previous: previousSend(in)}
		}},
		{"undeliver, earlier send", func(in core.Instruction) core.Event {
			return core.Undeliver{Send: in.Sends() - 1}
		}},
		{"cancel", constant(core.Cancel{At: 1000, Reason: "superseded"})},
	}
}

// previousSend is when the send before the last one was; the rows send at 200, 300, 400 and 500.
func previousSend(in core.Instruction) core.Instant {
	if in.Sends() < 2 {
		return 0
	}
	return in.LastSentAt() - 100
}

const matrixLegend = `What becomes of an instruction (row) by an event (column).

A cell says the next state, the sends so far of the sends allowed, and when the last one was, then the
effects: "deliver n" hands out the n-th send, "log x" appends the record instruction.x to the event
log, "notice x" leaves the notice instruction.x. "unchanged" is the same value without effects.
"refused (x)" is the same value, and a refusal that is spelled out below the table.
Events happen at 1000. A dispatch is due when the last send is at least 500 ago; one that is not due
asks for 5000; one with the clock set back happens at 150, before every send.

`

func TestInstructionMatrix(t *testing.T) {
	rows, columns := situations(t), happenings()
	header := []string{""}
	for _, column := range columns {
		header = append(header, strings.ReplaceAll(column.name, ", ", ",\n"))
	}
	table, refusals := [][]string{header}, &footnotes{}
	for _, row := range rows {
		cells := []string{strings.ReplaceAll(row.name, ", ", ",\n") + "\n" + standing(row.in)}
		for _, column := range columns {
			cells = append(cells, cell(row.in, column.event(row.in), refusals))
		}
		table = append(table, cells)
	}
	golden(t, "instruction-matrix.golden", matrixLegend+ruled(table)+"\n"+refusals.String())
}

// footnotes numbers texts with letters, equal ones alike.
type footnotes struct{ texts []string }

func (f *footnotes) mark(text string) string {
	i := slices.Index(f.texts, text)
	if i < 0 {
		i = len(f.texts)
		f.texts = append(f.texts, text)
	}
	return letter(i)
}

// letter counts a, b, … z, aa, bb, ….
func letter(i int) string { return strings.Repeat(string(rune('a'+i%26)), 1+i/26) }

func (f *footnotes) String() string {
	var b strings.Builder
	for i, text := range f.texts {
		fmt.Fprintf(&b, "(%s) %s\n", letter(i), text)
	}
	return b.String()
}

func cell(in core.Instruction, event core.Event, refusals *footnotes) string {
	next, effects, err := in.Step(event)
	var refusal *core.Refusal
	switch {
	case errors.As(err, &refusal):
		return "refused (" + refusals.mark(fmt.Sprintf("%s: %s", refusal.Kind, refusal.Message)) + ")"
	case err != nil:
		return "error: " + err.Error()
	case next == in && len(effects) == 0:
		return "unchanged"
	}
	lines := []string{standing(next)}
	for _, effect := range effects {
		lines = append(lines, effectWord(effect))
	}
	return strings.Join(lines, "\n")
}

// standing writes the state, the sends, and what only this phase knows.
func standing(in core.Instruction) string {
	text := fmt.Sprintf("%s %d/%d", in.State(), in.Sends(), in.SendsMax())
	if in.LastSentAt() != 0 {
		text += fmt.Sprintf(" @%d", in.LastSentAt())
	}
	switch p := in.Phase.(type) {
	case core.Queued, core.Sent:
	case core.Acknowledged:
		text += fmt.Sprintf("\nby %s at %d", p.By, p.At)
	case core.Failed:
		text += fmt.Sprintf("\nat %d", p.At)
		if p.LateAckAt != 0 {
			text += fmt.Sprintf(", late ack %d", p.LateAckAt)
		}
	case core.Cancelled:
		text += fmt.Sprintf("\nat %d", p.At)
	}
	return text
}

func effectWord(effect core.Effect) string {
	switch e := effect.(type) {
	case core.Deliver:
		return fmt.Sprintf("deliver %d", e.Send)
	case core.Record:
		return "log " + strings.TrimPrefix(string(e.Type), "instruction.")
	case core.Post:
		return "notice " + strings.TrimPrefix(string(e.Kind), "instruction.")
	}
	return fmt.Sprintf("unknown effect %T", effect)
}

// ruled draws a table whose cells may have several lines.
func ruled(table [][]string) string {
	widths := make([]int, len(table[0]))
	for _, row := range table {
		for i, text := range row {
			for line := range strings.Lines(text) {
				widths[i] = max(widths[i], len(strings.TrimRight(line, "\n")))
			}
		}
	}
	var b strings.Builder
	for _, row := range table {
		for i := range row {
			b.WriteString("+" + strings.Repeat("-", widths[i]+2))
		}
		b.WriteString("+\n" + rowLines(row, widths))
	}
	return b.String()
}

func rowLines(row []string, widths []int) string {
	cells, height := make([][]string, len(row)), 0
	for i, text := range row {
		cells[i] = strings.Split(text, "\n")
		height = max(height, len(cells[i]))
	}
	var b strings.Builder
	for n := range height {
		for i, lines := range cells {
			line := ""
			if n < len(lines) {
				line = lines[n]
			}
			fmt.Fprintf(&b, "| %-*s ", widths[i], line)
		}
		b.WriteString("|\n")
	}
	return b.String()
}
