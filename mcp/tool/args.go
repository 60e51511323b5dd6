package tool

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"waybill/internal/nearest"
	"waybill/mcp/inert"
	"waybill/schema"
)

// A tool presents a method to a model.
type tool struct {
	name, title string
	doc         string // its first sentence says when to use the tool
	params      []param
	docHooks    string // instead of doc, where the hooks of the host bring and acknowledge instructions
	idempotent  bool   // repeating a call changes nothing more
	pages       bool   // the method has cursors for the pages of a list
	unlisted    bool   // callable, but another tool that is listed does the same
	// run executes a call.
	run func(*call) (facts, *schema.Error)
}

// args are the arguments of a call, by their names.
type args map[string]jsontext.Value

// parseArguments parses the arguments of a call. It refuses an unknown argument by name, so that a model can correct it.
func (t *tool) parseArguments(raw []byte) (args, *schema.Error) {
	a := args{}
	if len(raw) == 0 {
		return a, nil
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, schema.NewError(schema.InvalidParams, "the arguments must be one object, with each name once").
			Hint("send " + t.argumentList())
	}
	for name := range a {
		if !t.hasArgument(name) {
			return nil, t.unknown(name)
		}
	}
	for _, p := range t.params {
		if value, given := a[p.name]; given && p.own && value.Kind() != '"' {
			return nil, schema.NewError(schema.InvalidParams, fmt.Sprintf("%s must be a string, not %s", p.name, inert.Truncate(string(value), 48)))
		}
	}
	return a, nil
}

func (t *tool) hasArgument(name string) bool {
	return slices.ContainsFunc(t.params, func(p param) bool { return p.name == name })
}

func (t *tool) unknown(name string) *schema.Error {
	fault := schema.NewError(schema.UnknownField, fmt.Sprintf("%s does not take %q", t.name, inert.Truncate(name, 48)))
	if near := nearest.Names(name, t.names()); len(near) > 0 {
		return fault.Hint("did you mean " + strings.Join(near, " or ") + "? It takes " + t.argumentList())
	}
	return fault.Hint("it takes " + t.argumentList())
}

func (t *tool) names() []string {
	names := make([]string, len(t.params))
	for i, p := range t.params {
		names[i] = p.name
	}
	return names
}

// argumentList returns the names of the arguments.
func (t *tool) argumentList() string { return strings.Join(t.names(), ", ") }

// paramsFor returns the params of the method for the arguments.
func (t *tool) paramsFor(a args) object {
	out := object{}
	for i := range t.params {
		p := &t.params[i]
		switch value, given := a[p.name]; {
		case !given || p.own:
		case p.labels:
			out.put(p.place(), options(value))
		default:
			out.put(p.place(), value)
		}
	}
	return out
}

// options returns the options with the labels. A value that is no list of strings stays as it is, and the method refuses it.
func options(value jsontext.Value) any {
	var labels []string
	if json.Unmarshal(value, &labels) != nil {
		return value
	}
	list := make([]schema.Option, len(labels))
	for i, label := range labels {
		list[i].Label = label
	}
	return list
}

// text returns a string argument, or "" if it is absent or no string.
func (a args) text(name string) string {
	var s string
	if err := json.Unmarshal(a[name], &s); err != nil {
		return ""
	}
	return s
}

// object is a JSON object.
type object map[string]any

// put sets the value at a path, and creates the objects on the way.
func (o object) put(path []string, value any) {
	if len(path) == 1 {
		o[path[0]] = value
		return
	}
	inner, ok := o[path[0]].(object)
	if !ok {
		inner = object{}
		o[path[0]] = inner
	}
	inner.put(path[1:], value)
}

// nameArguments replaces the params of the method in an error by the arguments of the tool.
func (t *tool) nameArguments(fault *schema.Error) *schema.Error {
	out := *fault
	for _, p := range t.params {
		if p.from != "" {
			out.Message = strings.ReplaceAll(out.Message, "/"+strings.ReplaceAll(p.from, ".", "/"), "/"+p.name)
		}
	}
	return &out
}

// A param is an argument of a tool.
type param struct {
	name string
	doc  string // shown to the model; "" if the name is enough
	// from is the dotted path in the params of the method, or "" if it is the name.
	from string
	// only restricts an enum.
	only []string
	// optional marks an argument that the method requires and the tool does not.
	optional bool
	// labels marks a list of strings, which are the labels of options.
	labels bool
	// own marks a string of the tool itself, which the method does not get.
	own bool
	// ids marks an argument that takes the id of an instruction. Where the host has hooks, the model sees no such id.
	ids bool
}

// place returns the path of the argument in the params of the method.
func (p *param) place() []string {
	if p.from == "" {
		return []string{p.name}
	}
	return strings.Split(p.from, ".")
}
