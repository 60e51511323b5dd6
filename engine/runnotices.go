package engine

import (
	"fmt"

	"waybill/core"
)

// runNotice is the data of the notices about a run.
type runNotice struct {
	RunID string `json:"run_id"`
	RunRecord
}

// postRun leaves a notice about a run.
func (tx *Tx) postRun(run core.Run, kind core.NoticeKind, said RunRecord) error {
	text := fmt.Sprintf("item %s of %s is blocked: %s; replan it, or look at it with explain",
		quote(run.ItemID), quote(run.Plan), run.WhyBlocked())
	return tx.postData(kind, "", run.ID, text, runNotice{run.ID, said})
}

// completedNotice is the data of plan.completed.
type completedNotice struct {
	RunID  string `json:"run_id"`
	Plan   string `json:"plan"`
	ItemID string `json:"item_id"`
}

// postCompleted leaves the notice that a plan is done, with the run that was its last.
func (tx *Tx) postCompleted(s Standing) error {
	text := fmt.Sprintf("plan %s is completed: item %s was the last that had to be done", quote(s.Run.Plan), quote(s.Run.ItemID))
	return tx.postData(core.NoticePlanCompleted, "", s.Run.ID, text, completedNotice{s.Run.ID, s.Run.Plan, s.Run.ItemID})
}
