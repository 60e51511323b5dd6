package mcphost

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// style is how a text is written, and so what is added to it.
type style struct {
	newline string // the end of a line
	unit    string // one step of indentation
	space   string // behind a colon and a comma
}

// styleOf looks at the first end of line and at the first member.
func styleOf(body string, root *hujson.Object) style {
	s := style{newline: "\n", unit: "  ", space: " "}
	if i := strings.IndexByte(body, '\n'); i > 0 && body[i-1] == '\r' {
		s.newline = "\r\n"
	}
	if root == nil || len(root.Members) == 0 {
		return s
	}
	first := root.Members[0]
	if indent, own := indentOf(first.Name.BeforeExtra); own && indent != "" {
		s.unit = indent
	} else if !own && len(first.Value.BeforeExtra) == 0 {
		s.space = ""
	}
	return s
}

// indentOf gives the white space that a line begins with, and whether what stands before a name has an end of line.
func indentOf(before []byte) (string, bool) {
	i := bytes.LastIndexByte(before, '\n')
	line := before[i+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))]), i >= 0
}

// quote writes a JSON string, without the escapes that only HTML needs.
func quote(text string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string can always be encoded
	return strings.TrimSuffix(b.String(), "\n")
}

func (s style) value(v any) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case []string:
		quoted := make([]string, 0, len(v))
		for _, text := range v {
			quoted = append(quoted, quote(text))
		}
		return "[" + strings.Join(quoted, ","+s.space) + "]"
	default:
		return fmt.Sprint(v)
	}
}

// line writes a member on one line. Objects that are made for it are padded, by which take knows them.
func (s style) line(path []string, fields []field) string {
	head := quote(path[0]) + ":" + s.space
	if len(path) > 1 {
		return head + "{ " + s.line(path[1:], fields) + " }"
	}
	return head + s.flat(fields)
}

func (s style) flat(fields []field) string {
	var parts []string
	for _, f := range fields {
		parts = append(parts, quote(f.name)+":"+s.space+s.value(f.value))
	}
	return "{" + strings.Join(parts, ","+s.space) + "}"
}

// lines writes a member over several lines; the first is indented already.
func (s style) lines(path []string, fields []field, indent string) string {
	head, inner := quote(path[0])+":"+s.space+"{"+s.newline, indent+s.unit
	if len(path) > 1 {
		return head + inner + s.lines(path[1:], fields, inner) + s.newline + indent + "}"
	}
	return head + s.body(fields, inner) + s.newline + indent + "}"
}

func (s style) body(fields []field, indent string) string {
	var parts []string
	for _, f := range fields {
		parts = append(parts, indent+quote(f.name)+":"+s.space+s.value(f.value))
	}
	return strings.Join(parts, ","+s.newline)
}
