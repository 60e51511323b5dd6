package mcp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"waybill/schema"
)

// args are the arguments of a call, by their names.
type args map[string]jsontext.Value

// read takes the arguments of a call apart. What the tool does not take is refused by name, so that a model that
// mixed something up can put it right.
func (t *tool) read(raw []byte) (args, *schema.Error) {
	a := args{}
	if len(raw) == 0 {
		return a, nil
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, schema.NewError(schema.InvalidParams, "the arguments must be one object, with each name once").
			Hint("send " + t.takes())
	}
	for name := range a {
		if !t.knows(name) {
			return nil, t.unknown(name)
		}
	}
	for _, p := range t.params {
		if value, given := a[p.name]; given && p.own && value.Kind() != '"' {
			return nil, schema.NewError(schema.InvalidParams, fmt.Sprintf("%s must be a string, not %s", p.name, clip(string(value), 48)))
		}
	}
	return a, nil
}

func (t *tool) knows(name string) bool {
	return slices.ContainsFunc(t.params, func(p param) bool { return p.name == name })
}

func (t *tool) unknown(name string) *schema.Error {
	fault := schema.NewError(schema.UnknownField, fmt.Sprintf("%s does not take %q", t.name, clip(name, 48)))
	if near := schema.Nearest(name, t.names()); len(near) > 0 {
		return fault.Hint("did you mean " + strings.Join(near, " or ") + "? It takes " + t.takes())
	}
	return fault.Hint("it takes " + t.takes())
}

func (t *tool) names() []string {
	names := make([]string, len(t.params))
	for i, p := range t.params {
		names[i] = p.name
	}
	return names
}

// takes lists the arguments.
func (t *tool) takes() string { return strings.Join(t.names(), ", ") }

// arrange gives the params of the method for these arguments.
func (t *tool) arrange(a args) object {
	out := object{}
	for i := range t.params {
		p := &t.params[i]
		if value, given := a[p.name]; given && !p.own {
			out.put(p.place(), value)
		}
	}
	return out
}

// text gives an argument that is a string, and "" for any other.
func (a args) text(name string) string {
	var s string
	if err := json.Unmarshal(a[name], &s); err != nil {
		return ""
	}
	return s
}

// object is an object that is put together.
type object map[string]any

// put puts a value where a path says.
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

// asArguments names the arguments of the tool where an error of the method names its params.
func (t *tool) asArguments(fault *schema.Error) *schema.Error {
	out := *fault
	for _, p := range t.params {
		if p.from != "" {
			out.Message = strings.ReplaceAll(out.Message, "/"+strings.ReplaceAll(p.from, ".", "/"), "/"+p.name)
		}
	}
	return &out
}
