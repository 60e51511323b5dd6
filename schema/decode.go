package schema

import (
	"bytes"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

var (
	closed = json.RejectUnknownMembers(true)
	open   = json.RejectUnknownMembers(false)
)

// Decode is Decoder.Decode for params that are read once.
func Decode(raw []byte, dst any) *Error {
	return Decoder{shapeOf(reflect.TypeOf(dst))}.Decode(raw, dst)
}

// A Decoder reads the params of one type. Its making takes longer than its use: it is worth keeping,
// and not worth making before it is needed.
type Decoder struct{ shape *shape }

// NewDecoder gives the decoder of params of type P. It panics if a declaration in P makes no sense.
func NewDecoder[P any]() Decoder { return Decoder{shapeOf(reflect.TypeFor[P]())} }

// Decode reads the params of a method into dst, which points to a zero value of the decoder's type.
//
// Names count to the letter. Empty or null params are an empty object, and an array that holds just
// one object stands for the object. Members called _meta, or with a name that starts with x-, are
// ignored. Everything else that is not declared is refused.
//
// A nil answer means that dst keeps every rule of its declaration. Otherwise dst is not to be used,
// and the error lists all that is wrong, each with its place. Its code is UNKNOWN_FIELD if a member
// is not known, EMPTY_CONTENT if blank text is all that is wrong, and else INVALID_PARAMS. What is
// not well-formed JSON is refused before that: PARSE_ERROR, INVALID_UTF8 or DUPLICATE_KEY.
func (d Decoder) Decode(raw []byte, dst any) *Error {
	v, s := reflect.ValueOf(dst).Elem(), d.shape
	params, _ := unwrap(raw)
	if params == nil || !s.typed(params, dst) || !s.holds(v, nil) || ambiguous(params) {
		return s.explain(raw, v)
	}
	return nil
}

// unwrap finds the object in raw, and the pointer to it. The object is nil if there is none.
func unwrap(raw []byte) (jsontext.Value, jsontext.Pointer) {
	params := jsontext.Value(trim(raw))
	if len(params) == 0 || string(params) == "null" {
		return jsontext.Value("{}"), ""
	}
	if params.Kind() == '{' {
		return params, ""
	}
	var positional []jsontext.Value
	if params.Kind() != '[' || json.Unmarshal(params, &positional) != nil {
		return nil, ""
	}
	if len(positional) != 1 || positional[0].Kind() != '{' {
		return nil, ""
	}
	return positional[0], "/0"
}

// trim takes away what JSON takes for white space.
func trim(raw []byte) []byte { return bytes.Trim(raw, " \t\r\n") }

// typed reports whether the params could be read into dst without leaving anything out.
func (s *shape) typed(params jsontext.Value, dst any) bool {
	unknown := closed
	if s.open {
		unknown = open
	}
	return json.Unmarshal(params, dst, unknown) == nil
}

// ambiguous reports whether something is in the params that a Go value no longer shows: null and ""
// look like an absent member, and U+0000 must not be anywhere. A mere suspicion is enough; it costs
// the time of a closer look.
func ambiguous(params []byte) bool {
	return bytes.Contains(params, []byte("null")) ||
		bytes.Contains(params, []byte(`""`)) ||
		bytes.Contains(params, []byte(nul))
}

// nul is the only way to write U+0000 in JSON.
const nul = `\u0000`

// holds reports whether a decoded value keeps the rules. The rules of an object are in its fields.
func (s *shape) holds(v reflect.Value, r *rules) bool {
	switch s.kind {
	case object:
		return s.fieldsHold(v)
	case list:
		return s.elementsHold(v, r)
	case dict:
		return s.valuesHold(v, r)
	case text:
		return r.allowsText(v.String())
	case integer:
		return r.allowsInt(v.Int())
	case anyObject:
		return jsontext.Value(v.Bytes()).Kind() == '{'
	case boolean, anything, nothing:
	}
	return true
}

func (s *shape) fieldsHold(v reflect.Value) bool {
	for _, i := range s.ruled {
		f := &s.fields[i]
		member := v.FieldByIndex(f.path)
		if member.IsZero() {
			if f.rules.required {
				return false
			}
			continue
		}
		if !f.shape.holds(reflect.Indirect(member), &f.rules) {
			return false
		}
	}
	return true
}

func (s *shape) elementsHold(v reflect.Value, r *rules) bool {
	if r.required && v.Len() == 0 {
		return false
	}
	for i := range v.Len() {
		if !s.elem.holds(reflect.Indirect(v.Index(i)), r) {
			return false
		}
	}
	return true
}

func (s *shape) valuesHold(v reflect.Value, r *rules) bool {
	if !s.elem.checked() && !r.checked() {
		return true
	}
	for entry := v.MapRange(); entry.Next(); {
		if !s.elem.holds(entry.Value(), r) {
			return false
		}
	}
	return true
}
