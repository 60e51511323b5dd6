// Package serve has the commands that serve: JSON-RPC, the Model Context Protocol and the page.
package serve

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"waybill/api"
	"waybill/cli/backend"
	"waybill/cli/notify"
	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/cli/settings"
	"waybill/engine/workspace"
	"waybill/internal/safetext"
	"waybill/rpc"
	"waybill/store/postgres"
	"waybill/web"
	"waybill/wire"
)

// memoryLimit is the soft limit of the process's memory, unless GOMEMLIMIT says otherwise.
const memoryLimit = 256 << 20

// lastBreath limits the work after the connection has ended, so that a disk that hangs does not keep the process.
// Committed changes are safe by then.
const lastBreath = 300 * time.Millisecond

type serveFlags struct {
	framing string
	hostFlags
}

// hostFlags are the flags of every command that serves a host.
type hostFlags struct {
	notify        notify.Flags
	noParentWatch bool
	http          string // "" if HTTP is off
	allWorkspaces bool   // over HTTP
}

func addHostFlags(cmd *cobra.Command, f *hostFlags) {
	cmd.Flags().BoolVar(&f.noParentWatch, "no-parent-watch", false, "continue when the parent process ends")
	addSettingFlags(cmd)
	addHTTPFlag(cmd, &f.http)
	cmd.Flags().BoolVar(&f.allWorkspaces, "all-workspaces", false,
		"with --http, the page and its token reach all workspaces of this user, and not only that of the host")
}

// commands are the commands of this package, for one run of the program.
type commands struct{ *program.App }

// Command returns the command that serves JSON-RPC.
func Command(a *program.App) *cobra.Command { return commands{a}.serveCommand() }

// MCPCommand returns the command that serves the Model Context Protocol.
func MCPCommand(a *program.App) *cobra.Command { return commands{a}.mcpCommand() }

// PageCommand returns the command that opens the page in a browser.
func PageCommand(a *program.App) *cobra.Command { return commands{a}.uiCommand() }

// Stdio serves JSON-RPC in either framing on standard input and output, with no flags.
func Stdio(ctx context.Context, a *program.App) error {
	return commands{a}.serve(ctx, serveFlags{framing: "auto"})
}

func (a commands) serveCommand() *cobra.Command {
	var f serveFlags
	var stdio bool
	cmd := &cobra.Command{
		Example: "  waybill serve",
		Use:     "serve", Short: "Serve JSON-RPC on standard input and output", Args: cobra.NoArgs,
		Long: `Serve JSON-RPC 2.0 on standard input and output. Standard output carries the protocol only.

The rules of --dialect or WAYBILL_DIALECT are stored beside the store. All processes of the workspace read plans by
them until serve gets others; --dialect '' removes them.

--notify runs a command when something new waits for a person; see docs/inbox.md.

--http also serves programs of this machine over HTTP while the host is connected; see docs/http.md.

Flags, environment and configuration set the defaults for params that a call leaves out.

Exit codes: 0 at the end of input, after a signal and after shutdown and exit; 1 after exit without shutdown; 2 for a
wrong command line; 4 if standard input or output cannot be used; 5 if the store could not be used during the whole
session.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), f) },
	}
	cmd.Flags().StringVar(&f.framing, "framing", "auto", "auto, line or header")
	addHostFlags(cmd, &f.hostFlags)
	notify.AddFlags(cmd, &f.notify)
	cmd.Flags().BoolVar(&stdio, "stdio", true, "accepted for hosts that pass it; always on")
	_ = cmd.Flags().MarkHidden("stdio")
	_ = cmd.RegisterFlagCompletionFunc("framing",
		cobra.FixedCompletions([]string{"auto", "line", "header"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// addSettingFlags adds the flags that come before the environment and the configuration. Package settings
// reads their values.
func addSettingFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Bool("poll", false, "check plan files every second, for file systems without change events")
	flags.Duration(settings.RetryDelayFlag, time.Second,
		"the first wait before a task is tried again on the model that it failed on; it doubles up to a minute; 0 is none")
	flags.String("output-dir", "",
		"a folder beside the workspace from which ingest_output may read results, such as the host's temporary one")
	flags.String("tokenizer", api.Estimate,
		"how the tokens of a prompt are counted: estimate (four characters each) or o200k (with that vocabulary)")
	flags.String("max-input-tokens-worker", "4800", "input tokens of the model of a worker, if compile_prompt sets none")
	flags.String("max-input-tokens-reviewer", "4000", "input tokens of the model of a reviewer, if compile_prompt sets none")
	flags.String("max-output-tokens", "1200", "output tokens of an agent; the rest of its input is the budget of a prompt")
	_ = cmd.RegisterFlagCompletionFunc("tokenizer",
		cobra.FixedCompletions(api.Tokenizers(), cobra.ShellCompDirectiveNoFileComp))
	program.NoFiles(cmd, "max-input-tokens-worker", "max-input-tokens-reviewer", "max-output-tokens")
	settings.MarkSettings(cmd)
}

// serve is one conversation with one host in JSON-RPC. It ends with a.code.
func (a commands) serve(ctx context.Context, f serveFlags) error {
	framing, err := wire.ParseFraming(f.framing)
	if err != nil {
		return output.UsageError(err)
	}
	return a.host(ctx, f.hostFlags, func(ctx context.Context, l link) (int, error) {
		return rpc.Serve(ctx, rpc.Options{
			In: l.in, Out: l.out, Framing: framing, Table: l.service.Table(), Notify: l.service.Notify, Logger: l.logger, Tally: l.tally,
		})
	})
}

// A link connects a front door with its host.
type link struct {
	in      io.ReadCloser
	out     io.WriteCloser
	logger  *slog.Logger
	tally   *wire.Tally
	service *api.Service
}

// A dialogue serves a host in the protocol of one front door. It returns the exit code.
type dialogue func(ctx context.Context, l link) (exitCode int, err error)

// host puts standard input and output, the log and the memory in order, and holds a dialogue.
func (a commands) host(ctx context.Context, f hostFlags, talk dialogue) error {
	at, err := f.address()
	if err != nil {
		return output.UsageError(err)
	}
	if a.Env("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	return program.WithStdio(a.App, func(s program.Stdio) error {
		return a.converse(ctx, f, at, link{in: s.In, out: s.Out, logger: s.Logger, tally: new(wire.Tally)}, s.Dropped, talk)
	})
}

// converse serves a connection until the host or a signal ends it, and HTTP meanwhile if an address is set. unlogged
// counts the lines that the log has lost.
func (a commands) converse(ctx context.Context, f hostFlags, at *web.Address, l link, unlogged func() int64, talk dialogue) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	leaveOnSignals(l.logger, stop)
	// The watch begins before the conversation, because a parent may die right after the first answer.
	host := wire.NewParentWatch()
	if !f.noParentWatch {
		leaveWithHost(ctx, host, l.logger, stop)
	}
	beside, err := f.notify.Beside(l.logger)
	if err != nil {
		return err
	}
	o := a.BackendOptions(true, l.logger)
	o.KeepDialects, o.Beside = true, beside
	b := backend.New(o)
	b.Host = countsOfHost(l.tally, unlogged)
	service, err := api.New(api.Options{
		Version: a.Version, Sources: a.Sources(), Start: b.Start, Host: host.WatchProcess,
		Watcher: b.Status, Connection: l.tally.Status, Degraded: b.Troubles, RequireChecks: b.RequiredChecks,
		Settings: a.Settings.Partial, Changed: a.Settings.Changed(),
	})
	if err != nil {
		return err
	}
	l.service = service
	door := a.openHTTP(at, !f.allWorkspaces, service, service.Table(), b)
	a.Code, err = talk(ctx, l)
	door.close()
	if err == nil && a.Code == output.ExitOK && ctx.Err() == nil { // the host has ended it, and no signal
		a.requireStore(ctx, b)
	}
	b.Abandon(lastBreath + f.notify.AtEnd())
	return err
}

// lastTry bounds how long a conversation that has ended waits for a database that it has not used.
const lastTry = 3 * time.Second

// requireStore sets the exit code and prints the reason if the store could not be opened during the conversation. If no
// call needed the store, it checks whether the store could have been opened, and creates nothing.
func (a commands) requireStore(ctx context.Context, b *backend.Backend) {
	used, err := b.Fate()
	if used {
		return
	}
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, lastTry)
		defer cancel()
		err = a.foreseeStore(ctx)
	}
	if err == nil {
		return
	}
	a.Code = output.ExitStore
	a.Say("waybill: the store could not be used: " + safetext.Printable(err.Error()) + "\n  `waybill doctor` says more about it and what to do")
}

// foreseeStore returns why the next call could not use the store, as far as known without creating anything.
func (a commands) foreseeStore(ctx context.Context) error {
	ws, err := workspace.Resolve(a.Sources())
	if err != nil && (a.Store == "" || postgres.Names(a.Store)) {
		return nil // the host may have been about to name the workspace
	}
	if err := a.ForeseePlace(ws); err != nil || !postgres.Names(a.Store) {
		return err
	}
	return postgres.Reach(ctx, postgres.Options{URL: a.Store, Workspace: a.WorkspaceName(ws), Version: a.Version})
}

// leaveWithHost ends the conversation when the host dies without closing it.
func leaveWithHost(ctx context.Context, host *wire.ParentWatch, logger *slog.Logger, stop func()) {
	go func() { // ends with ctx
		if host.Run(ctx) == nil {
			logger.Warn("the host has ended: the parent process, or the process_id of initialize")
			stop()
		}
	}()
}

// leaveOnSignals ends the conversation at the first signal that asks for it. The second one finds
// no listener and ends the process at once.
func leaveOnSignals(logger *slog.Logger, stop func()) {
	signals := make(chan os.Signal, 1)
	leave := program.ListenToSignals(signals) // before the first answer, or a signal right after it would kill
	go func() {                               // ends with the process
		first := <-signals
		signal.Reset(leave...)
		logger.Info("shutting down; a second signal ends the process at once", "signal", first)
		stop()
	}()
}
