// Package setup has the commands that register waybill with hosts.
package setup

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/engine/workspace"
	"waybill/hostconfig"
	"waybill/hostconfig/notation"
	"waybill/hostconfig/replace"
	"waybill/internal/nearest"
	"waybill/internal/safetext"
	"waybill/schema"
)

// mcpInstall has the flags of `waybill mcp install`.
type mcpInstall struct {
	name                          string
	project, print, force, remove bool
}

// commands are the commands of this package, for one run of the program.
type commands struct{ *program.App }

// MCPInstall returns the command.
func MCPInstall(a *program.App) *cobra.Command { return commands{a}.mcpInstallCommand() }

func (a commands) mcpInstallCommand() *cobra.Command {
	var o mcpInstall
	cmd := &cobra.Command{
		Use: "install HOST [-- ARGUMENT...]", Short: "Write only the server into the configuration of a host",
		Long: `Write waybill into the configuration of a host, so that it starts "waybill mcp" with the arguments behind --.
waybill setup does the same, asks first, and adds hooks and a skill. HOST is one of
` + strings.Join(hostNames(), ", ") + `.

Only the entry is written. The file as it was is kept beside it. If the entry starts a waybill that lay elsewhere, it is brought up
to date, and what you have added to it stays. If another server has the name, or waybill with other arguments, that is shown, and
replaced only with --force. A file that cannot be read is not touched.

Exit codes: 1 if the file cannot be changed, and then the entry is printed to be added by hand; 4 if another server
has the name; 75 if others write the file at the same moment.`,
		Example: "  waybill mcp install claude-code\n  waybill mcp install vscode --project\n  waybill mcp install zed -- --workspace /srv/shop",
		Args:    installArgs, ValidArgs: hostNames(),
		RunE: func(cmd *cobra.Command, args []string) error { return a.mcpInstall(cmd, args, o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.name, "name", "waybill", "the name of the server in the host")
	flags.BoolVar(&o.project, "project", false, "write into the configuration of the workspace, which may be shared, instead of yours")
	flags.BoolVar(&o.print, "print", false, "only print the contents of a new file")
	flags.BoolVar(&o.force, "force", false, "replace or remove a different entry of that name")
	flags.BoolVar(&o.remove, "remove", false, "remove the entry of waybill")
	cmd.MarkFlagsMutuallyExclusive("print", "remove")
	program.NoFiles(cmd, "name")
	return cmd
}

// installArgs requires one host, and accepts any arguments after --.
func installArgs(cmd *cobra.Command, args []string) error {
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		args = args[:dash]
	}
	return cobra.ExactArgs(1)(cmd, args)
}

func (a commands) mcpInstall(cmd *cobra.Command, args []string, o mcpInstall) error {
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
	c.Entry.Env, _ = c.Host.Pins(a.Env)
	if c.File, err = c.Host.File(places); err != nil {
		return err
	}
	result, err := c.Apply(cmd.Context())
	if err != nil {
		return a.notInstalled(c, err)
	}
	return a.printInstalled(c, result)
}

// change returns the change without its file.
func (a commands) change(args []string, o mcpInstall) (c hostconfig.Change, err error) {
	host, known := hostconfig.Named(args[0])
	if !known {
		return c, unknownHost(args[0])
	}
	c = hostconfig.Change{Host: host, Remove: o.remove, Force: o.force}
	c.Entry = hostconfig.Entry{Name: o.name, Args: append([]string{"mcp"}, args[1:]...)}
	if c.Entry.Command, err = hostconfig.Program(); err != nil && !o.remove { // removal works without the program
		return c, err
	}
	if _, err := host.Snippet(c.Entry); err != nil {
		return c, output.UsageError(err)
	}
	return c, nil
}

func unknownHost(name string) error {
	names := hostNames()
	perhaps := ""
	if near := nearest.Names(name, names); len(near) > 0 {
		perhaps = "perhaps " + strings.Join(near, " or ") + "; it "
	}
	return output.UsageError(fmt.Errorf("host %q: %smust be one of %s", name, perhaps, strings.Join(names, ", ")))
}

// places returns where this process looks for the files of hosts.
func (a commands) places(project bool) (hostconfig.Places, error) {
	home, _ := os.UserHomeDir() // without one, some are found all the same
	p := hostconfig.Places{GOOS: runtime.GOOS, Home: home, Env: a.Env}
	if !project {
		return p, nil
	}
	ws, err := workspace.Resolve(a.Sources())
	if err != nil {
		return p, schema.NewError(schema.NoWorkspace, err.Error())
	}
	p.Project = ws.Root
	return p, nil
}

// An installed is the output of `waybill mcp install --json`.
type installed struct {
	Host    string          `json:"host"`
	Name    string          `json:"name"`
	Action  notation.Action `json:"action,omitzero"`
	File    string          `json:"file,omitzero"`
	Backup  string          `json:"backup,omitzero"`
	Command string          `json:"command,omitzero"`
	Args    []string        `json:"args,omitzero"`
	Snippet string          `json:"snippet,omitzero"` // a whole file with the entry
	Error   string          `json:"error,omitzero"`
	There   string          `json:"there,omitzero"` // the existing entry with that name
}

func reportOf(c hostconfig.Change) installed {
	r := installed{Host: c.Host.Name, Name: c.Entry.Name, File: c.File}
	if !c.Remove {
		r.Command, r.Args = c.Entry.Command, c.Entry.Args
	}
	return r
}

func (a commands) printEntry(c hostconfig.Change) error {
	snippet, err := c.Host.Snippet(c.Entry)
	if err != nil {
		return err
	}
	if a.JSON {
		r := reportOf(c)
		r.Snippet = snippet
		return a.Print(r)
	}
	_, err = fmt.Fprint(a.Out, snippet)
	return err
}

func (a commands) printInstalled(c hostconfig.Change, result replace.Result) error {
	if a.JSON {
		r := reportOf(c)
		r.Action, r.File, r.Backup = result.Action, result.File, result.Backup
		return a.Print(r)
	}
	what := string(result.Action) + " " + c.Entry.Name
	switch {
	case result.Action == notation.Unchanged && c.Remove:
		what = c.Entry.Name + " is not there"
	case result.Action == notation.Unchanged:
		what = c.Entry.Name + " is there already"
	}
	text := fmt.Sprintf("%s: %s (%s)\n", c.Host.Title, what, safetext.Printable(result.File))
	if result.Backup != "" {
		text += "the file as it was: " + safetext.Printable(result.Backup) + "\n"
	}
	if result.Action != notation.Unchanged {
		text += "start " + c.Host.Title + " again for it to take effect\n"
	}
	_, err := fmt.Fprint(a.Out, text)
	return err
}

// notInstalled reports why the file was not changed, and what a person can do.
func (a commands) notInstalled(c hostconfig.Change, err error) error {
	r := reportOf(c)
	r.Error = err.Error()
	a.Code, r.There = faultOf(err)
	if !c.Remove {
		r.Snippet, _ = c.Host.Snippet(c.Entry) // which was checked
	}
	if a.JSON {
		return a.Print(r)
	}
	a.Say("waybill: " + safetext.Printable(r.Error) + "; nothing was changed")
	a.block("  It is:", r.There)
	if r.There != "" && c.Remove {
		a.Say("  Take it out with --force, or name another one with --name.")
	} else if r.There != "" {
		a.Say("  Replace it with --force, or give this one another name with --name.")
	} else if a.Code == output.ExitFailed {
		a.block("  To add it by hand, this is what a file with nothing else would hold:", r.Snippet)
	}
	return nil
}

// faultOf returns the exit code for a file that was not changed, and the text of another that has the name of waybill.
func faultOf(err error) (code int, there string) {
	if taken, ok := errors.AsType[*hostconfig.TakenError](err); ok {
		return output.ExitConflict, taken.Text
	}
	if _, ok := errors.AsType[*replace.BusyError](err); ok {
		return output.ExitBusy, ""
	}
	return output.ExitFailed, ""
}

// block prints a title line and a text of several lines, each made safe to print.
func (a commands) block(title, text string) {
	if text == "" {
		return
	}
	a.Say(title)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		indent := len(line) - len(strings.TrimLeft(line, "\t"))
		a.Say("    " + strings.Repeat("  ", indent) + safetext.Printable(line[indent:]))
	}
}
