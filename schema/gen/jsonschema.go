package gen

import (
	"cmp"
	"math"
	"reflect"
	"strconv"

	"waybill/schema"
	"waybill/schema/codec"
	"waybill/schema/shape"

	"github.com/go-json-experiment/json/jsontext"
)

// A node is a JSON Schema, as far as the wire needs it. It keeps to what the strictest hosts can read:
// no unions, no nullable types, and no references in what a host sends.
type node struct {
	Ref         string         `json:"$ref,omitzero"`
	Type        string         `json:"type,omitzero"`
	Description string         `json:"description,omitzero"`
	Format      string         `json:"format,omitzero"`
	Pattern     string         `json:"pattern,omitzero"`
	Enum        []string       `json:"enum,omitzero"`
	Default     jsontext.Value `json:"default,omitzero"`
	Minimum     *int64         `json:"minimum,omitzero"`
	Maximum     *int64         `json:"maximum,omitzero"`
	MinLength   int            `json:"minLength,omitzero"`
	MinItems    int            `json:"minItems,omitzero"`
	AnyOf       []*node        `json:"anyOf,omitzero"`
	Items       *node          `json:"items,omitzero"`
	Properties  codec.Ordered  `json:"properties,omitzero"`
	Required    []string       `json:"required,omitzero"`
	Additional  any            `json:"additionalProperties,omitzero"` // false or a node
}

// A describer turns shapes into schemas. Messages that hosts send are flat: each schema stands alone and allows only
// declared members. Messages that hosts receive may grow; there, objects are references that begin with refs.
type describer struct {
	refs     string // "" for messages that hosts send
	comments map[string]string
}

func (d describer) node(s *shape.Shape, r shape.Rules) *node {
	switch s.Kind {
	case shape.Object:
		if d.refs != "" {
			return &node{Ref: d.refs + s.Type.Name()}
		}
		return d.body(s)
	case shape.List:
		n := &node{Type: "array", Items: d.node(s.Elem, r.OfElements())}
		if r.Required {
			n.MinItems = 1
		}
		return n
	case shape.Map:
		return &node{Type: "object", Additional: d.node(s.Elem, r.OfElements())}
	case shape.Text:
		return d.text(s, r)
	case shape.Integer:
		return number(r)
	case shape.Boolean:
		return &node{Type: "boolean", Default: literal(r.FixedDefault())}
	case shape.AnyObject:
		return &node{Type: "object"}
	case shape.Null:
		return &node{Type: "null"}
	case shape.Any:
	}
	return &node{}
}

// body describes the members of an object.
func (d describer) body(s *shape.Shape) *node {
	n := &node{Type: "object", Description: d.comments[s.Type.Name()]}
	for i := range s.Fields {
		f := &s.Fields[i]
		member := d.node(f.Shape, f.Rules)
		if f.Nullable {
			member = &node{AnyOf: []*node{member, {Type: "null"}}}
		}
		if member.Description = cmp.Or(f.Doc, member.Description); f.Rules.Setting != "" {
			member.Description = meaning(f) // the default depends on a setting, and no keyword can express that
		}
		n.Properties.Put(f.Name, member)
		if !f.Optional {
			n.Required = append(n.Required, f.Name)
		}
	}
	if d.refs == "" && !s.Open {
		n.Additional = false
	}
	return n
}

func (d describer) text(s *shape.Shape, r shape.Rules) *node {
	n := &node{Type: "string", Enum: r.Enum}
	switch s.Type {
	case reflect.TypeFor[schema.Time]():
		n.Format = "date-time"
	case reflect.TypeFor[schema.Code]():
		return &node{Ref: d.refs + codeName}
	}
	if standard := r.FixedDefault(); standard != "" {
		n.Default = literal(strconv.Quote(standard))
	}
	switch {
	case r.ID:
		n.Pattern = schema.IDPattern
	case r.Nonblank:
		n.Pattern = `\S`
	case r.Required && r.Enum == nil:
		n.MinLength = 1
	}
	return n
}

// literal returns a default as JSON, and nil if there is none.
func literal(standard string) jsontext.Value {
	if standard == "" {
		return nil
	}
	return jsontext.Value(standard)
}

func number(r shape.Rules) *node {
	n := &node{Type: "integer", Default: literal(r.FixedDefault())}
	if r.Min != math.MinInt64 {
		n.Minimum = &r.Min
	}
	if r.Max != math.MaxInt64 {
		n.Maximum = &r.Max
	}
	return n
}

// definitions describes everything that a host can receive.
func (d describer) definitions() codec.Ordered {
	codes := &node{Type: "string", Description: d.comments["Code"]}
	for _, row := range schema.ErrorTable {
		codes.Enum = append(codes.Enum, string(row.Code))
	}
	var all codec.Ordered
	all.Put(codeName, codes)
	for _, s := range receivedObjects() {
		all.Put(s.Type.Name(), d.body(s))
	}
	return all
}

// JSONSchema returns a JSON Schema (draft 2020-12). Its $defs have every object that a host can receive: METHOD.params
// and METHOD.result for each method, and the params of each notification. The params of a method refer to no other
// schema.
func JSONSchema() []byte {
	comments := typeComments()
	sent, received := describer{comments: comments}, describer{"#/$defs/", comments}
	all := received.definitions()
	for _, m := range schema.Methods {
		all.Put(m.Name+".params", sent.body(shape.Of(m.Params)))
		all.Put(m.Name+".result", received.node(shape.Of(m.Result), shape.Rules{}))
	}
	for _, n := range schema.Notifications {
		all.Put(n.Name+".params", received.node(shape.Of(n.Params), shape.Rules{}))
	}
	var doc codec.Ordered
	doc.Put("$schema", "https://json-schema.org/draft/2020-12/schema")
	doc.Put("$id", "urn:waybill:protocol:"+strconv.Itoa(schema.ProtocolVersion))
	doc.Put("$comment", generatedBy)
	doc.Put("title", "waybill")
	doc.Put("$defs", all)
	return pretty(doc)
}

// ParamsSchema returns the JSON Schema of the params of one method. It refers to no other schema, and lists
// properties in the order of their declaration.
func ParamsSchema(m schema.Method) []byte { return pretty(describer{}.body(shape.Of(m.Params))) }
