package mcp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"waybill/schema"
)

// This file makes the input schemas of tools from the declarations of methods. They keep to what the strictest hosts
// read: an object of plain properties, without unions, references, null and nesting.

// A param is an argument of a tool.
type param struct {
	name string
	doc  string // what the model reads; "" for a name that says it all
	// from is where it stands in the params of the method, by dots; "" if it is called the same there.
	from string
	// only narrows an enum.
	only []string
	// optional marks one that the method needs and the tool does not.
	optional bool
	// own marks one that is the tool's own: a string that the method does not get.
	own bool
}

// place gives where the argument goes in the params of the method.
func (p *param) place() []string {
	if p.from == "" {
		return []string{p.name}
	}
	return strings.Split(p.from, ".")
}

// A property is the schema of an argument. What it has no field for is left out of the declaration: hosts differ in
// what they make of patterns and formats, and the method checks all of it anyway.
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

// input gives the input schema of a tool that takes these arguments for a method.
func input(m schema.Method, params []param) jsontext.Value {
	var declared property
	if err := json.Unmarshal(schema.ParamsSchema(m), &declared); err != nil {
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
	text, err := schema.Encode(out)
	if err != nil {
		panic("mcp: " + m.Name + ": " + err.Error())
	}
	return text
}

// find gives the declaration of an argument, as the tool shows it, and whether it must be there. It panics if there
// is none, which no test run survives.
func (d *property) find(p *param) (property, bool) {
	if p.own {
		return property{Type: "string", Description: p.doc}, false
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
	Type       string         `json:"type"`
	Properties schema.Ordered `json:"properties"`
	Required   []string       `json:"required,omitzero"`
	Additional bool           `json:"additionalProperties"`
}
