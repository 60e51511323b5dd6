package task_test

import (
	"fmt"
	"strings"
	"testing"

	"waybill/core/coretest"
	"waybill/core/task"
	"waybill/test/golden"
)

const taskMatrixLegend = `The next state of a task (row) after an event (column).

The tasks have a chain of two models, anthropic/opus-4.1 and openai/gpt-5, and at most 4 attempts may
fail, so that the first model has a share of 2; those without a chain may fail 2 times. Leases last
1000. A retry on the same model waits 50. Events happen at 1000 unless the column says otherwise.

The first table has the facts of the task of each row. In the others, adjacent rows with the same cells are
written as one. "#2 running openai/gpt-5" is its newest attempt; "spent 3 (1)" means that 3 attempts have failed
or were lost since a person last intervened, 1 of them on the present model. A cell has the facts that are new, and
the effects: "keep #1 error" saves an attempt, "log x" appends a record to the event log, "notice x" leaves a notice
and "no notice x" removes it. "unchanged" is the same value without effects, "refused (x)" the same value and a
refusal below the table, "cannot be" a case that would be a bug of the caller.

`

func TestTaskMatrix(t *testing.T) {
	rows := taskSituations(t)
	var b strings.Builder
	fmt.Fprintf(&b, "%s== The rows ==\n\n%s\n", taskMatrixLegend, drawRows(rows))
	for _, part := range taskTables() {
		fmt.Fprintf(&b, "== %s ==\n\n%s\n", part.title, part.draw(rows))
	}
	golden.Equal(t, "matrix.golden", b.String())
}

func (part taskTable) draw(rows []taskSituation) string {
	var names, columns []string
	for _, row := range rows {
		names = append(names, row.name)
	}
	for _, column := range part.columns {
		columns = append(columns, column.name)
	}
	return coretest.Matrix(names, columns, func(i, j int, refusals *golden.Footnotes) string {
		t := rows[i].task
		event := part.columns[j].event(t, coretest.MatrixNow)
		if event == nil {
			return "cannot be"
		}
		next, effects, err := t.Step(event)
		return coretest.Cell(refusals, news(t, next), next != t, effects, err)
	})
}

// drawRows returns the table of the rows and their facts.
func drawRows(rows []taskSituation) string {
	table := [][]string{{"row", "facts"}}
	for _, row := range rows {
		table = append(table, []string{row.name, strings.Join(taskFacts(row.task), "; ")})
	}
	return golden.Table(table)
}

// news returns the facts of a task that the task did not have before.
func news(before, after task.Task) []string {
	lines := coretest.News(taskFacts(before), taskFacts(after))
	if before.Continues() && !after.Continues() {
		lines = append(lines, "no reply any more")
	}
	if before.Waits > 0 && after.Waits == 0 {
		lines = append(lines, "waits for nothing")
	}
	return lines
}

// taskFacts returns the facts of a task as short lines.
func taskFacts(t task.Task) []string {
	a := t.Current
	facts := []string{
		string(t.Status()) + phaseFacts(t),
		fmt.Sprintf("#%d %s %s", a.Number, a.Status(), a.Model),
		fmt.Sprintf("spent %d (%d)", t.Spent.Failures, t.Spent.OnModel),
	}
	if p, running := a.Phase.(task.RunningAttempt); running {
		lease := fmt.Sprintf("lease to %d", p.Lease.ExpiresAt)
		if p.Lease.Spared {
			lease += ", spared"
		}
		facts = append(facts, lease)
		if p.Session != "" {
			facts = append(facts, "in "+p.Session)
		}
	}
	if why := a.Failure(); why.Message != "" {
		facts = append(facts, "why: "+why.Message)
	}
	if t.Waits > 0 {
		facts = append(facts, fmt.Sprintf("waits for %d", t.Waits))
	}
	if t.Continues() {
		facts = append(facts, fmt.Sprintf("reply %q", t.Reply))
	}
	if t.Choice != (task.Choice{}) {
		how := map[bool]string{false: "chosen", true: "by time"}[t.Choice.ByTime]
		facts = append(facts, fmt.Sprintf("option %q %s", t.Choice.Option, how))
	}
	return facts
}

func phaseFacts(t task.Task) string {
	switch p := t.Phase.(type) {
	case task.Queued:
		if p.NotBefore != 0 {
			return fmt.Sprintf(" from %d", p.NotBefore)
		}
	case task.Running:
		if p.CancelAt != 0 {
			return fmt.Sprintf(", cancel asked %d", p.CancelAt)
		}
	case task.Errored:
		return " " + t.Reason()
	case task.Cancelled:
		return fmt.Sprintf(" at %d: %s", p.At, t.Reason())
	case task.Blocked:
		return fmt.Sprintf(" at %d: %s", p.At, t.Reason())
	case task.Awaiting:
		if p.DefaultAt != 0 {
			return fmt.Sprintf(", default at %d", p.DefaultAt)
		}
	case task.Complete:
	}
	return ""
}
