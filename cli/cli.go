// Package cli is the terminal: the commands that a person or a script types.
//
// It wires the other rooms together and prints what they say. It refuses to know a rule of the
// domain, to print untrusted text as it is, and to exit the process: that is main's.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"waybill/engine/workspace"
	"waybill/schema"
	"waybill/web"
)

// Streams are the standard streams of the process.
type Streams struct{ In, Out, Err *os.File }

// The exit codes of the terminal commands. `serve` has its own, see `waybill serve --help`.
const (
	exitOK       = 0
	exitFailed   = 1
	exitUsage    = 2
	exitNotFound = 3
	exitConflict = 4
	exitStore    = 5
	exitBusy     = 75
)

// app is one run of the program.
type app struct {
	Streams
	version string
	env     func(string) string

	workspace string // --workspace
	store     string // --store, or WAYBILL_STORE
	envStore  bool   // whether the store was named by WAYBILL_STORE
	name      string // --workspace-name
	shared    bool   // --shared-disk
	json      bool   // --json
	noColor   bool   // --no-color

	config string // --config

	dialectFlags []string // --dialect
	dialects     dialects // what these, or else the environment or the configuration, say
	settings     settings // of a command that goes by them

	code int // what serve ended with

	page []web.File // what browsers are shown; without it, there is no ui command
}

// usageError is a mistake in how a command was typed.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Main runs the command line and gives the exit code.
func Main(args []string, streams Streams, version string) int {
	a := &app{Streams: streams, version: version, env: os.Getenv, page: filesOfThePage()}
	root := a.root(args)
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	if err == nil {
		return a.code
	}
	a.complain(err)
	return exitCode(err)
}

// root gives the command line. A host that spawns `waybill serve` or `waybill mcp` waits for what is made here, so then
// the other commands are not.
func (a *app) root(args []string) *cobra.Command {
	root := &cobra.Command{
		Use:   "waybill",
		Short: "Hand work to coding agents without losing any of it",
		Long: `waybill is a sidecar for agent hosts: instructions that are acknowledged or fail loudly, tasks that are
kept through failures, questions and the replies to them, and prompts that are compiled from what is
true now. With a pipe on its standard input it serves JSON-RPC; with a terminal it prints this help.

Exit codes: 0 if it was done; 1 if it failed; 2 for a mistake in an argument, as a value over its limit
is one; 3 if something named is not there; 4 if its state does not allow it; 5 for a store that cannot be
used; 75 if the same may succeed later. serve, mcp and doctor say what theirs mean.`,
		Args:              cobra.NoArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return a.checkFlags(cmd) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			if term.IsTerminal(int(a.In.Fd())) {
				return cmd.Help()
			}
			return a.serve(cmd.Context(), serveFlags{framing: "auto"})
		},
	}
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	a.addFlags(root)
	root.AddCommand(a.serveCommand(), a.mcpCommand())
	if len(args) > 0 && (args[0] == "serve" || args[0] == "mcp") {
		strict(root)
		return root
	}
	root.AddCommand(a.statusCommand(), a.tailCommand(), a.callCommand(), a.whereCommand(), a.explainCommand(),
		a.planCommand(), a.promptCommand(), a.doctorCommand(), a.backupCommand(), a.salvageCommand(), a.exportCommand(), a.importCommand(),
		a.restoreCommand(), a.storeCommand(), a.workCommand(), a.versionCommand(), a.schemaCommand(), a.demoCommand(), a.fakeAgentCommand())
	root.AddCommand(a.taskCommands()...)
	if a.page != nil {
		root.AddCommand(a.uiCommand())
	}
	root.InitDefaultCompletionCmd()
	strict(root)
	return root
}

// addFlags adds the flags that all commands have.
func (a *app) addFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVar(&a.workspace, "workspace", "", "the directory to work in (default: found from where you are)")
	flags.StringVar(&a.store, "store", "", "the store: a *.db file, a folder, or postgres://user@host/database\n(default: WAYBILL_STORE, or else in the state folder of the workspace)")
	flags.StringVar(&a.name, "workspace-name", "", "the name of the workspace in a database; machines that give the same one share it (default: its id)")
	flags.BoolVar(&a.shared, "shared-disk", false, "use the store although other machines share its disk, for one process at a time")
	flags.StringVar(&a.config, "config", "", "the file of the settings; '' is none (default: WAYBILL_CONFIG, or else config.json in your configuration folder)")
	flags.BoolVar(&a.json, "json", false, "print JSON")
	flags.BoolVar(&a.noColor, "no-color", false, "print no colours")
	flags.StringArrayVar(&a.dialectFlags, "dialect", nil,
		"GLOB=NAME: read the plans whose paths fit the glob in that dialect, whatever they say; of several the first counts "+
			"(default: WAYBILL_DIALECT, with commas between them, or else those that serve was given last)")
	_ = root.RegisterFlagCompletionFunc("dialect", cobra.NoFileCompletions)
	markSettings(root)
}

// checkFlags reads the flags that all commands have.
func (a *app) checkFlags(cmd *cobra.Command) (err error) {
	if a.envStore = a.store == ""; a.envStore {
		a.store = a.env(storeVariable)
	}
	if err := a.givenStore().check(); err != nil {
		return err
	}
	a.dialects, err = dialectsOf(a.dialectFlags, cmd.Flags().Changed("dialect"), a.env(dialectVariable))
	if err != nil || !a.configured(cmd) {
		return err
	}
	return a.configure(cmd)
}

// configure finds the settings.
func (a *app) configure(cmd *cobra.Command) (err error) {
	if a.settings, err = a.settingsOf(cmd); err != nil {
		return err
	}
	if rules := a.settings.Plans.Dialects; !a.dialects.given && rules != nil {
		a.dialects, err = configuredDialects(a.settings.given[dialectsSetting], rules)
	}
	return err
}

// strict makes a wrong number of arguments a usage error in every command.
func strict(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if _, wanted, some := strings.Cut(cmd.Use, " "); err != nil && some {
				err = fmt.Errorf("%s takes %s, and was given %s", cmd.CommandPath(), wanted, count(len(args), "argument"))
			}
			if err != nil {
				return usageError{err}
			}
			return nil
		}
	}
	for _, child := range cmd.Commands() {
		strict(child)
	}
}

// sources says where this process looks for its workspace.
func (a *app) sources() workspace.Sources {
	cwd, _ := os.Getwd() // without one, the other sources decide
	home, _ := os.UserHomeDir()
	state, _ := workspace.StateBase(a.env, runtime.GOOS) // without one, --store is needed
	return workspace.Sources{
		StateBase: state,
		Flag:      a.workspace, EnvWorkspace: a.env("WAYBILL_WORKSPACE"),
		ClaudeProjectDir: a.env("CLAUDE_PROJECT_DIR"), Cwd: cwd, Home: home,
	}
}

// complain prints an error: what, why, and its code.
func (a *app) complain(err error) {
	fault := new(schema.Error)
	if !errors.As(err, &fault) {
		a.say("waybill: " + plain(err.Error()))
		return
	}
	if a.json {
		_ = a.print(map[string]any{"error": fault})
		return
	}
	a.say(fmt.Sprintf("waybill: %s (%s)", plain(fault.Message), fault.Data.Code))
	if fault.Data.Hint != "" {
		a.say("  " + plain(fault.Data.Hint))
	}
}

// mindReader makes writing to an output that nobody reads any more an error, which can be dealt with,
// instead of the end of the process.
func mindReader() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// say writes a line to standard error. If even that is gone, there is nobody to tell.
func (a *app) say(line string) { _, _ = fmt.Fprintln(a.Err, line) }

func exitCode(err error) int {
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	fault, ok := errors.AsType[*schema.Error](err)
	if !ok {
		return exitFailed
	}
	switch {
	case fault.Data.Code == schema.StoreBusy, fault.Data.Code == schema.Overloaded:
		return exitBusy
	case fault.Code == schema.ErrorNumber(schema.InvalidParams), fault.Data.Code == schema.TooLarge, fault.Data.Code == schema.MethodNotFound:
		return exitUsage
	case fault.Code == schema.ErrorNumber(schema.RunGone), fault.Data.Code == schema.ItemGone, fault.Data.Code == schema.LedgerMissing:
		return exitNotFound
	case fault.Code == schema.ErrorNumber(schema.InvalidState), fault.Code == schema.ErrorNumber(schema.IdempotencyClash), fault.Data.Code == schema.ItemFixed:
		return exitConflict
	case fault.Code == schema.ErrorNumber(schema.StoreFull), fault.Code == schema.ErrorNumber(schema.StoreIO):
		return exitStore
	}
	return exitFailed
}

// print writes one JSON object and a newline.
func (a *app) print(v any) error {
	text, err := encode(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Out, "%s\n", text)
	return err
}

// printDocument writes a document that is JSON already.
func (a *app) printDocument(doc []byte) error {
	_, err := a.Out.Write(append(doc, '\n'))
	return err
}

// logger gives the log of the process, to w. WAYBILL_LOG sets the level; by default only what needs
// attention is said.
func (a *app) logger(w io.Writer) *slog.Logger {
	level := slog.LevelWarn
	if text := a.env("WAYBILL_LOG"); text != "" {
		if err := level.UnmarshalText([]byte(text)); err != nil {
			level = slog.LevelDebug
		}
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}
