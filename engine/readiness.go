package engine

import (
	"context"
	"errors"
	"fmt"

	"waybill/core"
	"waybill/ledger"
	"waybill/store"
)

// outlook says what has to be done next, once it is known where the run is.
func outlook(tx store.Tx, s *Standing, plan *ledger.Reading) error {
	unknown := core.Outlook{Left: 1, UnderWay: 1} // of a plan that cannot be read: something may be left
	if s.Run.State != core.RunDone || plan == nil {
		s.Next = s.Run.Next(unknown)
		return nil
	}
	var err error
	if s.Readiness, err = readiness(tx, plan, s.Run.Plan); err != nil {
		return err
	}
	s.Next = s.Run.Next(core.Outlook{Left: s.Readiness.Left, Ready: len(s.Readiness.Ready), UnderWay: s.Readiness.UnderWay})
	return nil
}

// readiness says which items of a plan can be begun now.
func readiness(tx store.Tx, plan *ledger.Reading, path string) (ledger.Readiness, error) {
	runs, err := tx.LatestRuns(path)
	if err != nil {
		return ledger.Readiness{}, err
	}
	byItem := make(map[string]ledger.ItemRun, len(runs))
	for _, run := range runs {
		byItem[run.ItemID] = itemRun(run)
	}
	return ledger.Ready(plan.Items(), func(id string) ledger.ItemRun { return byItem[id] }), nil
}

func itemRun(run core.Run) ledger.ItemRun {
	switch run.State {
	case core.RunRunning:
		return ledger.RunLive
	case core.RunBlocked:
		return ledger.RunBlocked
	case core.RunDone:
		return ledger.RunDone
	case core.RunFailed:
		return ledger.NoRun
	}
	panic("engine: run " + run.ID + " is " + string(run.State))
}

// Standing says where the run of a view is, and what has to be done next.
func (e *Engine) Standing(ctx context.Context, v RunView) (Standing, error) {
	s := Standing{Run: v.Run, Ledger: v.Task}
	plan := e.Reading(ctx, v.Run.Plan)
	err := e.View(ctx, func(tx store.Tx) error {
		facts, err := tx.Facts(v.Run.ID)
		if err != nil {
			return err
		}
		s.Problems = problemsIn(loaded(facts))
		return outlook(tx, &s, plan)
	})
	return s, err
}

// Reading gives what a plan says, or said last; nil if nobody knows.
func (e *Engine) Reading(ctx context.Context, path string) *ledger.Reading {
	plan, err := e.Plan(ctx, path)
	if err != nil {
		return nil
	}
	return plan.Reading
}

// Output gives the text of a file in which an agent left its result. An error is a *planfile.Error.
func (e *Engine) Output(path string) (string, error) { return e.o.Outputs.Read(path) }

// An ItemOutcome is how an item of a plan came to its end. Run and Ledger are zero if the plan alone says
// that it is done.
type ItemOutcome struct {
	Item   ledger.Item
	Run    core.Run
	Ledger ledger.TaskLedger
	// Fault, if not nil, says why there is no Ledger. That the item is done is known all the same.
	Fault error
}

// Outcomes gives the items of a plan that are done, in the order of the plan.
func Outcomes(tx store.Tx, plan *ledger.Reading, path string) ([]ItemOutcome, error) {
	runs, err := tx.LatestRuns(path)
	if err != nil {
		return nil, err
	}
	byItem := make(map[string]core.Run, len(runs))
	for _, run := range runs {
		if run.State == core.RunDone {
			byItem[run.ItemID] = run
		}
	}
	items, groups := plan.Items(), map[string]bool{}
	for _, item := range items {
		groups[item.ParentID] = true
	}
	var list []ItemOutcome
	for _, item := range items {
		if groups[item.ID] {
			continue // it is done through its children
		}
		o := ItemOutcome{Item: item, Run: byItem[item.ID]}
		switch {
		case o.Run.ID != "":
			o.Ledger, o.Fault = taskLedger(tx, o.Run)
			if o.Fault != nil && !unreadable(o.Fault) {
				return nil, o.Fault
			}
		case item.Status != ledger.Completed:
			continue
		}
		list = append(list, o)
	}
	return list, nil
}

func taskLedger(tx store.Tx, run core.Run) (ledger.TaskLedger, error) {
	facts, err := tx.Facts(run.ID)
	if err != nil {
		return ledger.TaskLedger{}, err
	}
	return ledger.ParseTaskFacts(run.ID, run.ItemID, loaded(facts))
}

// unreadable reports whether an error says that what is stored of one thing is not what was written, while
// everything else can go on.
func unreadable(err error) bool {
	_, unread := errors.AsType[*ledger.FactError](err)
	return unread || damaged(err)
}

// Readiness says which items of a plan can be begun now.
func (e *Engine) Readiness(ctx context.Context, plan Plan) (r ledger.Readiness, err error) {
	err = e.View(ctx, func(tx store.Tx) error {
		r, err = readiness(tx, plan.Reading, plan.Path)
		return err
	})
	return r, err
}

// haltText says for a person why a run is blocked.
func haltText(run core.Run) string {
	p, n := run.Policy, run.Counters
	switch run.Halt {
	case core.HaltInvalid:
		return "an agent gave results that cannot be read more often than its policy allows"
	case core.HaltFailures:
		return fmt.Sprintf("its workers failed %d times, and its policy allows %d", n.WorkerFailures, p.WorkerFailures)
	case core.HaltRejections:
		return fmt.Sprintf("it was rejected %d times, which is as often as its policy allows", n.ReviewRejections)
	case core.HaltGaveUp:
		return "a reviewer cannot judge it"
	case core.HaltStalled:
		return fmt.Sprintf("%d outcomes in a row brought it no further", n.Stalled)
	case core.HaltReviewLoop:
		return fmt.Sprintf("%d reviews in a row found the same", n.ReviewLoop)
	case core.HaltAlternation:
		return "two sets of review issues take turns: what mends the one brings back the other"
	}
	panic("engine: run " + run.ID + " is not blocked")
}

// runNotice is the data of the notices about a run.
type runNotice struct {
	RunID string `json:"run_id"`
	RunRecord
}

// postRun leaves a notice about a run.
func (tx *Tx) postRun(run core.Run, kind core.NoticeKind, said RunRecord) error {
	text := fmt.Sprintf("item %s of %s is blocked: %s; replan it, or look at it with explain",
		quote(run.ItemID), quote(run.Plan), haltText(run))
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
