package run_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/instruction"
	"waybill/core/proof"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/test/golden"
)

const runMatrixLegend = `What becomes of a run (row) by an event (column).

Unless a row says otherwise, the runs have the default policy: both reviewers have to approve, an invalid
result is retried once, a reviewer gets one fresh run after that, a worker one after a failure; the third
rejection, the second stalled outcome and the second identical set of findings of one reviewer block the run.
A row about one reviewer has a host that says no more than "reviewer". Rows with findings that take turns, or
with findings of both reviewers that are the same, or with a review loop, allow 9 rejections. Rows about checks
require lint and test; the third submission with a red check blocks the run. A and B are trees of the files.

The first table tells how the run of each row stands, and what has to be done next; nothing is said of what
is as in a fresh run. "spec findings b a" are the last sets of findings of the spec reviewer, the newest
first, "same 2" is how often in a row it found the newest, "swaps 2" how often in a row it came back to the one
before the last, and "identical" is the larger "same" of the two reviewers. In the other tables,
rows that read alike and follow one another are written as one. A cell says what is different then, "by" the
rule that decided, with its count and limit, what has to be done next, and which notice is left; for a run
that is done, next is what it is when others of its plan are left to begin. "unchanged" is the same value
without effects, "refused (x)" the same value and a refusal that is spelled out below the table, "cannot be"
a case that does not arise. Whatever is taken moves the revision by one.

`

// afterwards is a plan with an item that can be begun.
var afterwards = run.Outlook{Left: 1, Ready: 1}

func TestRunMatrix(t *testing.T) {
	rows := situations(t)
	var b strings.Builder
	fmt.Fprintf(&b, "%s== The rows ==\n\n%s\n", runMatrixLegend, drawRunRows(rows))
	for _, part := range tables() {
		fmt.Fprintf(&b, "== %s ==\n\n%s\n", part.title, part.draw(rows))
	}
	golden.Equal(t, "matrix.golden", strings.TrimSuffix(b.String(), "\n"))
}

// drawRunRows is the table that tells how the runs of the rows stand.
func drawRunRows(rows []situation) string {
	table := [][]string{{"row", "how it stands", "next"}}
	for _, row := range rows {
		r := row.model.run
		facts := runNews(newRun(coretest.Policy()), r)
		if !slices.Contains(facts, whereRunIs(r)) {
			facts = append([]string{whereRunIs(r)}, facts...)
		}
		table = append(table, []string{row.name, strings.Join(facts, "; "), nextWord(r.Next(afterwards))})
	}
	return golden.Table(table)
}

func (part table) draw(rows []situation) string {
	header := []string{""}
	for _, column := range part.columns {
		header = append(header, strings.ReplaceAll(column.name, ", ", ",\n"))
	}
	table, refusals := [][]string{header}, &golden.Footnotes{}
	for _, row := range rows {
		cells := []string{row.name}
		for _, column := range part.columns {
			cells = append(cells, runCell(row.model.run, column.event(row.model.run, coretest.MatrixNow), refusals))
		}
		if above := table[len(table)-1]; slices.Equal(above[1:], cells[1:]) {
			above[0] += "\n" + row.name
			continue
		}
		table = append(table, cells)
	}
	return golden.Table(table) + "\n" + refusals.String()
}

func runCell(run run.Run, event run.Event, refusals *golden.Footnotes) string {
	if event == nil {
		return "cannot be"
	}
	next, effects, err := run.Step(event)
	var refusal *core.Refusal
	switch {
	case errors.As(err, &refusal):
		return "refused (" + refusals.Mark(fmt.Sprintf("%s: %s", refusal.Kind, refusal.Message)) + ")"
	case err != nil:
		return "error: " + err.Error()
	case next == run && len(effects) == 0:
		return "unchanged"
	}
	lines := runNews(run, next)
	for _, effect := range effects {
		lines = append(lines, runEffectWord(effect))
	}
	return strings.Join(append(lines, "next: "+nextWord(next.Next(afterwards))), "\n")
}

// runNews is what can be told of a run that could not be told of the run that it was.
func runNews(before, after run.Run) []string {
	was := runFacts(before)
	var lines []string
	for i, fact := range runFacts(after) {
		if fact != was[i] {
			lines = append(lines, fact)
		}
	}
	return lines
}

func whereRunIs(run run.Run) string {
	if run.Halt != "" {
		return fmt.Sprintf("%s: %s", run.State, run.Halt)
	}
	return string(run.State)
}

// runFacts tells a run in short lines; each fact has its line.
func runFacts(r run.Run) []string {
	c, reviewer := r.Counters, "both reviewers"
	if r.Naming == run.OneReviewer {
		reviewer = "one reviewer"
	}
	return []string{
		whereRunIs(r),
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

func runEffectWord(effect core.Effect) string {
	switch e := effect.(type) {
	case run.Decide:
		word := "by " + string(e.Decision.Rule)
		if e.Decision.Limit != 0 {
			word += fmt.Sprintf(" %d of %d", e.Decision.Count, e.Decision.Limit)
		}
		return word
	case core.Post:
		return "notice " + string(e.Kind)
	case core.Withdraw:
		return "no notice " + string(e.Kind)
	case task.Keep, core.Record, instruction.Deliver:
	}
	return fmt.Sprintf("unknown effect %T", effect)
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
