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

// NewDecoder returns the decoder of params of type P. It panics if a declaration in P is invalid.
func NewDecoder[P any]() Decoder { return Decoder{shapeOf(reflect.TypeFor[P]())} }

// Decode reads the params of a method into dst, which points to a zero value of the decoder's type.
//
// Empty or null params are an empty object, and an array of one object stands for the object. Members called _meta,
// or with a name that starts with x-, are ignored. An alias stands for the name of its member. Other members that are
// not declared are refused; case matters.
//
// Without an error, dst keeps every rule of its declaration. An error lists all problems with their places, and dst
// must not be used. Its code is UNKNOWN_FIELD if a member is not known, EMPTY_CONTENT if all problems are blank
// texts, and otherwise INVALID_PARAMS. Malformed JSON is refused first: PARSE_ERROR, INVALID_UTF8 or DUPLICATE_KEY.
func (d Decoder) Decode(raw []byte, dst any) *Error {
	v, s := reflect.ValueOf(dst).Elem(), d.shape
	params, _ := unwrap(raw)
	if s.alias != nil && params != nil {
		named, fault := s.named(params)
		if fault != nil {
			return fault
		}
		raw, params = named, named
	}
	if params == nil || !s.typed(params, dst) || !s.holds(v, nil) || ambiguous(params) {
		return s.explain(raw, v)
	}
	return nil
}

// unwrap returns the object in raw and the pointer to it. The object is nil if there is none.
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

// trim removes the white space of JSON.
func trim(raw []byte) []byte { return bytes.Trim(raw, " \t\r\n") }

// typed reports whether dst can hold the params completely.
func (s *shape) typed(params jsontext.Value, dst any) bool {
	unknown := closed
	if s.open {
		unknown = open
	}
	return json.Unmarshal(params, dst, unknown) == nil
}

// ambiguous reports whether the params may contain a part that a Go value cannot show: null and "" look like an
// absent member, and U+0000 is never allowed. A wrong suspicion costs only the time of a closer look.
func ambiguous(params []byte) bool {
	return bytes.Contains(params, []byte("null")) ||
		bytes.Contains(params, []byte(`""`)) ||
		bytes.Contains(params, []byte(nul))
}

// nul is the only spelling of U+0000 in JSON.
const nul = `\u0000`

// holds reports whether a decoded value keeps the rules. The rules of an object are those of its fields.
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
