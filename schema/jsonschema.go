package schema

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
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
	Properties  Ordered        `json:"properties,omitzero"`
	Required    []string       `json:"required,omitzero"`
	Additional  any            `json:"additionalProperties,omitzero"` // false or a node
}

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

// A describer turns shapes into schemas. Messages that hosts send are flat: each schema stands alone and allows only
// declared members. Messages that hosts receive may grow; there, objects are references that begin with refs.
type describer struct {
	refs     string // "" for messages that hosts send
	comments map[string]string
}

const codeName = "ErrorCode" // name of Code outside of Go

func (d describer) node(s *shape, r rules) *node {
	switch s.kind {
	case object:
		if d.refs != "" {
			return &node{Ref: d.refs + s.typ.Name()}
		}
		return d.body(s)
	case list:
		n := &node{Type: "array", Items: d.node(s.elem, r.ofElements())}
		if r.required {
			n.MinItems = 1
		}
		return n
	case dict:
		return &node{Type: "object", Additional: d.node(s.elem, r.ofElements())}
	case text:
		return d.text(s, r)
	case integer:
		return number(r)
	case boolean:
		return &node{Type: "boolean", Default: literal(r.fixed())}
	case anyObject:
		return &node{Type: "object"}
	case nothing:
		return &node{Type: "null"}
	case anything:
	}
	return &node{}
}

// body describes the members of an object.
func (d describer) body(s *shape) *node {
	n := &node{Type: "object", Description: d.comments[s.typ.Name()]}
	for i := range s.fields {
		f := &s.fields[i]
		member := d.node(f.shape, f.rules)
		if f.nullable {
			member = &node{AnyOf: []*node{member, {Type: "null"}}}
		}
		if member.Description = cmp.Or(f.doc, member.Description); f.rules.setting != "" {
			member.Description = f.meaning() // the default depends on a setting, and no keyword can express that
		}
		n.Properties = append(n.Properties, Member{f.name, member})
		if !f.optional {
			n.Required = append(n.Required, f.name)
		}
	}
	if d.refs == "" && !s.open {
		n.Additional = false
	}
	return n
}

func (d describer) text(s *shape, r rules) *node {
	n := &node{Type: "string", Enum: r.enum}
	switch s.typ {
	case reflect.TypeFor[Time]():
		n.Format = "date-time"
	case reflect.TypeFor[Code]():
		return &node{Ref: d.refs + codeName}
	}
	if standard := r.fixed(); standard != "" {
		n.Default = literal(strconv.Quote(standard))
	}
	switch {
	case r.id:
		n.Pattern = idPattern
	case r.nonblank:
		n.Pattern = `\S`
	case r.required && r.enum == nil:
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

func number(r rules) *node {
	n := &node{Type: "integer", Default: literal(r.fixed())}
	if r.min != math.MinInt64 {
		n.Minimum = &r.min
	}
	if r.max != math.MaxInt64 {
		n.Maximum = &r.max
	}
	return n
}

// meaning returns the description of a member, with its default.
func (f *field) meaning() string {
	return strings.Trim(f.doc+"; "+f.rules.usual(), "; ")
}

// errorTypes are the objects that only errors have.
var errorTypes = []reflect.Type{reflect.TypeFor[Error](), reflect.TypeFor[ErrorData](), reflect.TypeFor[Problem]()}

// heard returns the objects that a host can receive, by name.
func heard() []*shape {
	c := compiler{}
	for _, m := range Methods {
		c.shape(m.Result)
	}
	for _, n := range Notifications {
		c.shape(n.Params)
	}
	for _, t := range errorTypes {
		c.shape(t)
	}
	return c.objects()
}

// objects returns the objects among the compiled shapes, by name.
func (c compiler) objects() []*shape {
	var objects []*shape
	for _, s := range c {
		if s.kind == object {
			objects = append(objects, s)
		}
	}
	slices.SortFunc(objects, func(a, b *shape) int { return cmp.Compare(a.typ.Name(), b.typ.Name()) })
	return objects
}

// definitions describes everything that a host can receive.
func (d describer) definitions() Ordered {
	codes := &node{Type: "string", Description: d.comments["Code"]}
	for _, row := range ErrorTable {
		codes.Enum = append(codes.Enum, string(row.Code))
	}
	all := Ordered{{codeName, codes}}
	for _, s := range heard() {
		all = append(all, Member{s.typ.Name(), d.body(s)})
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
	for _, m := range Methods {
		result := received.node(compiler{}.shape(m.Result), rules{})
		all = append(all, Member{m.Name + ".params", sent.body(shapeOf(m.Params))}, Member{m.Name + ".result", result})
	}
	for _, n := range Notifications {
		all = append(all, Member{n.Name + ".params", received.node(shapeOf(n.Params), rules{})})
	}
	return pretty(Ordered{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"$id", "urn:waybill:protocol:" + strconv.Itoa(ProtocolVersion)},
		{"$comment", generatedBy},
		{"title", "waybill"},
		{"$defs", all},
	})
}

// ParamsSchema returns the JSON Schema of the params of one method. It refers to no other schema, and lists
// properties in the order of their declaration.
func ParamsSchema(m Method) []byte { return pretty(describer{}.body(shapeOf(m.Params))) }

// pretty returns a generated document.
func pretty(v any) []byte {
	doc, err := json.Marshal(v, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		panic("schema: " + err.Error())
	}
	return append(doc, '\n')
}
