package notation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// style is the layout of a text, which inserted text follows.
type style struct {
	newline string // the end of a line
	unit    string // one step of indentation
	space   string // after a colon and a comma
}

// styleOf reads the layout from the first line end and the first member.
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

// indentOf returns the white space at the start of a line, and whether a line end is before the name.
func indentOf(before []byte) (string, bool) {
	i := bytes.LastIndexByte(before, '\n')
	line := before[i+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))]), i >= 0
}

// quote returns a JSON string without HTML escapes.
func quote(text string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // strings have no encoding error
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
	case []Field:
		return s.flat(v)
	default:
		return fmt.Sprint(v)
	}
}

// A written value is its text, over several lines if multi. The first line is already indented.
type written func(indent string, multi bool) string

// entry writes an object with these fields.
func (s style) entry(fields []Field) written {
	return func(indent string, multi bool) string {
		if !multi {
			return s.flat(fields)
		}
		return "{" + s.newline + s.body(fields, indent+s.unit) + s.newline + indent + "}"
	}
}

// nested writes a value as a member of that path. New objects are padded, by which take recognises them.
func (s style) nested(path []string, indent string, multi bool, v written) string {
	if len(path) == 0 {
		return v(indent, multi)
	}
	head := quote(path[0]) + ":" + s.space
	switch {
	case len(path) == 1:
		return head + v(indent, multi)
	case !multi:
		return head + "{ " + s.nested(path[1:], "", false, v) + " }"
	}
	inner := indent + s.unit
	return head + "{" + s.newline + inner + s.nested(path[1:], inner, true, v) + s.newline + indent + "}"
}

func (s style) flat(fields []Field) string {
	var parts []string
	for _, f := range fields {
		parts = append(parts, quote(f.Name)+":"+s.space+s.value(f.Value))
	}
	return "{" + strings.Join(parts, ","+s.space) + "}"
}

func (s style) body(fields []Field, indent string) string {
	var parts []string
	for _, f := range fields {
		parts = append(parts, indent+quote(f.Name)+":"+s.space+s.value(f.Value))
	}
	return strings.Join(parts, ","+s.newline)
}
