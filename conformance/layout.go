package conformance

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// width is how many characters a line of a document has room for, and longest how many of a text it shows.
const (
	width   = 116
	longest = 400
)

// layout sets a message in lines: what fits on one stands on one, and members keep their order. Of long texts there
// is the beginning. What is not JSON stays as it is.
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
	open, end string // of an object and a list
	names     []string
	inner     []node
	text      string // of what has nothing inside
}

// ordered reads a value.
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

// written gives a token as it stands in JSON, without escapes that JSON does not need.
func written(token json.Token) string {
	if s, ok := token.(string); ok && utf8.RuneCountInString(s) > longest {
		token = string([]rune(s)[:longest]) + "…"
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(token) // a token of a decoder can be encoded
	return strings.TrimSuffix(b.String(), "\n")
}

// flat gives the value on one line.
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

// write adds the value behind what fills the line up to a column; further lines begin with an indent. Members that
// fit stand beside one another.
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

// lastLine is how many characters the last line has.
func lastLine(s string) int { return utf8.RuneCountInString(s[strings.LastIndexByte(s, '\n')+1:]) }
