package schema

import (
	"bytes"
	"iter"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// This file looks at values whose syntax is valid.

// object checks the members of an object. At the top, it ignores members that every method allows.
func (w *walk) object(at jsontext.Pointer, v jsontext.Value, s *shape, top bool) {
	seen := make([]bool, len(s.fields))
	for name, value := range members(v) {
		i, known := s.member(name)
		switch {
		case known:
			seen[i] = w.member(at.AppendToken(name), value, s, &s.fields[i])
		case s.open, top && (name == "_meta" || strings.HasPrefix(name, "x-")):
		default:
			w.unknown(at.AppendToken(name), name, s)
		}
	}
	for i := range s.fields {
		if f := &s.fields[i]; f.rules.required && !seen[i] {
			w.missing(at.AppendToken(f.name), f.rules.wanted(f.shape))
		}
	}
}

// member checks one member of s, and reports whether it counts as present.
func (w *walk) member(at jsontext.Pointer, v jsontext.Value, s *shape, f *field) bool {
	null := v.Kind() == 'n' && !f.shape.takes('n')
	switch {
	case null && s.open:
		return false
	case null && f.optional:
		w.wrong(at, v, f.rules.wanted(f.shape)+" or left out")
	default:
		w.value(at, v, f.shape, f.rules)
	}
	return true
}

// value checks one value.
func (w *walk) value(at jsontext.Pointer, v jsontext.Value, s *shape, r rules) {
	if !s.takes(v.Kind()) {
		w.wrong(at, v, r.wanted(s))
		return
	}
	switch s.kind {
	case object:
		w.object(at, v, s, false)
	case list:
		w.list(at, v, s, r)
	case dict:
		w.dict(at, v, s, r)
	case text:
		w.text(at, v, s, r)
	case integer:
		if n, err := strconv.ParseInt(string(v), 10, s.typ.Bits()); err != nil || !r.allowsInt(n) {
			w.wrong(at, v, r.wanted(s))
		}
	case anything, anyObject:
		w.clean(at, v)
	case boolean, nothing:
	}
}

// takes reports whether values of the JSON kind fit the shape.
func (s *shape) takes(k jsontext.Kind) bool {
	switch s.kind {
	case object, dict, anyObject:
		return k == '{'
	case list:
		return k == '['
	case text:
		return k == '"'
	case integer:
		return k == '0'
	case boolean:
		return k == 't' || k == 'f'
	case nothing:
		return k == 'n'
	case anything:
	}
	return true
}

func (w *walk) list(at jsontext.Pointer, v jsontext.Value, s *shape, r rules) {
	n := 0
	for i, value := range elements(v) {
		w.value(at.AppendToken(strconv.Itoa(i)), value, s.elem, r.ofElements())
		n++
	}
	if n == 0 && r.required {
		w.wrong(at, v, r.wanted(s))
	}
}

func (w *walk) dict(at jsontext.Pointer, v jsontext.Value, s *shape, r rules) {
	for name, value := range members(v) {
		w.noNUL(at.AppendToken(name), name)
		w.value(at.AppendToken(name), value, s.elem, r.ofElements())
	}
}

func (w *walk) text(at jsontext.Pointer, v jsontext.Value, s *shape, r rules) {
	str := unquote(v)
	switch {
	case r.nonblank && blank(str):
		w.blank(at, v, r.wanted(s))
	case r.required && str == "", !r.allowsText(str):
		w.wrong(at, v, r.wanted(s))
	default:
		w.noNUL(at, str)
	}
}

// clean looks for U+0000 in a value of any form.
func (w *walk) clean(at jsontext.Pointer, v jsontext.Value) {
	if !bytes.Contains(v, []byte(nul)) {
		return
	}
	switch v.Kind() {
	case '"':
		w.noNUL(at, unquote(v))
	case '[':
		for i, value := range elements(v) {
			w.clean(at.AppendToken(strconv.Itoa(i)), value)
		}
	case '{':
		for name, value := range members(v) {
			w.noNUL(at.AppendToken(name), name)
			w.clean(at.AppendToken(name), value)
		}
	default: // a value without a string in it
	}
}

func (w *walk) noNUL(at jsontext.Pointer, s string) {
	if strings.Contains(s, "\x00") {
		w.zero(at)
	}
}

// members returns the members of an object. A value is valid until the next one.
func members(v jsontext.Value) iter.Seq2[string, jsontext.Value] {
	return func(yield func(string, jsontext.Value) bool) {
		d := inside(v)
		for d.PeekKind() == '"' {
			name, _ := d.ReadToken()
			key := name.String()
			value, err := d.ReadValue()
			if err != nil || !yield(key, value) {
				return
			}
		}
	}
}

// elements returns the elements of an array. A value is valid until the next one.
func elements(v jsontext.Value) iter.Seq2[int, jsontext.Value] {
	return func(yield func(int, jsontext.Value) bool) {
		d := inside(v)
		for i := 0; d.PeekKind() != ']'; i++ {
			value, err := d.ReadValue()
			if err != nil || !yield(i, value) {
				return
			}
		}
	}
}

// inside returns a decoder after the first bracket.
func inside(v jsontext.Value) *jsontext.Decoder {
	d := jsontext.NewDecoder(bytes.NewBuffer(v))
	_, _ = d.ReadToken()
	return d
}

func unquote(v jsontext.Value) string {
	s, _ := jsontext.AppendUnquote(nil, v)
	return string(s)
}
