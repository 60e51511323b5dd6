// Package hostconfig adds waybill to the configuration of the programs that run coding agents, and removes it.
//
// It knows for each host the place of the file and the form of an entry. It changes only the bytes of the entry:
// comments, order, white space and unknown parts stay. It refuses to change a file that it cannot read completely, to
// replace foreign entries unasked, and to start or ask a host.
package hostconfig

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// An Entry describes a server for every host.
type Entry struct {
	Name    string   // name in the host
	Command string   // the absolute path of the program
	Args    []string // arguments of the program
}

// usable matches names that all hosts accept. The strictest allows letters, digits, hyphens and underscores, and adds
// the names of tools, with at most 64 characters in all.
var usable = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

func (e Entry) check() error {
	if !usable.MatchString(e.Name) {
		return fmt.Errorf("name %q: the name of a server has 1 to 32 letters, digits, hyphens and underscores", e.Name)
	}
	for _, text := range append([]string{e.Command}, e.Args...) {
		if !utf8.ValidString(text) {
			return fmt.Errorf("%q is not UTF-8, as configuration files are", text)
		}
	}
	return nil
}

// A field is one field of an entry: a string, a list of strings, or a boolean.
type field struct {
	name  string
	value any
}

// A spot is the place of an entry in a document: nested keys, then its name.
type spot struct {
	keys []string
	name string
}

func (s spot) path() []string { return append(slices.Clone(s.keys), s.name) }

// A notation is a language of configuration files. Texts are whole files, and methods change no unnecessary byte.
type notation interface {
	// fresh returns a document with only the entry.
	fresh(at spot, fields []field) string
	// nothing returns an empty document.
	nothing() string
	// find returns the entry at a spot, or nil. Malformed text is a *SyntaxError.
	find(text string, at spot) (*found, error)
	// put adds an entry where find returns nil.
	put(text string, at spot, fields []field) (string, error)
	// replace replaces an existing entry.
	replace(text string, at spot, fields []field) (string, error)
	// amend sets the fields of an existing entry. Order, comments and other fields stay.
	amend(text string, at spot, fields []field) (string, error)
	// take removes an existing entry, and the text that put added around it. whole reports that nothing is left of a
	// file that fresh created.
	take(text string, at spot) (rest string, whole bool, err error)
	// tree returns the content of a document as maps, lists and plain values.
	tree(text string) (map[string]any, error)
}

// found is an existing entry.
type found struct {
	text  string // as in the file
	line  int
	value map[string]any // nil if it is no object
}

// holds reports whether the entry has these fields. It may have others.
func (f *found) holds(fields []field) bool {
	for _, want := range fields {
		if f.value == nil || !same(f.value[want.name], plainValue(want.value)) {
			return false
		}
	}
	return true
}

// own reports whether the entry starts this program for MCP, from any folder and with any further arguments.
func (f *found) own(e Entry) bool {
	line := f.commandLine()
	return len(line) > 1 && line[1] == e.Args[0] && (base(line[0]) == base(e.Command) || strings.HasPrefix(base(line[0]), "waybill"))
}

// like reports whether the entry starts this program with the same arguments.
func (f *found) like(e Entry) bool { return f.own(e) && slices.Equal(f.commandLine()[1:], e.Args) }

// commandLine returns the program and its arguments from either form, or nil.
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

// base returns the name of a program without its folder, by the rules of every system, because a project may be
// shared.
func base(path string) string {
	return strings.TrimSuffix(path[strings.LastIndexAny(path, `/\`)+1:], ".exe")
}

// beyond returns the other fields of the entry.
func (f *found) beyond(fields []field) map[string]any {
	rest := maps.Clone(f.value)
	for _, own := range fields {
		delete(rest, own.name)
	}
	return rest
}

// plainValue returns the value of a field as tree would.
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

// same reports whether two documents have the same content. The verb %#v sorts the keys of maps, and treats two NaN
// as equal.
func same(a, b any) bool { return fmt.Sprintf("%#v", a) == fmt.Sprintf("%#v", b) }

// without returns a tree without the entry at the spot, and without objects that are then empty.
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

// A SyntaxError is the position and reason of malformed text.
type SyntaxError struct {
	File         string
	Line, Column int
	Reason       string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Reason)
}

// A TakenError says that another entry has the name.
type TakenError struct {
	File  string
	Line  int
	Name  string
	Text  string   // text of that entry
	Added []string // fields that others added to waybill's entry; nil if the entry is not waybill's
}

func (e *TakenError) Error() string {
	if e.Added != nil {
		return fmt.Sprintf("%s:%d: another program added %s to %s", e.File, e.Line, strings.Join(e.Added, ", "), e.Name)
	}
	return fmt.Sprintf("%s:%d: another server is called %s", e.File, e.Line, e.Name)
}
