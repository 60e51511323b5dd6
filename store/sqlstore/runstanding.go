package sqlstore

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"waybill/core"
	"waybill/core/proof"
	"waybill/core/run"
)

const (
	// standingCount is how many values standingOf returns.
	standingCount = 12

	// selectLatestRuns looks for the latest runs in the index alone, and reads no other row. They come in
	// the order of the index; told to order them, SQLite would sort them again, with all their columns.
	selectLatestRuns = "SELECT " + runColumns + ` FROM (
			SELECT max(number) AS latest FROM runs WHERE runs.workspace = :w AND plan = ? GROUP BY item_id
		) AS newest CROSS JOIN runs ON runs.workspace = :w AND number = latest`
)

// standingOf returns the values of the columns from halt on: why a run is blocked, and how its roles stand.
func standingOf(run run.Run) []any {
	at := run.Standing
	return []any{
		string(run.Halt), int64(run.Policy.Reviewers), int64(at[0]), int64(at[1]), int64(at[2]), int64(run.Naming),
		writtenFindings(run.Findings[0]), writtenFindings(run.Findings[1]), run.Frontier,
		int64(run.Policy.ResultForm), flag(run.Policy.RequireKey), writtenProof(run.Proof),
	}
}

// takeStanding reads the columns of standingOf. It returns a number that does not fit into a Standing as stored, so
// that it cannot look like one that fits.
func takeStanding(r *Row, itemRun *run.Run) []any {
	stored := make([]any, standingCount)
	for i := range stored {
		stored[i] = r.values[r.next+i]
	}
	itemRun.Halt, itemRun.Policy.Reviewers = run.Halt(r.Text()), core.RoleSet(r.Integer())
	for i := range itemRun.Standing {
		itemRun.Standing[i] = run.Standing(r.Integer())
	}
	itemRun.Naming = run.Naming(r.Integer())
	for i := range itemRun.Findings {
		itemRun.Findings[i] = r.findings()
	}
	itemRun.Frontier = r.Text()
	itemRun.Policy.ResultForm, itemRun.Policy.RequireKey = run.ResultForm(r.Integer()), r.Integer() == 1
	itemRun.Proof = r.proof()
	itemRun.Policy.RequireChecks = itemRun.Proof.Required
	return stored
}

// writtenProof returns the stored form of a proof, or "" for the zero proof.
func writtenProof(p proof.Proof) string {
	if p == (proof.Proof{}) {
		return ""
	}
	text, _ := json.Marshal(p) // a struct of texts, numbers and flags
	return string(text)
}

// proof reads the text of writtenProof and refuses any other.
func (r *Row) proof() proof.Proof {
	stored := r.Text()
	if stored == "" {
		return proof.Proof{}
	}
	var p proof.Proof
	if err := json.Unmarshal([]byte(stored), &p); err != nil || writtenProof(p) != stored {
		r.fail("a proof", stored)
	}
	return p
}

// writtenFindings returns the stored form of findings: their counts and then their quoted sets, or "" if there are
// none.
func writtenFindings(f run.Findings) string {
	if f == (run.Findings{}) {
		return ""
	}
	return fmt.Sprintf("%d %d %q %q", f.Same, f.Swaps, f.Last, f.Before)
}

// findings reads the text of writtenFindings and refuses any other.
func (r *Row) findings() run.Findings {
	stored := r.Text()
	if stored == "" {
		return run.Findings{}
	}
	var f run.Findings
	_, err := fmt.Sscanf(stored, "%d %d %q %q", &f.Same, &f.Swaps, &f.Last, &f.Before)
	if err != nil || f.Same < 0 || f.Swaps < 0 || writtenFindings(f) != stored {
		r.fail("findings", stored)
	}
	return f
}

func (t *Tx) LatestRuns(plan string) (runs []run.Run, err error) {
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
	slices.SortFunc(runs, func(a, b run.Run) int { return strings.Compare(a.ItemID, b.ItemID) })
	return runs, nil
}
