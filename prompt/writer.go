package prompt

import (
	"strings"

	"waybill/ledger"
	"waybill/prompt/sanitize"
)

// writer writes the part of a prompt after the prefix. All its methods except line neutralise their text.
type writer struct {
	strings.Builder
	clean    sanitize.Cleaner
	sections []sectionStart
}

func (w *writer) line(s string) {
	w.WriteString(s)
	if !strings.HasSuffix(s, "\n") {
		w.WriteByte('\n')
	}
}

// head begins a section: a blank line, the name, and the mark of its provenance.
func (w *writer) head(name string, from *provenance) {
	if w.Len() > 0 {
		w.WriteByte('\n')
	}
	w.sections = append(w.sections, sectionStart{name, from, w.Len(), w.clean.Count})
	w.WriteString(name)
	w.line(from.mark)
}

// field writes a name and its value, or nothing for an empty value. Continuation lines are indented, so that they do
// not look like fields.
func (w *writer) field(name, value string) {
	if value != "" {
		w.WriteString(name)
		w.indented(w.clean.Behind(value), "  ")
	}
}

// indented writes a text and indents its lines after the first, except blank ones.
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
		w.line(w.clean.Text(text))
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

// below lists the child items of the current item.
func (w *writer) below(names []string) {
	if len(names) == 0 {
		return
	}
	w.line("Items below it, each with a text of its own:")
	for _, name := range names {
		w.entry("- ", name)
	}
}

// entry writes a list entry and indents its continuation lines.
func (w *writer) entry(bullet, text string) {
	w.WriteString(bullet)
	if bullet == "- " {
		text = w.clean.Text(text)
	} else {
		text = w.clean.Behind(text)
	}
	w.indented(text, "  ")
}

func (w *writer) issues(issues []ledger.ReviewIssue) {
	if len(issues) == 0 {
		return
	}
	w.head(sanitize.HeadIssues, byReviewer)
	for i := range issues {
		w.issue(&issues[i])
	}
}

func (w *writer) issue(issue *ledger.ReviewIssue) {
	text := ""
	if issue.Severity != "" {
		text = "[" + issue.Severity + "] "
	}
	if issue.File != "" {
		text += issue.File + ": "
	}
	// Continuation lines are indented more than the fix, so that they do not look like one.
	w.WriteString("- ")
	w.indented(w.clean.Text(text+issue.Message), "    ")
	if issue.Fix != "" {
		w.WriteString("  fix: ")
		w.indented(w.clean.Behind(issue.Fix), "    ")
	}
}
