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
	// lateColumnCount is how many values lateColumns returns.
	lateColumnCount = 12

	// selectLatestRuns looks for the latest runs in the index alone, and reads no other row. They come in
	// the order of the index; told to order them, SQLite would sort them again, with all their columns.
	selectLatestRuns = "SELECT " + runColumns + ` FROM (
			SELECT max(number) AS latest FROM runs WHERE runs.workspace = :w AND plan = ? GROUP BY item_id
		) AS newest CROSS JOIN runs ON runs.workspace = :w AND number = latest`
)

// lateColumns returns the values of the columns from halt on: why a run is blocked, and how its roles stand.
func lateColumns(itemRun run.Run) []any {
	at := itemRun.Standing
	return []any{
		string(itemRun.Halt), int64(itemRun.Policy.Reviewers), int64(at[0]), int64(at[1]), int64(at[2]), int64(itemRun.Naming),
		writtenFindings(itemRun.Findings[0]), writtenFindings(itemRun.Findings[1]), itemRun.Frontier,
		int64(itemRun.Policy.ResultForm), flag(itemRun.Policy.RequireKey), writtenProof(itemRun.Proof),
	}
}

// takeLateColumns reads the columns of lateColumns into a run. It also returns their stored values for the checksum,
// because the types of a Run drop high bits.
func takeLateColumns(r *Row, itemRun *run.Run) []any {
	stored := make([]any, lateColumnCount)
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
