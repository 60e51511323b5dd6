package schema

import (
	"reflect"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A kind says which JSON values a type stands for.
type kind uint8

const (
	object    kind = iota + 1 // an object with declared members
	list                      // an array of one shape
	dict                      // an object with free names, and values of one shape
	text                      // a string
	integer                   // a number without fraction and exponent
	boolean                   // true or false
	anything                  // any value, unchanged
	anyObject                 // any object, unchanged
	nothing                   // null
)

// A shape is all that the decoder and the generators need to know about a Go type.
type shape struct {
	kind   kind
	typ    reflect.Type      // without pointers
	open   bool              // of an object: unknown members are ignored, and null is the same as absent
	fields []field           // of an object, in the order of the declaration
	names  []string          // of the fields
	ruled  []int             // indexes of fields whose values can break a rule
	alias  map[string]string // names of the fields by their aliases
	elem   *shape            // of a list or a dict
}

// A field is one member of an object.
type field struct {
	name     string
	doc      string
	path     []int // for reflect.Value.FieldByIndex
	optional bool
	nullable bool // of a result: null is a value of its own
	rules    rules
	shape    *shape
}

// shapeOf compiles the shape of a type.
func shapeOf(t reflect.Type) *shape { return compiler{}.shape(t) }

// member returns the index of the field with the name.
func (s *shape) member(name string) (int, bool) {
	for i := range s.fields {
		if s.fields[i].name == name {
			return i, true
		}
	}
	return 0, false
}

// checked reports whether a value of the right Go type can break a rule.
func (s *shape) checked() bool {
	switch s.kind {
	case object:
		return len(s.ruled) > 0
	case list, dict:
		return s.elem.checked()
	case anyObject:
		return true
	case text, integer, boolean, anything, nothing:
	}
	return false
}

// A compiler turns types into shapes, each once. It panics where a declaration makes no sense, which
// no test run survives.
type compiler map[reflect.Type]*shape

var kindOf = map[reflect.Kind]kind{
	reflect.Struct:    object,
	reflect.Slice:     list,
	reflect.Map:       dict,
	reflect.String:    text,
	reflect.Int:       integer,
	reflect.Int64:     integer,
	reflect.Bool:      boolean,
	reflect.Interface: anything,
}

func (c compiler) shape(t reflect.Type) *shape {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s, known := c[t]
	if known && s == nil {
		panic("schema: " + t.String() + " contains itself")
	}
	if !known {
		c[t] = nil
		s = c.compile(t)
		c[t] = s
	}
	return s
}

func (c compiler) compile(t reflect.Type) *shape {
	switch t {
	case reflect.TypeFor[jsontext.Value]():
		return &shape{kind: anything, typ: t}
	case reflect.TypeFor[OpenRPC]():
		return &shape{kind: anyObject, typ: t}
	case reflect.TypeFor[Null]():
		return &shape{kind: nothing, typ: t}
	}
	s := &shape{kind: kindOf[t.Kind()], typ: t}
	switch s.kind {
	case object:
		c.members(s, t, nil)
	case list, dict:
		s.elem = c.shape(t.Elem())
	case text, integer, boolean, anything, anyObject, nothing:
	default:
		panic("schema: " + t.String() + " has no place on the wire")
	}
	return s
}

// members adds the fields of a struct to a shape, including those of embedded structs.
func (c compiler) members(s *shape, t reflect.Type, path []int) {
	for i := range t.NumField() {
		sf := t.Field(i)
		at := append(path[:len(path):len(path)], i)
		switch {
		case sf.Name == "_":
			s.open = sf.Tag.Get("schema") == "open"
		case sf.Anonymous:
			c.members(s, sf.Type, at)
		default:
			s.add(c.field(sf, at))
		}
	}
}

func (s *shape) add(f field) {
	if f.rules.checked() || f.shape.checked() {
		s.ruled = append(s.ruled, len(s.fields))
	}
	if inner := f.shape.nested(); inner != nil && s.open && !inner.open {
		panic("schema: " + s.typ.Name() + " is open and so must be what is in it: " + f.name)
	}
	if f.rules.alias != "" {
		if s.alias == nil {
			s.alias = map[string]string{}
		}
		s.alias[f.rules.alias] = f.name
	}
	s.fields = append(s.fields, f)
	s.names = append(s.names, f.name)
}

// nested returns the object that a value of the shape is or contains, or nil.
func (s *shape) nested() *shape {
	switch s.kind {
	case object:
		return s
	case list, dict:
		return s.elem.nested()
	case text, integer, boolean, anything, anyObject, nothing:
	}
	return nil
}

func (c compiler) field(sf reflect.StructField, path []int) field {
	name, options, _ := strings.Cut(sf.Tag.Get("json"), ",")
	f := field{
		name: name, doc: sf.Tag.Get("doc"), path: path, optional: options == "omitzero",
		rules: parseRules(sf.Tag.Get("schema")), shape: c.shape(sf.Type),
	}
	if f.shape.kind == anything && f.rules.object {
		f.shape = &shape{kind: anyObject, typ: f.shape.typ}
	}
	if f.rules.alias != "" {
		f.doc = strings.TrimPrefix(f.doc+"; also accepted as `"+f.rules.alias+"`", "; ")
	}
	f.nullable = sf.Type.Kind() == reflect.Pointer && !f.optional && !f.rules.required
	if why := f.nonsense(sf.Type); why != "" {
		panic("schema: " + sf.Name + " (" + name + "): " + why)
	}
	return f
}

// nonsense returns the fault of a declaration, or "". It refuses rules that the typed pass of the decoder could not
// check, because there a zero value means an absent member.
func (f *field) nonsense(t reflect.Type) string {
	plain := t.Kind() != reflect.Pointer
	number := f.shape.kind == integer || f.shape.kind == boolean
	switch {
	case f.name == "":
		return "has no name"
	case f.rules.required && f.optional:
		return "is required and omitzero"
	case f.rules.required && plain && number:
		return "is required and not a pointer"
	case f.optional && plain && f.shape.kind == object:
		return "is omitzero and not a pointer"
	case f.optional && plain && f.shape.kind == integer && !f.rules.allowsInt(0):
		return "is not a pointer and its bounds leave out 0"
	}
	return ""
}
