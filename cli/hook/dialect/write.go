package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// An Answer is what a hook tells a host, in the words of all hosts. The zero Answer lets the host go on.
type Answer struct {
	Context string // for the model
	Hold    string // why the agent must not stop yet, for the model
	Person  string // for the person
}

// Write returns the answer as the host reads it from standard output. It leaves out what the host takes at another event
// only.
func (h Host) Write(ev Event, a Answer) ([]byte, error) {
	if !ev.Context {
		a.Context = ""
	}
	if ev.Kind != Stop && ev.Kind != SubagentStop {
		a.Hold = ""
	}
	value := h.write(ev, a)
	if value == nil {
		return nil, nil
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encode the answer to %s: %w", ev.Name, err)
	}
	return text.Bytes(), nil
}

// An answer in the dialect of Claude Code.
type answer struct {
	SystemMessage string    `json:"systemMessage,omitempty"`
	Context       string    `json:"additionalContext,omitempty"` // of Copilot CLI alone
	Decision      string    `json:"decision,omitempty"`
	Reason        string    `json:"reason,omitempty"`
	Specific      *specific `json:"hookSpecificOutput,omitempty"`
}

type specific struct {
	Event    string `json:"hookEventName"`
	Context  string `json:"additionalContext,omitempty"`
	Decision string `json:"decision,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

func usualAnswer(ev Event, a Answer) any {
	if a == (Answer{}) {
		return nil
	}
	out := answer{SystemMessage: a.Person}
	if a.Hold != "" {
		out.Decision, out.Reason = "block", a.Hold
	}
	if a.Context != "" {
		out.Specific = &specific{Event: ev.Name, Context: a.Context}
	}
	return out
}

func geminiAnswer(ev Event, a Answer) any {
	out, ok := usualAnswer(ev, a).(answer)
	if !ok {
		return nil
	}
	if a.Hold != "" {
		out.Decision = "deny"
	}
	return out
}

// copilotAnswer says everything twice: Copilot CLI looks for it at the top, Visual Studio Code in hookSpecificOutput.
func copilotAnswer(ev Event, a Answer) any {
	out, ok := usualAnswer(ev, a).(answer)
	if !ok {
		return nil
	}
	out.Context = a.Context
	if a.Hold != "" {
		out.Specific = &specific{Event: ev.Name, Decision: out.Decision, Reason: out.Reason}
	}
	return out
}

// cursorAnswer returns an object in every case: Cursor reads the output of each hook as JSON.
func cursorAnswer(ev Event, a Answer) any {
	out := struct {
		Continue *bool  `json:"continue,omitempty"`
		User     string `json:"user_message,omitempty"`
		Context  string `json:"additional_context,omitempty"`
		FollowUp string `json:"followup_message,omitempty"`
	}{Context: a.Context, FollowUp: a.Hold}
	if ev.Kind == Prompt {
		on := true
		out.Continue, out.User = &on, a.Person
	}
	return out
}
