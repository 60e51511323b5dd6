package prompt_test

import (
	"fmt"
	"strconv"

	"waybill/ledger"
	"waybill/plan"
	"waybill/prompt"
)

// A need is something that a prompt has to say, whatever it costs.
type need struct {
	name string
	// head is the section that says it. The fact, if any, is in the packet with its whole value.
	head, fact string
	// reviewers means that only reviewers need it.
	reviewers bool
	says      func(*prompt.CompileInput, *prompt.Compiled) []string // nothing if there is nothing to say
}

// needs are all that there are, but for the contract.
var needs = []need{
	{"id", "Task", "ledger.progress.item_id", false, ofItem(func(it *plan.Item) string { return it.ID })},
	{"title", "Task", "", false, ofItem(func(it *plan.Item) string { return it.Title })},
	{"prompt", "Task Prompt", "", false, asked},
	{"details", "Details", "", false, ofItems(func(it *plan.Item) []string { return it.Details })},
	{"place in the plan", "Task", "", false, placeIfNeeded},
	{"criteria or their place", "Acceptance Criteria", "", true, criteriaOrPlace},
	{"commits", "Work", "ledger.task.git_range", true, ofInput(func(in *prompt.CompileInput) []string { return []string{in.Task.GitRange} })},
	{"files of the work", "Work", "", true, filesLeft},
	{"summary of a failed attempt", "Last Attempt", "ledger.task.summary", false, ifFailed(func(task *ledger.TaskLedger) string { return task.Summary })},
	{"assessment of a failed attempt", "Last Attempt", "ledger.task.reviewer_assessment", false, ifFailed(func(task *ledger.TaskLedger) string { return task.ReviewerAssessment })},
	{"fixes of the spec review", "Required Fixes", "ledger.task.required_fixes", false, fixes(0)},
	{"fixes of the quality review", "Required Fixes", "ledger.task.required_fixes", false, fixes(1)},
	{"fixes of failed checks", "Required Fixes", "ledger.task.required_fixes", false, fixes(2)},
	{"blockers", "Blockers", "ledger.task.blockers", false, ofInput(func(in *prompt.CompileInput) []string { return in.Task.Blockers })},
	{"what the plan says is in the way", "Blockers", "", false, ofItem(func(it *plan.Item) string { return it.BlockedReason })},
	{"issues of the spec review", "Review Issues", "ledger.task.reviewer_issues", false, issues(0)},
	{"issues of the quality review", "Review Issues", "ledger.task.reviewer_issues", false, issues(1)},
	{"what to do about the issues", "Review Issues", "ledger.task.reviewer_issues", false, cures},
	{"replan hint", "Replan Hint", "ledger.task.replan_hint", false, ofInput(func(in *prompt.CompileInput) []string { return []string{in.Task.ReplanHint} })},
	{"status", "Now", "", false, ofItem(func(it *plan.Item) string { return it.Status.String() })},
	{"that the plan could not be read", "Now", "", false, ofInput(func(in *prompt.CompileInput) []string { return []string{in.Degraded} })},
	{"limit of the answer", "Now", "", false, ofInput(func(in *prompt.CompileInput) []string { return []string{strconv.Itoa(in.MaxOutputTokens)} })},
}

func ofInput(texts func(*prompt.CompileInput) []string) func(*prompt.CompileInput, *prompt.Compiled) []string {
	return func(in *prompt.CompileInput, _ *prompt.Compiled) []string { return texts(in) }
}

func ofItem(text func(*plan.Item) string) func(*prompt.CompileInput, *prompt.Compiled) []string {
	return ofItems(func(it *plan.Item) []string { return []string{text(it)} })
}

func ofItems(texts func(*plan.Item) []string) func(*prompt.CompileInput, *prompt.Compiled) []string {
	return func(in *prompt.CompileInput, _ *prompt.Compiled) []string { return texts(in.Progress.CurrentItem) }
}

// asked returns the one text that is the prompt, which the override is only where the prompt says so.
func asked(in *prompt.CompileInput, c *prompt.Compiled) []string {
	switch it := in.Progress.CurrentItem; {
	case saidOf(c, "task_prompt"):
		return []string{in.Compaction.PromptOverride}
	case in.TaskPrompt != "":
		return []string{in.TaskPrompt}
	case it.Prompt != "":
		return []string{it.Prompt}
	default:
		return []string{it.Title}
	}
}

// placeIfNeeded returns the line at which the item stands, if the prompt was shortened.
func placeIfNeeded(in *prompt.CompileInput, c *prompt.Compiled) []string {
	if !stageWas(c, prompt.StageShorten) {
		return nil
	}
	return []string{fmt.Sprintf("%s:%d", in.Progress.SourcePath, in.Progress.CurrentItem.Line)}
}

func criteriaOrPlace(in *prompt.CompileInput, c *prompt.Compiled) (texts []string) {
	for _, criterion := range in.Criteria.List {
		if saidOf(c, "acceptance_criteria") {
			texts = append(texts, in.Criteria.Source, strconv.Itoa(criterion.Line))
			continue
		}
		texts = append(texts, criterion.ID, criterion.Text)
	}
	return texts
}

// filesLeft returns the files that a prompt still has to name: the last 50, the last 10 in one that was pruned, and none
// in one of the last stage.
func filesLeft(in *prompt.CompileInput, c *prompt.Compiled) []string {
	most, files := 50, in.Task.FilesChanged
	if stageWas(c, prompt.StagePrune) {
		most = 10
	}
	if stageWas(c, prompt.StageEmergency) {
		most = 0
	}
	return files[max(0, len(files)-most):]
}

// failed reports whether somebody has to know how the last attempt went.
func failed(task *ledger.TaskLedger) bool {
	for _, r := range task.Reviews {
		if r.Assessment == "needs_changes" || r.Assessment == "blocked" {
			return true
		}
	}
	return len(task.Blockers) > 0 || task.Stalled.ConsecutiveNonProgress > 0
}

func ifFailed(text func(*ledger.TaskLedger) string) func(*prompt.CompileInput, *prompt.Compiled) []string {
	return func(in *prompt.CompileInput, _ *prompt.Compiled) []string {
		if !failed(&in.Task) {
			return nil
		}
		return []string{text(&in.Task)}
	}
}

func open(in *prompt.CompileInput, i int) ledger.Review {
	if r := in.Task.Reviews[i]; r.Rejects() {
		return r
	}
	return ledger.Review{}
}

func fixes(i int) func(*prompt.CompileInput, *prompt.Compiled) []string {
	return func(in *prompt.CompileInput, _ *prompt.Compiled) []string { return open(in, i).RequiredFixes }
}

func issues(i int) func(*prompt.CompileInput, *prompt.Compiled) []string {
	return func(in *prompt.CompileInput, _ *prompt.Compiled) (texts []string) {
		for _, issue := range open(in, i).Issues {
			texts = append(texts, issue.Severity, issue.File, issue.Message)
		}
		return texts
	}
}

func cures(in *prompt.CompileInput, _ *prompt.Compiled) (texts []string) {
	for i := range in.Task.Reviews {
		for _, issue := range open(in, i).Issues {
			texts = append(texts, issue.Fix)
		}
	}
	return texts
}
