package engine

import (
	"fmt"

	"waybill/core"
	"waybill/core/run"
	"waybill/internal/safetext"
)

// runNotice is the data of the notices about a run.
type runNotice struct {
	RunID string `json:"run_id"`
	RunRecord
}

// postRun adds a notice about a run.
func (tx *Tx) postRun(run run.Run, kind core.NoticeKind, data RunRecord) error {
	text := fmt.Sprintf("item %s of %s is blocked: %s; replan it, or use explain for the reason",
		safetext.Quote(run.ItemID, excerptRunes), safetext.Quote(run.Plan, excerptRunes), run.WhyBlocked())
	return tx.postData(kind, "", run.ID, text, runNotice{run.ID, data})
}

// completedNotice is the data of plan.completed.
type completedNotice struct {
	RunID    string `json:"run_id"`
	Plan     string `json:"plan"`
	ItemID   string `json:"item_id"`
	Approved int    `json:"approved"` // these count items by their runs
	Proven   int    `json:"proven"`
}

// postCompleted adds the notice that a plan is completed, with its last run and how much of it is proven.
func (tx *Tx) postCompleted(s Standing) error {
	text := fmt.Sprintf("plan %s is completed: item %s was its last open item; %d approved (%d proven)",
		safetext.Quote(s.Run.Plan, excerptRunes), safetext.Quote(s.Run.ItemID, excerptRunes), s.Progress.Approved, s.Progress.Proven)
	return tx.postData(core.NoticePlanCompleted, "", s.Run.ID, text, completedNotice{s.Run.ID, s.Run.Plan, s.Run.ItemID, s.Progress.Approved, s.Progress.Proven})
}
