package ledger

import (
	"path"
	"strconv"
)

// Other tools that read the facts of a run know some of them by other keys and in other forms. What is
// written here follows from facts of ours and is never read back. It is only stored: no agent needs it.

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

// foreignItem is the current item as those tools know it.
type foreignItem struct {
	ID           string   `json:"id"`
	Description  string   `json:"description"`
	Status       string   `json:"status"`
	Prompt       string   `json:"prompt,omitempty"`
	Requirements []string `json:"requirements,omitempty"`
}

// appendForeignProgress leaves out the current item if there is none.
func appendForeignProgress(facts []Fact, p *ProgressLedger) []Fact {
	facts = append(facts,
		Fact{foreignActive, p.ActiveItemID},
		Fact{foreignSpec, specName(p.SourcePath)},
		Fact{foreignTask, p.ItemID},
	)
	if it := p.CurrentItem; it != nil {
		facts = append(facts, Fact{foreignCurrent, compact(foreignItem{
			it.ID, it.Title, it.Status.foreign(), it.Prompt, it.Requirements,
		})})
	}
	return facts
}

// specName gives the name of the folder that a plan lies in, "" for the workspace itself.
func specName(plan string) string {
	name := path.Base(path.Dir(plan))
	if name == "." || name == "/" {
		return ""
	}
	return name
}

// foreign gives the nearest of the three words that those tools have for a status.
func (s Status) foreign() string {
	switch s {
	case Pending, Blocked:
		return "pending"
	case InProgress:
		return "in-progress"
	case Completed, Skipped:
		return "completed"
	}
	return ""
}
