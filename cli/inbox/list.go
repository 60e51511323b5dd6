package inbox

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"waybill/cli/inboxes"
	"waybill/cli/output"
	"waybill/engine/inbox"
	"waybill/internal/safetext"
)

// words are how the kinds are shown, each with the style of a terminal.
var words = map[inbox.Kind]struct{ word, style string }{
	inbox.Question:          {"question", "33"},
	inbox.Refuted:           {"refuted", "31"},
	inbox.Blocked:           {"blocked", "31"},
	inbox.FailedTask:        {"failed", "31"},
	inbox.FailedInstruction: {"unacknowledged", "31"},
	inbox.Reported:          {"reported", "33"},
	inbox.Unreadable:        {"unreadable", "31"},
	inbox.Gone:              {"gone", "2"},
	inbox.Proven:            {"proven", "32"},
	inbox.Said:              {"said done", "2"},
}

const wordWidth = len("unacknowledged")

// list returns the entries as lines: the item or task, why it waits, and the command that moves it on.
func (a commands) list(entries []inbox.Entry, now time.Time) string {
	var b strings.Builder
	width, names := a.LineWidth(), namesOf(entries)
	for _, e := range entries {
		b.WriteString(a.line(e, names, width, now) + "\n")
		indent := strings.Repeat(" ", wordWidth+2)
		if e.Text != "" && e.Kind != inbox.Proven && e.Kind != inbox.Said {
			b.WriteString(indent + output.Fit(safetext.Printable(e.Text), max(output.LeastWidth, width)-len(indent)) + "\n")
		}
		for _, line := range optionsOf(e) {
			b.WriteString(indent + output.Fit(line, max(output.LeastWidth, width)-len(indent)) + "\n")
		}
		if len(e.Next) > 0 {
			b.WriteString(indent + inboxes.CommandOf(a.App, e) + "\n")
		}
	}
	return b.String()
}

// optionsOf returns the options of a question, one a line, with the numbers that take them.
func optionsOf(e inbox.Entry) (lines []string) {
	for i, o := range e.Options {
		line := fmt.Sprintf("%d. %s", i+1, o.Label)
		if o.Detail != "" {
			line += ": " + o.Detail
		}
		lines = append(lines, safetext.Printable(line))
	}
	return lines
}

// line is one entry in a list.
func (a commands) line(e inbox.Entry, names map[string]string, width int, now time.Time) string {
	kind := words[e.Kind]
	rest := fmt.Sprintf("%4s  %s  %s", age(e, now), names[e.Place.ID], safetext.Printable(e.Title))
	if e.ID != "" {
		rest += "  " + e.ID
	}
	return a.Style(kind.style)(output.Left(kind.word, wordWidth)) + "  " + output.Fit(strings.TrimRight(rest, " "), width-wordWidth-2)
}

// age returns how long an entry has waited, or "" if that is not known.
func age(e inbox.Entry, now time.Time) string {
	if e.Since == 0 {
		return ""
	}
	return output.Age(now.Sub(time.UnixMicro(int64(e.Since))))
}

// namesOf returns a short name for each workspace: the last part of its path, or all of it if two have the same.
func namesOf(entries []inbox.Entry) map[string]string {
	roots := map[string][]string{} // by the short name
	for _, e := range entries {
		name := filepath.Base(e.Place.Root)
		if !slices.Contains(roots[name], e.Place.Root) {
			roots[name] = append(roots[name], e.Place.Root)
		}
	}
	names := map[string]string{}
	for _, e := range entries {
		name := filepath.Base(e.Place.Root)
		if len(roots[name]) > 1 {
			name = e.Place.Root
		}
		names[e.Place.ID] = safetext.Printable(name)
	}
	return names
}
