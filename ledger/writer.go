package ledger

import "strings"

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
