package task_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/instruction"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/test/golden"
)

const taskMatrixLegend = `What becomes of a task (row) by an event (column).

The tasks have a chain of two models, anthropic/opus-4.1 and openai/gpt-5, and at most 4 attempts may
fail, so that the first model has a share of 2; those without a chain may fail 2 times. Leases last
1000. A retry on the same model waits 50. Events happen at 1000 unless the column says otherwise.

The first table tells how the task of each row stands. In the others, rows that read alike and follow
one another are written as one. "#2 running openai/gpt-5" is its newest attempt; "spent 3 (1)" means
that 3 attempts have failed or were lost since a person last intervened, 1 of them on the present model.
A cell says what is different then, and the effects: "keep #1 error" saves an attempt, "log x" appends
a record to the event log, "notice x" leaves a notice and "no notice x" removes it. "unchanged" is the same value without effects,
"refused (x)" the same value and a refusal that is spelled out below the table, "cannot be" a case that
is a defect of the caller.

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
	header := []string{""}
	for _, column := range part.columns {
		header = append(header, strings.ReplaceAll(column.name, ", ", ",\n"))
	}
	table, refusals := [][]string{header}, &golden.Footnotes{}
	for _, row := range rows {
		cells := []string{row.name}
		for _, column := range part.columns {
			cells = append(cells, taskCell(row.task, column.event(row.task, coretest.MatrixNow), refusals))
		}
		if above := table[len(table)-1]; slices.Equal(above[1:], cells[1:]) {
			above[0] += "\n" + row.name
			continue
		}
		table = append(table, cells)
	}
	return golden.Table(table) + "\n" + refusals.String()
}

// drawRows is the table that tells how the tasks of the rows stand.
func drawRows(rows []taskSituation) string {
	table := [][]string{{"row", "how it stands"}}
	for _, row := range rows {
		table = append(table, []string{row.name, strings.Join(taskFacts(row.task), "; ")})
	}
	return golden.Table(table)
}

func taskCell(task task.Task, event task.Event, refusals *golden.Footnotes) string {
	if event == nil {
		return "cannot be"
	}
	next, effects, err := task.Step(event)
	var refusal *core.Refusal
	switch {
	case errors.As(err, &refusal):
		return "refused (" + refusals.Mark(fmt.Sprintf("%s: %s", refusal.Kind, refusal.Message)) + ")"
	case err != nil:
		return "error: " + err.Error()
	case next == task && len(effects) == 0:
		return "unchanged"
	}
	lines := news(task, next)
	for _, effect := range effects {
		lines = append(lines, taskEffectWord(effect))
	}
	return strings.Join(lines, "\n")
}

// news is what can be told of a task that could not be told of the task that it was.
func news(before, after task.Task) []string {
	was := map[string]bool{}
	for _, fact := range taskFacts(before) {
		was[fact] = true
	}
	var lines []string
	for _, fact := range taskFacts(after) {
		if !was[fact] {
			lines = append(lines, fact)
		}
	}
	if before.Continues() && !after.Continues() {
		lines = append(lines, "no reply any more")
	}
	if before.Waits > 0 && after.Waits == 0 {
		lines = append(lines, "waits for nothing")
	}
	return lines
}

// taskFacts tells a task in short lines.
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
	case task.Complete, task.Awaiting:
	}
	return ""
}

func taskEffectWord(effect core.Effect) string {
	switch e := effect.(type) {
	case task.Keep:
		return fmt.Sprintf("keep #%d %s", e.Attempt.Number, e.Attempt.Status())
	case core.Record:
		return "log " + string(e.Type)
	case core.Post:
		return "notice " + string(e.Kind)
	case core.Withdraw:
		return "no notice " + string(e.Kind)
	case instruction.Deliver, run.Decide:
	}
	return fmt.Sprintf("unknown effect %T", effect)
}
