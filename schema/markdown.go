package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// An Exchange is one request with its answer, as it may stand in a document.
type Exchange struct {
	Source string // the file that it is from, below testdata/conformance
	Text   string
}

// ProtocolMarkdown gives the reference of the protocol, for people: the prose, then the methods with an exchange
// each, the notifications and the objects. It panics if a method has no exchange, because then somebody would
// have to guess how it is spoken.
func ProtocolMarkdown(exchanges map[string]Exchange) []byte {
	m := markdown{comments: typeComments(), exchanges: exchanges}
	m.printf("<!-- %s The prose is that of schema/protocol.md. -->\n\n%s\n## Methods\n\n%s\n", generatedBy, protocolProse, methodsIntroduction)
	for _, group := range groups() {
		m.printf("\n### %s\n", group.title())
		for _, method := range group.methods {
			m.method(method)
		}
	}
	m.notifications()
	m.printf("\n## Objects\n")
	for _, s := range m.objects() {
		m.printf("\n### %s\n\n%s\n\n", s.typ.Name(), m.comments[s.typ.Name()])
		m.members("member", s)
	}
	return []byte(m.String())
}

// MethodsMarkdown gives a table of the methods, in which each leads to its place in the reference.
func MethodsMarkdown() []byte {
	m := markdown{}
	m.printf("<!-- %s -->\n\n# Methods at a glance\n\n%s\n", generatedBy, glanceIntroduction)
	for _, group := range groups() {
		m.printf("\n## %s\n\n| method | manner | what it does |\n|---|---|---|\n", group.title())
		for _, method := range group.methods {
			m.printf("| [`%s`](protocol.md#%s) | %s | %s |\n", method.Name, anchor(method.Name), method.manner(), cell(method.Doc))
		}
	}
	return []byte(m.String())
}

const glanceIntroduction = "Each method leads to its params, its result, its errors and an exchange in [protocol.md](protocol.md); what *read*\n" +
	"and *change* mean is said [there](protocol.md#order), too. The errors are in [errors.md](errors.md)."

const methodsIntroduction = "Params are an object. A member marked `*` must be present; an unknown one is refused by name, except `_meta`\n" +
	"and those that start with `x-`, which are ignored. A member without a value is left out, not `null`. A result may\n" +
	"get more members in later versions; those marked `?` may be absent. Every method may answer some\n" +
	"[errors](errors.md) beside its own.\n\n" +
	"The exchanges were recorded when the conversations in [testdata/conformance](../testdata/conformance/README.md) were\n" +
	"held with the program; only the names of folders are others, and `…` stands for the rest of something long."

// A group is the methods about one thing.
type group struct {
	name    string
	methods []Method
}

func (g group) title() string { return strings.ToUpper(g.name[:1]) + g.name[1:] }

// groups gives the methods in the order of their declaration.
func groups() []group {
	var all []group
	for _, method := range Methods {
		if len(all) == 0 || all[len(all)-1].name != method.Group {
			all = append(all, group{name: method.Group})
		}
		last := &all[len(all)-1]
		last.methods = append(last.methods, method)
	}
	return all
}

func (m *markdown) notifications() {
	m.printf("\n## Notifications\n\nwaybill sends these unasked. They are hints: each carries `seq`, and `events_since` rebuilds everything.\n\n")
	m.printf("| notification | params | meaning |\n|---|---|---|\n")
	for _, n := range Notifications {
		m.printf("| `%s` | %s | %s |\n", n.Name, link(n.Params.Name()), cell(n.Doc))
	}
}

// objects gives the objects that are described by themselves: not the params and the results of one
// method, which are described with it, and not those of errors, which have their own page.
func (m *markdown) objects() []*shape {
	var objects []*shape
	for _, s := range spoken() {
		own := slices.ContainsFunc(Methods, func(m Method) bool { return m.Params == s.typ || m.Result == s.typ })
		if !own && !slices.Contains(errorTypes, s.typ) {
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

func (m *markdown) method(method Method) {
	m.printf("\n#### `%s`\n\n*%s*", method.Name, method.manner())
	if method.Aliases != nil {
		m.printf(", also called %s", codes(method.Aliases))
	}
	m.printf("\n\n%s\n", method.Doc)
	if s := shapeOf(method.Params); len(s.fields) > 0 {
		m.printf("\n")
		m.members("param", s)
	}
	if !method.Notification {
		m.printf("\n")
		m.result(compiler{}.shape(method.Result))
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
func (m Method) manner() string {
	if m.Notification {
		return "notification"
	}
	return m.Kind.String()
}

func (m *markdown) result(s *shape) {
	if len(s.fields) > 0 {
		m.members("result", s)
		return
	}
	none := rules{}
	m.printf("The result is %s.\n", none.wanted(s))
}

func (m *markdown) members(head string, s *shape) {
	m.printf("| %s | type | meaning |\n|---|---|---|\n", head)
	for i := range s.fields {
		f := &s.fields[i]
		mark := ""
		switch {
		case f.rules.required:
			mark = " *"
		case f.optional && head != "param":
			mark = " ?"
		}
		m.printf("| `%s`%s | %s | %s |\n", f.name, mark, f.shape.words(f.rules), cell(f.meaning()))
	}
}

// meaning is what a table says about a member beside its type.
func (f *field) meaning() string {
	return strings.Trim(f.doc+"; "+f.rules.usual(), "; ")
}

// words names the type of a value.
func (s *shape) words(r rules) string {
	switch s.kind {
	case object:
		return link(s.typ.Name())
	case list:
		return "list of " + s.elem.words(r)
	case dict:
		return "map to " + s.elem.words(r)
	case text:
		return s.textWords(r)
	case integer:
		return strings.Replace(r.wantedInt(), "a whole number", "integer", 1)
	case boolean:
		return "boolean"
	case anyObject:
		return "object"
	case nothing:
		return "null"
	case anything:
	}
	return "any value"
}

func (s *shape) textWords(r rules) string {
	switch {
	case s.typ == reflect.TypeFor[Time]():
		return "time"
	case s.typ == reflect.TypeFor[Code]():
		return "[error code](errors.md)"
	case r.enum != nil:
		return codes(r.enum)
	case r.id:
		return "id"
	}
	return "string"
}

// ErrorsMarkdown gives the reference of errors, for people.
func ErrorsMarkdown() []byte {
	m := markdown{comments: typeComments()}
	m.printf("<!-- %s -->\n\n# Errors\n\n%s\n\n", generatedBy, errorsIntroduction)
	m.printf("| code | number | again? | meaning | answered by |\n|---|---|---|---|---|\n")
	for _, row := range ErrorTable {
		again := "no"
		if row.Retryable {
			again = "yes"
		}
		m.printf("| `%s` | %d | %s | %s | %s |\n", row.Code, row.Number, again, cell(row.Doc), row.answeredBy())
	}
	for _, t := range errorTypes {
		m.printf("\n## %s\n\n%s\n\n", t.Name(), m.comments[t.Name()])
		m.members("member", shapeOf(t))
	}
	return []byte(m.String())
}

// errorTypes are the objects that only errors have.
var errorTypes = []reflect.Type{reflect.TypeFor[Error](), reflect.TypeFor[ErrorData](), reflect.TypeFor[Problem]()}

const errorsIntroduction = "`data.code` is the contract; `code` is its number, for generic JSON-RPC clients. \"Again\" says whether the same call\n" +
	"may succeed later. An error is not a \"no\": `data.outcome` says whether the call took effect, and with `unknown` the\n" +
	"same call with the same `idempotency_key` tells."

// everywhere reports whether every method may answer the error.
func (row ErrorRow) everywhere() bool { return slices.Contains(Everywhere, row.Code) }

// answeredBy names those who may answer with the error.
func (row ErrorRow) answeredBy() string {
	if row.everywhere() {
		return "every method"
	}
	if slices.Contains(OverHTTP, row.Code) {
		return "HTTP"
	}
	var names []string
	for _, m := range Methods {
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
