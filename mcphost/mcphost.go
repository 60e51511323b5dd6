// Package mcphost writes an MCP server into the configuration of the programs that use MCP servers, and takes it
// out again.
//
// It knows of each host where its file lies and which shape an entry has there. It changes the bytes of that entry
// and no others: comments, order, white space and everything that it does not understand stay. It refuses to touch
// a file that it cannot read to the end, to replace what it was not told to replace, and to start or ask a host.
package mcphost

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// An Entry is a server as every host has to know it.
type Entry struct {
	Name    string   // what the host calls it
	Command string   // the absolute path of the program
	Args    []string // what it is started with
}

// usable is a name that all hosts take: the strictest allows letters, digits, hyphens and underscores, and puts
// the name before those of the tools, which may have 64 characters in all.
var usable = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

func (e Entry) check() error {
	if !usable.MatchString(e.Name) {
		return fmt.Errorf("name %q: a server is called by 1 to 32 letters, digits, hyphens and underscores", e.Name)
	}
	for _, text := range append([]string{e.Command}, e.Args...) {
		if !utf8.ValidString(text) {
			return fmt.Errorf("%q is not UTF-8, as configuration files are", text)
		}
	}
	return nil
}

// A field is one of an entry: a string, a list of strings, or true or false.
type field struct {
	name  string
	value any
}

// A spot is where an entry stands in a document: under the keys, one inside the other, by its name.
type spot struct {
	keys []string
	name string
}

func (s spot) path() []string { return append(slices.Clone(s.keys), s.name) }

// A notation is a language of configuration files. The texts are whole files, and no method changes a byte that
// it need not.
type notation interface {
	// fresh gives a document that holds the entry and nothing else.
	fresh(at spot, fields []field) string
	// nothing gives a document that says nothing.
	nothing() string
	// find gives what stands at a spot, or nil. A text that is not a document is a *SyntaxError.
	find(text string, at spot) (*found, error)
	// put adds the entry where find has found none.
	put(text string, at spot, fields []field) (string, error)
	// replace puts the entry in the place of what find has found.
	replace(text string, at spot, fields []field) (string, error)
	// amend gives what find has found these fields, and keeps all else of it: the order, comments and other fields.
	amend(text string, at spot, fields []field) (string, error)
	// take removes what find has found, and what put has made around it. whole says that nothing is left of
	// a file which fresh has made.
	take(text string, at spot) (rest string, whole bool, err error)
	// tree gives what the document says, as maps, lists and plain values.
	tree(text string) (map[string]any, error)
}

// found is an entry that is there.
type found struct {
	text  string // as it stands in the file
	line  int
	value map[string]any // nil if it is no object
}

// holds reports whether the entry says what the fields say. What else it says is its owner's business.
func (f *found) holds(fields []field) bool {
	for _, want := range fields {
		if f.value == nil || !same(f.value[want.name], plainValue(want.value)) {
			return false
		}
	}
	return true
}

// own reports whether the entry starts this program for MCP, from wherever it lies and with whatever else behind that.
func (f *found) own(e Entry) bool {
	line := f.commandLine()
	return len(line) > 1 && line[1] == e.Args[0] && (base(line[0]) == base(e.Command) || strings.HasPrefix(base(line[0]), "waybill"))
}

// like reports whether the entry starts this program with the same arguments.
func (f *found) like(e Entry) bool { return f.own(e) && slices.Equal(f.commandLine()[1:], e.Args) }

// commandLine gives the program and its arguments, in whichever of the two shapes; nil if it is neither.
func (f *found) commandLine() (line []string) {
	parts, listed := f.value["command"].([]any)
	if !listed {
		args, _ := f.value["args"].([]any)
		parts = append([]any{f.value["command"]}, args...)
	}
	for _, part := range parts {
		text, ok := part.(string)
		if !ok {
			return nil
		}
		line = append(line, text)
	}
	return line
}

// base gives the name of a program without its folder, by the rules of any system: a project may be shared.
func base(path string) string {
	return strings.TrimSuffix(path[strings.LastIndexAny(path, `/\`)+1:], ".exe")
}

// beyond gives what the entry says beside the fields.
func (f *found) beyond(fields []field) map[string]any {
	rest := maps.Clone(f.value)
	for _, own := range fields {
		delete(rest, own.name)
	}
	return rest
}

// plainValue gives the value of a field as a reader of the file would get it.
func plainValue(v any) any {
	list, ok := v.([]string)
	if !ok {
		return v
	}
	plain := make([]any, 0, len(list))
	for _, s := range list {
		plain = append(plain, s)
	}
	return plain
}

// same compares what two documents say. The verb writes maps in the order of their keys, and two values that are
// not a number as the same.
func same(a, b any) bool { return fmt.Sprintf("%#v", a) == fmt.Sprintf("%#v", b) }

// without gives a tree that lacks what stands at the spot, and what is empty around it.
func without(tree map[string]any, path []string) map[string]any {
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
	rest[path[0]] = without(inner, path[1:])
	if len(rest[path[0]].(map[string]any)) == 0 {
		delete(rest, path[0])
	}
	return rest
}

// A SyntaxError says that a text is not what its host could read either, and where.
type SyntaxError struct {
	File         string
	Line, Column int
	Reason       string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Reason)
}

// A TakenError says that something else has the name.
type TakenError struct {
	File  string
	Line  int
	Name  string
	Text  string   // what stands there
	Added []string // what somebody has added to an entry of ours; nil if it is none
}

func (e *TakenError) Error() string {
	if e.Added != nil {
		return fmt.Sprintf("%s:%d: somebody has added %s to %s", e.File, e.Line, strings.Join(e.Added, ", "), e.Name)
	}
	return fmt.Sprintf("%s:%d: another server is called %s", e.File, e.Line, e.Name)
}
