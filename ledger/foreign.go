package ledger

import (
	"path"
	"strconv"

	"waybill/plan"
)

// This file writes copies of the facts under the keys and in the forms that other tools read. Waybill never reads
// these copies.

const (
	foreignStalled          = "ledger.task.stalled_count"
	foreignStalledThreshold = "ledger.task.stalled_threshold"
	foreignStalledFlagged   = "ledger.task.stalled_flagged"
	foreignLoop             = "ledger.task.review_loop_same_issue_count"
	foreignLoopThreshold    = "ledger.task.review_loop_threshold"
	foreignLoopFlagged      = "ledger.task.review_loop_flagged"
	foreignLoopFingerprint  = "ledger.task.review_loop_fingerprint"

	foreignActive  = "ledger.progress.active_task_id"
	foreignCurrent = "ledger.progress.current_task"
	foreignSpec    = "ledger.progress.spec_name"
	foreignTask    = "ledger.progress.task_id"
)

func appendForeignTask(facts []Fact, t *TaskLedger) []Fact {
	return append(facts,
		Fact{foreignStalled, strconv.Itoa(t.Stalled.ConsecutiveNonProgress)},
		Fact{foreignStalledThreshold, strconv.Itoa(t.Stalled.Threshold)},
		Fact{foreignStalledFlagged, strconv.FormatBool(t.Stalled.Flagged)},
		Fact{foreignLoop, strconv.Itoa(t.ReviewLoop.Count)},
		Fact{foreignLoopThreshold, strconv.Itoa(t.ReviewLoop.Threshold)},
		Fact{foreignLoopFlagged, strconv.FormatBool(t.ReviewLoop.Flagged)},
		Fact{foreignLoopFingerprint, t.issueFingerprint()},
	)
}

// foreignItem is the current item in the JSON form of other tools.
type foreignItem struct {
	ID           string   `json:"id"`
	Description  string   `json:"description"`
	Status       string   `json:"status"`
	Prompt       string   `json:"prompt,omitempty"`
	Requirements []string `json:"requirements,omitempty"`
}

// appendForeignProgress omits the current item if there is none.
func appendForeignProgress(facts []Fact, p *ProgressLedger) []Fact {
	facts = append(facts,
		Fact{foreignActive, p.ActiveItemID},
		Fact{foreignSpec, specName(p.SourcePath)},
		Fact{foreignTask, p.ItemID},
	)
	if it := p.CurrentItem; it != nil {
		facts = append(facts, Fact{foreignCurrent, Encode(foreignItem{
			it.ID, it.Title, foreignStatus(it.Status), it.Prompt, it.Requirements,
		})})
	}
	return facts
}

// specName returns the name of the plan's folder, "" for the workspace itself.
func specName(plan string) string {
	name := path.Base(path.Dir(plan))
	if name == "." || name == "/" {
		return ""
	}
	return name
}

// foreignStatus returns the closest of the three status words of other tools, or "" for an unknown status.
func foreignStatus(s plan.Status) string {
	switch s {
	case plan.Pending, plan.Blocked:
		return "pending"
	case plan.InProgress:
		return "in-progress"
	case plan.Completed, plan.Skipped:
		return "completed"
	}
	return ""
}
