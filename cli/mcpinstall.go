package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"waybill/engine/workspace"
	"waybill/mcphost"
	"waybill/schema"
)

// mcpInstall is what was typed behind `waybill mcp install`.
type mcpInstall struct {
	name                          string
	project, print, force, remove bool
}

func (a *app) mcpInstallCommand() *cobra.Command {
	var o mcpInstall
	var names []string
	for _, h := range mcphost.Hosts() {
		names = append(names, h.Name)
	}
	cmd := &cobra.Command{
		Use: "install HOST [-- ARGUMENT...]", Short: "Make waybill known to a host that speaks MCP",
		Long: `Write waybill into the configuration of a host, so that it starts "waybill mcp" with the arguments behind --.
HOST is one of ` + strings.Join(names, ", ") + `.

Only the entry is written: comments, order and white space stay, and so does everything that waybill does not
understand. The file as it was is kept beside it. If the entry is there already, nothing is written; if it starts a
waybill that lay elsewhere, it is brought up to date, and what you have added to it stays. If another server has the name,
or waybill with other arguments, that is shown, and replaced only with --force. A file that cannot be read is not touched.

Exit codes: 1 if the file cannot be changed, and then the entry is printed to be added by hand; 4 if another server
has the name; 75 if others write the file at the same moment.`,
		Example: "  waybill mcp install claude-code\n  waybill mcp install vscode --project\n  waybill mcp install zed -- --workspace /srv/shop",
		Args:    installArgs, ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error { return a.mcpInstall(cmd, args, o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.name, "name", "waybill", "what the host calls the server")
	flags.BoolVar(&o.project, "project", false, "write into the configuration of the workspace, which others may share, and not into yours")
	flags.BoolVar(&o.print, "print", false, "only print what would stand in a new file")
	flags.BoolVar(&o.force, "force", false, "replace, or with --remove take out, whatever has that name")
	flags.BoolVar(&o.remove, "remove", false, "take the entry out again")
	cmd.MarkFlagsMutuallyExclusive("print", "remove")
	noFiles(cmd, "name")
	return cmd
}

// installArgs wants one host, and lets everything behind -- through.
func installArgs(cmd *cobra.Command, args []string) error {
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		args = args[:dash]
	}
	return cobra.ExactArgs(1)(cmd, args)
}

func (a *app) mcpInstall(cmd *cobra.Command, args []string, o mcpInstall) error {
	c, err := a.change(args, o)
	if err != nil {
		return err
	}
	if o.print {
		return a.printEntry(c)
	}
	places, err := a.places(o.project)
	if err != nil {
		return err
	}
	c.Project = places.Project
	if c.File, err = c.Host.File(places); err != nil {
		return err
	}
	result, err := c.Apply(cmd.Context())
	if err != nil {
		return a.notInstalled(c, err)
	}
	return a.printInstalled(c, result)
}

// change says what is to be done, but not yet where.
func (a *app) change(args []string, o mcpInstall) (c mcphost.Change, err error) {
	host, known := mcphost.Named(args[0])
	if !known {
		return c, unknownHost(args[0])
	}
	c = mcphost.Change{Host: host, Remove: o.remove, Force: o.force}
	c.Entry = mcphost.Entry{Name: o.name, Args: append([]string{"mcp"}, args[1:]...)}
	if c.Entry.Command, err = mcphost.Program(); err != nil && !o.remove { // it can be taken out by whatever is left
		return c, err
	}
	if _, err := host.Snippet(c.Entry); err != nil {
		return c, usageError{err}
	}
	return c, nil
}

func unknownHost(name string) error {
	var names []string
	for _, h := range mcphost.Hosts() {
		names = append(names, h.Name)
	}
	perhaps := ""
	if near := schema.Nearest(name, names); len(near) > 0 {
		perhaps = "perhaps " + strings.Join(near, " or ") + "; it "
	}
	return usageError{fmt.Errorf("host %q: %smust be one of %s", name, perhaps, strings.Join(names, ", "))}
}

// places says where this process looks for the files of hosts.
func (a *app) places(project bool) (mcphost.Places, error) {
	home, _ := os.UserHomeDir() // without one, some are found all the same
	p := mcphost.Places{GOOS: runtime.GOOS, Home: home, Env: a.env}
	if !project {
		return p, nil
	}
	ws, err := workspace.Resolve(a.sources())
	if err != nil {
		return p, schema.NewError(schema.NoWorkspace, err.Error())
	}
	p.Project = ws.Root
	return p, nil
}

// An installed is what `waybill mcp install --json` prints.
type installed struct {
	Host    string         `json:"host"`
	Name    string         `json:"name"`
	Action  mcphost.Action `json:"action,omitzero"`
	File    string         `json:"file,omitzero"`
	Backup  string         `json:"backup,omitzero"`
	Command string         `json:"command,omitzero"`
	Args    []string       `json:"args,omitzero"`
	Snippet string         `json:"snippet,omitzero"` // a whole file with the entry
	Error   string         `json:"error,omitzero"`
	There   string         `json:"there,omitzero"` // what has the name
}

func reportOf(c mcphost.Change) installed {
	r := installed{Host: c.Host.Name, Name: c.Entry.Name, File: c.File}
	if !c.Remove {
		r.Command, r.Args = c.Entry.Command, c.Entry.Args
	}
	return r
}

func (a *app) printEntry(c mcphost.Change) error {
	snippet, err := c.Host.Snippet(c.Entry)
	if err != nil {
		return err
	}
	if a.json {
		r := reportOf(c)
		r.Snippet = snippet
		return a.print(r)
	}
	_, err = fmt.Fprint(a.Out, snippet)
	return err
}

func (a *app) printInstalled(c mcphost.Change, result mcphost.Result) error {
	if a.json {
		r := reportOf(c)
		r.Action, r.File, r.Backup = result.Action, result.File, result.Backup
		return a.print(r)
	}
	what := string(result.Action) + " " + c.Entry.Name
	switch {
	case result.Action == mcphost.Unchanged && c.Remove:
		what = c.Entry.Name + " is not there"
	case result.Action == mcphost.Unchanged:
		what = c.Entry.Name + " is there already"
	}
	text := fmt.Sprintf("%s: %s (%s)\n", c.Host.Title, what, plain(result.File))
	if result.Backup != "" {
		text += "the file as it was: " + plain(result.Backup) + "\n"
	}
	if result.Action != mcphost.Unchanged {
		text += "start " + c.Host.Title + " again for it to take effect\n"
	}
	_, err := fmt.Fprint(a.Out, text)
	return err
}

// notInstalled says why the file is as it was, and what a person can do.
func (a *app) notInstalled(c mcphost.Change, err error) error {
	a.code = exitFailed
	r := reportOf(c)
	r.Error = err.Error()
	if taken, ok := errors.AsType[*mcphost.TakenError](err); ok {
		a.code, r.There = exitConflict, taken.Text
	} else if _, ok := errors.AsType[*mcphost.BusyError](err); ok {
		a.code = exitBusy
	}
	if !c.Remove {
		r.Snippet, _ = c.Host.Snippet(c.Entry) // which was checked
	}
	if a.json {
		return a.print(r)
	}
	a.say("waybill: " + plain(r.Error) + "; nothing was changed")
	a.block("  It is:", r.There)
	if r.There != "" && c.Remove {
		a.say("  Take it out with --force, or name another one with --name.")
	} else if r.There != "" {
		a.say("  Replace it with --force, or give this one another name with --name.")
	} else if a.code == exitFailed {
		a.block("  To add it by hand, this is what a file with nothing else would hold:", r.Snippet)
	}
	return nil
}

// block prints a text of several lines, each made safe to print, below a line that says what it is.
func (a *app) block(title, text string) {
	if text == "" {
		return
	}
	a.say(title)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		indent := len(line) - len(strings.TrimLeft(line, "\t"))
		a.say("    " + strings.Repeat("  ", indent) + plain(line[indent:]))
	}
}
