package schema

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"strconv"

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

// Put adds a member behind all others.
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

// A describer turns shapes into schemas. What hosts send is flat: each schema stands alone and allows
// only what is declared. What hosts receive may grow; there, objects are references behind a prefix.
type describer struct {
	refs     string // "" for what hosts send
	comments map[string]string
}

const codeName = "ErrorCode" // what Code is called outside of Go

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
			member.Description = f.meaning() // no keyword can say that it depends
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

// literal gives a default as JSON, and nil if there is none.
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

// heard gives the objects that a host can receive, by their names.
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

// objects gives the objects among the compiled shapes, by their names.
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

// JSONSchema gives a JSON Schema (draft 2020-12) that has in $defs every object that a host can
// receive; for each method its params and its result, under the method's name with .params and
// .result behind it; and in the same way the params of each notification. The schema of a method's
// params refers to no other.
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

// ParamsSchema gives the JSON Schema of a method's params alone. It refers to nothing, its properties are in the order
// of their declaration, and of an object it says nothing but what its members are.
func ParamsSchema(m Method) []byte { return pretty(describer{}.body(shapeOf(m.Params))) }

// pretty writes a generated document.
func pretty(v any) []byte {
	doc, err := json.Marshal(v, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		panic("schema: " + err.Error())
	}
	return append(doc, '\n')
}
