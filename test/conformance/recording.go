package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A Recording is the log of one run of a conversation: steps with the verbs Send, Raw, Bytes, Expect and Do. Send and
// Expect have the messages of the wire; the others have the text of the conversation.
type Recording []Step

// ParseRecording reads the text of String.
func ParseRecording(name, text string) (Recording, error) {
	var r Recording
	number := 0
	for line := range strings.Lines(text) {
		number++
		verb, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if Verb(verb) == Remark || Verb(verb) == Then || !slices.Contains(verbs, Verb(verb)) {
			return nil, &Error{Name: name, Line: number, Reason: fmt.Sprintf("a line of a recording cannot begin with %q", verb)}
		}
		r = append(r, Step{Line: number, Verb: Verb(verb), Text: rest})
	}
	return r, nil
}

// String returns the recording as text, one line for each step.
func (r Recording) String() string {
	var b strings.Builder
	for _, s := range r {
		fmt.Fprintf(&b, "%s %s\n", s.Verb, s.Text)
	}
	return b.String()
}

// Held returns the conversation with the messages of the recording, including notifications that it does not expect.
// It returns an error if the recording does not match the conversation.
func (c *Conversation) Held(r Recording) (*Conversation, error) {
	p := &playback{c: c, left: r, bound: Bindings{}}
	if err := p.steps(); err != nil {
		return nil, err
	}
	held := *c
	held.Steps = p.held
	return &held, nil
}

// Differs returns the first expected message in which two recordings differ for a reader. It ignores ids, times,
// tokens and other values that always differ, and unexpected notifications.
func (c *Conversation) Differs(one, other Recording) error {
	a, err := c.told(one)
	if err != nil {
		return err
	}
	b, err := c.told(other)
	if err != nil {
		return err
	}
	for i := range a { // both have the members that the conversation expects
		if x, y := a[i].Text, b[i].Text; x != y {
			at := 0
			for at < min(len(x), len(y)) && x[at] == y[at] {
				at++
			}
			return c.At(a[i].Line, "recorded is\n  …%q\nand heard was\n  …%q", from(x, at), from(y, at))
		}
	}
	return nil
}

// from returns a part of a text around an offset.
func from(s string, at int) string { return s[max(0, at-80):min(len(s), at+120)] }

// A playback compares a recording with its conversation.
type playback struct {
	c     *Conversation
	left  Recording
	bound Bindings
	held  []Step
	heard []*awaited // with their received messages
}

func (p *playback) steps() error {
	rest, err := p.hear(p.c.Steps)
	for err == nil && len(rest) > 0 {
		if err = p.act(rest[0]); err == nil {
			rest, err = p.hear(rest[1:])
		}
	}
	if err == nil && len(p.left) > 0 {
		err = p.c.At(p.c.Steps[len(p.c.Steps)-1].Line, "the recording goes on: %s", p.left)
	}
	return err
}

// act compares a step that is no expectation.
func (p *playback) act(s Step) error {
	want := s.Text
	if s.Verb == Send {
		var err error
		if want, err = p.bound.Fill(s.Text); err != nil {
			return p.c.At(s.Line, "%v", err)
		}
	}
	if len(p.left) == 0 || p.left[0].Verb != s.Verb || p.left[0].Text != want {
		return p.c.At(s.Line, "the recording has something else here: %.300s", p.left)
	}
	s.Text = want
	p.held, p.left = append(p.held, s), p.left[1:]
	return nil
}

// hear compares the messages up to the next other step, and returns the remaining steps.
func (p *playback) hear(steps []Step) ([]Step, error) {
	end := slices.IndexFunc(steps, func(s Step) bool { return s.Verb != Remark && !s.expects() })
	if end < 0 {
		end = len(steps)
	}
	first := slices.IndexFunc(steps[:end], Step.expects)
	if first < 0 {
		first = 0
	}
	p.held = append(p.held, remarks(steps[:first])...)
	hearing, err := p.c.Listen(slices.DeleteFunc(slices.Clone(steps[:end]), func(s Step) bool { return !s.expects() }), p.bound)
	if err != nil {
		return nil, err
	}
	for len(p.left) > 0 && p.left[0].Verb == Expect {
		if err := hearing.Hear([]byte(p.left[0].Text)); err != nil {
			return nil, err
		}
		p.held, p.left = append(p.held, p.left[0]), p.left[1:]
	}
	p.held = append(p.held, remarks(steps[first:end])...)
	p.heard = append(p.heard, hearing.awaited...)
	return steps[end:], hearing.Missing()
}

func remarks(steps []Step) []Step {
	return slices.DeleteFunc(slices.Clone(steps), func(s Step) bool { return s.Verb != Remark })
}

// told returns the message for each expectation, without values that always differ.
func (c *Conversation) told(r Recording) ([]Step, error) {
	p := &playback{c: c, left: r, bound: Bindings{}}
	if err := p.steps(); err != nil {
		return nil, err
	}
	k := constant{named: map[string]string{}}
	for key, value := range p.bound {
		if text, ok := value.(string); ok {
			k.named[text] = "<" + key + ">"
		}
	}
	var all []Step
	for _, a := range p.heard {
		var text bytes.Buffer
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		if err := e.Encode(k.value("", a.pattern, a.message)); err != nil {
			return nil, err
		}
		all = append(all, Step{Line: a.step.Line, Text: text.String()})
	}
	return all, nil
}

// A constant replaces values that always differ by names.
type constant struct{ named map[string]string } // names by value

// varying matches values that differ in each recording: times, ids, tokens, milliseconds, the id of a workspace, and
// result keys.
var varying = regexp.MustCompile(forms["time"] + `|\b(?:lease|` + strings.Join(ids, "|") + `)_[0-9a-f]{8}-[0-9a-f-]{27}\b` +
	`|\b[0-9]{13}\b|\b[0-9a-f]{24}\b|\bkey:? [A-Z2-7]{8}\b`)

// measured lists members whose values always differ but match no pattern.
var measured = []string{
	"seq", "after", "cursor", "next_cursor", "newest", "pid", "mtime_ms", "duration_ms", "uptime_ms", "deliveries", "full_prompt_hash", "state_dir",
}

func (k constant) value(name string, pattern, got any) any {
	if p, ok := pattern.(string); ok && name != "" && placeholderForm.FindString(p) == p && p != "<text>" {
		return p
	}
	if slices.Contains(measured, name) {
		return "<" + name + ">"
	}
	switch got := got.(type) {
	case map[string]any:
		inner, _ := pattern.(map[string]any)
		for _, member := range slices.Sorted(maps.Keys(got)) { // in one order, because varying parts are numbered
			got[member] = k.value(member, inner[member], got[member])
		}
	case []any:
		inner, _ := pattern.([]any)
		for i := range got {
			var p any
			if i < len(inner) {
				p = inner[i]
			}
			got[i] = k.value(name, p, got[i])
		}
	case string:
		return k.text(got)
	}
	return got
}

// text replaces every varying part of a text, equal ones by the same name.
func (k constant) text(s string) string {
	if name, known := k.named[s]; known {
		return name
	}
	return varying.ReplaceAllStringFunc(s, func(found string) string {
		kind, _, isID := strings.Cut(found, "_")
		if !isID {
			return "<…>"
		}
		if _, known := k.named[found]; !known {
			k.named[found] = fmt.Sprintf("<%s %d>", kind, len(k.named))
		}
		return k.named[found]
	})
}
