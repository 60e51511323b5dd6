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

	"waybill/hostconfig/notation"
	"waybill/hostconfig/replace"
)

// A Change adds an entry to the file of a host, or removes it.
type Change struct {
	Host    Host
	File    string // see Host.File
	Entry   Entry
	Remove  bool
	Force   bool          // replace or remove any entry of the name
	Own     bool          // an entry of waybill with other arguments is brought up to date, and not taken for another's
	Keep    bool          // with Own: it keeps its arguments
	Project string        // if not empty, a folder that no link may lead out of; new files in it are readable by others
	Wait    time.Duration // how long to wait for another change of the file; 0 is ten seconds

	beforeSwap func() // for tests: a write by others just before the rename
}

// Apply carries the change out. After an error, the file is unchanged. *notation.SyntaxError, *TakenError and *replace.BusyError are
// errors that a caller may distinguish.
//
// Changes of one file by this package take turns. A write by another program is noticed, and the change is repeated
// on it. Only a write between the last check and the rename is lost, also from the backup.
func (c Change) Apply(ctx context.Context) (replace.Result, error) {
	if err := c.Entry.check(); err != nil {
		return replace.Result{}, err
	}
	if _, err := os.Lstat(c.File); c.Remove && errors.Is(err, fs.ErrNotExist) {
		return replace.Result{Action: notation.Unchanged, File: c.File}, nil
	}
	t := replace.Target{
		Path: c.File, Project: c.Project, Wait: c.Wait, Nothing: c.Host.notation.Nothing(), Locate: located, BeforeSwap: c.beforeSwap,
	}
	return t.Change(ctx, c.edit)
}

// located adds the file to an error.
func located(err error, file string) error {
	if e, ok := errors.AsType[*notation.SyntaxError](err); ok {
		e.File = file
	}
	if e, ok := errors.AsType[*TakenError](err); ok {
		e.File = file
	}
	return err
}

// edit makes the change to a text, and then checks that the new text differs from the old one in the entry only.
func (c Change) edit(text *string) (notation.Edit, error) {
	n, fields := c.Host.notation, c.Host.fields(c.Entry)
	at := notation.Spot{Keys: c.Host.keys, Name: c.Entry.Name}
	switch {
	case text == nil && c.Remove:
		return notation.Edit{Action: notation.Unchanged}, nil
	case text == nil:
		return notation.Edit{Action: notation.Added, Text: n.Fresh(at, fields)}, nil
	}
	before, err := n.Tree(*text)
	if err != nil {
		return notation.Edit{}, err
	}
	at, fields = c.shape(before, at, fields)
	there, err := n.Find(*text, at)
	if err != nil {
		return notation.Edit{}, err
	}
	if there != nil && !c.Remove {
		if c.Own && c.Keep && c.Entry.own(there) {
			args := commandLine(there)[1:]
			if slices.Contains(c.Entry.Args, hooksFlag) && !slices.Contains(args, hooksFlag) {
				args = slices.Insert(args, 1, hooksFlag)
			}
			c.Entry.Args = args
			_, fields = c.shape(before, notation.Spot{Keys: c.Host.keys, Name: c.Entry.Name}, c.Host.fields(c.Entry))
		}
		fields = there.Merged(fields, allowList)
	}
	e, err := c.decide(*text, at, fields, there)
	if err != nil || e.Action == notation.Unchanged || e.Whole {
		return e, err
	}
	return e, c.confirm(e, before, at, fields, there)
}

// shape adapts an entry to files of OpenCode 2, which have servers under a key of their own.
func (c Change) shape(tree map[string]any, at notation.Spot, fields []notation.Field) (notation.Spot, []notation.Field) {
	if c.Host.Name != "opencode" {
		return at, fields
	}
	outer, _ := tree["mcp"].(map[string]any)
	servers, _ := outer["servers"].(map[string]any)
	if _, entry := servers["type"].(string); servers == nil || entry {
		return at, fields
	}
	at.Keys = []string{"mcp", "servers"}
	return at, slices.DeleteFunc(fields, func(f notation.Field) bool { return f.Name == "enabled" })
}

// decide returns the edit for an existing entry of the name. It updates an entry with the same program and arguments,
// in any folder. An entry with other arguments may be a choice of the user.
func (c Change) decide(text string, at notation.Spot, fields []notation.Field, there *notation.Found) (e notation.Edit, err error) {
	n := c.Host.notation
	switch {
	case there == nil && c.Remove, there != nil && !c.Remove && there.Holds(fields):
		e.Action = notation.Unchanged
	case there == nil:
		e.Action = notation.Added
		e.Text, err = n.Put(text, at, fields)
	case c.Remove:
		return c.removal(text, at, fields, there)
	case c.Entry.like(there), (c.Force || c.Own) && c.Entry.own(there):
		e.Action = notation.Updated
		e.Text, err = n.Amend(text, at, fields)
	case !c.Force:
		err = &TakenError{Line: there.Line, Name: at.Name, Text: there.Text}
	default:
		e.Action = notation.Replaced
		e.Text, err = n.Replace(text, at, fields)
	}
	return e, err
}

// removal removes an entry of waybill. One of a project goes only without fields of others.
func (c Change) removal(text string, at notation.Spot, fields []notation.Field, there *notation.Found) (e notation.Edit, err error) {
	taken := &TakenError{Line: there.Line, Name: at.Name, Text: there.Text}
	if !c.Force && !c.Entry.own(there) {
		return notation.Edit{}, taken
	}
	if c.Project != "" && !c.Force {
		added := there.Beyond(fields)
		maps.DeleteFunc(added, pinned)
		if len(added) > 0 {
			taken.Added = slices.Sorted(maps.Keys(added))
			return notation.Edit{}, taken
		}
	}
	e.Action = notation.Removed
	e.Text, e.Whole, err = c.Host.notation.Take(text, at)
	return e, err
}

// confirm reads a new text again and compares it with the expected one.
func (c Change) confirm(e notation.Edit, before map[string]any, at notation.Spot, fields []notation.Field, old *notation.Found) error {
	n := c.Host.notation
	after, err := n.Tree(e.Text)
	if err != nil || !notation.Same(notation.Without(before, at.Path()), notation.Without(after, at.Path())) {
		return &notation.SyntaxError{Line: 1, Column: 1, Reason: fmt.Sprintf("waybill cannot change %s in a file of this form: edit it by hand", at.Name)}
	}
	there, err := n.Find(e.Text, at)
	lost := e.Action == notation.Updated && there != nil && !notation.Same(old.Beyond(fields), there.Beyond(fields))
	if err != nil || (there == nil) != c.Remove || (there != nil && !there.Holds(fields)) || lost {
		return &notation.SyntaxError{Line: 1, Column: 1, Reason: fmt.Sprintf("waybill could not find %s in it again: edit it by hand", at.Name)}
	}
	return nil
}
