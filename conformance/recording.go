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

// A Recording is what was said, heard and done while a conversation was held, in that order: steps with the verbs
// Send, Raw, Bytes, Expect and Do. The texts of Send and Expect are the messages as they were on the wire; the others
// are as the conversation has them.
type Recording []Step

// ParseRecording reads what String wrote.
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

// String gives the recording as it is kept, a line for each step.
func (r Recording) String() string {
	var b strings.Builder
	for _, s := range r {
		fmt.Fprintf(&b, "%s %s\n", s.Verb, s.Text)
	}
	return b.String()
}

// Held gives the conversation as it was held: its remarks, with the messages of the recording in the place of its
// own. Notifications that the conversation does not wait for are among them. A recording in which another thing was
// said, or something else was heard than what is expected, is refused.
func (c *Conversation) Held(r Recording) (*Conversation, error) {
	p := &playback{c: c, left: r, bound: Bindings{}}
	if err := p.steps(); err != nil {
		return nil, err
	}
	held := *c
	held.Steps = p.held
	return &held, nil
}

// Differs says in which expected message two recordings of the conversation tell a reader different things. Ids, times, tokens
// and whatever else is not the same each time do not count, and neither do notifications that nothing expects.
func (c *Conversation) Differs(one, other Recording) error {
	a, err := c.told(one)
	if err != nil {
		return err
	}
	b, err := c.told(other)
	if err != nil {
		return err
	}
	for i := range a { // both have what the conversation expects
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

// from gives a piece of a text, so that a reader sees what is at a place.
func from(s string, at int) string { return s[max(0, at-80):min(len(s), at+120)] }

// A playback compares a recording with its conversation.
type playback struct {
	c     *Conversation
	left  Recording
	bound Bindings
	held  []Step
	heard []*awaited // with their messages
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

// act compares what was done with a step that does something.
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

// hear compares what was heard up to the next step that does something, and gives the steps from there on.
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

// told gives what a recording tells for each expectation, without what is not the same each time.
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

// A constant takes out of messages what is not the same each time.
type constant struct{ named map[string]string } // by what was heard

// varying is what looks the same in every recording and is another in each: times, ids and tokens, times in
// milliseconds, and the id of a workspace.
var varying = regexp.MustCompile(forms["time"] + `|\b(?:lease|` + strings.Join(ids, "|") + `)_[0-9a-f]{8}-[0-9a-f-]{27}\b` +
	`|\b[0-9]{13}\b|\b[0-9a-f]{24}\b`)

// measured are members that differ each time and do not look it, wherever they stand.
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
		for _, member := range slices.Sorted(maps.Keys(got)) { // in one order, because what varies is numbered
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

// text gives a name to everything in a text that varies, the same one wherever it stands.
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
