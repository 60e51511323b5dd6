package ledger

import (
	"fmt"
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
}

func (d *draft) render(fixed *prefix) rendered {
	w := writer{}
	w.Grow(len(fixed.text) + 1024 + len(d.in.TaskPrompt) + len(d.in.Progress.CurrentItem.Prompt))
	w.WriteString(fixed.text)
	d.writeItem(&w)
	d.writeOutcome(&w)
	d.writeNow(&w)
	text := w.String()
	return rendered{text, fixed.runes + utf8.RuneCountInString(text[len(fixed.text):]), w.clean.count}
}

func (d *draft) writeItem(w *writer) {
	it := d.in.Progress.CurrentItem
	w.head(headTask)
	w.field("Task id: ", it.ID)
	w.field("Run id: ", d.in.RunID)
	w.field("Title: ", it.Title)
	if d.short {
		w.field("More about it stands in the plan, at its line: ", fmt.Sprintf("%s:%d", d.in.Progress.SourcePath, it.Line))
	} else {
		w.field("Purpose: ", it.Purpose)
		w.field("Depends on: ", strings.Join(it.DependsOn, ", "))
	}
	w.head(headPrompt)
	switch {
	case d.short && d.in.Compaction.PromptOverride != "":
		w.line(d.in.Compaction.PromptOverride)
	case d.in.TaskPrompt != "":
		w.line(d.in.TaskPrompt)
	case it.Prompt != "":
		w.line(w.clean.text(it.Prompt))
	default:
		w.line(w.clean.text(it.Title))
	}
	w.list(headDetails, it.Details)
	if d.short {
		w.list(headContext, d.in.Compaction.Context)
		return
	}
	w.section(headRequirements, strings.Join(it.Requirements, ", "))
	w.list(headFiles, it.Files)
	w.section(headLeverage, it.Leverage)
}

func (d *draft) writeOutcome(w *writer) {
	t := &d.in.Task
	if t.failing() && t.Summary+t.ReviewerAssessment != "" {
		w.head(headLast)
		w.field("Summary: ", t.Summary)
		w.field("Assessment: ", t.ReviewerAssessment)
	}
	w.list(headFixes, t.openFixes())
	blockers := t.Blockers
	if reason := d.in.Progress.CurrentItem.BlockedReason; reason != "" {
		blockers = append([]string{"the plan says: " + reason}, blockers...)
	}
	w.list(headBlockers, blockers)
	w.issues(t.openIssues())
	w.section(headHint, t.ReplanHint)
}

func (d *draft) writeNow(w *writer) {
	w.head(headFacts)
	d.writeFacts(&w.Builder, &w.clean)
	if d.packet.Mode == PacketDelta {
		w.line("What is not named here is as you were told before.")
		w.field("No longer known: ", strings.Join(d.packet.Removed, ", "))
	}
	w.head(headNow)
	w.field("Item status: ", d.in.Progress.CurrentItem.Status.String())
	if d.in.Degraded != "" {
		w.field("Plan file: not readable at the moment, so this is what it last said; reason: ", d.in.Degraded)
	}
	w.line(fmt.Sprintf("Max output tokens: %d", d.in.maxOutput()))
}

// writer writes the tail of a prompt. What is not written with line is
// neutralised.
type writer struct {
	strings.Builder
	clean neutraliser
}

func (w *writer) line(s string) {
	w.WriteString(s)
	if !strings.HasSuffix(s, "\n") {
		w.WriteByte('\n')
	}
}

// head begins a section, a blank line behind whatever stands before it.
func (w *writer) head(name string) {
	if w.Len() > 0 {
		w.WriteByte('\n')
	}
	w.line(name)
}

// field writes a value behind its name, and nothing for an empty one.
func (w *writer) field(name, value string) {
	if value != "" {
		w.WriteString(name)
		w.line(w.clean.text(value))
	}
}

func (w *writer) section(name, text string) {
	if text != "" {
		w.head(name)
		w.line(w.clean.text(text))
	}
}

func (w *writer) list(name string, entries []string) {
	if len(entries) == 0 {
		return
	}
	w.head(name)
	for _, entry := range entries {
		w.entry("- ", entry)
	}
}

// entry writes an entry of a list; further lines of it are indented.
func (w *writer) entry(bullet, text string) {
	w.WriteString(bullet)
	text = w.clean.text(text)
	if strings.IndexByte(text, '\n') >= 0 {
		text = strings.ReplaceAll(text, "\n", "\n  ")
	}
	w.WriteString(text)
	w.WriteByte('\n')
}

func (w *writer) issues(issues []ReviewIssue) {
	if len(issues) == 0 {
		return
	}
	w.head(headIssues)
	for i := range issues {
		w.issue(&issues[i])
	}
}

func (w *writer) issue(issue *ReviewIssue) {
	text := "[" + issue.Severity + "] "
	if issue.File != "" {
		text += issue.File + ": "
	}
	w.entry("- ", text+issue.Message)
	if issue.Fix != "" {
		w.entry("  fix: ", issue.Fix)
	}
}
