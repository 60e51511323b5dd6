// Package notation edits the texts of configuration files: JSON with comments, and TOML. It adds an entry or hooks, and removes them
// so that the old text comes back.
//
// It changes only the bytes of the entry: comments, order, white space and unknown parts stay. It refuses to edit a text that it
// cannot read completely, to open files, and to know hosts.
package notation

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// An Action is the outcome of an edit.
type Action string

// The outcomes of an edit.
const (
	Added     Action = "added"
	Replaced  Action = "replaced"
	Updated   Action = "updated" // it was waybill's; fields that others added stay
	Removed   Action = "removed"
	Unchanged Action = "unchanged" // the text was correct
)

// An Edit is a new text.
type Edit struct {
	Action Action
	Text   string
	Whole  bool // the file would be empty
	Spare  bool // the old text is waybill's alone, so it needs no backup
}

// A Field is one Field of an entry: a string, a number, a boolean, a list of strings, or an object.
type Field struct {
	Name  string
	Value any
}

// A Spot is the place of an entry in a document: nested keys, then its name.
type Spot struct {
	Keys []string
	Name string
}

// Path returns the keys and the name.
func (s Spot) Path() []string { return append(slices.Clone(s.Keys), s.Name) }

// A notation is a language of configuration files. Texts are whole files, and methods change no unnecessary byte.
type Notation interface {
	// Fresh returns a document with only the entry.
	Fresh(at Spot, fields []Field) string
	// Nothing returns an empty document.
	Nothing() string
	// Find returns the entry at a Spot, or nil. Malformed text is a *SyntaxError.
	Find(text string, at Spot) (*Found, error)
	// Put adds an entry where find returns nil.
	Put(text string, at Spot, fields []Field) (string, error)
	// Replace replaces an existing entry.
	Replace(text string, at Spot, fields []Field) (string, error)
	// Amend sets the fields of an existing entry. Order, comments and other fields stay.
	Amend(text string, at Spot, fields []Field) (string, error)
	// Take removes an existing entry, and the text that put added around it. whole reports that nothing is left of a
	// file that fresh created.
	Take(text string, at Spot) (rest string, whole bool, err error)
	// Tree returns the content of a document as maps, lists and plain values.
	Tree(text string) (map[string]any, error)
}

// Found is an existing entry.
type Found struct {
	Text  string // as in the file
	Line  int
	Value map[string]any // nil if it is no object
}

// Holds reports whether the entry has these fields. It may have others.
func (f *Found) Holds(fields []Field) bool {
	for _, want := range fields {
		if f.Value == nil || !Same(f.Value[want.Name], plainValue(want.Value)) {
			return false
		}
	}
	return true
}

// Beyond returns the other fields of the entry.
func (f *Found) Beyond(fields []Field) map[string]any {
	rest := maps.Clone(f.Value)
	for _, own := range fields {
		delete(rest, own.Name)
	}
	return rest
}

// Merged returns fields that keep what others have added to an object of the entry, or to one of these lists.
func (f *Found) Merged(fields []Field, lists ...string) []Field {
	fields = slices.Clone(fields)
	for i, own := range fields {
		switch want := own.Value.(type) {
		case []Field:
			there, _ := f.Value[own.Name].(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(there)) {
				text, ok := there[name].(string)
				if ok && !slices.ContainsFunc(want, func(one Field) bool { return one.Name == name }) {
					want = append(want, Field{name, text})
				}
			}
			fields[i].Value = want
		case []string:
			if !slices.Contains(lists, own.Name) {
				continue
			}
			there, _ := f.Value[own.Name].([]any)
			for _, name := range there {
				if text, ok := name.(string); ok && !slices.Contains(want, text) {
					want = append(want, text)
				}
			}
			fields[i].Value = want
		}
	}
	return fields
}

// plainValue returns the value of a Field as tree would.
func plainValue(v any) any {
	switch v := v.(type) {
	case int:
		return json.Number(strconv.Itoa(v))
	case []string:
		plain := make([]any, 0, len(v))
		for _, s := range v {
			plain = append(plain, s)
		}
		return plain
	case []Field:
		plain := map[string]any{}
		for _, f := range v {
			plain[f.Name] = plainValue(f.Value)
		}
		return plain
	}
	return v
}

// Same reports whether two documents have the same content. The verb %#v sorts the keys of maps, and treats two NaN
// as equal.
func Same(a, b any) bool { return fmt.Sprintf("%#v", a) == fmt.Sprintf("%#v", b) }

// Without returns a tree without the entry at the Spot, and without objects that are then empty.
func Without(tree map[string]any, path []string) map[string]any {
	rest := make(map[string]any, len(tree))
	for name, v := range tree {
		rest[name] = v
	}
	inner, nested := rest[path[0]].(map[string]any)
	if len(path) == 1 || !nested {
		if len(path) == 1 {
			delete(rest, path[0])
		}
		return rest
	}
	rest[path[0]] = Without(inner, path[1:])
	if len(rest[path[0]].(map[string]any)) == 0 {
		delete(rest, path[0])
	}
	return rest
}

// A SyntaxError is the position and reason of malformed text.
type SyntaxError struct {
	File         string
	Line, Column int
	Reason       string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Reason)
}
