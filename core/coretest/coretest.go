// Package coretest has the test support of the three state machines: instants, a log and the golden form of an
// explanation.
package coretest

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/core/run"
	"waybill/core/task"

	"github.com/stretchr/testify/require"
)

// CreatedAt is the time at which tests create things, and MatrixNow the time of the events in a matrix. Noon is
// 2026-03-01T12:00:00Z; the events of a story follow it, one per second.
const (
	CreatedAt core.Instant = 100
	MatrixNow core.Instant = 1000
	Noon      core.Instant = 1_772_366_400_000_000
)

// A Log is a simulated event log of one thing.
type Log struct {
	Seq     int64
	History core.History
}

// Record appends the events of the effects. Other things fill the numbers between them.
func (d *Log) Record(at core.Instant, effects []core.Effect) {
	for _, effect := range effects {
		o := core.Occurrence{Seq: d.Seq + 3, At: at}
		switch e := effect.(type) {
		case core.Record:
			o.Type = e.Type
		case run.Decide:
			o.Type, o.Rule, o.Role = e.Type, string(e.Decision.Rule), e.Decision.Role
		case instruction.Deliver, task.Keep, core.Post, core.Withdraw:
			continue
		}
		d.Seq = o.Seq
		d.History = append(d.History, o)
	}
}

// speaksOf matches texts that must list the ids that they name.
var speaksOf = regexp.MustCompile(`^attempt \d|\bitem "|depends on must complete`)

// Written returns an explanation as text for a golden file. It fails the test if a reason lacks its ids or is not one
// inert line, or a step lacks its callers and subject.
func Written(t testing.TB, e core.Explanation) string {
	t.Helper()
	for _, reason := range e.Because {
		if speaksOf.MatchString(reason.Text) {
			require.NotEmpty(t, reason.IDs, reason.Text)
		}
		require.LessOrEqual(t, len(reason.IDs), core.MostNamed)
		require.NotContains(t, reason.Text, "\n")
		require.NotContains(t, reason.Text, "</")
	}
	for _, action := range e.Next {
		require.NotEmpty(t, action.By, action.Name)
		require.NotEmpty(t, action.Subject, action.Name)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s is %s\n", e.Subject, e.State)
	for _, reason := range e.Because {
		fmt.Fprintf(&b, "  because  %s: %s", reason.Rule, reason.Text)
		if reason.EventSeq != 0 {
			fmt.Fprintf(&b, " [event %d]", reason.EventSeq)
		}
		if len(reason.IDs) > 0 {
			fmt.Fprintf(&b, " [%s]", strings.Join(reason.IDs, " "))
		}
		b.WriteByte('\n')
	}
	for _, action := range e.Next {
		fmt.Fprintf(&b, "  next     %s of %s by %v: %s\n", action.Name, action.Subject, action.By, action.Text)
		if len(action.Command) > 0 {
			fmt.Fprintf(&b, "           $ waybill %s\n", strings.Join(action.Command, " "))
		}
	}
	if len(e.Next) == 0 {
		b.WriteString("  next     nothing\n")
	}
	return b.String()
}

// Promises reports whether an explanation names a method as a next step.
func Promises(e core.Explanation, name string) bool {
	for _, action := range e.Next {
		if action.Name == name {
			return true
		}
	}
	return false
}

// Notices returns the kinds of the notices that the effects post.
func Notices(effects []core.Effect) []core.NoticeKind {
	var kinds []core.NoticeKind
	for _, effect := range effects {
		if p, ok := effect.(core.Post); ok {
			kinds = append(kinds, p.Kind)
		}
	}
	return kinds
}
