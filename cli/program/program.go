// Package program is one run of the program: the flags that all commands have, and the workspace and the store that
// they name. It refuses to know any single command.
package program

import (
	"io"
	"log/slog"
	"os"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"waybill/cli/output"
	"waybill/cli/settings"
	"waybill/engine/workspace"
)

// App is one run of the program.
type App struct {
	output.Printer
	Version string

	Workspace string // --workspace
	Store     string // --store, or WAYBILL_STORE
	envStore  bool   // whether the store was named by WAYBILL_STORE
	name      string // --workspace-name
	shared    bool   // --shared-disk

	config string // --config

	dialectFlags []string          // --dialect
	Dialects     settings.Dialects // of --dialect, the environment or the configuration
	Settings     settings.Settings // only in a command that uses them

	unlogged bool // nothing is logged

	Brief bool // the command makes one change to the store, and the process ends
	// Known, if it has a root, is the workspace of the process, which is not searched for again.
	Known workspace.Workspace
	Code  int // the exit code
}

// At returns the program for the usual store of another workspace, or for the store that was named. Nothing is logged,
// because a screen would show it. Flags and variables may be meant for one workspace, so another one has only the
// settings of the configuration.
func (a *App) At(root string) *App {
	at := *a
	at.unlogged = true
	if a.Store == "" {
		at.Workspace, at.Known, at.name = root, workspace.Workspace{}, ""
		at.dialectFlags, at.Dialects, at.Settings = nil, settings.Dialects{}, a.Settings.OfFile()
	}
	return &at
}

// AddFlags adds the flags that all commands have.
func (a *App) AddFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVar(&a.Workspace, "workspace", "", "the workspace directory (default: found from the current directory)")
	flags.StringVar(&a.Store, "store", "", "the store: a *.db file, a folder, or postgres://user@host/database\n(default: WAYBILL_STORE, or else in the state folder of the workspace)")
	flags.StringVar(&a.name, "workspace-name", "", "the name of the workspace in a database; machines with the same name share it (default: its id)")
	flags.BoolVar(&a.shared, "shared-disk", false, "allow a store on a disk that other machines share, for one process at a time")
	flags.StringVar(&a.config, "config", "", "the settings file; '' means none (default: WAYBILL_CONFIG, or config.json in your configuration folder)")
	flags.BoolVar(&a.JSON, "json", false, "print JSON")
	flags.BoolVar(&a.NoColor, "no-color", false, "print without colours")
	flags.BoolVar(&a.NoPager, "no-pager", false, "print long texts without $PAGER")
	flags.StringArrayVar(&a.dialectFlags, "dialect", nil,
		"GLOB=NAME: read the plans whose paths fit the glob in that dialect, whatever they say; of several the first counts "+
			"(default: WAYBILL_DIALECT, with commas between them, or else those that serve was given last)")
	_ = root.RegisterFlagCompletionFunc("dialect", cobra.NoFileCompletions)
	settings.MarkSettings(root)
}

// CheckFlags reads the flags that all commands have.
func (a *App) CheckFlags(cmd *cobra.Command) (err error) {
	if a.envStore = a.Store == ""; a.envStore {
		a.Store = a.Env(StoreVariable)
	}
	if err := a.NamedStore().Check(); err != nil {
		return err
	}
	a.Dialects, err = settings.ParseDialects(a.dialectFlags, cmd.Flags().Changed("dialect"), a.Env(settings.DialectVariable))
	if err != nil || !a.configured(cmd) {
		return err
	}
	return a.Configure(cmd)
}

// StoreFlag returns the store that --store names, or "".
func (a *App) StoreFlag() string {
	if a.envStore {
		return ""
	}
	return a.Store
}

// Configure finds the settings.
func (a *App) Configure(cmd *cobra.Command) (err error) {
	if a.Settings, err = a.Finder().SettingsOf(cmd); err != nil {
		return err
	}
	a.Dialects, err = a.Settings.Dialects(a.Dialects)
	return err
}

// Sources returns where this process searches for its workspace.
func (a *App) Sources() workspace.Sources {
	cwd, _ := os.Getwd() // without one, the other sources decide
	home, _ := os.UserHomeDir()
	state, _ := workspace.StateBase(a.Env, runtime.GOOS) // without one, --store is needed
	return workspace.Sources{
		StateBase: state,
		Flag:      a.Workspace, EnvWorkspace: a.Env("WAYBILL_WORKSPACE"),
		ClaudeProjectDir: a.Env("CLAUDE_PROJECT_DIR"), Cwd: cwd, Home: home, Known: a.Known,
	}
}

// Logger returns the log of the process, which writes to w. WAYBILL_LOG sets the level; by default the log has only
// warnings and errors.
func (a *App) Logger(w io.Writer) *slog.Logger {
	if a.unlogged {
		return slog.New(slog.DiscardHandler)
	}
	level := slog.LevelWarn
	if text := a.Env("WAYBILL_LOG"); text != "" {
		if err := level.UnmarshalText([]byte(text)); err != nil {
			level = slog.LevelDebug
		}
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}

// unconfigured are the commands that use no settings, so that a wrong setting does not stop them.
var unconfigured = []string{
	"version", "where", "schema", "completion", "help", "doctor", "backup", "salvage", "install", "setup",
}

// configured reports whether a command uses the settings.
func (a *App) configured(cmd *cobra.Command) bool {
	if !cmd.HasParent() && term.IsTerminal(int(a.In.Fd())) {
		return false // it prints help
	}
	for ; cmd.HasParent(); cmd = cmd.Parent() {
		if slices.Contains(unconfigured, cmd.Name()) {
			return false
		}
	}
	return true
}

// Finder finds the settings by the flags that all commands have.
func (a *App) Finder() *settings.Finder {
	return &settings.Finder{Env: a.Env, Config: a.config, Dialects: a.dialectFlags}
}
