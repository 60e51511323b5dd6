package rows

import (
	"fmt"
	"slices"
	"strings"

	"waybill/core"
)

// Runs have columns that the first two versions of the tables had not. A row from those days was summed
// up without them, and goes on to be right.

const (
	laterRunColumns = `halt, reviewers, standing_worker, standing_spec, standing_quality, sole, named,
		findings_spec, findings_quality, frontier`
	laterRunCount = 10

	// formerRunColumns are runColumns as tables of before have them.
	formerRunColumns = firstRunColumns + ", '', 0, 0, 0, 0, 0, 0, '', '', '', sum"

	// selectLatestRuns looks for the latest runs in the index alone, and reads no other row. They come in
	// the order of the index; told to order them, SQLite would sort them again, with all their columns.
	selectLatestRuns = "SELECT " + runColumns + ` FROM (
			SELECT max(number) AS latest FROM runs WHERE runs.workspace = :w AND plan = ? GROUP BY item_id
		) AS newest CROSS JOIN runs ON runs.workspace = :w AND number = latest`
)

// laterOf gives the values of laterRunColumns.
func laterOf(run core.Run) []any {
	at := run.Standing
	return []any{
		string(run.Halt), int64(run.Policy.Reviewers), int64(at[0]), int64(at[1]), int64(at[2]), flag(run.Sole), flag(run.Named),
		writtenFindings(run.Findings[0]), writtenFindings(run.Findings[1]), run.Frontier,
	}
}

// takeLater takes laterRunColumns, and gives them as they are stored: a number that does not fit into a
// Standing must not look like one that does.
func takeLater(r *Row, run *core.Run) []any {
	stored := make([]any, laterRunCount)
	for i := range stored {
		stored[i] = r.values[r.next+i]
	}
	run.Halt, run.Policy.Reviewers = core.Halt(r.Text()), core.RoleSet(r.Integer())
	for i := range run.Standing {
		run.Standing[i] = core.Standing(r.Integer())
	}
	run.Sole = r.Integer() == 1
	run.Named = r.Integer() == 1
	for i := range run.Findings {
		run.Findings[i] = r.findings()
	}
	run.Frontier = r.Text()
	return stored
}

// writtenFindings gives what findings are stored as: their counts and then their sets, quoted, or nothing if
// there are none.
func writtenFindings(f core.Findings) string {
	if f == (core.Findings{}) {
		return ""
	}
	return fmt.Sprintf("%d %d %q %q", f.Same, f.Swaps, f.Last, f.Before)
}

// findings takes what writtenFindings gives, and nothing else.
func (r *Row) findings() core.Findings {
	stored := r.Text()
	if stored == "" {
		return core.Findings{}
	}
	var f core.Findings
	_, err := fmt.Sscanf(stored, "%d %d %q %q", &f.Same, &f.Swaps, &f.Last, &f.Before)
	if err != nil || f.Same < 0 || f.Swaps < 0 || writtenFindings(f) != stored {
		r.fail("findings", stored)
	}
	return f
}

// later writes the values of laterRunColumns, unless there is nothing in any of them.
func (e encoder) later(values []any) encoder {
	if !slices.ContainsFunc(values, func(v any) bool { return v != "" && v != int64(0) }) {
		return e
	}
	return e.columns(values)
}

func (t *Tx) LatestRuns(plan string) (runs []core.Run, err error) {
	err = t.get(func() error {
		return t.c.Query(func(r *Row) error {
			_, run, err := takeRun(r, &t.buf)
			if err != nil {
				return t.leaveOut(err)
			}
			runs = append(runs, run)
			return nil
		}, selectLatestRuns, plan)
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(runs, func(a, b core.Run) int { return strings.Compare(a.ItemID, b.ItemID) })
	return runs, nil
}
