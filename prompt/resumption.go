package prompt

import (
	"fmt"

	"waybill/ledger"
	"waybill/prompt/sanitize"
)

// ResumptionInput describes a run that an agent resumes.
type ResumptionInput struct {
	// Progress is the last known state of the plan. Without items, the section is omitted.
	Progress ledger.ProgressLedger
	Task     ledger.TaskLedger
	// Halted is the state of a run that needs help to continue, such as blocked or failed, and Why explains it
	// briefly. Both are "" for any other run.
	Halted, Why string
	// Unreadable explains why the plan cannot be read, and is "" if it can. Changed means that the plan changed since
	// the run last read it.
	Unreadable string
	Changed    bool
	// NextAction is a sentence that says what to do next.
	NextAction string
	// Ask is the input of the next role's prompt, so that both prompts request the same result. It is nil if no result
	// is requested.
	Ask *CompileInput
}

// Resumption returns the prompt with which an agent without memory resumes a run. It contains the requested result,
// the plan's progress, the last outcome, the reviewers' demands, the blockers and the next action. Empty sections are
// omitted. The same input returns the same bytes. Untrusted text cannot imitate a section.
func Resumption(in ResumptionInput) string {
	w := &writer{}
	if in.Ask != nil {
		w.WriteString(prefixOf(in.Ask.Role, in.Ask.Block).text)
		w.head(sanitize.HeadTask, byPlan)
		w.field("Task id: ", in.Ask.Progress.CurrentItem.ID)
		w.field("Run id: ", in.Ask.RunID)
	}
	in.writeProgress(w)
	in.writeOutcome(w)
	w.open(&in.Task, "")
	in.writeStaleness(w)
	w.section(sanitize.HeadHint, byWaybill, in.Task.ReplanHint)
	w.section(sanitize.HeadNext, byWaybill, in.NextAction)
	if in.Ask != nil {
		in.Ask.writeNow(w)
	}
	return w.String()
}

func (in *ResumptionInput) writeProgress(w *writer) {
	totals, it := in.Progress.Totals, in.Progress.CurrentItem
	if totals.Total == 0 && it == nil {
		return
	}
	w.head(sanitize.HeadProgress, byPlan)
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
	w.head(sanitize.HeadOutcome, byAgents)
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
		w.head(sanitize.HeadStale, byWaybill)
		w.entry("The plan cannot be read at the moment, so all of this may be out of date: ", in.Unreadable)
	case in.Changed:
		w.head(sanitize.HeadStale, byWaybill)
		w.line("The plan reads differently than when this run saw it last. Look at the item again before you rely on what stands above.")
	}
}
