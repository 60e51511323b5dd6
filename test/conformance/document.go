package conformance

import (
	"encoding/json"
	"fmt"
	"strings"
)

// An Exchange is a message of a client and its result, as text.
type Exchange struct {
	Conversation string // name of the conversation
	Text         string
}

// Exchanges returns for each method the first JSON-RPC exchange with a result. A method without an answer has only
// the message.
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

// exchange returns the method and the result of the message at an index. The method is "" if the message is refused
// or has none.
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
			break // the id belongs to another call from here on
		}
	}
	return "", nil
}

// call returns the method and the id of a message, or "".
func (s Step) call() (method, id string) {
	if s.Verb != Send {
		return "", ""
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal([]byte(s.Text), &m) != nil {
		return "", "" // a batch or a malformed message
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

// tallest is the largest number of lines of a message in a document.
const tallest = 60

// show returns a message for a reader. An arrow shows who sends it.
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

// Transcript returns a conversation as a page: remarks as text, with the messages between them. Long texts and
// messages are cut.
func (c *Conversation) Transcript() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n", c.Title, strings.Join(c.Remarks, "\n"))
	inside := "" // kind of the open block
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

// border returns the lines between two kinds of block.
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

// line returns a step for a transcript.
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
