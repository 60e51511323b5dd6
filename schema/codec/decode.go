// Package codec reads and writes the JSON of the wire: params strictly by their declarations in package schema, with every
// problem named and placed, and configuration files by the same rules.
//
// It knows no method and changes no state.
package codec

import (
	"bytes"
	"reflect"

	"waybill/schema"
	"waybill/schema/shape"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

var (
	closed = json.RejectUnknownMembers(true)
	open   = json.RejectUnknownMembers(false)
)

// Decode reads params as Decoder.Decode does, for callers that read params of the type of dst only once.
func Decode(raw []byte, dst any) *schema.Error {
	return Decoder{shape.Of(reflect.TypeOf(dst))}.Decode(raw, dst)
}

// A Decoder reads the params of one type. Making one takes longer than using it, so callers keep it.
type Decoder struct{ shape *shape.Shape }

// NewDecoder returns the decoder of params of type P. It panics if a declaration in P is invalid.
func NewDecoder[P any]() Decoder { return Decoder{shape.Of(reflect.TypeFor[P]())} }

// Decode reads the params of a method into dst, which points to a zero value of the decoder's type.
//
// Empty or null params are an empty object, and an array of one object stands for the object. Members called _meta,
// or with a name that starts with x-, are ignored. An alias stands for the name of its member. Other members that are
// not declared are refused; case matters.
//
// Without an error, dst keeps every rule of its declaration. An error lists all problems with their places, and dst
// must not be used. Its code is UNKNOWN_FIELD if a member is not known, EMPTY_CONTENT if all problems are blank
// texts, and otherwise INVALID_PARAMS. Malformed JSON is refused first: PARSE_ERROR, INVALID_UTF8 or DUPLICATE_KEY.
func (d Decoder) Decode(raw []byte, dst any) *schema.Error {
	v, s := reflect.ValueOf(dst).Elem(), d.shape
	params, _ := unwrap(raw)
	if s.Alias != nil && params != nil {
		named, fault := named(s, params)
		if fault != nil {
			return fault
		}
		raw, params = named, named
	}
	if params == nil || !typed(s, params, dst) || !holds(s, v, nil) || ambiguous(params) {
		return explain(s, raw, v)
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
func typed(s *shape.Shape, params jsontext.Value, dst any) bool {
	unknown := closed
	if s.Open {
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
func holds(s *shape.Shape, v reflect.Value, r *shape.Rules) bool {
	switch s.Kind {
	case shape.Object:
		return fieldsHold(s, v)
	case shape.List:
		return elementsHold(s, v, r)
	case shape.Map:
		return valuesHold(s, v, r)
	case shape.Text:
		return r.AllowsText(v.String())
	case shape.Integer:
		return r.AllowsInt(v.Int())
	case shape.AnyObject:
		return jsontext.Value(v.Bytes()).Kind() == '{'
	case shape.Boolean, shape.Any, shape.Null:
	}
	return true
}

func fieldsHold(s *shape.Shape, v reflect.Value) bool {
	for _, i := range s.Ruled {
		f := &s.Fields[i]
		member := v.FieldByIndex(f.Path)
		if member.IsZero() {
			if f.Rules.Required {
				return false
			}
			continue
		}
		if !holds(f.Shape, reflect.Indirect(member), &f.Rules) {
			return false
		}
	}
	return true
}

func elementsHold(s *shape.Shape, v reflect.Value, r *shape.Rules) bool {
	if r.Required && v.Len() == 0 {
		return false
	}
	for i := range v.Len() {
		if !holds(s.Elem, reflect.Indirect(v.Index(i)), r) {
			return false
		}
	}
	return true
}

func valuesHold(s *shape.Shape, v reflect.Value, r *shape.Rules) bool {
	if !s.Elem.Checked() && !r.Checked() {
		return true
	}
	for entry := v.MapRange(); entry.Next(); {
		if !holds(s.Elem, entry.Value(), r) {
			return false
		}
	}
	return true
}
