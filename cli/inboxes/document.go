package inboxes

import (
	"time"

	"waybill/cli/program"
	"waybill/core"
	"waybill/engine/inbox"
	"waybill/schema"
)

// A Document is the output of `waybill inbox --json`.
type Document struct {
	Waiting int     `json:"waiting"`
	Entries []Entry `json:"entries"`
	Gone    []Place `json:"gone"`
	Cut     bool    `json:"cut,omitzero"`
}

// A Place is a workspace.
type Place struct {
	ID   string `json:"workspace_id"`
	Root string `json:"workspace"`
}

// An Entry is one thing in the inbox.
type Entry struct {
	Kind string `json:"kind"`
	Place
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
	Notices   []string        `json:"notices,omitzero"` // that consume_notices dismisses it with
	Command   string          `json:"command,omitzero"`
}

// DocumentOf returns an inbox as it is written.
func DocumentOf(a *program.App, all inbox.Inbox, now time.Time) Document {
	w := Document{Waiting: all.Waiting(), Entries: []Entry{}, Gone: []Place{}, Cut: all.Cut}
	for _, p := range all.Gone {
		w.Gone = append(w.Gone, Place(p))
	}
	for _, e := range all.Entries {
		entry := Entry{
			Kind: string(e.Kind), Place: Place(e.Place), Subject: e.ID, AttemptID: e.AttemptID, Title: e.Title, Text: e.Text,
			Plan: e.Plan, ItemID: e.ItemID, Actions: []string{}, Notices: e.Notices,
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
			entry.Command = CommandOf(a, e)
		}
		w.Entries = append(w.Entries, entry)
	}
	return w
}

func timeOf(at core.Instant) schema.Time { return schema.TimeOf(time.UnixMicro(int64(at))) }

// CommandOf returns the command that moves an entry on, as a line for a shell.
func CommandOf(a *program.App, e inbox.Entry) string {
	return a.At(e.Place.Root).CommandLine(append([]string{"waybill"}, e.Next...))
}
