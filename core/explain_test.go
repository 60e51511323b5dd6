package core_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
)

// noon is 2026-03-01T12:00:00Z; the events of the stories follow it second by second.
const noon core.Instant = 1_772_366_400_000_000

// A diary is what the event log would have about one thing.
type diary struct {
	seq  int64
	kept []core.Occurrence
}

// record appends what the effects ask for. Other things fill the numbers between.
func (d *diary) record(at core.Instant, effects []core.Effect) {
	for _, effect := range effects {
		o := core.Occurrence{Seq: d.seq + 3, At: at}
		switch e := effect.(type) {
		case core.Record:
			o.Type = e.Type
		case core.Decide:
			o.Type, o.Rule, o.Role = e.Type, e.Decision.Rule, e.Decision.Role
		case core.Deliver, core.Keep, core.Post:
			continue
		}
		d.seq = o.Seq
		d.kept = append(d.kept, o)
	}
}

// told plays events, one second after the other, on a newly queued instruction.
func told(t *testing.T, in core.Instruction, events ...func(at core.Instant) core.Event) (core.Instruction, []core.Occurrence) {
	t.Helper()
	in.CreatedAt = noon
	var d diary
	d.record(noon, core.Enqueue())
	for n, event := range events {
		at := noon + core.Instant(n+1)*1_000_000
		next, effects, err := in.Step(event(at))
		require.NoError(t, err)
		d.record(at, effects)
		in = next
	}
	return in, d.kept
}

func cancelled(reason string) func(core.Instant) core.Event {
	return func(at core.Instant) core.Event { return core.Cancel{At: at, Reason: reason} }
}

func undelivered(send int, previous core.Instant) func(core.Instant) core.Event {
	return func(core.Instant) core.Event { return core.Undeliver{Send: send, Previous: previous} }
}

func onEvent(t *testing.T, in core.Instruction, match string) core.Instruction {
	t.Helper()
	rule, err := core.NewAckRule("command.finished", match)
	require.NoError(t, err)
	in.AckOn = rule
	return in
}

// A chapter is an instruction together with its past.
type chapter struct {
	title   string
	in      core.Instruction
	history []core.Occurrence
}

func chapters(t *testing.T) []chapter {
	var all []chapter
	tell := func(title string, in core.Instruction, events ...func(core.Instant) core.Event) {
		in, kept := told(t, in, events...)
		all = append(all, chapter{title, in, kept})
	}
	urgent := plain()
	urgent.Priority = true
	listening := onEvent(t, tracked(3), "{\n\"result.exit_code\": 0\n}")

	tell("queued, plain", plain())
	tell("queued, plain, with priority", urgent)
	tell("queued, tracked", tracked(3))
	tell("queued, tracked, listening", listening)
	tell("queued again: its send never arrived", tracked(3), dispatch, undelivered(1, 0))
	tell("sent, plain", plain(), dispatch)
	tell("sent, tracked, sends are left", listening, dispatch, dispatch)
	tell("sent, tracked, the last send is out", tracked(1), dispatch, dispatch)
	tell("sent, tracked, two sends never arrived", tracked(3),
		dispatch, dispatch, undelivered(2, noon+1_000_000), dispatch, undelivered(2, noon+1_000_000))
	tell("acknowledged by a call", tracked(3), dispatch, ackCall)
	tell("acknowledged by an event", listening, dispatch, dispatch, ackEvent)
	tell("acknowledged before its first send", tracked(3), ackCall)
	tell("failed", onEvent(t, tracked(1), ""), dispatch, dispatch, dispatch)
	tell("failed, no retries", tracked(0), dispatch, dispatch)
	tell("failed, acknowledged late", tracked(0), dispatch, dispatch, ackCall)
	tell("cancelled, plain", plain(), cancelled(""))
	tell("cancelled with a reason", tracked(3), dispatch, cancelled("the branch\nis gone"))
	return all
}

func TestExplainInstruction(t *testing.T) {
	var b strings.Builder
	for _, c := range chapters(t) {
		fmt.Fprintf(&b, "== %s ==\n%s\n", c.title, written(c.in.Explain(c.history)))
	}
	in, _ := told(t, tracked(0), dispatch, dispatch)
	fmt.Fprintf(&b, "== failed, and the log does not go back so far ==\n%s\n", written(in.Explain(nil)))
	golden(t, "explain-instruction.golden", b.String())
}

// written lays an explanation out for a reader.
func written(e core.Explanation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is %s\n", e.Subject, e.State)
	for _, reason := range e.Because {
		fmt.Fprintf(&b, "  because  %s: %s", reason.Rule, reason.Text)
		if reason.EventSeq != 0 {
			fmt.Fprintf(&b, " [event %d]", reason.EventSeq)
		}
		b.WriteByte('\n')
	}
	for _, action := range e.Next {
		fmt.Fprintf(&b, "  next     %s: %s\n", action.Name, action.Text)
	}
	if len(e.Next) == 0 {
		b.WriteString("  next     nothing\n")
	}
	return b.String()
}

// An explanation must not promise what Step would refuse, nor leave out what it would allow.
func TestExplainPromisesExactlyWhatStepAllows(t *testing.T) {
	for _, c := range chapters(t) {
		explained := c.in.Explain(c.history)
		require.NotEmpty(t, explained.Because, c.title)
		require.NotNil(t, explained.Next, c.title)
		at := noon + 60_000_000
		for name, event := range map[string]core.Event{
			"dispatch_instructions": dispatch(at), "acknowledge": ackCall(at), "cancel_instruction": core.Cancel{At: at},
		} {
			_, effects, err := c.in.Step(event)
			moves := err == nil && len(effects) > 0
			require.Equal(t, moves, promises(explained, name), "%s: %s", c.title, name)
		}
		listens := c.in.Outstanding() && c.in.AckOn != core.AckRule{}
		require.Equal(t, listens, promises(explained, "report_event"), c.title)
	}
}

func promises(e core.Explanation, name string) bool {
	for _, action := range e.Next {
		if action.Name == name {
			return true
		}
	}
	return false
}

// Every reason is one line, whatever the host wrote into the values.
func TestExplainKeepsEachReasonOnOneLine(t *testing.T) {
	for _, c := range chapters(t) {
		for _, reason := range c.in.Explain(c.history).Because {
			require.NotContains(t, reason.Text, "\n", c.title)
		}
	}
}
