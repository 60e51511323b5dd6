package setup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/hostconfig"
	"waybill/hostconfig/notation"
	"waybill/internal/safetext"
	"waybill/packages"
)

// options are the flags of `waybill setup`.
type options struct {
	yes, dryRun, remove, project, force bool
}

// Command returns the command that connects hosts.
func Command(a *program.App) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use: "setup [HOST...]", Short: "Connect the coding agents of this machine",
		Long: `Write waybill into the configuration of hosts: the entry of its MCP server, its hooks, and a skill that tells the agent how
to work with it. Without a name, every host that is installed here is connected. HOST is one of
` + strings.Join(hostNames(), ", ") + `.

The command shows what it would change in each file, and asks once. It changes only its own parts: comments, order and white
space stay. The file as it was is kept beside it. Then it starts what each host would start, and says what only a person can
do, such as to trust a folder.

--workspace and --store go into what is written, so that the host uses them too. Run the command again at any time: it brings
the path of waybill up to date, and changes nothing else. --remove takes out what waybill wrote, and nothing else.

Exit codes: 1 if a file could not be changed or a check failed; 2 without a terminal and without --yes; 4 if something
else has the name waybill; 75 if others write a file at the same moment.`,
		Example:   "  waybill setup\n  waybill setup claude-code codex --yes\n  waybill setup --project vscode\n  waybill setup --remove",
		ValidArgs: hostNames(), Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return commands{a}.setup(cmd.Context(), args, o) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.yes, "yes", false, "do not ask")
	flags.BoolVar(&o.dryRun, "dry-run", false, "show the changes and make none")
	flags.BoolVar(&o.remove, "remove", false, "remove what waybill wrote")
	flags.BoolVar(&o.project, "project", false, "write into the workspace, for everyone who works in it, instead of your own configuration")
	flags.BoolVar(&o.force, "force", false, "replace or remove what has the name of waybill and is another's")
	cmd.MarkFlagsMutuallyExclusive("yes", "dry-run")
	return cmd
}

func hostNames() (names []string) {
	for _, h := range hostconfig.Hosts() {
		names = append(names, h.Name)
	}
	return names
}

// A report is the output of `waybill setup --json`.
type report struct {
	DryRun bool         `json:"dry_run,omitzero"`
	Hosts  []hostReport `json:"hosts"`
	Files  []fileReport `json:"files"`
}

type hostReport struct {
	Host   string   `json:"host"`
	Checks []result `json:"checks,omitzero"`
	Todo   []string `json:"todo,omitzero"`

	title string
}

type fileReport struct {
	File   string            `json:"file"`
	Hosts  []string          `json:"hosts"`
	Parts  []hostconfig.Kind `json:"parts"`
	Action notation.Action   `json:"action,omitzero"`
	Backup string            `json:"backup,omitzero"`
	Diff   string            `json:"diff,omitzero"`
	Error  string            `json:"error,omitzero"`
	ByHand string            `json:"by_hand,omitzero"` // the file as it would be if it were new
	There  string            `json:"there,omitzero"`   // the part of another with the name of waybill

	file  hostconfig.File
	draft hostconfig.Draft
	code  int // the exit code of the error
}

// A result is the outcome of one check of an installed host.
type result struct {
	Check  string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

func (a commands) setup(ctx context.Context, names []string, o options) error {
	s, err := a.newSetup(o)
	if err != nil {
		return err
	}
	hosts, err := a.hosts(s, names)
	if err != nil {
		return err
	}
	r, err := a.drafts(s, hosts)
	if err != nil {
		return err
	}
	r.DryRun = o.dryRun
	changes := slices.ContainsFunc(r.Files, func(f fileReport) bool { return f.changes() })
	if !a.JSON {
		a.show(r)
	}
	switch {
	case o.dryRun || !changes:
	case o.yes:
	case !term.IsTerminal(int(a.In.Fd())):
		return output.UsageError(errors.New("there is no terminal at which you could be asked: add --yes to make the changes, or --dry-run to see them"))
	default:
		if err := a.confirm(o.remove); err != nil {
			return err
		}
	}
	if !o.dryRun {
		a.apply(ctx, &r)
		if !o.remove {
			a.verify(ctx, s, hosts, &r)
		}
	}
	return a.finish(r, o)
}

// newSetup returns what is written, without the hosts.
func (a commands) newSetup(o options) (*hostconfig.Setup, error) {
	places, err := a.places(o.project)
	if err != nil {
		return nil, err
	}
	s := &hostconfig.Setup{Places: places, Skill: packages.Skill, Plugin: packages.OpenCodePlugin, Remove: o.remove, Force: o.force, Events: packages.Events}
	s.Entry = hostconfig.Entry{Name: "waybill", Args: []string{"mcp"}}
	if s.Entry.Command, err = hostconfig.Program(); err != nil && !o.remove { // removal works without the program
		return nil, err
	}
	if s.Hooks, err = a.pinnedFlags(o); err != nil {
		return nil, err
	}
	s.Entry.Args = append(s.Entry.Args, s.Hooks...)
	return s, nil
}

// pinnedFlags returns the flags of this command that what is written has, too. With --project, the workspace is where
// the files are.
func (a commands) pinnedFlags(o options) (flags []string, err error) {
	if a.Workspace != "" && !o.project {
		flags = append(flags, "--workspace", a.Workspace)
	}
	if a.StoreFlag() != "" {
		flags = append(flags, "--store", a.StoreFlag())
	}
	for i := 1; i < len(flags); i += 2 {
		if hostconfig.HasPassword(flags[i]) {
			return nil, output.UsageError(fmt.Errorf("%s has a password, which would be written into files: leave it out, and keep it in ~/.pgpass", flags[i-1]))
		}
		address, err := url.Parse(flags[i])
		if err == nil && address.Scheme != "" && address.Host != "" {
			continue
		}
		if flags[i], err = filepath.Abs(flags[i]); err != nil {
			return nil, err
		}
	}
	return flags, nil
}

// hosts returns the named hosts, or else those that are installed.
func (a commands) hosts(s *hostconfig.Setup, names []string) (hosts []hostconfig.Host, err error) {
	for _, name := range names {
		h, known := hostconfig.Named(name)
		if !known {
			return nil, unknownHost(name)
		}
		if !slices.ContainsFunc(hosts, func(other hostconfig.Host) bool { return other.Name == name }) {
			hosts = append(hosts, h)
		}
	}
	if len(names) > 0 {
		return hosts, nil
	}
	for _, h := range hostconfig.Hosts() {
		if h.Found(s.Places, exec.LookPath) || s.Remove && s.Has(h) {
			hosts = append(hosts, h)
		}
	}
	if len(hosts) == 0 {
		return nil, fmt.Errorf("no coding agent was found on the PATH or in your home folder: name one of %s", strings.Join(hostNames(), ", "))
	}
	return hosts, nil
}

// drafts returns what would be changed.
func (a commands) drafts(s *hostconfig.Setup, hosts []hostconfig.Host) (r report, err error) {
	r.Hosts, r.Files = []hostReport{}, []fileReport{}
	for _, h := range hosts {
		r.Hosts = append(r.Hosts, hostReport{Host: h.Name, title: h.Title})
		files, err := s.Files(h)
		if err != nil {
			return r, err
		}
		for _, f := range files {
			at := slices.IndexFunc(r.Files, func(other fileReport) bool { return other.File == f.Path })
			if at < 0 {
				at = len(r.Files)
				r.Files = append(r.Files, fileReport{File: f.Path, Hosts: []string{}, Parts: []hostconfig.Kind{}, file: f})
			} else {
				r.Files[at].file.Parts = append(r.Files[at].file.Parts, f.Parts...)
			}
			r.Files[at].Hosts = append(r.Files[at].Hosts, h.Name)
		}
	}
	stays := slices.DeleteFunc(hostconfig.Hosts(), func(h hostconfig.Host) bool {
		return slices.ContainsFunc(hosts, func(gone hostconfig.Host) bool { return gone.Name == h.Name })
	})
	for i := range r.Files {
		f := &r.Files[i]
		for _, p := range f.file.Parts {
			if !slices.Contains(f.Parts, p.Kind) {
				f.Parts = append(f.Parts, p.Kind)
			}
		}
		if s.Remove {
			var users []string
			if f.file, users = f.file.Shared(stays); len(users) > 0 {
				r.todo(f.Hosts, fmt.Sprintf("%s stays, because %s uses it too.", f.File, strings.Join(users, " and ")))
			}
		}
		if f.draft, err = f.file.Preview(); err != nil {
			f.fail(err)
			continue
		}
		f.Action, f.Diff = f.draft.Action, difference(f.draft)
	}
	return r, nil
}

// todo adds a sentence for a person to hosts.
func (r *report) todo(hosts []string, text string) {
	for i := range r.Hosts {
		if slices.Contains(hosts, r.Hosts[i].Host) && !slices.Contains(r.Hosts[i].Todo, text) {
			r.Hosts[i].Todo = append(r.Hosts[i].Todo, text)
		}
	}
}

func (f *fileReport) changes() bool { return f.Error == "" && f.Action != notation.Unchanged }

// fail records why the file was not changed.
func (f *fileReport) fail(err error) {
	f.Error, f.Action, f.Diff = err.Error(), "", ""
	if f.code, f.There = faultOf(err); f.code == output.ExitFailed {
		f.ByHand = f.file.ByHand()
	}
}

// confirm asks a person, and returns an error unless the answer is yes.
func (a commands) confirm(remove bool) error {
	question := "Make these changes? [y/N] "
	if remove {
		question = "Remove this? [y/N] "
	}
	if _, err := a.Err.WriteString(question); err != nil {
		return err
	}
	answer, err := bufio.NewReader(io.LimitReader(a.In, 1<<10)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errors.New("the answer was not yes, so nothing was changed")
}

// apply makes the changes, file by file. Each file is whole at every moment, so a run that was interrupted is completed by
// the next one.
func (a commands) apply(ctx context.Context, r *report) {
	for i := range r.Files {
		f := &r.Files[i]
		if !f.changes() {
			continue
		}
		done, err := f.file.Apply(ctx)
		if err != nil {
			f.fail(err)
			continue
		}
		f.Action, f.Backup = done.Action, done.Backup
	}
}

// finish prints the report, and sets the exit code.
func (a commands) finish(r report, o options) error {
	for _, f := range r.Files {
		a.Code = max(a.Code, f.code)
	}
	for i := range r.Hosts {
		h := &r.Hosts[i]
		if slices.ContainsFunc(h.Checks, func(c result) bool { return !c.OK }) {
			a.Code = max(a.Code, output.ExitFailed)
		}
		if host, _ := hostconfig.Named(h.Host); !o.remove {
			h.Todo = append(h.Todo, host.Notes()...)
		}
	}
	if a.JSON {
		return a.Print(r)
	}
	var b strings.Builder
	for _, f := range r.Files {
		if f.changes() && !o.dryRun {
			fmt.Fprintf(&b, "%-9s %s\n", f.Action, safetext.Printable(f.File))
			if f.Backup != "" {
				fmt.Fprintf(&b, "  the file as it was: %s\n", safetext.Printable(f.Backup))
			}
		}
	}
	for _, h := range r.Hosts {
		if len(h.Checks)+len(h.Todo) > 0 {
			fmt.Fprintf(&b, "\n%s\n", h.title)
		}
		for _, c := range h.Checks {
			mark := "ok"
			if !c.OK {
				mark = "FAILED"
			}
			fmt.Fprintf(&b, "  %-6s  %s: %s\n", mark, c.Check, safetext.Printable(c.Detail))
		}
		for _, line := range h.Todo {
			fmt.Fprintf(&b, "  - %s\n", safetext.Printable(line))
		}
	}
	_, err := fmt.Fprint(a.Out, b.String())
	for _, f := range r.Files {
		a.explain(f)
	}
	return err
}

// explain says why a file was not changed, and what a person can do.
func (a commands) explain(f fileReport) {
	if f.Error == "" {
		return
	}
	a.Say("waybill: " + safetext.Printable(f.Error) + "; the file was not changed")
	switch {
	case f.There != "":
		a.block("  It is:", f.There)
		a.Say("  Replace it with --force, or rename it.")
	case f.code == output.ExitFailed:
		a.block("  To add it by hand, this is what a file with nothing else would hold:", f.ByHand)
	}
}
