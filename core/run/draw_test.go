package run_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/proof"
	"waybill/core/run"
	"waybill/test/golden"
)

const runMatrixLegend = `The next state of a run (row) after an event (column).

Unless a row says otherwise, the runs have the default policy: both reviewers must approve, an invalid
result is retried once, a reviewer gets one fresh run after that, a worker one after a failure; the third
rejection, the second stalled outcome and the second identical set of findings of one reviewer block the run.
A row about one reviewer has a host that says no more than "reviewer". Rows with alternating findings, with equal
findings of both reviewers, or with a review loop allow 9 rejections. Rows about checks
require lint and test; the third submission with a red check blocks the run. A and B are trees of the files.

The first table has the facts of the run of each row, as far as they differ from those of a fresh run, and its
next action. "spec findings b a" are the last sets of findings of the spec reviewer, the newest first; "same 2"
is how often in a row it found the newest, "swaps 2" how often in a row it returned to the one before the last, and
"identical" is the larger "same" of the two reviewers. In the other tables, adjacent rows with the same cells are
written as one. A cell has the facts that are new, "by" the rule that decided with its count and limit, the notice
that is left, and the next action; that of a run that is done is the one of a plan with other items to begin.
"unchanged" is the same value without effects, "refused (x)" the same value and a refusal below the table, "cannot
be" a case that does not arise. Every event that is taken moves the revision by one.

`

// afterwards is a plan with an item that can be begun.
var afterwards = run.Outlook{Left: 1, Ready: 1}

func TestRunMatrix(t *testing.T) {
	rows := situations(t)
	var b strings.Builder
	fmt.Fprintf(&b, "%s== The rows ==\n\n%s\n", runMatrixLegend, drawRows(rows))
	for _, part := range tables() {
		fmt.Fprintf(&b, "== %s ==\n\n%s\n", part.title, part.draw(rows))
	}
	golden.Equal(t, "matrix.golden", strings.TrimSuffix(b.String(), "\n"))
}

// drawRows returns the table of the rows, their facts and their next actions.
func drawRows(rows []situation) string {
	table := [][]string{{"row", "facts", "next"}}
	for _, row := range rows {
		r := row.model.run
		facts := coretest.News(facts(newRun(coretest.Policy())), facts(r))
		if !slices.Contains(facts, stateOf(r)) {
			facts = append([]string{stateOf(r)}, facts...)
		}
		table = append(table, []string{row.name, strings.Join(facts, "; "), nextWord(r.Next(afterwards))})
	}
	return golden.Table(table)
}

func (part table) draw(rows []situation) string {
	var names, columns []string
	for _, row := range rows {
		names = append(names, row.name)
	}
	for _, column := range part.columns {
		columns = append(columns, column.name)
	}
	return coretest.Matrix(names, columns, func(i, j int, refusals *golden.Footnotes) string {
		r := rows[i].model.run
		event := part.columns[j].event(r, coretest.MatrixNow)
		if event == nil {
			return "cannot be"
		}
		next, effects, err := r.Step(event)
		cell := coretest.Cell(refusals, coretest.News(facts(r), facts(next)), next != r, effects, err)
		if next != r {
			cell += "\nnext: " + nextWord(next.Next(afterwards))
		}
		return cell
	})
}

func stateOf(run run.Run) string {
	if run.Halt != "" {
		return fmt.Sprintf("%s: %s", run.State, run.Halt)
	}
	return string(run.State)
}

// facts returns the facts of a run as short lines.
func facts(r run.Run) []string {
	c, reviewer := r.Counters, "both reviewers"
	if r.Naming == run.OneReviewer {
		reviewer = "one reviewer"
	}
	return []string{
		stateOf(r),
		"worker " + r.Standing[core.Worker-1].String(),
		"spec " + r.Standing[core.SpecReviewer-1].String(),
		"quality " + r.Standing[core.CodeQualityReviewer-1].String(),
		reviewer,
		fmt.Sprintf("worker invalid %d", c.InvalidResults[core.Worker-1]),
		fmt.Sprintf("spec invalid %d", c.InvalidResults[core.SpecReviewer-1]),
		fmt.Sprintf("quality invalid %d", c.InvalidResults[core.CodeQualityReviewer-1]),
		fmt.Sprintf("failures %d", c.WorkerFailures),
		fmt.Sprintf("rejections %d", c.ReviewRejections),
		fmt.Sprintf("stalled %d", c.Stalled),
		fmt.Sprintf("identical %d", c.ReviewLoop),
		"spec findings " + findingsWord(r.Findings[0]),
		"quality findings " + findingsWord(r.Findings[1]),
		fmt.Sprintf("check failures %d", c.CheckFailures),
		proofWord(r.Proof),
		fmt.Sprintf("plan %d", r.PlanVersion),
	}
}

func proofWord(p proof.Proof) string {
	if p.Required == "" {
		return "no checks"
	}
	return fmt.Sprintf("%s, due: %s", p.State(), p.Due())
}

func findingsWord(f run.Findings) string {
	if f == (run.Findings{}) {
		return "forgotten"
	}
	return fmt.Sprintf("%s, same %d, swaps %d", strings.TrimSpace(f.Last+" "+f.Before), f.Same, f.Swaps)
}

func nextWord(next run.Next) string {
	if next.Checks != "" {
		return fmt.Sprintf("%s (%s)", next.Action, next.Checks)
	}
	if next.Role == 0 {
		return string(next.Action)
	}
	return fmt.Sprintf("%s (%s)", next.Action, next.Role)
}
