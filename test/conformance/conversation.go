// Package conformance reads the conversations of testdata/conformance and compares messages with their expectations,
// for tests of a front door or a client. testdata/conformance/README.md describes the files.
//
// It opens no file, starts no process, waits for nothing and knows no method. Package player runs the conversations.
package conformance

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// A Conversation is one file: messages of a client, and messages that it must receive.
type Conversation struct {
	Name      string // of the file, without its ending
	Title     string // the first remark
	Remarks   []string
	Doors     []string // front doors: rpc, mcp
	Framings  []string // framings: line, header
	Workspace bool     // the server gets a workspace
	Files     []File   // of the workspace, at the start
	Later     []File   // for write commands
	Steps     []Step
}

// A File is a file of a workspace; the name has slashes.
type File struct {
	Name string
	Data []byte
}

// A Verb is the action of a step.
type Verb string

// The verbs, as the start of a line.
const (
	Remark Verb = "#"
	Send   Verb = ">"  // a message, after its placeholders are replaced
	Raw    Verb = ">!" // a message, unchanged
	Bytes  Verb = ">=" // bytes without a frame
	Expect Verb = "<"  // a message that must come
	Then   Verb = "<+" // the same, after the one on the line above
	Do     Verb = "@"  // a command
)

var verbs = []Verb{Remark, Send, Raw, Bytes, Expect, Then, Do}

// A Step is one line of a conversation, with its continuation lines.
type Step struct {
	Line int // in the file, from 1
	Verb Verb
	Text string
}

// An Error is a fault in a conversation or in the messages of a run of it.
type Error struct {
	Name   string
	Line   int
	Reason string
}

// Error returns the place and the reason.
func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.Name, e.Line, e.Reason) }

// For reports whether the conversation is for a front door.
func (c *Conversation) For(door string) bool { return slices.Contains(c.Doors, door) }

// At returns an error about a step of the conversation.
func (c *Conversation) At(line int, format string, args ...any) error {
	return &Error{Name: c.Name, Line: line, Reason: fmt.Sprintf(format, args...)}
}

// script is the part of the archive with the conversation. Parts with names that begin with workspaceDir are files of
// the workspace.
const (
	script       = "conversation"
	workspaceDir = "workspace/"
	laterDir     = "later/"
)

// Parse returns a conversation that can be run: messages are JSON where required, expectations are patterns, and the
// files of write commands exist.
func Parse(name string, data []byte) (*Conversation, error) {
	archive := txtar.Parse(data)
	c := &Conversation{Name: name, Doors: []string{"rpc"}, Framings: []string{"line", "header"}, Workspace: true}
	if err := c.head(archive.Comment); err != nil {
		return nil, err
	}
	marker := 1 + bytes.Count(archive.Comment, []byte("\n"))
	for _, f := range archive.Files {
		if err := c.part(f, marker); err != nil {
			return nil, err
		}
		marker += 1 + bytes.Count(f.Data, []byte("\n"))
	}
	if len(c.Steps) == 0 {
		return nil, c.At(1, "it has no part named %s, or an empty one", script)
	}
	return c, c.check()
}

// head reads the remarks and settings above the first part.
func (c *Conversation) head(comment []byte) error {
	number := 0
	for line := range strings.Lines(string(comment)) {
		number++
		line = strings.TrimSpace(line)
		if remark, ok := strings.CutPrefix(line, "#"); ok {
			c.Remarks = append(c.Remarks, strings.TrimSpace(remark))
			continue
		}
		if line == "" {
			continue
		}
		if err := c.set(number, line); err != nil {
			return err
		}
	}
	if len(c.Remarks) == 0 || c.Remarks[0] == "" {
		return c.At(1, "it has no title: begin with a line such as %q", "# Instructions that are acknowledged")
	}
	c.Title, c.Remarks = c.Remarks[0], c.Remarks[1:]
	return nil
}

// set reads one setting: name, colon, words.
func (c *Conversation) set(line int, text string) error {
	name, value, found := strings.Cut(text, ":")
	words := strings.Fields(value)
	if !found || len(words) == 0 {
		return c.At(line, "%q is neither a remark nor a setting: want a name, a colon and a value", text)
	}
	allowed := map[string][]string{"doors": {"rpc", "mcp"}, "framings": {"line", "header"}, "workspace": {"none"}}[name]
	for _, word := range words {
		if !slices.Contains(allowed, word) {
			return c.At(line, "setting %q cannot be %q: the settings are doors (rpc, mcp), framings (line, header) and workspace (none)", name, word)
		}
	}
	switch name {
	case "doors":
		c.Doors = words
	case "framings":
		c.Framings = words
	case "workspace":
		c.Workspace = false
	}
	return nil
}

// part reads one part of the archive. line is the line of its marker.
func (c *Conversation) part(f txtar.File, line int) error {
	if f.Name == script && c.Steps == nil {
		return c.steps(line+1, string(f.Data))
	}
	for dir, files := range map[string]*[]File{workspaceDir: &c.Files, laterDir: &c.Later} {
		name, ok := strings.CutPrefix(f.Name, dir)
		if ok && inside(name) == nil {
			*files = append(*files, File{Name: name, Data: f.Data})
			return nil
		}
	}
	return c.At(line, "part %q is neither the only %s nor a file below %s or %s", f.Name, script, workspaceDir, laterDir)
}

// steps reads the steps of the conversation.
func (c *Conversation) steps(number int, text string) error {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.TrimSpace(line) == "":
		case line[0] == ' ' || line[0] == '\t':
			if len(c.Steps) == 0 {
				return c.At(number, "there is nothing that this line could continue")
			}
			c.Steps[len(c.Steps)-1].Text += strings.TrimLeft(line, " \t")
		default:
			verb, rest, _ := strings.Cut(line, " ")
			if !slices.Contains(verbs, Verb(verb)) {
				return c.At(number, "a line begins with one of %v and a blank, and this one with %q", verbs, verb)
			}
			c.Steps = append(c.Steps, Step{Line: number, Verb: Verb(verb), Text: rest})
		}
		number++
	}
	return nil
}
