// Package hostconfig adds waybill to the configuration of the programs that run coding agents, and removes it.
//
// It knows for each host the places of its files, the form of an entry and of hooks, and the variables that the host passes on. It
// refuses to replace foreign entries unasked, and to start or ask a host. Package notation edits the texts, package replace the files.
package hostconfig

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"waybill/hostconfig/notation"
	"waybill/internal/lazyregexp"
)

// An Entry describes a server for every host.
type Entry struct {
	Name    string   // name in the host
	Command string   // the absolute path of the program
	Args    []string // arguments of the program
	Env     []string // variables that the host would not pass on, as NAME=VALUE
	Pass    []string // names of variables that the host passes on because the entry as written lists them
}

// usable matches names that all hosts accept. The strictest allows letters, digits, hyphens and underscores, and adds
// the names of tools, with at most 64 characters in all.
var usable = lazyregexp.New(`^[A-Za-z0-9_-]{1,32}$`)

func (e Entry) check() error {
	if !usable.Compiled().MatchString(e.Name) {
		return fmt.Errorf("name %q: the name of a server has 1 to 32 letters, digits, hyphens and underscores", e.Name)
	}
	for _, text := range append([]string{e.Command}, e.Args...) {
		if !utf8.ValidString(text) {
			return fmt.Errorf("%q is not UTF-8, as configuration files are", text)
		}
	}
	return nil
}

// own reports whether an existing entry starts this program for MCP, from any folder and with any further arguments.
func (e Entry) own(f *notation.Found) bool {
	line := commandLine(f)
	return len(line) > 1 && line[1] == e.Args[0] && (base(line[0]) == base(e.Command) || strings.HasPrefix(base(line[0]), "waybill"))
}

// like reports whether an existing entry starts this program with the same arguments.
func (e Entry) like(f *notation.Found) bool {
	return e.own(f) && slices.Equal(commandLine(f)[1:], e.Args)
}

// commandLine returns the program and its arguments from either form, or nil.
func commandLine(f *notation.Found) (line []string) {
	parts, listed := f.Value["command"].([]any)
	if !listed {
		args, _ := f.Value["args"].([]any)
		parts = append([]any{f.Value["command"]}, args...)
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

// A TakenError says that another entry has the name.
type TakenError struct {
	File  string
	Line  int
	Name  string
	Text  string   // text of that entry
	Kind  Kind     // of the file; empty for a server
	Added []string // fields that others added to waybill's entry; nil if the entry is not waybill's
}

func (e *TakenError) Error() string {
	if e.Added != nil {
		return fmt.Sprintf("%s:%d: another program added %s to %s", e.File, e.Line, strings.Join(e.Added, ", "), e.Name)
	}
	if e.Kind != "" {
		return fmt.Sprintf("%s: another %s is called %s", e.File, e.Kind, e.Name)
	}
	return fmt.Sprintf("%s:%d: another server is called %s", e.File, e.Line, e.Name)
}
