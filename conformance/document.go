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

// Exchanges gives for each method one exchange in JSON-RPC: the first one whose result is written out in full, or else
// the first one that has a result. Of a method that is not answered it is the message alone.
func Exchanges(all []*Conversation) map[string]Exchange {
	chosen, whole := map[string]Exchange{}, map[string]bool{}
	for _, c := range all {
		if !c.For("rpc") {
			continue
		}
		for i, s := range c.Steps {
			method, answer := c.exchange(i)
			if method == "" || whole[method] {
				continue
			}
			text := show(s)
			if answer != nil {
				text += show(*answer)
			}
			full := answer == nil || !strings.Contains(answer.Text, `"`+more+`"`)
			if _, has := chosen[method]; !has || full {
				chosen[method], whole[method] = Exchange{Conversation: c.Name, Text: text}, full
			}
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

// show sets a message for a reader, with an arrow that says who sends it.
func show(s Step) string {
	arrow := "← "
	if !s.expects() {
		arrow = "→ "
	}
	return arrow + Example(s.Layout) + "\n"
}

// Example gives a text with made-up values in the place of placeholders, as a reader might see it.
func Example(text string) string {
	for _, p := range placeholders(text) {
		value := p.example()
		if p.kind == "int" {
			text = strings.ReplaceAll(text, `"`+p.text+`"`, value)
		}
		text = strings.ReplaceAll(text, p.text, value)
	}
	return text
}

// example is a value that a placeholder might stand for.
func (p placeholder) example() string {
	switch p.kind {
	case "any":
		return "…"
	case "int":
		return "7"
	case "time":
		return "2026-11-22T09:30:00Z"
	case "text":
		if p.name != "" {
			return p.name
		}
		return "…"
	case "repeat":
		_, text, _ := strings.Cut(p.name, ":")
		return text + "…"
	}
	return p.kind + "_" + p.name
}

// Transcript gives a conversation as a page: the remarks as prose, the messages between them.
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
