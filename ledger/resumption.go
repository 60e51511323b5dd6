package ledger

import "fmt"

// ResumptionInput is what is known about a run that somebody picks up again.
type ResumptionInput struct {
	// Progress is what the plan says now, or said last. Without a current item and items to count, nothing is
	// said of it.
	Progress ProgressLedger
	Task     TaskLedger
	// Halted is the state of a run that does not go on by itself, such as blocked or failed, and Why says why
	// in a few words. Both are "" for any other run.
	Halted, Why string
	// Unreadable is why the plan cannot be read, "" if it can. Changed says that it reads differently than
	// when the run saw it last.
	Unreadable string
	Changed    bool
	// NextAction is a sentence that says what to do next.
	NextAction string
}

const (
	headProgress = "[Progress]"
	headOutcome  = "[Last Outcome]"
	headStale    = "[Stale Plan]"
	headNext     = "[Next Action]"
)

// Resumption writes the prompt with which an agent that remembers nothing picks a run up again: how far the
// plan is, how the work ended last, what reviewers want and what is in the way, and what to do next. What
// there is nothing to say about is left out. The same input gives the same bytes, and no text of others can
// pass for one of the sections.
func Resumption(in ResumptionInput) string {
	w := &writer{}
	in.writeProgress(w)
	in.writeOutcome(w)
	w.open(&in.Task, "")
	in.writeStaleness(w)
	w.section(headHint, byWaybill, in.Task.ReplanHint)
	w.section(headNext, byWaybill, in.NextAction)
	return w.String()
}

func (in *ResumptionInput) writeProgress(w *writer) {
	totals, it := in.Progress.Totals, in.Progress.CurrentItem
	if totals.Total == 0 && it == nil {
		return
	}
	w.head(headProgress, byPlan)
	if totals.Total > 0 {
		w.line(fmt.Sprintf("%d of %d completed", totals.Completed, totals.Total))
	}
	if it != nil {
		w.entry("Current item: ", it.ID+" "+it.Title)
	}
}

func (in *ResumptionInput) writeOutcome(w *writer) {
	t := &in.Task
	if t.ReviewerAssessment == "" && t.Summary == "" && in.Halted == "" {
		return
	}
	w.head(headOutcome, byAgents)
	if t.ReviewerAssessment != "" {
		w.entry("Assessment: ", t.ReviewerAssessment)
	}
	if t.Summary != "" {
		w.entry("Summary: ", t.Summary)
	}
	switch {
	case in.Halted != "" && in.Why != "":
		w.entry("Run state: ", in.Halted+", "+in.Why)
	case in.Halted != "":
		w.entry("Run state: ", in.Halted)
	}
}

func (in *ResumptionInput) writeStaleness(w *writer) {
	switch {
	case in.Unreadable != "":
		w.head(headStale, byWaybill)
		w.entry("The plan cannot be read at the moment, so all of this may be out of date: ", in.Unreadable)
	case in.Changed:
		w.head(headStale, byWaybill)
		w.line("The plan reads differently than when this run saw it last. Look at the item again before you rely on what stands above.")
	}
}
