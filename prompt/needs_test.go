package prompt_test

import (
	"fmt"
	"slices"
	"strconv"

	"waybill/ledger"
	"waybill/plan"
	"waybill/prompt"
)

// A need is something that a prompt has to say, whatever it costs.
type need struct {
	name string
	// reviewers means that nobody else needs it.
	reviewers bool
	// head is the section that says it, and says returns the texts, none if there is nothing to say.
	head string
	says func(*prompt.CompileInput, *prompt.Compiled) []string
	// fact is in the packet with its whole value, "" if the packet does not have it.
	fact string
	// take takes it out of the input.
	take func(*prompt.CompileInput)
}

// needs are all that there are, but for the contract.
var needs = []need{
	{
		name: "id", head: "Task", says: ofItem(func(it *plan.Item) string { return it.ID }), fact: "ledger.progress.item_id",
		take: func(in *prompt.CompileInput) {
			in.Progress.CurrentItem.ID, in.Progress.ItemID, in.Task.ItemID = "", "", ""
		},
	},
	{
		name: "title", head: "Task", says: ofItem(func(it *plan.Item) string { return it.Title }),
		take: func(in *prompt.CompileInput) { in.Progress.CurrentItem.Title = "" },
	},
	{
		name: "prompt", head: "Task Prompt", says: asked,
		take: func(in *prompt.CompileInput) {
			in.TaskPrompt, in.Progress.CurrentItem.Prompt, in.Compaction.PromptOverride = "", "", ""
		},
	},
	{
		name: "details", head: "Details", says: ofItems(func(it *plan.Item) []string { return it.Details }),
		take: func(in *prompt.CompileInput) { in.Progress.CurrentItem.Details = nil },
	},
	{
		name: "place in the plan", head: "Task", says: placeIfNeeded,
		take: func(in *prompt.CompileInput) { in.Progress.SourcePath = "" },
	},
	{
		name: "criteria or their place", reviewers: true, head: "Acceptance Criteria", says: criteriaOrPlace,
		take: func(in *prompt.CompileInput) { in.Criteria = nil },
	},
	{
		name: "commits", reviewers: true, head: "Work", fact: "ledger.task.git_range",
		says: func(in *prompt.CompileInput, _ *prompt.Compiled) []string { return []string{in.Task.GitRange} },
		take: func(in *prompt.CompileInput) { in.Task.GitRange = "" },
	},
	{
		name: "files of the work", reviewers: true, head: "Work", says: filesLeft,
		take: func(in *prompt.CompileInput) { in.Task.FilesChanged = nil },
	},
	{
		name: "summary of a failed attempt", head: "Last Attempt", fact: "ledger.task.summary",
		says: ifFailed(func(task *ledger.TaskLedger) string { return task.Summary }),
		take: func(in *prompt.CompileInput) { in.Task.Summary = "" },
	},
	{
		name: "assessment of a failed attempt", head: "Last Attempt", fact: "ledger.task.reviewer_assessment",
		says: ifFailed(func(task *ledger.TaskLedger) string { return task.ReviewerAssessment }),
		take: func(in *prompt.CompileInput) { in.Task.ReviewerAssessment = "" },
	},
	{
		name: "fixes of the spec review", head: "Required Fixes", says: fixes(0), fact: "ledger.task.required_fixes",
		take: func(in *prompt.CompileInput) { in.Task.Reviews[0].RequiredFixes = nil },
	},
	{
		name: "fixes of the quality review", head: "Required Fixes", says: fixes(1), fact: "ledger.task.required_fixes",
		take: func(in *prompt.CompileInput) { in.Task.Reviews[1].RequiredFixes = nil },
	},
	{
		name: "fixes of failed checks", head: "Required Fixes", says: fixes(2), fact: "ledger.task.required_fixes",
		take: func(in *prompt.CompileInput) { in.Task.Reviews[2].RequiredFixes = nil },
	},
	{
		name: "blockers", head: "Blockers", fact: "ledger.task.blockers",
		says: func(in *prompt.CompileInput, _ *prompt.Compiled) []string { return in.Task.Blockers },
		take: func(in *prompt.CompileInput) { in.Task.Blockers = nil },
	},
	{
		name: "what the plan says is in the way", head: "Blockers",
		says: ofItem(func(it *plan.Item) string { return it.BlockedReason }),
		take: func(in *prompt.CompileInput) { in.Progress.CurrentItem.BlockedReason = "" },
	},
	{
		name: "issues of the spec review", head: "Review Issues", says: issues(0), fact: "ledger.task.reviewer_issues",
		take: func(in *prompt.CompileInput) { in.Task.Reviews[0].Issues = nil },
	},
	{
		name: "issues of the quality review", head: "Review Issues", says: issues(1), fact: "ledger.task.reviewer_issues",
		take: func(in *prompt.CompileInput) { in.Task.Reviews[1].Issues = nil },
	},
	{
		name: "what to do about the issues", head: "Review Issues", says: cures, fact: "ledger.task.reviewer_issues",
		take: func(in *prompt.CompileInput) {
			for i := range in.Task.Reviews {
				list := slices.Clone(in.Task.Reviews[i].Issues)
				for k := range list {
					list[k].Fix = ""
				}
				in.Task.Reviews[i].Issues = list
			}
		},
	},
	{
		name: "replan hint", head: "Replan Hint", fact: "ledger.task.replan_hint",
		says: func(in *prompt.CompileInput, _ *prompt.Compiled) []string { return []string{in.Task.ReplanHint} },
		take: func(in *prompt.CompileInput) { in.Task.ReplanHint = "" },
	},
	{
		name: "status", head: "Now", says: ofItem(func(it *plan.Item) string { return it.Status.String() }),
		take: func(in *prompt.CompileInput) { in.Progress.CurrentItem.Status = plan.Skipped },
	},
	{
		name: "that the plan could not be read", head: "Now",
		says: func(in *prompt.CompileInput, _ *prompt.Compiled) []string { return []string{in.Degraded} },
		take: func(in *prompt.CompileInput) { in.Degraded = "" },
	},
	{
		name: "limit of the answer", head: "Now",
		says: func(in *prompt.CompileInput, _ *prompt.Compiled) []string {
			return []string{strconv.Itoa(in.MaxOutputTokens)}
		},
		take: func(in *prompt.CompileInput) { in.MaxOutputTokens = 0 },
	},
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
	for _, criterion := range in.Criteria {
		if saidOf(c, "acceptance_criteria") {
			texts = append(texts, in.CriteriaSource, strconv.Itoa(criterion.Line))
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
