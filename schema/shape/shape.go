// Package shape compiles the declarations of package schema: which JSON values a Go type stands for, and by which
// rules. The decoder and the generators work on these shapes.
//
// It reads no JSON and writes no document.
package shape

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"waybill/schema"

	"github.com/go-json-experiment/json/jsontext"
)

// A Kind says which JSON values a type stands for.
type Kind uint8

const (
	Object    Kind = iota + 1 // an object with declared members
	List                      // an array of one shape
	Map                       // an object with free names, and values of one shape
	Text                      // a string
	Integer                   // a number without fraction and exponent
	Boolean                   // true or false
	Any                       // any value, unchanged
	AnyObject                 // any object, unchanged
	Null                      // null
)

// A Shape describes the JSON values of a Go type.
type Shape struct {
	Kind   Kind
	Type   reflect.Type      // without pointers
	Open   bool              // of an object: unknown members are ignored, and null is the same as absent
	Fields []Field           // of an object, in the order of the declaration
	Names  []string          // of the fields
	Ruled  []int             // indexes of fields whose values can break a rule
	Alias  map[string]string // names of the fields by their aliases
	Elem   *Shape            // of a list or a map
}

// A Field is one member of an object.
type Field struct {
	Name     string
	Doc      string
	Path     []int // for reflect.Value.FieldByIndex
	Optional bool
	Nullable bool // of a result: null is a value of its own
	Rules    Rules
	Shape    *Shape
}

// Of compiles the shape of a type. It panics if a declaration is invalid.
func Of(t reflect.Type) *Shape { return compiler{}.shape(t) }

// Objects returns the shapes of all objects that values of the types are or contain, sorted by name.
func Objects(types ...reflect.Type) []*Shape {
	c := compiler{}
	for _, t := range types {
		c.shape(t)
	}
	var objects []*Shape
	for _, s := range c {
		if s.Kind == Object {
			objects = append(objects, s)
		}
	}
	slices.SortFunc(objects, func(a, b *Shape) int { return cmp.Compare(a.Type.Name(), b.Type.Name()) })
	return objects
}

// Member returns the index of the field with the name.
func (s *Shape) Member(name string) (index int, ok bool) {
	index = slices.Index(s.Names, name)
	return index, index >= 0
}

// Checked reports whether a value of the right Go type can break a rule.
func (s *Shape) Checked() bool {
	switch s.Kind {
	case Object:
		return len(s.Ruled) > 0
	case List, Map:
		return s.Elem.Checked()
	case AnyObject:
		return true
	case Text, Integer, Boolean, Any, Null:
	}
	return false
}

// A compiler turns types into shapes, each once.
type compiler map[reflect.Type]*Shape

var kinds = map[reflect.Kind]Kind{
	reflect.Struct:    Object,
	reflect.Slice:     List,
	reflect.Map:       Map,
	reflect.String:    Text,
	reflect.Int:       Integer,
	reflect.Int64:     Integer,
	reflect.Bool:      Boolean,
	reflect.Interface: Any,
}

func (c compiler) shape(t reflect.Type) *Shape {
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

func (c compiler) compile(t reflect.Type) *Shape {
	switch t {
	case reflect.TypeFor[jsontext.Value]():
		return &Shape{Kind: Any, Type: t}
	case reflect.TypeFor[schema.OpenRPC]():
		return &Shape{Kind: AnyObject, Type: t}
	case reflect.TypeFor[schema.Null]():
		return &Shape{Kind: Null, Type: t}
	}
	s := &Shape{Kind: kinds[t.Kind()], Type: t}
	switch s.Kind {
	case Object:
		c.members(s, t, nil)
	case List, Map:
		s.Elem = c.shape(t.Elem())
	case Text, Integer, Boolean, Any, AnyObject, Null:
	default:
		panic("schema: " + t.String() + " has no place on the wire")
	}
	return s
}

// members adds the fields of a struct to a shape, including those of embedded structs.
func (c compiler) members(s *Shape, t reflect.Type, path []int) {
	for i := range t.NumField() {
		sf := t.Field(i)
		at := append(path[:len(path):len(path)], i)
		switch {
		case sf.Name == "_":
			s.Open = sf.Tag.Get("schema") == "open"
		case sf.Anonymous:
			c.members(s, sf.Type, at)
		default:
			s.add(c.field(sf, at))
		}
	}
}

func (s *Shape) add(f Field) {
	if f.Rules.Checked() || f.Shape.Checked() {
		s.Ruled = append(s.Ruled, len(s.Fields))
	}
	if inner := f.Shape.nested(); inner != nil && s.Open && !inner.Open {
		panic("schema: " + s.Type.Name() + " is open and so must be what is in it: " + f.Name)
	}
	if f.Rules.Alias != "" {
		if s.Alias == nil {
			s.Alias = map[string]string{}
		}
		s.Alias[f.Rules.Alias] = f.Name
	}
	s.Fields = append(s.Fields, f)
	s.Names = append(s.Names, f.Name)
}

// nested returns the object that a value of the shape is or contains, or nil.
func (s *Shape) nested() *Shape {
	switch s.Kind {
	case Object:
		return s
	case List, Map:
		return s.Elem.nested()
	case Text, Integer, Boolean, Any, AnyObject, Null:
	}
	return nil
}

func (c compiler) field(sf reflect.StructField, path []int) Field {
	name, options, _ := strings.Cut(sf.Tag.Get("json"), ",")
	f := Field{
		Name: name, Doc: sf.Tag.Get("doc"), Path: path, Optional: options == "omitzero",
		Rules: parseRules(sf.Tag.Get("schema")), Shape: c.shape(sf.Type),
	}
	if f.Shape.Kind == Any && f.Rules.Object {
		f.Shape = &Shape{Kind: AnyObject, Type: f.Shape.Type}
	}
	if f.Rules.Alias != "" {
		f.Doc = strings.TrimPrefix(f.Doc+"; also accepted as `"+f.Rules.Alias+"`", "; ")
	}
	f.Nullable = sf.Type.Kind() == reflect.Pointer && !f.Optional && !f.Rules.Required
	if why := f.nonsense(sf.Type); why != "" {
		panic("schema: " + sf.Name + " (" + name + "): " + why)
	}
	return f
}

// nonsense returns the fault of a declaration, or "". It refuses rules that the typed pass of the decoder could not
// check, because there a zero value means an absent member.
func (f *Field) nonsense(t reflect.Type) string {
	plain := t.Kind() != reflect.Pointer
	number := f.Shape.Kind == Integer || f.Shape.Kind == Boolean
	switch {
	case f.Name == "":
		return "has no name"
	case f.Rules.Required && f.Optional:
		return "is required and omitzero"
	case f.Rules.Required && plain && number:
		return "is required and not a pointer"
	case f.Optional && plain && f.Shape.Kind == Object:
		return "is omitzero and not a pointer"
	case f.Optional && plain && f.Shape.Kind == Integer && !f.Rules.AllowsInt(0):
		return "is not a pointer and its bounds leave out 0"
	}
	return ""
}

// SetDefaults sets the absent members of an object to their defaults. Absent objects are created for those in them.
func (s *Shape) SetDefaults(v reflect.Value) {
	for i := range s.Fields {
		f := &s.Fields[i]
		member := v.FieldByIndex(f.Path)
		if member.Kind() == reflect.Pointer && member.IsNil() && (f.Shape.Kind == Object || f.Rules.Default != "") {
			member.Set(reflect.New(f.Shape.Type))
		} else if f.Shape.Kind != Object && !member.IsZero() {
			continue
		}
		if f.Shape.Kind == Object {
			f.Shape.SetDefaults(member.Elem())
			continue
		}
		f.setDefault(reflect.Indirect(member))
	}
}

// setDefault sets a value to its default, if there is one.
func (f *Field) setDefault(v reflect.Value) {
	switch value := f.Rules.Default; {
	case value == "":
	case f.Shape.Kind == Integer:
		v.SetInt(mustInt(value))
	case f.Shape.Kind == Boolean:
		v.SetBool(value == "true")
	case f.Shape.Kind == Text:
		v.SetString(value)
	default:
		panic("schema: " + f.Name + " has a default of no kind")
	}
}
