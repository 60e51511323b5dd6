package schema

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// TypeScript returns the types of the protocol: an interface for each object, ErrorCode, NotificationMap, and
// MethodMap with the params and the result of each method. It has no code.
func TypeScript() []byte {
	t := typescript{comments: typeComments()}
	t.printf("// %s\n\n", generatedBy)
	t.printf("/** The version of the protocol that is described here. */\n")
	t.printf("export type ProtocolVersion = %d;\n\n", ProtocolVersion)
	t.printf("/** %s */\nexport type Time = string;\n\n", t.comments["Time"])
	t.errorCodes()
	for _, s := range spoken() {
		t.object(s)
	}
	t.methods()
	t.notifications()
	return []byte(t.String())
}

// spoken returns the objects that a host can send or receive, by name.
func spoken() []*shape {
	c := compiler{}
	for _, s := range heard() {
		c[s.typ] = s
	}
	for _, m := range Methods {
		if m.Params != reflect.TypeFor[None]() {
			c.shape(m.Params)
		}
	}
	return c.objects()
}

type typescript struct {
	strings.Builder
	comments map[string]string
}

func (t *typescript) printf(format string, args ...any) { fmt.Fprintf(&t.Builder, format, args...) }

func (t *typescript) errorCodes() {
	t.printf("/** %s */\nexport type %s =", t.comments["Code"], codeName)
	for _, row := range ErrorTable {
		t.printf("\n  /** %s */\n  | %q", row.Doc, row.Code)
	}
	t.printf(";\n\n")
}

func (t *typescript) object(s *shape) {
	t.printf("/** %s */\nexport interface %s {\n", t.comments[s.typ.Name()], s.typ.Name())
	for i := range s.fields {
		t.member(&s.fields[i])
	}
	if s.open {
		t.printf("  [ignored: string]: unknown;\n")
	}
	t.printf("}\n\n")
}

func (t *typescript) member(f *field) {
	if doc := f.remark(); doc != "" {
		t.printf("  /** %s */\n", doc)
	}
	mark := ""
	if f.optional {
		mark = "?"
	}
	kind := f.shape.typescript(f.rules)
	if f.nullable {
		kind += " | null"
	}
	t.printf("  %s%s: %s;\n", f.name, mark, kind)
}

// remark returns the comment of a member.
func (f *field) remark() string {
	var parts []string
	if f.doc != "" {
		parts = append(parts, f.doc)
	}
	if f.rules.bounded {
		parts = append(parts, f.rules.wantedInt())
	}
	if usual := f.rules.usual(); usual != "" {
		parts = append(parts, usual)
	}
	return strings.Join(parts, "; ")
}

func (t *typescript) methods() {
	t.printf("/** From the name of a method to its params and its result. */\nexport interface MethodMap {\n")
	for _, m := range Methods {
		params := "Record<string, never>"
		if m.Params != reflect.TypeFor[None]() {
			params = m.Params.Name()
		}
		result := compiler{}.shape(m.Result).typescript(rules{})
		t.printf("  /** %s */\n  %q: { params: %s; result: %s };\n", m.Doc, m.Name, params, result)
	}
	t.printf("}\n\n")
}

func (t *typescript) notifications() {
	t.printf("/** From the name of a notification that waybill sends to its params. */\nexport interface NotificationMap {\n")
	for _, n := range Notifications {
		t.printf("  /** %s */\n  %q: %s;\n", n.Doc, n.Name, n.Params.Name())
	}
	t.printf("}\n")
}

// typescript returns the type of a value.
func (s *shape) typescript(r rules) string {
	switch s.kind {
	case object:
		return s.typ.Name()
	case list:
		return "Array<" + s.elem.typescript(r) + ">"
	case dict:
		return "Record<string, " + s.elem.typescript(r) + ">"
	case text:
		return s.typescriptText(r)
	case integer:
		return "number"
	case boolean:
		return "boolean"
	case anyObject:
		return "Record<string, unknown>"
	case nothing:
		return "null"
	case anything:
	}
	return "unknown"
}

func (s *shape) typescriptText(r rules) string {
	switch s.typ {
	case reflect.TypeFor[Time]():
		return "Time"
	case reflect.TypeFor[Code]():
		return codeName
	}
	if r.enum == nil {
		return "string"
	}
	quoted := make([]string, len(r.enum))
	for i, word := range r.enum {
		quoted[i] = strconv.Quote(word)
	}
	return strings.Join(quoted, " | ")
}
