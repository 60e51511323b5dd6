package ledger

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The sections of a prompt, from those that stay the same over the attempts at
// an item to those that change with each.
const (
	headTask         = "[Task]"
	headPrompt       = "[Task Prompt]"
	headDetails      = "[Details]"
	headContext      = "[Context]"
	headRequirements = "[Requirements]"
	headFiles        = "[Files]"
	headLeverage     = "[Leverage]"
	headCriteria     = "[Acceptance Criteria]"
	headWork         = "[Work]"
	headLast         = "[Last Attempt]"
	headFixes        = "[Required Fixes]"
	headBlockers     = "[Blockers]"
	headIssues       = "[Review Issues]"
	headHint         = "[Replan Hint]"
	headFacts        = "[Ledger Facts]"
	headNow          = "[Now]"
)

// rendered is a prompt as it is written.
type rendered struct {
	prompt      string
	runes       int
	neutralised int // characters and lines that were changed
	sections    []sectionStart
}

func (d *draft) render(fixed *prefix) rendered {
	w := writer{sections: make([]sectionStart, 1, mostSections)}
	w.sections[0] = sectionStart{name: prefixName, from: byWaybill}
	w.Grow(len(fixed.text) + 1024 + len(d.in.TaskPrompt) + len(d.in.Progress.CurrentItem.Prompt))
	w.WriteString(fixed.text)
	d.writeItem(&w)
	d.writeOutcome(&w)
	d.writeNow(&w)
	text := w.String()
	return rendered{text, fixed.runes + utf8.RuneCountInString(text[len(fixed.text):]), w.clean.count, w.sections}
}

func (d *draft) writeItem(w *writer) {
	it := d.in.Progress.CurrentItem
	w.head(headTask, byPlan)
	w.field("Task id: ", it.ID)
	w.field("Run id: ", d.in.RunID)
	w.field("Title: ", it.Title)
	if d.short {
		w.field("More about it stands in the plan, at its line: ", d.in.place())
	} else {
		w.field("Purpose: ", it.Purpose)
		w.field("Depends on: ", strings.Join(it.DependsOn, ", "))
		w.below(it.Below)
	}
	d.writePrompt(w)
	w.list(headDetails, byPlan, it.Details)
	if d.short {
		w.list(headContext, byHost, d.in.Compaction.Context)
	} else {
		w.section(headRequirements, byPlan, strings.Join(it.Requirements, ", "))
		w.list(headFiles, byPlan, it.Files)
		w.section(headLeverage, byPlan, it.Leverage)
	}
	d.writeCriteria(w)
}

// writeCriteria writes what the requirements want of the item or, in a prompt that is shortened, where they
// say it.
func (d *draft) writeCriteria(w *writer) {
	if len(d.in.Criteria) == 0 {
		return
	}
	w.head(headCriteria, byRequirements)
	if d.short {
		lines := make([]string, len(d.in.Criteria))
		for i, c := range d.in.Criteria {
			lines[i] = strconv.Itoa(c.Line)
		}
		w.field("They stand in ", d.in.CriteriaSource+", lines "+strings.Join(lines, ", "))
		return
	}
	for _, c := range d.in.Criteria {
		w.entry("- ", strings.TrimLeft(c.ID+" "+c.Text, " "))
	}
}

// writePrompt writes what is asked for. What the host asks for stands as it is.
func (d *draft) writePrompt(w *writer) {
	asked := d.in.TaskPrompt
	if d.short && d.in.Compaction.PromptOverride != "" {
		asked = d.in.Compaction.PromptOverride
	}
	if asked != "" {
		w.head(headPrompt, byHost)
		w.line(asked)
		return
	}
	it := d.in.Progress.CurrentItem
	w.section(headPrompt, byPlan, cmp.Or(it.Prompt, it.Title))
}

// writeWork tells a reviewer where the work is. Anybody else has it among the facts.
func (d *draft) writeWork(w *writer) {
	commits, files := d.packet.value(factGitRange), d.packet.value(factFilesChanged)
	if !d.in.Role.reviewer() || commits+files == "" {
		return
	}
	w.head(headWork, byWorker)
	w.field("Commits: ", commits)
	if files != "" {
		w.line("Files changed:")
		for _, file := range entriesOf(files) {
			w.entry("- ", file)
		}
	}
}

func (d *draft) writeOutcome(w *writer) {
	t := &d.in.Task
	d.writeWork(w)
	if t.failing() && t.Summary+t.ReviewerAssessment != "" {
		w.head(headLast, byAgents)
		w.field("Summary: ", t.Summary)
		w.field("Assessment: ", t.ReviewerAssessment)
	}
	w.open(t, d.in.Progress.CurrentItem.BlockedReason)
	w.section(headHint, byWaybill, t.ReplanHint)
}

// open writes what reviewers want and what is in the way. The plan's own reason stands before the entries of
// the list, where no entry can.
func (w *writer) open(t *TaskLedger, reason string) {
	lostIssues, lostFixes, lostBlockers := t.lost()
	w.list(headFixes, byReviewer, t.openFixes())
	w.lost(lostFixes)
	if reason != "" {
		w.head(headBlockers, byPlanAgents)
		w.field("The plan says: ", reason)
		w.entries(t.Blockers)
	} else {
		w.list(headBlockers, byAgents, t.Blockers)
	}
	w.lost(lostBlockers)
	w.issues(t.openIssues())
	w.lost(lostIssues)
}

// lost says how many entries of the list above are not there, or not whole.
func (w *writer) lost(count int) {
	if count > 0 {
		w.line(fmt.Sprintf("This is not all: %d are missing or cut short, since the result held more than is kept.", count))
	}
}

func (d *draft) writeNow(w *writer) {
	w.head(headFacts, byEverybody)
	d.writeFacts(&w.Builder, &w.clean)
	if d.packet.Mode == PacketDelta {
		w.line("What is not named here is as you were told before.")
		w.field("No longer known: ", strings.Join(d.packet.Removed, ", "))
	}
	w.head(headNow, byWaybill)
	w.field("Item status: ", d.in.Progress.CurrentItem.Status.String())
	if d.in.Degraded != "" {
		w.field("Plan file: not readable at the moment, so this is what it last said; reason: ", d.in.Degraded)
	}
	w.guidance(d.in)
	w.line(fmt.Sprintf("Max output tokens: %d", d.in.maxOutput()))
}

// guidance says how often the role was at the item, however it ended, and what follows from that.
func (w *writer) guidance(in *CompileInput) {
	before := in.Task.turns(in.Role)
	switch {
	case before == 0:
	case in.Role.reviewer() && !in.Task.Reviews[in.Role.review()].rejects():
		w.line(fmt.Sprintf("Review: number %d by this role.", before+1))
	case in.Role.reviewer():
		w.line(fmt.Sprintf("Review: number %d by this role. See first whether what it demanded before is dealt with, then judge the whole.", before+1))
	case !in.Task.failing():
		w.line(fmt.Sprintf("Attempt: number %d.", before+1))
	case before == 1:
		w.line("Attempt: number 2. Deal with what the first one left open, and keep what is good about it.")
	default:
		w.line(fmt.Sprintf("Attempt: number %d. %d did not get there: deal with what is open, and take another way than they did.", before+1, before))
	}
}
