package gen

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"waybill/schema"
	"waybill/schema/shape"
)

// TypeScript returns the types of the protocol: an interface for each object, ErrorCode, NotificationMap, and
// MethodMap with the params and the result of each method. It has no code.
func TypeScript() []byte {
	t := typescript{comments: typeComments()}
	t.printf("// %s\n\n", generatedBy)
	t.printf("/** The version of the protocol that is described here. */\n")
	t.printf("export type ProtocolVersion = %d;\n\n", schema.ProtocolVersion)
	t.printf("/** %s */\nexport type Time = string;\n\n", t.comments["Time"])
	t.errorCodes()
	for _, s := range allObjects() {
		t.object(s)
	}
	t.methods()
	t.notifications()
	return []byte(t.String())
}

type typescript struct {
	strings.Builder
	comments map[string]string
}

func (t *typescript) printf(format string, args ...any) { fmt.Fprintf(&t.Builder, format, args...) }

func (t *typescript) errorCodes() {
	t.printf("/** %s */\nexport type %s =", t.comments["Code"], codeName)
	for _, row := range schema.ErrorTable {
		t.printf("\n  /** %s */\n  | %q", row.Doc, row.Code)
	}
	t.printf(";\n\n")
}

func (t *typescript) object(s *shape.Shape) {
	t.printf("/** %s */\nexport interface %s {\n", t.comments[s.Type.Name()], s.Type.Name())
	for i := range s.Fields {
		t.member(&s.Fields[i])
	}
	if s.Open {
		t.printf("  [ignored: string]: unknown;\n")
	}
	t.printf("}\n\n")
}

func (t *typescript) member(f *shape.Field) {
	if doc := remark(f); doc != "" {
		t.printf("  /** %s */\n", doc)
	}
	mark := ""
	if f.Optional {
		mark = "?"
	}
	kind := typescriptType(f.Shape, f.Rules)
	if f.Nullable {
		kind += " | null"
	}
	t.printf("  %s%s: %s;\n", f.Name, mark, kind)
}

func (t *typescript) methods() {
	t.printf("/** From the name of a method to its params and its result. */\nexport interface MethodMap {\n")
	for _, m := range schema.Methods {
		params := "Record<string, never>"
		if m.Params != reflect.TypeFor[schema.None]() {
			params = m.Params.Name()
		}
		result := typescriptType(shape.Of(m.Result), shape.Rules{})
		t.printf("  /** %s */\n  %q: { params: %s; result: %s };\n", m.Doc, m.Name, params, result)
	}
	t.printf("}\n\n")
}

func (t *typescript) notifications() {
	t.printf("/** From the name of a notification that waybill sends to its params. */\nexport interface NotificationMap {\n")
	for _, n := range schema.Notifications {
		t.printf("  /** %s */\n  %q: %s;\n", n.Doc, n.Name, n.Params.Name())
	}
	t.printf("}\n")
}

// typescriptType returns the type of a value.
func typescriptType(s *shape.Shape, r shape.Rules) string {
	switch s.Kind {
	case shape.Object:
		return s.Type.Name()
	case shape.List:
		return "Array<" + typescriptType(s.Elem, r) + ">"
	case shape.Map:
		return "Record<string, " + typescriptType(s.Elem, r) + ">"
	case shape.Text:
		return typescriptText(s, r)
	case shape.Integer:
		return "number"
	case shape.Boolean:
		return "boolean"
	case shape.AnyObject:
		return "Record<string, unknown>"
	case shape.Null:
		return "null"
	case shape.Any:
	}
	return "unknown"
}

func typescriptText(s *shape.Shape, r shape.Rules) string {
	switch s.Type {
	case reflect.TypeFor[schema.Time]():
		return "Time"
	case reflect.TypeFor[schema.Code]():
		return codeName
	}
	if r.Enum == nil {
		return "string"
	}
	quoted := make([]string, len(r.Enum))
	for i, word := range r.Enum {
		quoted[i] = strconv.Quote(word)
	}
	return strings.Join(quoted, " | ")
}
