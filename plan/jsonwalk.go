package plan

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// This file walks over JSON and records the position of each value. Values are examined in place and never decoded as
// a whole.

// jsonAt is a JSON value and its position in the plan, without surrounding white space.
type jsonAt struct {
	raw  string
	from int
}

func (v *jsonAt) to() int { return v.from + len(v.raw) }

// kind returns the first byte: one of {["tfn, or 0 for a number.
func (v *jsonAt) kind() byte {
	if c := v.raw[0]; c != '-' && !isDigit(c) {
		return c
	}
	return '0'
}

// text returns a decoded string, or a number as written, or "" for any other value.
func (v *jsonAt) text() string {
	switch v.kind() {
	case '"':
		text, err := jsontext.AppendUnquote(nil, v.raw)
		if err != nil {
			return ""
		}
		return string(text)
	case '0':
		return v.raw
	}
	return ""
}

// texts returns the texts of a list, or a single text as a list.
func (v *jsonAt) texts() (all []string) {
	if v.kind() != '[' {
		if text := trim(v.text()); text != "" {
			all = append(all, text)
		}
		return all
	}
	v.elements(func(element jsonAt) {
		if text := trim(element.text()); text != "" {
			all = append(all, text)
		}
	})
	return all
}

// word returns the position of a string without its quotes. ok is false for a string with escapes.
func (v *jsonAt) word() (Span, bool) {
	if v.kind() != '"' || len(v.raw) < 3 || strings.IndexByte(v.raw, '\\') >= 0 {
		return Span{}, false
	}
	return Span{v.from + 1, v.to() - 1}, true
}

// decoder returns a decoder for the value. It allows duplicate names, which the caller reports.
func (v *jsonAt) decoder() *jsontext.Decoder {
	return jsontext.NewDecoder(strings.NewReader(v.raw), jsontext.AllowDuplicateNames(true))
}

// valid reports whether the value is exactly one valid JSON value, and otherwise returns the offset of the error.
func (v *jsonAt) valid() (offset int, ok bool) {
	d := v.decoder()
	err := d.SkipValue()
	offset = int(d.InputOffset())
	if err == nil && offset == len(v.raw) {
		return 0, true
	}
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		offset = int(syntax.ByteOffset)
	}
	offset = min(offset, len(v.raw))
	return v.to() - len(strings.TrimLeft(v.raw[offset:], " \t\r\n")), false
}

// members calls fn for each member of a valid object.
func (v *jsonAt) members(fn func(name, value jsonAt)) {
	if v.kind() != '{' {
		return
	}
	v.each(func(d *jsontext.Decoder) {
		name := v.read(d)
		fn(name, v.read(d))
	})
}

// elements calls fn for each element of a valid list.
func (v *jsonAt) elements(fn func(element jsonAt)) {
	if v.kind() != '[' {
		return
	}
	v.each(func(d *jsontext.Decoder) { fn(v.read(d)) })
}

// each calls fn until an object or a list has no more values.
func (v *jsonAt) each(fn func(d *jsontext.Decoder)) {
	d := v.decoder()
	if _, err := d.ReadToken(); err != nil {
		return
	}
	for kind := d.PeekKind(); kind != ']' && kind != '}' && kind != 0; kind = d.PeekKind() {
		fn(d)
	}
}

// read returns the next value of a decoder for v.
func (v *jsonAt) read(d *jsontext.Decoder) jsonAt {
	from := int(d.InputOffset())
	for from < len(v.raw)-1 && strings.IndexByte(" \t\r\n,:", v.raw[from]) >= 0 {
		from++
	}
	if err := d.SkipValue(); err != nil {
		return jsonAt{raw: "null", from: v.from + from} // cannot happen: the value is valid
	}
	return jsonAt{raw: v.raw[from:d.InputOffset()], from: v.from + from}
}
