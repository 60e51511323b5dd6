package prompt

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"waybill/ledger"
	"waybill/prompt/sanitize"
)

// rendered is the text of a prompt with its measurements.
type rendered struct {
	prompt      string
	runes       int
	neutralised int // number of characters and lines changed
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
	return rendered{text, fixed.runes + utf8.RuneCountInString(text[len(fixed.text):]), w.clean.Count, w.sections}
}

func (d *draft) writeItem(w *writer) {
	it := d.in.Progress.CurrentItem
	w.head(sanitize.HeadTask, byPlan)
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
	w.list(sanitize.HeadDetails, byPlan, it.Details)
	if d.short {
		w.list(sanitize.HeadContext, byHost, d.in.Compaction.Context)
	} else {
		w.section(sanitize.HeadRequirements, byPlan, strings.Join(it.Requirements, ", "))
		w.list(sanitize.HeadFiles, byPlan, it.Files)
		w.section(sanitize.HeadLeverage, byPlan, it.Leverage)
	}
	d.writeCriteria(w)
}

// writeCriteria writes the item's acceptance criteria. In a shortened prompt, it writes only their line numbers.
func (d *draft) writeCriteria(w *writer) {
	if len(d.in.Criteria.List) == 0 {
		return
	}
	w.head(sanitize.HeadCriteria, byRequirements)
	if d.short {
		lines := make([]string, len(d.in.Criteria.List))
		for i, c := range d.in.Criteria.List {
			lines[i] = strconv.Itoa(c.Line)
		}
		w.field("They stand in ", d.in.Criteria.Source+", lines "+strings.Join(lines, ", "))
		return
	}
	for _, c := range d.in.Criteria.List {
		w.entry("- ", strings.TrimLeft(c.ID+" "+c.Text, " "))
	}
}

// writePrompt writes the task prompt. The host's own prompt is not neutralised.
func (d *draft) writePrompt(w *writer) {
	asked := d.in.TaskPrompt
	if d.short && d.in.Compaction.PromptOverride != "" {
		asked = d.in.Compaction.PromptOverride
	}
	if asked != "" {
		w.head(sanitize.HeadPrompt, byHost)
		w.line(asked)
		return
	}
	it := d.in.Progress.CurrentItem
	w.section(sanitize.HeadPrompt, byPlan, cmp.Or(it.Prompt, it.Title))
}

// writeWork writes the commits and files of the work for a reviewer. In a worker's prompt, these are among the facts.
func (d *draft) writeWork(w *writer) {
	commits, files := d.packet.Value(ledger.FactGitRange), d.packet.Value(ledger.FactFilesChanged)
	if !d.in.Role.Reviewer() || commits+files == "" {
		return
	}
	w.head(sanitize.HeadWork, byWorker)
	w.field("Commits: ", commits)
	if files != "" {
		w.line("Files changed:")
		for _, file := range ledger.DecodeList(files) {
			w.entry("- ", file)
		}
	}
}

func (d *draft) writeOutcome(w *writer) {
	t := &d.in.Task
	d.writeWork(w)
	if t.Failing() && t.Summary+t.ReviewerAssessment != "" {
		w.head(sanitize.HeadLast, byAgents)
		w.field("Summary: ", t.Summary)
		w.field("Assessment: ", t.ReviewerAssessment)
	}
	w.open(t, d.in.Progress.CurrentItem.BlockedReason)
	w.section(sanitize.HeadHint, byWaybill, t.ReplanHint)
}

// open writes the reviewers' demands and the blockers. The plan's reason precedes the list, so that no entry can
// imitate it.
func (w *writer) open(t *ledger.TaskLedger, reason string) {
	lostIssues, lostFixes, lostBlockers := t.Lost()
	w.list(sanitize.HeadFixes, byReviewer, t.OpenFixes())
	w.lost(lostFixes)
	if reason != "" {
		w.head(sanitize.HeadBlockers, byPlanAgents)
		w.field("The plan says: ", reason)
		w.entries(t.Blockers)
	} else {
		w.list(sanitize.HeadBlockers, byAgents, t.Blockers)
	}
	w.lost(lostBlockers)
	w.issues(t.OpenIssues())
	w.lost(lostIssues)
}

// lost writes how many entries of the preceding list are missing or cut.
func (w *writer) lost(count int) {
	if count > 0 {
		w.line(fmt.Sprintf("This is not all: %d are missing or cut short, since the result held more than is kept.", count))
	}
}

func (d *draft) writeNow(w *writer) {
	w.head(sanitize.HeadFacts, byEverybody)
	d.writeFacts(&w.Builder, &w.clean)
	if d.packet.Mode == ledger.PacketDelta {
		w.line("What is not named here is as you were told before.")
		w.field("No longer known: ", strings.Join(d.packet.Removed, ", "))
	}
	d.in.writeNow(w)
}

// writeNow writes the last section, with the key that the stable prefix asks for.
func (in *CompileInput) writeNow(w *writer) {
	w.head(sanitize.HeadNow, byWaybill)
	w.field("Item status: ", in.Progress.CurrentItem.Status.String())
	if in.Degraded != "" {
		w.field("Plan file: not readable at the moment, so this is what it last said; reason: ", in.Degraded)
	}
	w.field(resultKey, in.Key)
	w.guidance(in)
	w.line(fmt.Sprint(maxOutputTokens, in.maxOutput()))
}

// guidance writes which attempt this is, and how to treat the earlier ones.
func (w *writer) guidance(in *CompileInput) {
	before := in.Task.Turns(in.Role)
	switch {
	case before == 0:
	case in.Role.Reviewer() && !in.Task.Reviews[in.Role.ReviewIndex()].Rejects():
		w.line(fmt.Sprintf("Review: number %d by this role.", before+1))
	case in.Role.Reviewer():
		w.line(fmt.Sprintf("Review: number %d by this role. See first whether what it demanded before is dealt with, then judge the whole.", before+1))
	case !in.Task.Failing():
		w.line(fmt.Sprintf("Attempt: number %d.", before+1))
	case before == 1:
		w.line("Attempt: number 2. Deal with what the first one left open, and keep what is good about it.")
	default:
		w.line(fmt.Sprintf("Attempt: number %d. %d did not get there: deal with what is open, and take another way than they did.", before+1, before))
	}
}
