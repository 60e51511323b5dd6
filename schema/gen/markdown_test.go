package gen

import (
	_ "embed"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"waybill/schema"
	"waybill/schema/shape"
)

// protocolProse is the beginning of the document about the protocol: what no declaration says.
//
//go:embed protocol.md
var protocolProse string

// An Exchange is one request with its answer, as it may stand in a document.
type Exchange struct {
	Source string // the file that it is from, below testdata/conformance
	Text   string
}

// ProtocolMarkdown returns the reference of the protocol, for people: the prose, then the methods with an exchange
// each, the notifications and the objects. It panics if a method has no exchange, because then a reader would
// have to guess how it is spoken.
func ProtocolMarkdown(exchanges map[string]Exchange) []byte {
	m := markdown{comments: typeComments(), exchanges: exchanges}
	m.printf("<!-- %s The prose is that of schema/gen/protocol.md. -->\n\n%s\n## Methods\n\n%s\n", generatedBy, protocolProse, methodsIntroduction)
	for _, group := range groups() {
		m.printf("\n### %s\n", group.title())
		for _, method := range group.methods {
			m.method(method)
		}
	}
	m.notifications()
	m.printf("\n## Objects\n")
	for _, s := range m.objects() {
		m.printf("\n### %s\n\n%s\n\n", s.Type.Name(), m.comments[s.Type.Name()])
		m.members("member", s)
	}
	return []byte(m.String())
}

// MethodsMarkdown returns a table of the methods, in which each leads to its place in the reference.
func MethodsMarkdown() []byte {
	m := markdown{}
	m.printf("<!-- %s -->\n\n# Methods at a glance\n\n%s\n", generatedBy, glanceIntroduction)
	for _, group := range groups() {
		m.printf("\n## %s\n\n| method | kind | purpose |\n|---|---|---|\n", group.title())
		for _, method := range group.methods {
			m.printf("| [`%s`](protocol.md#%s) | %s | %s |\n", method.Name, anchor(method.Name), manner(method), cell(method.Doc))
		}
	}
	return []byte(m.String())
}

const glanceIntroduction = "Each method links to its params, result, errors and an exchange in [protocol.md](protocol.md), which also explains\n" +
	"[*read* and *change*](protocol.md#order). [errors.md](errors.md) lists the errors."

const methodsIntroduction = "Params are an object. Members marked `*` are required, and unknown members are refused by name, except `_meta`\n" +
	"and names that begin with `x-`. A member without a value is absent, not `null`. Later versions may add members to\n" +
	"a result; members marked `?` may be absent. Every method may also answer some general [errors](errors.md).\n\n" +
	"The exchanges are recorded from the conversations in [testdata/conformance](../testdata/conformance/README.md).\n" +
	"Folder names are replaced, and `…` stands for omitted text."

// A group is the methods about one thing.
type group struct {
	name    string
	methods []schema.Method
}

func (g group) title() string { return strings.ToUpper(g.name[:1]) + g.name[1:] }

// groups returns the methods in the order of their declaration.
func groups() []group {
	var all []group
	for _, method := range schema.Methods {
		if len(all) == 0 || all[len(all)-1].name != method.Group {
			all = append(all, group{name: method.Group})
		}
		last := &all[len(all)-1]
		last.methods = append(last.methods, method)
	}
	return all
}

func (m *markdown) notifications() {
	m.printf("\n## Notifications\n\nwaybill sends these on its own. They are hints: `events_since` returns every event.\n\n")
	m.printf("| notification | params | meaning |\n|---|---|---|\n")
	for _, n := range schema.Notifications {
		m.printf("| `%s` | %s | %s |\n", n.Name, link(n.Params.Name()), cell(n.Doc))
	}
}

// objects returns the objects that are described by themselves: not the params and the results of one
// method, which are described with it, and not those of errors, which have their own page. A result that
// is also a part of others is described by itself, too.
func (m *markdown) objects() []*shape.Shape {
	var objects []*shape.Shape
	parts := map[reflect.Type]bool{}
	for _, s := range allObjects() {
		for _, f := range s.Fields {
			part := f.Shape
			for part.Elem != nil {
				part = part.Elem
			}
			parts[part.Type] = true
		}
	}
	for _, s := range allObjects() {
		own := !parts[s.Type] && slices.ContainsFunc(schema.Methods, func(m schema.Method) bool { return m.Params == s.Type || m.Result == s.Type })
		if !own && !slices.Contains(errorTypes, s.Type) {
			objects = append(objects, s)
		}
	}
	return objects
}

type markdown struct {
	strings.Builder
	comments  map[string]string
	exchanges map[string]Exchange
}

func (m *markdown) printf(format string, args ...any) { fmt.Fprintf(&m.Builder, format, args...) }

func (m *markdown) method(method schema.Method) {
	m.printf("\n#### `%s`\n\n*%s*", method.Name, manner(method))
	if method.Aliases != nil {
		m.printf(", also called %s", codes(method.Aliases))
	}
	m.printf("\n\n%s\n", method.Doc)
	if s := shape.Of(method.Params); len(s.Fields) > 0 {
		m.printf("\n")
		m.members("param", s)
	}
	if !method.Notification {
		m.printf("\n")
		m.result(shape.Of(method.Result))
	}
	if method.Errors != nil {
		m.printf("\nErrors: %s.\n", codes(method.Errors))
	}
	m.exchange(method.Name)
}

// exchange shows how a method is spoken.
func (m *markdown) exchange(method string) {
	e, ok := m.exchanges[method]
	if !ok {
		panic("schema: there is no exchange of " + method)
	}
	m.printf("\nAs in [%s](../testdata/conformance/%s):\n\n```text\n%s```\n", e.Source, e.Source, e.Text)
}

// manner says how a method is carried out beside others, and whether it is answered.
func manner(m schema.Method) string {
	if m.Notification {
		return "notification"
	}
	return m.Kind.String()
}

func (m *markdown) result(s *shape.Shape) {
	if len(s.Fields) > 0 {
		m.members("result", s)
		return
	}
	none := shape.Rules{}
	m.printf("The result is %s.\n", none.Wanted(s))
}

func (m *markdown) members(head string, s *shape.Shape) {
	m.printf("| %s | type | meaning |\n|---|---|---|\n", head)
	for i := range s.Fields {
		f := &s.Fields[i]
		mark := ""
		switch {
		case f.Rules.Required:
			mark = " *"
		case f.Optional && head != "param":
			mark = " ?"
		}
		m.printf("| `%s`%s | %s | %s |\n", f.Name, mark, words(f.Shape, f.Rules), cell(meaning(f)))
	}
}

// words names the type of a value.
func words(s *shape.Shape, r shape.Rules) string {
	switch s.Kind {
	case shape.Object:
		return link(s.Type.Name())
	case shape.List:
		return "list of " + words(s.Elem, r)
	case shape.Map:
		return "map to " + words(s.Elem, r)
	case shape.Text:
		return textWords(s, r)
	case shape.Integer:
		return strings.Replace(r.WantedInt(), "a whole number", "integer", 1)
	case shape.Boolean:
		return "boolean"
	case shape.AnyObject:
		return "object"
	case shape.Null:
		return "null"
	case shape.Any:
	}
	return "any value"
}

func textWords(s *shape.Shape, r shape.Rules) string {
	switch {
	case s.Type == reflect.TypeFor[schema.Time]():
		return "time"
	case s.Type == reflect.TypeFor[schema.Code]():
		return "[error code](errors.md)"
	case r.Enum != nil:
		return codes(r.Enum)
	case r.ID:
		return "id"
	}
	return "string"
}

// ErrorsMarkdown returns the reference of errors, for people.
func ErrorsMarkdown() []byte {
	m := markdown{comments: typeComments()}
	m.printf("<!-- %s -->\n\n# Errors\n\n%s\n\n", generatedBy, errorsIntroduction)
	m.printf("| code | number | again? | meaning | answered by |\n|---|---|---|---|---|\n")
	for _, row := range schema.ErrorTable {
		again := "no"
		if row.Retryable {
			again = "yes"
		}
		m.printf("| `%s` | %d | %s | %s | %s |\n", row.Code, row.Number, again, cell(row.Doc), answeredBy(row))
	}
	for _, t := range errorTypes {
		m.printf("\n## %s\n\n%s\n\n", t.Name(), m.comments[t.Name()])
		m.members("member", shape.Of(t))
	}
	return []byte(m.String())
}

const errorsIntroduction = "`data.code` is the contract; `code` is its number, for generic JSON-RPC clients. \"Again\" says whether the same call\n" +
	"may succeed later. An error is not a \"no\": `data.outcome` says whether the call took effect, and with `unknown` the\n" +
	"same call with the same `idempotency_key` tells."

// answeredBy names those who may answer with the error.
func answeredBy(row schema.ErrorRow) string {
	if everywhere(row) {
		return "every method"
	}
	if slices.Contains(schema.OverHTTP, row.Code) {
		return "HTTP"
	}
	var names []string
	for _, m := range schema.Methods {
		if slices.Contains(m.Errors, row.Code) {
			names = append(names, m.Name)
		}
	}
	switch {
	case names != nil:
		return codes(names)
	case row.Number < 0:
		return "the connection"
	}
	return "none yet"
}

// codes sets words in code type, ready for a cell of a table.
func codes[T ~string](words []T) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = "`" + string(word) + "`"
	}
	return strings.Join(quoted, ", ")
}

// anchor is where the heading of a name is in a document.
func anchor(name string) string {
	return strings.NewReplacer(".", "", "$", "", "/", "").Replace(strings.ToLower(name))
}

func link(name string) string { return "[" + name + "](#" + strings.ToLower(name) + ")" }

// cell makes a text fit for a cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
