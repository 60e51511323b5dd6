package ledger

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// This file walks over JSON and knows where each value stands. A value is
// looked at where it is and never decoded as a whole.

// jsonAt is a JSON value and where it stands in the plan. No white space stands
// around it.
type jsonAt struct {
	raw  string
	from int
}

func (v *jsonAt) to() int { return v.from + len(v.raw) }

// kind is the first byte: one of {["tfn, and 0 for a number.
func (v *jsonAt) kind() byte {
	if c := v.raw[0]; c != '-' && !isDigit(c) {
		return c
	}
	return '0'
}

// text gives a string as it reads, and a number as it is written; "" for anything else.
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

// texts gives the texts of a list, or the one that stands for one.
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

// word gives where a string stands without its quotes; ok is false for one that
// is not written as it reads.
func (v *jsonAt) word() (Span, bool) {
	if v.kind() != '"' || len(v.raw) < 3 || strings.IndexByte(v.raw, '\\') >= 0 {
		return Span{}, false
	}
	return Span{v.from + 1, v.to() - 1}, true
}

// decoder reads the value. A name that stands twice is for the caller to report.
func (v *jsonAt) decoder() *jsontext.Decoder {
	return jsontext.NewDecoder(strings.NewReader(v.raw), jsontext.AllowDuplicateNames(true))
}

// valid reports whether the value is one, and nothing else, and where it is not.
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

// members calls fn for each member of an object that is valid.
func (v *jsonAt) members(fn func(name, value jsonAt)) {
	if v.kind() != '{' {
		return
	}
	v.each(func(d *jsontext.Decoder) {
		name := v.read(d)
		fn(name, v.read(d))
	})
}

// elements calls fn for each element of a list that is valid.
func (v *jsonAt) elements(fn func(element jsonAt)) {
	if v.kind() != '[' {
		return
	}
	v.each(func(d *jsontext.Decoder) { fn(v.read(d)) })
}

// each calls fn until there is nothing left in an object or a list.
func (v *jsonAt) each(fn func(d *jsontext.Decoder)) {
	d := v.decoder()
	if _, err := d.ReadToken(); err != nil {
		return
	}
	for kind := d.PeekKind(); kind != ']' && kind != '}' && kind != 0; kind = d.PeekKind() {
		fn(d)
	}
}

// read gives the next value of a decoder of v.
func (v *jsonAt) read(d *jsontext.Decoder) jsonAt {
	from := int(d.InputOffset())
	for from < len(v.raw)-1 && strings.IndexByte(" \t\r\n,:", v.raw[from]) >= 0 {
		from++
	}
	if err := d.SkipValue(); err != nil {
		return jsonAt{raw: "null", from: v.from + from} // never: the value is valid
	}
	return jsonAt{raw: v.raw[from:d.InputOffset()], from: v.from + from}
}
