package tool

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"waybill/schema"
	"waybill/schema/codec"
	"waybill/schema/gen"
)

// This file derives the input schemas of tools from the declarations of methods. A schema is an object of plain
// properties, without unions, references, null or nesting, because the strictest hosts accept nothing else.

// A property is the schema of an argument. It leaves out patterns and formats, which hosts treat differently and the
// method checks anyway.
type property struct {
	Type        string              `json:"type"`
	Description string              `json:"description,omitzero"`
	Enum        []string            `json:"enum,omitzero"`
	Default     jsontext.Value      `json:"default,omitzero"`
	Minimum     *int64              `json:"minimum,omitzero"`
	Maximum     *int64              `json:"maximum,omitzero"`
	Items       *property           `json:"items,omitzero"`
	Properties  map[string]property `json:"properties,omitzero"` // of a declaration only
	Required    []string            `json:"required,omitzero"`   // of a declaration only
}

// inputSchema returns the input schema of a tool with these arguments for a method.
func inputSchema(m schema.Method, params []param) jsontext.Value {
	var declared property
	if err := json.Unmarshal(gen.ParamsSchema(m), &declared); err != nil {
		panic("mcp: " + m.Name + ": " + err.Error())
	}
	out := flat{Type: "object"}
	for i := range params {
		p := &params[i]
		found, required := declared.find(p)
		out.Properties.Put(p.name, found)
		if required {
			out.Required = append(out.Required, p.name)
		}
	}
	text, err := codec.Encode(out)
	if err != nil {
		panic("mcp: " + m.Name + ": " + err.Error())
	}
	return text
}

// find returns the schema of an argument and whether it is required. It panics if the argument is not declared, which
// every test run finds.
func (d *property) find(p *param) (property, bool) {
	if p.own {
		return property{Type: "string", Description: p.doc}, false
	}
	if p.labels {
		return property{Type: "array", Description: p.doc, Items: &property{Type: "string"}}, false
	}
	found, required := *d, true
	for _, name := range p.place() {
		inner, ok := found.Properties[name]
		if !ok {
			panic(fmt.Sprintf("mcp: %s is not declared", p.name))
		}
		required = required && slices.Contains(found.Required, name)
		found = inner
	}
	found.Description = p.doc
	if p.only != nil {
		found.Enum = p.only
	}
	if found.Items != nil {
		found.Items = &property{Type: found.Items.Type}
	}
	return found, required && !p.optional
}

// flat is an input schema.
type flat struct {
	Type       string        `json:"type"`
	Properties codec.Ordered `json:"properties"`
	Required   []string      `json:"required,omitzero"`
	Additional bool          `json:"additionalProperties"`
}
