package conformance

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"
)

// check returns an error for the first step that cannot be carried out.
func (c *Conversation) check() error {
	for i, s := range c.Steps {
		var err error
		switch s.Verb {
		case Send:
			err = sendable(s.Text)
		case Raw, Bytes:
			err = literal(s.Text)
		case Expect, Then:
			err = c.expectable(i)
		case Do:
			_, err = c.Command(s)
		case Remark:
		}
		if err != nil {
			return c.At(s.Line, "%v", err)
		}
	}
	return nil
}

// expectable returns the fault of an expectation, or "".
func (c *Conversation) expectable(i int) error {
	if c.Steps[i].Verb == Then && (i == 0 || !c.Steps[i-1].expects()) {
		return reason("there is no expectation on the line above that this could come after")
	}
	_, err := Pattern(c.Steps[i].Text)
	return err
}

func (s Step) expects() bool { return s.Verb == Expect || s.Verb == Then }

// sendable returns the fault of a message with placeholders, or "".
func sendable(text string) error {
	if !json.Valid([]byte(text)) {
		return reason("the message is not JSON; with >! it is sent all the same")
	}
	for _, p := range placeholders(text) {
		if p.name == "" {
			return reason("%s says what may be heard and cannot be sent", p.text)
		}
		if err := p.check(); err != nil {
			return err
		}
	}
	return nil
}

// A Command is an action between messages.
type Command struct {
	Name string // write, remove, close, restart or exit
	File File   // for write and remove
	Code int    // for exit
}

// Command returns the command of a step with the verb Do.
func (c *Conversation) Command(s Step) (Command, error) {
	words := strings.Fields(s.Text)
	switch {
	case len(words) == 3 && words[0] == "write":
		return c.write(words[1], words[2])
	case len(words) == 2 && words[0] == "remove":
		return Command{Name: "remove", File: File{Name: words[1]}}, inside(words[1])
	case len(words) == 1 && (words[0] == "close" || words[0] == "restart"):
		return Command{Name: words[0]}, nil
	case len(words) == 2 && words[0] == "exit":
		code, err := strconv.Atoi(words[1])
		if err != nil {
			return Command{}, reason("exit code %q is not a number", words[1])
		}
		return Command{Name: "exit", Code: code}, nil
	}
	return Command{}, reason("%q is no command: want write FILE LATER, remove FILE, close, restart or exit CODE", s.Text)
}

func (c *Conversation) write(name, from string) (Command, error) {
	i := slices.IndexFunc(c.Later, func(f File) bool { return f.Name == from })
	if i < 0 {
		return Command{}, reason("there is no part %s%s to write", laterDir, from)
	}
	return Command{Name: "write", File: File{Name: name, Data: c.Later[i].Data}}, inside(name)
}

// inside returns the fault of a path that must stay in a folder, or "".
func inside(name string) error {
	if name != path.Clean(name) || path.IsAbs(name) || name == "." || name == ".." || strings.HasPrefix(name, "../") {
		return reason("%q is no path in the workspace", name)
	}
	return nil
}
