package codec

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Ordered is an object whose members stay in their order.
type Ordered []Member

// A Member is one of an Ordered.
type Member struct {
	Name  string
	Value any
}

// Put adds a member after all others.
func (o *Ordered) Put(name string, value any) { *o = append(*o, Member{name, value}) }

// MarshalJSONTo writes the members one after the other.
func (o Ordered) MarshalJSONTo(e *jsontext.Encoder) error {
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, member := range o {
		if err := e.WriteToken(jsontext.String(member.Name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(e, member.Value); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndObject)
}
