package hostconfig

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"
)

// A Change adds an entry to the file of a host, or removes it.
type Change struct {
	Host    Host
	File    string // see Host.File
	Entry   Entry
	Remove  bool
	Force   bool          // replace or remove any entry of the name
	Project string        // if not empty, a folder that no link may lead out of; new files in it are readable by others
	Wait    time.Duration // how long to wait for another change of the file; 0 is ten seconds

	beforeSwap func() // for tests: a write by others just before the rename
}

// An Action is the outcome of a change.
type Action string

// The outcomes of a change.
const (
	Added     Action = "added"
	Replaced  Action = "replaced"
	Updated   Action = "updated" // it was waybill's; fields that others added stay
	Removed   Action = "removed"
	Unchanged Action = "unchanged" // the file was correct, and nothing was written
)

// A Result reports a change.
type Result struct {
	Action Action
	File   string // the file that was written, with links followed
	Backup string // a copy of the old file; empty if there was none, or if it was not changed
}

// mostTries limits how often a change starts again because another program wrote the file meanwhile.
const mostTries = 5

// Apply carries the change out. After an error, the file is unchanged. *SyntaxError, *TakenError and *BusyError are
// errors that a caller may distinguish.
//
// Changes of one file by this package take turns. A write by another program is noticed, and the change is repeated
// on it. Only a write between the last check and the rename is lost, also from the backup.
func (c Change) Apply(ctx context.Context) (Result, error) {
	if err := c.Entry.check(); err != nil {
		return Result{}, err
	}
	for range mostTries {
		result, err := c.try(ctx)
		if !errors.Is(err, errSaved) {
			return result, err
		}
	}
	return Result{}, &BusyError{c.File, "other programs keep writing it: stop them, and try again"}
}

func (c Change) try(ctx context.Context) (Result, error) {
	if _, err := os.Lstat(c.File); c.Remove && errors.Is(err, fs.ErrNotExist) {
		return Result{Action: Unchanged, File: c.File}, nil
	}
	if c.Project != "" {
		if err := inside(c.Project, c.File); err != nil {
			return Result{}, err
		}
	}
	s, err := open(ctx, c.File, c.wait())
	if err != nil {
		return Result{}, err
	}
	defer s.close()
	e, err := c.edit(s.text)
	if err != nil {
		return Result{}, located(err, s.path)
	}
	result := Result{Action: e.action, File: s.path}
	if e.action == Unchanged {
		return result, nil
	}
	if c.beforeSwap != nil {
		s.beforeSwap = c.beforeSwap
	}
	if e.whole {
		result.Backup, err = s.remove(c.Host.notation)
	} else {
		result.Backup, err = s.write(e.text, c.Project != "")
	}
	if err != nil {
		return Result{}, err
	}
	return result, nil
}

func (c Change) wait() time.Duration {
	if c.Wait == 0 {
		return 10 * time.Second
	}
	return c.Wait
}

// located adds the file to an error.
func located(err error, file string) error {
	if e, ok := errors.AsType[*SyntaxError](err); ok {
		e.File = file
	}
	if e, ok := errors.AsType[*TakenError](err); ok {
		e.File = file
	}
	return err
}

// An edit is a new text.
type edit struct {
	action Action
	text   string
	whole  bool // the file would be empty
}

// edit makes the change to a text, and then checks that the new text differs from the old one in the entry only.
func (c Change) edit(text *string) (edit, error) {
	n, fields := c.Host.notation, c.Host.fields(c.Entry)
	at := spot{c.Host.keys, c.Entry.Name}
	switch {
	case text == nil && c.Remove:
		return edit{action: Unchanged}, nil
	case text == nil:
		return edit{action: Added, text: n.fresh(at, fields)}, nil
	}
	before, err := n.tree(*text)
	if err != nil {
		return edit{}, err
	}
	at, fields = c.shape(before, at, fields)
	there, err := n.find(*text, at)
	if err != nil {
		return edit{}, err
	}
	e, err := c.decide(*text, at, fields, there)
	if err != nil || e.action == Unchanged || e.whole {
		return e, err
	}
	return e, c.confirm(e, before, at, fields, there)
}

// shape adapts an entry to files of OpenCode 2, which have servers under a key of their own.
func (c Change) shape(tree map[string]any, at spot, fields []field) (spot, []field) {
	if c.Host.Name != "opencode" {
		return at, fields
	}
	outer, _ := tree["mcp"].(map[string]any)
	servers, _ := outer["servers"].(map[string]any)
	if _, entry := servers["type"].(string); servers == nil || entry {
		return at, fields
	}
	at.keys = []string{"mcp", "servers"}
	return at, slices.DeleteFunc(fields, func(f field) bool { return f.name == "enabled" })
}

// decide returns the edit for an existing entry of the name. It updates an entry with the same program and arguments,
// in any folder. An entry with other arguments may be a choice of the user.
func (c Change) decide(text string, at spot, fields []field, there *found) (e edit, err error) {
	n := c.Host.notation
	switch {
	case there == nil && c.Remove, there != nil && !c.Remove && there.holds(fields):
		e.action = Unchanged
	case there == nil:
		e.action = Added
		e.text, err = n.put(text, at, fields)
	case c.Remove:
		return c.removal(text, at, fields, there)
	case there.like(c.Entry), c.Force && there.own(c.Entry):
		e.action = Updated
		e.text, err = n.amend(text, at, fields)
	case !c.Force:
		err = &TakenError{Line: there.line, Name: at.name, Text: there.text}
	default:
		e.action = Replaced
		e.text, err = n.replace(text, at, fields)
	}
	return e, err
}

// removal removes an entry. From an entry with foreign fields it removes only its own.
func (c Change) removal(text string, at spot, fields []field, there *found) (e edit, err error) {
	if c.Project != "" && !c.Force {
		taken := &TakenError{Line: there.line, Name: at.name, Text: there.text}
		if !there.own(c.Entry) {
			return edit{}, taken
		}
		if added := there.beyond(fields); len(added) > 0 {
			taken.Added = slices.Sorted(maps.Keys(added))
			return edit{}, taken
		}
	}
	e.action = Removed
	e.text, e.whole, err = c.Host.notation.take(text, at)
	return e, err
}

// confirm reads a new text again and compares it with the expected one.
func (c Change) confirm(e edit, before map[string]any, at spot, fields []field, old *found) error {
	n := c.Host.notation
	after, err := n.tree(e.text)
	if err != nil || !same(without(before, at.path()), without(after, at.path())) {
		return &SyntaxError{Line: 1, Column: 1, Reason: fmt.Sprintf("waybill cannot change %s in a file of this form: edit it by hand", at.name)}
	}
	there, err := n.find(e.text, at)
	lost := e.action == Updated && there != nil && !same(old.beyond(fields), there.beyond(fields))
	if err != nil || (there == nil) != c.Remove || (there != nil && !there.holds(fields)) || lost {
		return &SyntaxError{Line: 1, Column: 1, Reason: fmt.Sprintf("waybill could not find %s in it again: edit it by hand", at.name)}
	}
	return nil
}
