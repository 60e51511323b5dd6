package hostconfig

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"waybill/hostconfig/notation"
	"waybill/hostconfig/replace"
)

// A Setup describes what waybill writes into a host: the entry of its MCP server, its hooks and its skill.
type Setup struct {
	Places
	Entry  Entry
	Hooks  []string // flags of the hook command
	Events func(host string) []notation.Event
	Skill  string // the text of the skill
	Plugin string // the text of the plugin for OpenCode
	Remove bool
	Force  bool // replace or remove what is not waybill's
}

// hooksFlag tells waybill mcp that the host has waybill's hooks.
const hooksFlag = "--hooks"

// A Kind is what a part of a file is.
type Kind string

// The kinds of parts.
const (
	Server Kind = "server"
	Hooks  Kind = "hooks"
	Skill  Kind = "skill"
	Plugin Kind = "plugin"
)

// A Part is what waybill has in a file for one host.
type Part struct {
	Host Host
	Kind Kind
	edit func(*string) (notation.Edit, error)
}

// A File has the parts that waybill has in one file.
type File struct {
	Path  string
	Parts []Part

	setup *Setup
	alone bool // its text is waybill's alone
}

// parts returns the parts for a host and their files, in the order of writing: the skill, which starts nothing, comes first.
func (s *Setup) parts(h Host) (paths []string, parts []Part, err error) {
	add := func(files []string, kind Kind, edit func(*string) (notation.Edit, error)) {
		paths, parts = append(paths, existing(files)), append(parts, Part{h, kind, edit})
	}
	for _, own := range []struct {
		kind Kind
		form textForm
		text string
	}{{Skill, h.skill, s.Skill}, {Plugin, h.plug, s.pluginText(h)}} {
		if own.form.user == nil {
			continue
		}
		files, err := s.choose(h, own.form.user, []string{own.form.project})
		if err != nil {
			return nil, nil, err
		}
		add(files, own.kind, func(old *string) (notation.Edit, error) { return textEdit(old, own.kind, own.text, s.Remove, s.Force) })
	}
	files, err := s.choose(h, h.user, h.project)
	if err != nil {
		return nil, nil, err
	}
	c := Change{Host: h, Entry: s.entry(h), Remove: s.Remove, Force: s.Force, Own: true, Keep: s.keep(), Project: s.Project}
	add(files, Server, c.edit)
	if s.hooked(h) {
		files, err := s.choose(h, h.hooks.user, []string{h.hooks.project})
		if err != nil {
			return nil, nil, err
		}
		list := s.hookList(h)
		add(files, Hooks, func(old *string) (notation.Edit, error) { return list.Edit(old, s.Remove) })
	}
	return paths, parts, nil
}

// entry returns the entry of a host as it is when it is new.
func (s *Setup) entry(h Host) Entry {
	e := s.Entry
	e.Env, _ = h.Pins(s.Env)
	if s.hooked(h) { // they bring instructions, so that the model needs no ids to acknowledge them
		e.Args = slices.Insert(slices.Clone(e.Args), 1, hooksFlag)
	}
	return e
}

func (s *Setup) choose(h Host, user func(Places) ([]string, error), project []string) ([]string, error) {
	return Host{Title: h.Title, user: user, project: project}.located(s.Places)
}

// hooked reports whether the host has hooks that waybill can write, or remove.
func (s *Setup) hooked(h Host) bool {
	return h.hooks != nil && (s.Remove || s.hook(h).fits(h.hooks.shell(s.GOOS)))
}

// Unhooked returns why waybill writes no hooks for a host that has them, or empty.
func (s *Setup) Unhooked(h Host) string {
	if h.hooks == nil || s.hooked(h) {
		return ""
	}
	return fmt.Sprintf("It has no hooks of waybill: %s runs them, and no line with %s means the same to both. Move waybill to a folder with only letters, digits, dots and hyphens in its path, and leave special characters out of the flags.",
		h.hooks.shell(s.GOOS), s.Entry.Command)
}

// keep reports whether flags that are there stay. Flags of this run count instead.
func (s *Setup) keep() bool { return len(s.Hooks) == 0 && !s.Force }

// flags returns the flags for a new part of a host. Without flags of this run, they are those of its server, so that all parts use
// one store. A password in them is not written once more.
func (s *Setup) flags(h Host) []string {
	if !s.keep() {
		return s.Hooks
	}
	e, _ := s.Written(h)
	flags := Globals(e.Args)
	if slices.ContainsFunc(flags, HasPassword) {
		return nil
	}
	return flags
}

// Globals returns the flags of a command line that decide about the store.
func Globals(args []string) (flags []string) {
	for i, arg := range args {
		name, _, inline := strings.Cut(arg, "=")
		if !slices.Contains([]string{"--workspace", "--store", "--workspace-name", "--config"}, name) {
			continue
		}
		if flags = append(flags, arg); !inline && i+1 < len(args) {
			flags = append(flags, args[i+1])
		}
	}
	return flags
}

// hook returns the hook of a host as it is when it is new.
func (s *Setup) hook(h Host) Hook {
	name := h.Name
	if name == "vscode" {
		name = "copilot" // both read the same file
	}
	hook := Hook{Command: s.Entry.Command, Args: append([]string{"hook", name}, s.flags(h)...), Keep: s.keep()}
	if h.hooks.desktop {
		hook.Env, _ = Pins(s.Env)
	}
	return hook
}

func (s *Setup) hookList(h Host) notation.Hooks {
	hook := s.hook(h)
	return h.hooks.list(hook, s.GOOS, s.Events(hook.Args[1]))
}

// Files returns the files for hosts. Hosts may share a file.
func (s *Setup) Files(h Host) ([]File, error) {
	if err := s.Entry.check(); err != nil {
		return nil, err
	}
	paths, parts, err := s.parts(h)
	if err != nil {
		return nil, err
	}
	var files []File
	for i, path := range paths {
		at := slices.IndexFunc(files, func(f File) bool { return f.Path == path })
		if at < 0 {
			at = len(files)
			files = append(files, File{Path: path, setup: s, alone: parts[i].Kind == Skill || parts[i].Kind == Plugin})
		}
		files[at].Parts = append(files[at].Parts, parts[i])
	}
	return files, nil
}

// Shared returns the file without the parts that another host, which stays, also uses, and the names of such hosts.
func (f File) Shared(stays []Host) (rest File, users []string) {
	rest = f
	rest.Parts = slices.DeleteFunc(slices.Clone(f.Parts), func(p Part) bool {
		for _, other := range stays {
			paths, parts, err := f.setup.parts(other)
			for i := range paths {
				if err == nil && paths[i] == f.Path && parts[i].Kind == p.Kind && f.setup.Has(other) {
					users = append(users, other.Title)
					return true
				}
			}
		}
		return false
	})
	return rest, users
}

// A Draft is what a change would make of a file.
type Draft struct {
	Before, After *string // nil for no file
	Action        notation.Action
	// OldRest and NewRest are Before and After without waybill's parts: the text of others.
	OldRest, NewRest string
}

// Preview returns what Apply would do now. It writes nothing.
func (f File) Preview() (Draft, error) {
	text, err := f.target().Read()
	d := Draft{Before: text, After: text, Action: notation.Unchanged}
	if err != nil {
		return d, err
	}
	e, err := f.edit(d.Before)
	if err != nil {
		return d, located(err, f.Path)
	}
	if d.Action = e.Action; e.Action != notation.Unchanged {
		d.After = &e.Text
	}
	if e.Whole {
		d.After = nil
	}
	d.OldRest, d.NewRest = f.rest(d.Before), f.rest(d.After)
	return d, nil
}

// rest returns a text without waybill's parts. If they cannot be removed, that is the whole text.
func (f File) rest(text *string) string {
	if text == nil || f.alone {
		return ""
	}
	rest, err := f.rewritten(text, true)
	switch {
	case err != nil:
		return *text
	case rest == nil:
		return ""
	}
	return *rest
}

// target returns the file for package replace.
func (f File) target() replace.Target {
	nothing := "{}\n"
	if f.alone || filepath.Ext(f.Path) == ".toml" {
		nothing = ""
	}
	return replace.Target{Path: f.Path, Project: f.setup.Project, Nothing: nothing, Locate: located}
}

// edit makes the changes of all parts, and removes them in the opposite order.
func (f File) edit(old *string) (all notation.Edit, err error) {
	parts := slices.Clone(f.Parts)
	if f.setup.Remove {
		slices.Reverse(parts)
	}
	all.Action, all.Spare = notation.Unchanged, true
	text := old
	for _, p := range parts {
		e, err := p.edit(text)
		if err != nil {
			return notation.Edit{}, err
		}
		if e.Action == notation.Unchanged {
			continue
		}
		if all.Action == notation.Unchanged || e.Action == notation.Added {
			all.Action = e.Action
		}
		all.Spare = all.Spare && e.Spare
		if all.Text, all.Whole, text = e.Text, e.Whole, &e.Text; e.Whole {
			text = nil
		}
	}
	if text != nil && old != nil && *text == *old {
		return notation.Edit{Action: notation.Unchanged}, nil // hosts that share a file agree in the end
	}
	if all.Whole && !all.Spare {
		fresh, err := f.fresh()
		all.Spare = err == nil && fresh == *old
	}
	return all, nil
}

// clear removes the folders of a file that is gone, as far as they are empty. Otherwise the folder of a host that was never
// there would look like the host. A folder that a variable names is a person's.
func (f File) clear() {
	if exists(f.Path) {
		return
	}
	keep := []string{f.setup.Home, f.setup.Project}
	for _, name := range folderVariables {
		if folder := f.setup.env(name); folder != "" {
			keep = append(keep, filepath.Clean(folder))
		}
	}
	for folder := filepath.Dir(f.Path); !slices.Contains(keep, folder); folder = filepath.Dir(folder) {
		if os.Remove(folder) != nil {
			return
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// fresh returns the file as it would be if it were new.
func (f File) fresh() (string, error) {
	text, err := f.rewritten(nil, false)
	if err != nil || text == nil {
		return "", err
	}
	return *text, nil
}

// rewritten returns a text with the parts of the file, or without them.
func (f File) rewritten(text *string, remove bool) (*string, error) {
	s := *f.setup
	s.Remove = remove
	for _, p := range f.Parts {
		_, parts, err := s.parts(p.Host)
		if err != nil {
			return nil, err
		}
		for _, part := range parts {
			if part.Kind != p.Kind {
				continue
			}
			e, err := part.edit(text)
			switch {
			case err != nil:
				return nil, err
			case e.Whole:
				text = nil
			case e.Action != notation.Unchanged:
				text = &e.Text
			}
		}
	}
	return text, nil
}

// Apply carries the change out, with the promises of Change.Apply.
func (f File) Apply(ctx context.Context) (replace.Result, error) {
	if _, err := os.Lstat(f.Path); f.setup.Remove && errors.Is(err, fs.ErrNotExist) {
		return replace.Result{Action: notation.Unchanged, File: f.Path}, nil
	}
	result, err := f.target().Change(ctx, f.edit)
	if err == nil && result.Action == notation.Removed {
		f.clear()
	}
	return result, err
}

// ByHand returns what a person must add to the file where waybill cannot: the file as it would be if it were new.
func (f File) ByHand() string {
	if f.setup.Remove || len(f.Parts) == 0 {
		return ""
	}
	text, err := f.fresh()
	if err != nil {
		return ""
	}
	return text
}

// Has reports whether the file of a host has an entry of waybill.
func (s *Setup) Has(h Host) bool {
	_, there := s.Written(h)
	return there
}

// Written returns the entry of the name as it is in the file of a host, if it starts waybill.
func (s *Setup) Written(h Host) (Entry, bool) {
	file, err := h.File(s.Places)
	if err != nil {
		return Entry{}, false
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return Entry{}, false
	}
	text := string(raw)
	tree, err := h.notation.Tree(text)
	if err != nil {
		return Entry{}, false
	}
	at, _ := Change{Host: h}.shape(tree, notation.Spot{Keys: h.keys, Name: s.Entry.Name}, nil)
	there, err := h.notation.Find(text, at)
	if err != nil || there == nil || !s.Entry.own(there) {
		return Entry{}, false
	}
	line := commandLine(there)
	e := Entry{Name: s.Entry.Name, Command: line[0], Args: line[1:]}
	names, _ := there.Value[allowList].([]any)
	for _, name := range names {
		if text, ok := name.(string); ok {
			e.Pass = append(e.Pass, text)
		}
	}
	for _, name := range []string{"env", "environment"} {
		values, _ := there.Value[name].(map[string]any)
		for key, value := range values {
			if text, ok := value.(string); ok {
				e.Env = append(e.Env, key+"="+text)
			}
		}
	}
	return e, true
}

// Trusts reports whether an entry in a file may be started. Strangers write repositories, so the entry in a project must be the
// one of this setup, with no variable that another has added.
func (s *Setup) Trusts(h Host, e Entry) bool {
	want := s.entry(h)
	foreign := func(pair string) bool { return !slices.Contains(want.Env, pair) }
	return s.Project == "" || e.Command == want.Command && slices.Equal(e.Args, want.Args) && !slices.ContainsFunc(e.Env, foreign)
}

// A WrittenHooks has the hooks of waybill as they are in the file of a host.
type WrittenHooks struct {
	Command string // a line as this setup writes it, which may be run
	Host    string // the host that the line names
	Shell   Shell  // the shell of the host
	There   bool   // the file has hooks of waybill
	Foreign bool   // the file has other lines as well, or only such
	Split   bool   // a hook has other flags than the server, and may use another store
	Ignored string // why the host runs no hook of the file, or empty
}

// WrittenHooks returns the hooks of waybill in the file of a host.
func (s *Setup) WrittenHooks(h Host) (w WrittenHooks) {
	if !s.hooked(h) {
		return w
	}
	files, err := s.choose(h, h.hooks.user, []string{h.hooks.project})
	if err != nil {
		return w
	}
	raw, err := os.ReadFile(existing(files))
	if err != nil {
		return w
	}
	text := string(raw)
	server, there := s.Written(h)
	hook := s.hook(h)
	w.Shell = h.hooks.shell(s.GOOS)
	w.Command, w.Host = hook.line(w.Shell), hook.Args[1]
	for _, line := range s.hookList(h).Commands(text) {
		w.There = true
		flags, _, _ := hook.flagsOf(line)
		w.Split = w.Split || there && !slices.Equal(Globals(flags), Globals(server.Args))
		kept := hook.inPlaceOf(map[string]any{commandKeys[0]: line}).line(w.Shell)
		if line != kept || s.Project != "" && line != hook.line(w.Shell) {
			w.Foreign = true
		} else {
			w.Command = line
		}
	}
	if tree, err := (notation.JSON{}).Tree(text); err == nil && w.There && h.hooks.ignored != nil {
		w.Ignored = h.hooks.ignored(tree)
	}
	return w
}

// Notes returns what a person must know about the host, or do.
func (h Host) Notes() []string { return slices.Clone(h.notes) }
