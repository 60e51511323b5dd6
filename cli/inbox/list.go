package inbox

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"waybill/cli/output"
	"waybill/core"
	"waybill/engine/inbox"
	"waybill/internal/safetext"
	"waybill/schema"
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
			b.WriteString(indent + a.commandOf(e) + "\n")
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

// commandOf returns the command that moves an entry on, as a line for a shell.
func (a commands) commandOf(e inbox.Entry) string {
	return a.At(e.Place.Root).CommandLine(append([]string{"waybill"}, e.Next...))
}

// wireInbox is the output of `waybill inbox --json`.
type wireInbox struct {
	Waiting int         `json:"waiting"`
	Entries []wireEntry `json:"entries"`
	Gone    []wirePlace `json:"gone"`
	Cut     bool        `json:"cut,omitzero"`
}

type wirePlace struct {
	ID   string `json:"workspace_id"`
	Root string `json:"workspace"`
}

type wireEntry struct {
	Kind string `json:"kind"`
	wirePlace
	Subject   string          `json:"id,omitzero"`
	AttemptID string          `json:"attempt_id,omitzero"`
	Title     string          `json:"title"`
	Text      string          `json:"text"`
	Options   []schema.Option `json:"options,omitzero"`
	Plan      string          `json:"plan,omitzero"`
	ItemID    string          `json:"item_id,omitzero"`
	Since     schema.Time     `json:"since,omitzero"`
	WaitingMS int64           `json:"waiting_ms"`
	Actions   []string        `json:"actions"`
	Command   string          `json:"command,omitzero"`
}

func (a commands) wire(all inbox.Inbox, now time.Time) wireInbox {
	w := wireInbox{Waiting: all.Waiting(), Entries: []wireEntry{}, Gone: []wirePlace{}, Cut: all.Cut}
	for _, p := range all.Gone {
		w.Gone = append(w.Gone, wirePlace(p))
	}
	for _, e := range all.Entries {
		entry := wireEntry{
			Kind: string(e.Kind), wirePlace: wirePlace(e.Place), Subject: e.ID, AttemptID: e.AttemptID, Title: e.Title, Text: e.Text,
			Plan: e.Plan, ItemID: e.ItemID, Actions: []string{},
		}
		for _, o := range e.Options {
			entry.Options = append(entry.Options, schema.Option(o))
		}
		if e.Since != 0 {
			entry.Since = timeOf(e.Since)
			entry.WaitingMS = max(0, now.UnixMilli()-int64(e.Since)/1000)
		}
		for _, action := range e.Actions {
			entry.Actions = append(entry.Actions, string(action))
		}
		if len(e.Next) > 0 {
			entry.Command = a.commandOf(e)
		}
		w.Entries = append(w.Entries, entry)
	}
	return w
}

func timeOf(at core.Instant) schema.Time { return schema.TimeOf(time.UnixMicro(int64(at))) }
