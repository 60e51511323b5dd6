package codec

import (
	"bytes"
	"iter"
	"strconv"
	"strings"

	"waybill/schema/shape"

	"github.com/go-json-experiment/json/jsontext"
)

// This file looks at values whose syntax is valid.

// object checks the members of an object. At the top, it ignores members that every method allows.
func (w *walk) object(at jsontext.Pointer, v jsontext.Value, s *shape.Shape, top bool) {
	seen := make([]bool, len(s.Fields))
	for name, value := range members(v) {
		i, known := s.Member(name)
		switch {
		case known:
			seen[i] = w.member(at.AppendToken(name), value, s, &s.Fields[i])
		case s.Open, top && (name == "_meta" || strings.HasPrefix(name, "x-")):
		default:
			w.unknown(at.AppendToken(name), name, s)
		}
	}
	for i := range s.Fields {
		if f := &s.Fields[i]; f.Rules.Required && !seen[i] {
			w.missing(at.AppendToken(f.Name), f.Rules.Wanted(f.Shape))
		}
	}
}

// member checks one member of s, and reports whether it counts as present.
func (w *walk) member(at jsontext.Pointer, v jsontext.Value, s *shape.Shape, f *shape.Field) bool {
	null := v.Kind() == 'n' && !takes(f.Shape, 'n')
	switch {
	case null && s.Open:
		return false
	case null && f.Optional:
		w.wrong(at, v, f.Rules.Wanted(f.Shape)+" or left out")
	default:
		w.value(at, v, f.Shape, f.Rules)
	}
	return true
}

// value checks one value.
func (w *walk) value(at jsontext.Pointer, v jsontext.Value, s *shape.Shape, r shape.Rules) {
	if !takes(s, v.Kind()) {
		w.wrong(at, v, r.Wanted(s))
		return
	}
	switch s.Kind {
	case shape.Object:
		w.object(at, v, s, false)
	case shape.List:
		w.list(at, v, s, r)
	case shape.Map:
		w.dict(at, v, s, r)
	case shape.Text:
		w.text(at, v, s, r)
	case shape.Integer:
		if n, err := strconv.ParseInt(string(v), 10, s.Type.Bits()); err != nil || !r.AllowsInt(n) {
			w.wrong(at, v, r.Wanted(s))
		}
	case shape.Any, shape.AnyObject:
		w.clean(at, v)
	case shape.Boolean, shape.Null:
	}
}

// takes reports whether values of the JSON kind fit the shape.
func takes(s *shape.Shape, k jsontext.Kind) bool {
	switch s.Kind {
	case shape.Object, shape.Map, shape.AnyObject:
		return k == '{'
	case shape.List:
		return k == '['
	case shape.Text:
		return k == '"'
	case shape.Integer:
		return k == '0'
	case shape.Boolean:
		return k == 't' || k == 'f'
	case shape.Null:
		return k == 'n'
	case shape.Any:
	}
	return true
}

func (w *walk) list(at jsontext.Pointer, v jsontext.Value, s *shape.Shape, r shape.Rules) {
	n := 0
	for i, value := range elements(v) {
		w.value(at.AppendToken(strconv.Itoa(i)), value, s.Elem, r.OfElements())
		n++
	}
	if n == 0 && r.Required {
		w.wrong(at, v, r.Wanted(s))
	}
}

func (w *walk) dict(at jsontext.Pointer, v jsontext.Value, s *shape.Shape, r shape.Rules) {
	for name, value := range members(v) {
		w.noNUL(at.AppendToken(name), name)
		w.value(at.AppendToken(name), value, s.Elem, r.OfElements())
	}
}

func (w *walk) text(at jsontext.Pointer, v jsontext.Value, s *shape.Shape, r shape.Rules) {
	str := unquote(v)
	switch {
	case r.Nonblank && strings.TrimSpace(str) == "":
		w.blank(at, v, r.Wanted(s))
	case r.Required && str == "", !r.AllowsText(str):
		w.wrong(at, v, r.Wanted(s))
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
