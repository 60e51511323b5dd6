package codec

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// compact sorts the keys of maps, so that equal values have equal bytes. The defaults of the library do the rest: nil
// slices are [], nil maps {}, HTML is not escaped, and invalid UTF-8 is an error.
var compact = json.Deterministic(true)

// Encode returns a result, an error or a notification as JSON on one line. It returns an error for strings that are
// not UTF-8 and raw values that are not JSON.
func Encode(v any) ([]byte, error) {
	return json.Marshal(v, compact)
}

// AppendEncode appends the JSON of v to dst. It returns dst unchanged with an error.
func AppendEncode(dst []byte, v any) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	if err := json.MarshalWrite(b, v, compact); err != nil {
		return dst, err
	}
	return b.Bytes(), nil
}

// Ordered is an object whose members stay in their order.
type Ordered []member

// A member is one of an Ordered.
type member struct {
	name  string
	value any
}

// Put adds a member after all others.
func (o *Ordered) Put(name string, value any) { *o = append(*o, member{name, value}) }

// MarshalJSONTo writes the members one after the other.
func (o Ordered) MarshalJSONTo(e *jsontext.Encoder) error {
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, member := range o {
		if err := e.WriteToken(jsontext.String(member.name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(e, member.value); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndObject)
}
