package codec

import (
	"bytes"

	"waybill/schema"
	"waybill/schema/shape"

	"github.com/go-json-experiment/json/jsontext"
)

// named returns the params with each alias replaced by the name of its member. It returns malformed text unchanged,
// because the decoder refuses it, and refuses a member that has both names.
func named(s *shape.Shape, params jsontext.Value) (jsontext.Value, *schema.Error) {
	dec := jsontext.NewDecoder(bytes.NewReader(params), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := dec.ReadToken(); err != nil {
		return params, nil
	}
	seen, out, copied := map[string]string{}, []byte{}, 0
	for dec.PeekKind() == '"' {
		raw, err := dec.ReadValue()
		if err != nil {
			return params, nil
		}
		key, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			return params, nil
		}
		name, start, end := string(key), int(dec.InputOffset())-len(raw), int(dec.InputOffset())
		if own, aliased := s.Alias[name]; aliased {
			quoted, _ := jsontext.AppendQuote(nil, own) // names of declarations are valid
			out, copied, name = append(append(out, params[copied:start]...), quoted...), end, own
		}
		if was, twice := seen[name]; twice && was != string(key) {
			return nil, twoNames(was, string(key))
		}
		seen[name] = string(key)
		if dec.SkipValue() != nil {
			return params, nil
		}
	}
	if copied == 0 {
		return params, nil
	}
	return append(out, params[copied:]...), nil
}

// twoNames returns the error for a member with both of its names.
func twoNames(one, other string) *schema.Error {
	at := jsontext.Pointer("").AppendToken(other)
	w := walk{}
	w.add(at, func() finding {
		return finding{code: schema.InvalidParams, Problem: schema.Problem{
			Message:  place(jsontext.Pointer("").AppendToken(one)) + " and " + place(at) + " name the same; give one of them",
			Expected: "one of the two names", Found: "both",
		}}
	})
	return w.error()
}
