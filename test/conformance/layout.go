package conformance

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// width is the number of characters in a line of a document, and longest that of a text.
const (
	width   = 116
	longest = 400
)

// layout returns a message over several lines. A value that fits is on one line, and members keep their order. Long
// texts are cut. Text that is not JSON stays unchanged.
func layout(message string) string {
	d := json.NewDecoder(strings.NewReader(message))
	d.UseNumber()
	v, err := ordered(d)
	if err != nil {
		return message
	}
	var b strings.Builder
	v.write(&b, len("→ "), 2)
	return b.String()
}

// A node is a JSON value whose members are in the order of the text.
type node struct {
	open, end string // of an object or a list
	names     []string
	inner     []node
	text      string // of a value without members
}

// ordered returns the node of a value.
func ordered(d *json.Decoder) (node, error) {
	token, err := d.Token()
	if err != nil {
		return node{}, err
	}
	if token == json.Delim('{') || token == json.Delim('[') {
		return container(d, token.(json.Delim))
	}
	return node{text: written(token)}, nil
}

func container(d *json.Decoder, open json.Delim) (node, error) {
	n := node{open: open.String(), end: "]"}
	if open == '{' {
		n.end = "}"
	}
	for d.More() {
		name := ""
		if open == '{' {
			token, err := d.Token()
			if err != nil {
				return n, err
			}
			name = written(token) + ":"
		}
		v, err := ordered(d)
		if err != nil {
			return n, err
		}
		n.names, n.inner = append(n.names, name), append(n.inner, v)
	}
	_, err := d.Token()
	return n, err
}

// written returns a token as JSON, without unnecessary escapes.
func written(token json.Token) string {
	if s, ok := token.(string); ok && utf8.RuneCountInString(s) > longest {
		token = string([]rune(s)[:longest]) + "…"
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(token) // a token of a decoder has no encoding error
	return strings.TrimSuffix(b.String(), "\n")
}

// flat returns the value on one line.
func (n node) flat() string {
	if n.open == "" {
		return n.text
	}
	parts := make([]string, len(n.inner))
	for i, v := range n.inner {
		parts[i] = n.names[i] + v.flat()
	}
	return n.open + strings.Join(parts, ",") + n.end
}

// write adds the value after a line that is filled up to a column. Further lines begin with indent. Members that fit
// share a line.
func (n node) write(b *strings.Builder, column, indent int) {
	if flat := n.flat(); n.open == "" || column+utf8.RuneCountInString(flat) <= width {
		b.WriteString(flat)
		return
	}
	b.WriteString(n.open)
	column++
	for i, v := range n.inner {
		part := n.names[i] + v.flat()
		size := utf8.RuneCountInString(part) + len(",")
		if i > 0 && column+size > width {
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		}
		b.WriteString(n.names[i])
		v.write(b, column+utf8.RuneCountInString(n.names[i]), indent+2)
		if i < len(n.inner)-1 {
			b.WriteString(",")
		}
		column = lastLine(b.String())
	}
	b.WriteString(n.end)
}

// lastLine returns the number of characters in the last line.
func lastLine(s string) int { return utf8.RuneCountInString(s[strings.LastIndexByte(s, '\n')+1:]) }
