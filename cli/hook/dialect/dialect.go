// Package dialect is the table of the hooks of agent hosts: how each host names an event and its fields, what an answer to it
// looks like, how much text the host takes, how long it waits, and how often it lets a hook hold a stop.
//
// These rules hold:
//
//   - A host is one row of data. No other package asks which host it is.
//   - Read accepts what a host sends today and fields that a later version adds. It refuses what it cannot use with one sentence.
//   - Write produces only fields that the host knows at that event: Codex refuses an answer with any other field.
//   - The package opens nothing, runs nothing, and knows nothing of waybill's store.
package dialect

import (
	"slices"
	"time"
)

// A Kind says what happened in a host.
type Kind int

// The kinds.
const (
	SessionStart Kind = iota + 1 // a session began, was resumed, or goes on after a compaction
	Prompt                       // a person sent a prompt, which the model has not seen yet
	Question                     // the agent is about to ask the person in a dialog of the host
	Tool                         // a tool call succeeded
	ToolFailed                   // a tool call failed
	Stop                         // the agent is about to end its turn
	SubagentStop                 // a subagent is about to return to its parent
	Compact                      // the host is about to replace the conversation by a summary
)

// An Event is one event of a host, and how the host treats a hook for it.
type Event struct {
	Name    string        // as the host names it
	Kind    Kind          // its meaning for waybill
	Matcher string        // of the configuration of the host; "" for every event of this name
	Timeout time.Duration // of the configuration of the host: the host ends a hook that takes longer
	// Context reports whether the host shows the model a text of the hook.
	Context bool
}

// A Host is one agent host.
type Host struct {
	Name    string // as `waybill mcp install` names it
	Version string // of the host whose events the fixtures hold
	Events  []Event
	// MaxContext bounds a text for the model, in bytes. Hosts put longer ones into a file, or cut them.
	MaxContext int
	// Holds is how often one stop may be held. The host itself ends the turn at a higher number.
	Holds int
	// Questions are the tools by which an agent asks the person.
	Questions []string

	fields fields
	// editor reports whether an event is of Visual Studio Code, which runs the hook of the host, too, and takes a text with a prompt.
	// It is nil for a host whose hook no other host runs.
	editor func(event map[string]any) bool
	// failed returns the error in the output of a tool, or nil. It is nil for a host with an event of its own for failed calls.
	failed func(tool string, output any) any
	write  func(ev Event, a Answer) any
}

// The times within which hosts end a hook. A stop may run checks.
const (
	short = 10 * time.Second
	long  = 10 * time.Minute
)

// maxContext is below the 10,000 characters at which Claude Code, and the hosts that follow it, put a text into a file.
const maxContext = 8000

// holds is below the 8 consecutive holds at which Claude Code, Qwen Code and Copilot CLI end the turn all the same.
const holds = 3

// Hosts returns the hosts in the order of the documentation.
func Hosts() []Host {
	return []Host{claudeCode(), codex(), gemini(), qwen(), copilot(), cursor(), openCode()}
}

// Names returns the names of the hosts.
func Names() []string {
	var names []string
	for _, h := range Hosts() {
		names = append(names, h.Name)
	}
	return names
}

// Of returns the host with a name.
func Of(name string) (Host, bool) {
	for _, h := range Hosts() {
		if h.Name == name {
			return h, true
		}
	}
	return Host{}, false
}

// Event returns the event with a name of the host. Where several differ in their matcher only, it returns the first.
func (h Host) Event(name string) (Event, bool) {
	i := slices.IndexFunc(h.Events, func(ev Event) bool { return ev.Name == name })
	if i < 0 {
		return Event{}, false
	}
	return h.Events[i], true
}

// promptTakesContext reports whether the model sees a text that a hook returns before a prompt.
func (h Host) promptTakesContext() bool {
	return slices.ContainsFunc(h.Events, func(ev Event) bool { return ev.Kind == Prompt && ev.Context })
}
