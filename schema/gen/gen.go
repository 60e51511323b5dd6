// Package gen writes documents from the declarations of package schema: JSON Schema, OpenRPC, TypeScript and Python. Its
// tests write the reference for people and the table of handlers as well, and compare every committed document with what
// the declarations say today.
package gen

import (
	"reflect"
	"slices"
	"strings"

	"waybill/schema"
	"waybill/schema/shape"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// generatedBy is the mark of generated files.
const generatedBy = "Generated from the declarations in schema/ by `go test ./schema/gen -update`. Do not edit."

const codeName = "ErrorCode" // name of schema.Code outside of Go

// errorTypes are the objects that only errors have.
var errorTypes = []reflect.Type{reflect.TypeFor[schema.Error](), reflect.TypeFor[schema.ErrorData](), reflect.TypeFor[schema.Problem]()}

// receivedObjects returns the objects that a host can receive, by name.
func receivedObjects() []*shape.Shape { return objectsIn(false) }

// allObjects returns the objects that a host can send or receive, by name.
func allObjects() []*shape.Shape { return objectsIn(true) }

func objectsIn(params bool) []*shape.Shape {
	types := slices.Clone(errorTypes)
	for _, m := range schema.Methods {
		types = append(types, m.Result)
		if params && m.Params != reflect.TypeFor[schema.None]() {
			types = append(types, m.Params)
		}
	}
	for _, n := range schema.Notifications {
		types = append(types, n.Params)
	}
	return shape.Objects(types...)
}

// meaning returns the description of a member, with its default.
func meaning(f *shape.Field) string {
	return strings.Trim(f.Doc+"; "+f.Rules.DefaultDoc(), "; ")
}

// remark returns the comment of a member.
func remark(f *shape.Field) string {
	var parts []string
	if f.Doc != "" {
		parts = append(parts, f.Doc)
	}
	if f.Rules.Bounded {
		parts = append(parts, f.Rules.WantedInt())
	}
	if usual := f.Rules.DefaultDoc(); usual != "" {
		parts = append(parts, usual)
	}
	return strings.Join(parts, "; ")
}

// pretty returns a generated document.
func pretty(v any) []byte {
	doc, err := json.Marshal(v, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		panic("schema: " + err.Error())
	}
	return append(doc, '\n')
}
