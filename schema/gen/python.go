package gen

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"waybill/schema"
	"waybill/schema/shape"
)

// Python returns the protocol for Python 3.9 and later: a TypedDict for each object, ErrorCode, Notification, and
// Methods with a typed call for each method. Every call goes through one function, request.
func Python() []byte {
	p := python{comments: typeComments()}
	p.printf("# %s\n", generatedBy)
	p.printf("%s\n", pythonHead)
	p.printf("#: The version of the protocol that is described here.\n")
	p.printf("PROTOCOL_VERSION = %d\n\n", schema.ProtocolVersion)
	p.printf("#: The size in bytes of the largest message that waybill takes.\n")
	p.printf("MAX_MESSAGE_BYTES = %d\n\n", schema.MaxMessageBytes)
	p.printf("#: %s\nTime = str\n\n", p.comments["Time"])
	p.errorCodes()
	p.printf("\n\nclass NoParams(TypedDict):\n    \"\"\"NoParams are the params of a method that takes none.\"\"\"\n")
	for _, s := range allObjects() {
		p.object(s)
	}
	p.notifications()
	p.keyed()
	p.methods()
	return []byte(p.String())
}

const pythonHead = `"""The types of the protocol. Nothing in here talks to waybill; what does is in the modules beside it."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Mapping, Optional, TypedDict, Union, overload
`

type python struct {
	strings.Builder
	comments map[string]string
}

func (p *python) printf(format string, args ...any) { fmt.Fprintf(&p.Builder, format, args...) }

func (p *python) errorCodes() {
	p.printf("#: %s\n%s = Literal[\n", p.comments["Code"], codeName)
	for _, row := range schema.ErrorTable {
		p.printf("    # %s\n    %q,\n", row.Doc, row.Code)
	}
	p.printf("]\n")
}

// A pythonClass is an object with its members in the parts that form its class. In Python 3.9 all members of a class
// are required or all optional. A member named like a Python keyword cannot be in a class statement.
type pythonClass struct {
	name                                     string
	required, optional, words, optionalWords []*shape.Field
}

func pythonClassOf(s *shape.Shape) pythonClass {
	c := pythonClass{name: s.Type.Name()}
	for i := range s.Fields {
		f := &s.Fields[i]
		part := &c.required
		switch word := isPythonWord(f.Name); {
		case word && f.Optional:
			part = &c.optionalWords
		case word:
			part = &c.words
		case f.Optional:
			part = &c.optional
		}
		*part = append(*part, f)
	}
	return c
}

func (p *python) object(s *shape.Shape) {
	c := pythonClassOf(s)
	bases := append(p.wordBase(c.name+"Words", c.words, true), p.wordBase(c.name+"OptionalWords", c.optionalWords, false)...)
	if len(c.required) > 0 && len(c.optional) > 0 {
		p.printf("\n\nclass _%sRequired(TypedDict):\n", c.name)
		p.members(c.required)
		bases, c.required = append(bases, "_"+c.name+"Required"), nil
	}
	if len(bases) == 0 {
		bases = []string{"TypedDict"}
	}
	if len(c.optional) > 0 {
		bases = append(bases, "total=False")
	}
	p.printf("\n\nclass %s(%s):\n    \"\"\"%s\"\"\"\n", c.name, strings.Join(bases, ", "), p.comments[c.name])
	if own := slices.Concat(c.required, c.optional); len(own) > 0 {
		p.printf("\n")
		p.members(own)
	}
}

func (p *python) members(fields []*shape.Field) {
	for _, f := range fields {
		if doc := remark(f); doc != "" {
			p.printf("    #: %s\n", doc)
		}
		p.printf("    %s: %s\n", f.Name, pythonMember(f))
	}
}

// wordBase writes a base class for members whose names no class can have, and returns its name, or none if there are
// no such members.
func (p *python) wordBase(name string, fields []*shape.Field, total bool) []string {
	if len(fields) == 0 {
		return nil
	}
	name = "_" + name
	p.printf("\n\n%s = TypedDict(\n    %q,\n    {\n", name, name)
	for _, f := range fields {
		if doc := remark(f); doc != "" {
			p.printf("        # %s\n", doc)
		}
		p.printf("        %q: %s,\n", f.Name, pythonMember(f))
	}
	p.printf("    },\n")
	if !total {
		p.printf("    total=False,\n")
	}
	p.printf(")\n")
	return []string{name}
}

func pythonMember(f *shape.Field) string {
	kind := pythonType(f.Shape, f.Rules)
	if f.Nullable {
		return "Optional[" + kind + "]"
	}
	return kind
}

func (p *python) notifications() {
	names := make([]string, len(schema.Notifications))
	for i, n := range schema.Notifications {
		names[i] = messageName(n.Name)
		p.printf("\n\nclass %s(TypedDict):\n    \"\"\"%s\"\"\"\n\n", names[i], n.Doc)
		p.printf("    method: Literal[%q]\n    params: %s\n", n.Name, n.Params.Name())
	}
	p.printf("\n\n#: A message that waybill sends unasked. Its method tells which params it has.\n")
	p.printf("Notification = Union[\n    %s,\n]\n", strings.Join(names, ",\n    "))
}

// messageName returns TaskAwaitingResponseMessage for task/awaiting_response.
func messageName(notification string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(notification, func(r rune) bool { return r == '/' || r == '_' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String() + "Message"
}

// keyed lists the methods that have an idempotency key.
func (p *python) keyed() {
	p.printf("\n#: The methods that take an idempotency_key, by all their names.\nKEYED = frozenset(\n    {\n")
	for _, m := range schema.Methods {
		if m.Kind != schema.Change {
			continue
		}
		for _, name := range append([]string{m.Name}, m.Aliases...) {
			p.printf("        %q,\n", name)
		}
	}
	p.printf("    }\n)\n")
}

func (p *python) methods() {
	p.printf("\n\nclass Methods:\n    \"\"\"Methods knows the params and the result of every method that is answered.\"\"\"\n")
	for _, m := range schema.Methods {
		if m.Notification {
			continue
		}
		quoted := fmt.Sprintf("%q", append([]string{m.Name}, m.Aliases...))
		names := strings.ReplaceAll(strings.Trim(quoted, "[]"), `" "`, `", "`)
		p.printf("\n    @overload\n    async def call(self, method: Literal[%s], params: %s) -> %s:\n        \"\"\"%s\"\"\"\n",
			names, pythonParams(m.Params), pythonType(shape.Of(m.Result), shape.Rules{}), m.Doc)
	}
	p.printf("%s", pythonTail)
}

// pythonParams returns the type of the params of a method. A call may omit params without required members.
func pythonParams(t reflect.Type) string {
	if t == reflect.TypeFor[schema.None]() {
		return "Optional[NoParams] = None"
	}
	for _, f := range shape.Of(t).Fields {
		if !f.Optional {
			return t.Name()
		}
	}
	return "Optional[" + t.Name() + "] = None"
}

const pythonTail = `
    async def call(self, method: str, params: Optional[Mapping[str, object]] = None) -> Any:
        """Calls a method of the protocol and gives its result."""
        return await self.request(method, params)

    async def request(self, method: str, params: Optional[Mapping[str, object]] = None) -> Any:
        """Calls a method by any name, without types."""
        raise NotImplementedError
`

// pythonType returns the type of a value.
func pythonType(s *shape.Shape, r shape.Rules) string {
	switch s.Kind {
	case shape.Object:
		return s.Type.Name()
	case shape.List:
		return "List[" + pythonType(s.Elem, r) + "]"
	case shape.Map:
		return "Dict[str, " + pythonType(s.Elem, r) + "]"
	case shape.Text:
		return pythonText(s, r)
	case shape.Integer:
		return "int"
	case shape.Boolean:
		return "bool"
	case shape.AnyObject:
		return "Dict[str, Any]"
	case shape.Null:
		return "None"
	case shape.Any:
	}
	return "Any"
}

func pythonText(s *shape.Shape, r shape.Rules) string {
	switch {
	case s.Type == reflect.TypeFor[schema.Time]():
		return "Time"
	case s.Type == reflect.TypeFor[schema.Code]():
		return codeName
	case r.Enum == nil:
		return "str"
	}
	return "Literal[" + strings.ReplaceAll(strings.Trim(fmt.Sprintf("%q", r.Enum), "[]"), `" "`, `", "`) + "]"
}

// isPythonWord reports whether a name is a keyword of Python.
func isPythonWord(name string) bool {
	return slices.Contains([]string{
		"False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
		"elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
		"not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
	}, name)
}
