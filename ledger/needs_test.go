package ledger_test

import (
	"fmt"
	"slices"
	"strconv"

	"waybill/ledger"
)

// A need is something that a prompt has to say, whatever it costs.
type need struct {
	name string
	// reviewers means that nobody else needs it.
	reviewers bool
	// head is the section that says it, and says gives the texts, none if there is nothing to say.
	head string
	says func(*ledger.CompileInput, *ledger.Compiled) []string
	// fact is in the packet with its whole value, "" if the packet does not have it.
	fact string
	// take takes it out of the input.
	take func(*ledger.CompileInput)
}

// needs are all that there are, but for the contract.
var needs = []need{
	{
		name: "id", head: "Task", says: ofItem(func(it *ledger.Item) string { return it.ID }), fact: "ledger.progress.item_id",
		take: func(in *ledger.CompileInput) {
			in.Progress.CurrentItem.ID, in.Progress.ItemID, in.Task.ItemID = "", "", ""
		},
	},
	{
		name: "title", head: "Task", says: ofItem(func(it *ledger.Item) string { return it.Title }),
		take: func(in *ledger.CompileInput) { in.Progress.CurrentItem.Title = "" },
	},
	{
		name: "prompt", head: "Task Prompt", says: asked,
		take: func(in *ledger.CompileInput) {
			in.TaskPrompt, in.Progress.CurrentItem.Prompt, in.Compaction.PromptOverride = "", "", ""
		},
	},
	{
		name: "details", head: "Details", says: ofItems(func(it *ledger.Item) []string { return it.Details }),
		take: func(in *ledger.CompileInput) { in.Progress.CurrentItem.Details = nil },
	},
	{
		name: "place in the plan", head: "Task", says: placeIfNeeded,
		take: func(in *ledger.CompileInput) { in.Progress.SourcePath = "" },
	},
	{
		name: "criteria or their place", reviewers: true, head: "Acceptance Criteria", says: criteriaOrPlace,
		take: func(in *ledger.CompileInput) { in.Criteria = nil },
	},
	{
		name: "commits", reviewers: true, head: "Work", fact: "ledger.task.git_range",
		says: func(in *ledger.CompileInput, _ *ledger.Compiled) []string { return []string{in.Task.GitRange} },
		take: func(in *ledger.CompileInput) { in.Task.GitRange = "" },
	},
	{
		name: "files of the work", reviewers: true, head: "Work", says: filesLeft,
		take: func(in *ledger.CompileInput) { in.Task.FilesChanged = nil },
	},
	{
		name: "summary of a failed attempt", head: "Last Attempt", fact: "ledger.task.summary",
		says: ifFailed(func(task *ledger.TaskLedger) string { return task.Summary }),
		take: func(in *ledger.CompileInput) { in.Task.Summary = "" },
	},
	{
		name: "assessment of a failed attempt", head: "Last Attempt", fact: "ledger.task.reviewer_assessment",
		says: ifFailed(func(task *ledger.TaskLedger) string { return task.ReviewerAssessment }),
		take: func(in *ledger.CompileInput) { in.Task.ReviewerAssessment = "" },
	},
	{
		name: "fixes of the spec review", head: "Required Fixes", says: fixes(0), fact: "ledger.task.required_fixes",
		take: func(in *ledger.CompileInput) { in.Task.Reviews[0].RequiredFixes = nil },
	},
	{
		name: "fixes of the quality review", head: "Required Fixes", says: fixes(1), fact: "ledger.task.required_fixes",
		take: func(in *ledger.CompileInput) { in.Task.Reviews[1].RequiredFixes = nil },
	},
	{
		name: "blockers", head: "Blockers", fact: "ledger.task.blockers",
		says: func(in *ledger.CompileInput, _ *ledger.Compiled) []string { return in.Task.Blockers },
		take: func(in *ledger.CompileInput) { in.Task.Blockers = nil },
	},
	{
		name: "what the plan says is in the way", head: "Blockers",
		says: ofItem(func(it *ledger.Item) string { return it.BlockedReason }),
		take: func(in *ledger.CompileInput) { in.Progress.CurrentItem.BlockedReason = "" },
	},
	{
		name: "issues of the spec review", head: "Review Issues", says: issues(0), fact: "ledger.task.reviewer_issues",
		take: func(in *ledger.CompileInput) { in.Task.Reviews[0].Issues = nil },
	},
	{
		name: "issues of the quality review", head: "Review Issues", says: issues(1), fact: "ledger.task.reviewer_issues",
		take: func(in *ledger.CompileInput) { in.Task.Reviews[1].Issues = nil },
	},
	{
		name: "what to do about the issues", head: "Review Issues", says: cures, fact: "ledger.task.reviewer_issues",
		take: func(in *ledger.CompileInput) {
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
		says: func(in *ledger.CompileInput, _ *ledger.Compiled) []string { return []string{in.Task.ReplanHint} },
		take: func(in *ledger.CompileInput) { in.Task.ReplanHint = "" },
	},
	{
		name: "status", head: "Now", says: ofItem(func(it *ledger.Item) string { return it.Status.String() }),
		take: func(in *ledger.CompileInput) { in.Progress.CurrentItem.Status = ledger.Skipped },
	},
	{
		name: "that the plan could not be read", head: "Now",
		says: func(in *ledger.CompileInput, _ *ledger.Compiled) []string { return []string{in.Degraded} },
		take: func(in *ledger.CompileInput) { in.Degraded = "" },
	},
	{
		name: "limit of the answer", head: "Now",
		says: func(in *ledger.CompileInput, _ *ledger.Compiled) []string {
			return []string{strconv.Itoa(in.MaxOutputTokens)}
		},
		take: func(in *ledger.CompileInput) { in.MaxOutputTokens = 0 },
	},
}

func ofItem(text func(*ledger.Item) string) func(*ledger.CompileInput, *ledger.Compiled) []string {
	return ofItems(func(it *ledger.Item) []string { return []string{text(it)} })
}

func ofItems(texts func(*ledger.Item) []string) func(*ledger.CompileInput, *ledger.Compiled) []string {
	return func(in *ledger.CompileInput, _ *ledger.Compiled) []string { return texts(in.Progress.CurrentItem) }
}

// asked gives the one text that is the prompt, which the override is only where the prompt says so.
func asked(in *ledger.CompileInput, c *ledger.Compiled) []string {
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

// placeIfNeeded gives the line at which the item stands, if the prompt was shortened.
func placeIfNeeded(in *ledger.CompileInput, c *ledger.Compiled) []string {
	if !stageWas(c, ledger.StageShorten) {
		return nil
	}
	return []string{fmt.Sprintf("%s:%d", in.Progress.SourcePath, in.Progress.CurrentItem.Line)}
}

func criteriaOrPlace(in *ledger.CompileInput, c *ledger.Compiled) (texts []string) {
	for _, criterion := range in.Criteria {
		if saidOf(c, "acceptance_criteria") {
			texts = append(texts, in.CriteriaSource, strconv.Itoa(criterion.Line))
			continue
		}
		texts = append(texts, criterion.ID, criterion.Text)
	}
	return texts
}

// filesLeft gives the files that a prompt still has to name: the last 50, the last 10 in one that was pruned, and none
// in one of the last stage.
func filesLeft(in *ledger.CompileInput, c *ledger.Compiled) []string {
	most, files := 50, in.Task.FilesChanged
	if stageWas(c, ledger.StagePrune) {
		most = 10
	}
	if stageWas(c, ledger.StageEmergency) {
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

func ifFailed(text func(*ledger.TaskLedger) string) func(*ledger.CompileInput, *ledger.Compiled) []string {
	return func(in *ledger.CompileInput, _ *ledger.Compiled) []string {
		if !failed(&in.Task) {
			return nil
		}
		return []string{text(&in.Task)}
	}
}

func open(in *ledger.CompileInput, i int) ledger.Review {
	if r := in.Task.Reviews[i]; r.Assessment != "approved" {
		return r
	}
	return ledger.Review{}
}

func fixes(i int) func(*ledger.CompileInput, *ledger.Compiled) []string {
	return func(in *ledger.CompileInput, _ *ledger.Compiled) []string { return open(in, i).RequiredFixes }
}

func issues(i int) func(*ledger.CompileInput, *ledger.Compiled) []string {
	return func(in *ledger.CompileInput, _ *ledger.Compiled) (texts []string) {
		for _, issue := range open(in, i).Issues {
			texts = append(texts, issue.Severity, issue.File, issue.Message)
		}
		return texts
	}
}

func cures(in *ledger.CompileInput, _ *ledger.Compiled) (texts []string) {
	for i := range in.Task.Reviews {
		for _, issue := range open(in, i).Issues {
			texts = append(texts, issue.Fix)
		}
	}
	return texts
}
