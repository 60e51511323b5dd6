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

// writer writes the tail of a prompt. What is not written with line is
// neutralised.
type writer struct {
	strings.Builder
	clean    neutraliser
	sections []sectionStart
}

func (w *writer) line(s string) {
	w.WriteString(s)
	if !strings.HasSuffix(s, "\n") {
		w.WriteByte('\n')
	}
}

// head begins a section, a blank line behind whatever stands before it, and says whose words follow.
func (w *writer) head(name string, from *provenance) {
	if w.Len() > 0 {
		w.WriteByte('\n')
	}
	w.sections = append(w.sections, sectionStart{name, from, w.Len(), w.clean.count})
	w.WriteString(name)
	w.line(from.mark)
}

// field writes a value behind its name, and nothing for an empty one; further lines of it are indented, so that none
// looks like a field.
func (w *writer) field(name, value string) {
	if value != "" {
		w.WriteString(name)
		w.indented(w.clean.behind(value), "  ")
	}
}

// indented writes a text of which further lines are indented, but for those that are blank.
func (w *writer) indented(text, by string) {
	first, rest, more := strings.Cut(text, "\n")
	w.WriteString(first)
	w.WriteByte('\n')
	for more {
		first, rest, more = strings.Cut(rest, "\n")
		if first != "" {
			w.WriteString(by)
		}
		w.WriteString(first)
		w.WriteByte('\n')
	}
}

func (w *writer) section(name string, from *provenance, text string) {
	if text != "" {
		w.head(name, from)
		w.line(w.clean.text(text))
	}
}

func (w *writer) list(name string, from *provenance, entries []string) {
	if len(entries) == 0 {
		return
	}
	w.head(name, from)
	w.entries(entries)
}

func (w *writer) entries(entries []string) {
	for _, entry := range entries {
		w.entry("- ", entry)
	}
}

// below lists the items below one, of which each has a prompt of its own.
func (w *writer) below(names []string) {
	if len(names) == 0 {
		return
	}
	w.line("Items below it, each with a text of its own:")
	for _, name := range names {
		w.entry("- ", name)
	}
}

// entry writes an entry of a list; further lines of it are indented.
func (w *writer) entry(bullet, text string) {
	w.WriteString(bullet)
	if bullet == "- " {
		text = w.clean.text(text)
	} else {
		text = w.clean.behind(text)
	}
	w.indented(text, "  ")
}

func (w *writer) issues(issues []ReviewIssue) {
	if len(issues) == 0 {
		return
	}
	w.head(headIssues, byReviewer)
	for i := range issues {
		w.issue(&issues[i])
	}
}

func (w *writer) issue(issue *ReviewIssue) {
	text := ""
	if issue.Severity != "" {
		text = "[" + issue.Severity + "] "
	}
	if issue.File != "" {
		text += issue.File + ": "
	}
	// Further lines stand deeper than the fix, so that none looks like one.
	w.WriteString("- ")
	w.indented(w.clean.text(text+issue.Message), "    ")
	if issue.Fix != "" {
		w.WriteString("  fix: ")
		w.indented(w.clean.behind(issue.Fix), "    ")
	}
}
