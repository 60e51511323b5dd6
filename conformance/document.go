package conformance

import (
	"encoding/json"
	"fmt"
	"strings"
)

// An Exchange is a message of a client and what it gets for it, ready to be shown.
type Exchange struct {
	Conversation string // its name
	Text         string
}

// Exchanges gives for each method the first exchange in JSON-RPC that has a result. Of a method that is not answered
// it is the message alone.
func Exchanges(all []*Conversation) map[string]Exchange {
	chosen := map[string]Exchange{}
	for _, c := range all {
		if !c.For("rpc") {
			continue
		}
		for i, s := range c.Steps {
			method, answer := c.exchange(i)
			if _, has := chosen[method]; method == "" || has {
				continue
			}
			text := show(s)
			if answer != nil {
				text += show(*answer)
			}
			chosen[method] = Exchange{Conversation: c.Name, Text: text}
		}
	}
	return chosen
}

// exchange gives the method of the message at a place, and the result that it gets. There is no method if the
// message is refused, or is not one message with a method.
func (c *Conversation) exchange(i int) (method string, answer *Step) {
	method, id := c.Steps[i].call()
	if method == "" || id == "" {
		return method, nil
	}
	for _, s := range c.Steps[i+1:] {
		if s.expects() && s.answers(id) {
			return method, &s
		}
		if _, next := s.call(); next == id {
			break // the id is used again
		}
	}
	return "", nil
}

// call gives the method and the id of a message, "" for what it does not have.
func (s Step) call() (method, id string) {
	if s.Verb != Send {
		return "", ""
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal([]byte(s.Text), &m) != nil {
		return "", "" // a batch, or what is refused
	}
	return m.Method, string(m.ID)
}

// answers reports whether the step is the result of the request with an id.
func (s Step) answers(id string) bool {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Result json.RawMessage `json:"result"`
	}
	return json.Unmarshal([]byte(s.Text), &m) == nil && string(m.ID) == id && m.Result != nil
}

// tallest is how many lines of a message a document shows.
const tallest = 60

// show sets a message for a reader, with an arrow that says who sends it.
func show(s Step) string {
	arrow := "← "
	if !s.expects() {
		arrow = "→ "
	}
	lines := strings.Split(layout(s.Text), "\n")
	if more := len(lines) - tallest; more > 0 {
		lines = append(lines[:tallest:tallest], fmt.Sprintf("  … %d more lines", more))
	}
	return arrow + strings.Join(lines, "\n") + "\n"
}

// Transcript gives a conversation as a page: the remarks as prose, the messages between them. Of long texts and long
// messages there is the beginning.
func (c *Conversation) Transcript() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n", c.Title, strings.Join(c.Remarks, "\n"))
	inside := "" // which kind of block is open
	for _, s := range c.Steps {
		kind := "messages"
		if s.Verb == Remark {
			kind = "prose"
		}
		if kind != inside {
			b.WriteString(border(inside, kind))
			inside = kind
		}
		b.WriteString(s.line())
	}
	b.WriteString(border(inside, ""))
	return []byte(b.String())
}

// border ends one kind of block and begins another.
func border(from, to string) string {
	text := "\n"
	if from == "messages" {
		text = "```\n" + text
	}
	if to == "messages" {
		text += "```text\n"
	}
	if to == "" {
		return strings.TrimSuffix(text, "\n")
	}
	return text
}

// line is how a step stands in a transcript.
func (s Step) line() string {
	switch s.Verb {
	case Remark:
		return s.Text + "\n"
	case Do:
		return "(" + s.Text + ")\n"
	case Send, Raw, Bytes, Expect, Then:
	}
	return show(s)
}
