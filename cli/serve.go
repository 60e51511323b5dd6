package cli

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"waybill/api"
	"waybill/rpc"
	"waybill/web"
	"waybill/wire"
)

// exitStdio is the exit code of serve and mcp when standard input or output cannot be used.
const exitStdio = 4

// memoryLimit is the soft limit of the process's memory, unless GOMEMLIMIT says otherwise.
const memoryLimit = 256 << 20

// lastBreath bounds what happens after the connection has ended: what was committed is safe by then,
// so this only keeps a disk that hangs from keeping the process.
const lastBreath = 300 * time.Millisecond

type serveFlags struct {
	framing string
	hostFlags
}

// hostFlags are those of every command that converses with a host.
type hostFlags struct {
	noParentWatch bool
	http          string // "" is none
}

func addHostFlags(cmd *cobra.Command, f *hostFlags) {
	cmd.Flags().BoolVar(&f.noParentWatch, "no-parent-watch", false, "stay when the parent process is gone")
	addSettingFlags(cmd)
	addHTTPFlag(cmd, &f.http)
}

func (a *app) serveCommand() *cobra.Command {
	var f serveFlags
	var stdio bool
	cmd := &cobra.Command{
		Use: "serve", Short: "Serve JSON-RPC on standard input and output (the default with a pipe)", Args: cobra.NoArgs,
		Long: `Serve JSON-RPC 2.0 on standard input and output. Standard output carries protocol and nothing else.

The rules that --dialect or WAYBILL_DIALECT gives are kept beside the store, and all processes of the workspace
read its plans by them, until serve is given others; --dialect '' removes them.

With --http, programs of this machine are served over HTTP as long as the host is there; see docs/http.md.

What is set by a flag here, by the environment or by the configuration holds where a call says nothing.

Exit codes: 0 at the end of input, after a signal and after shutdown and exit; 1 after exit without
shutdown; 2 for a mistake on the command line; 4 if standard input or output cannot be used.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), f) },
	}
	cmd.Flags().StringVar(&f.framing, "framing", "auto", "auto, line or header")
	addHostFlags(cmd, &f.hostFlags)
	cmd.Flags().BoolVar(&stdio, "stdio", true, "accepted because hosts pass it; it is always served")
	_ = cmd.Flags().MarkHidden("stdio")
	_ = cmd.RegisterFlagCompletionFunc("framing",
		cobra.FixedCompletions([]string{"auto", "line", "header"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// addSettingFlags adds the flags that come before the environment and the configuration. What they are is
// looked for by settingsOf, in all these places alike.
func addSettingFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Bool("poll", false, "look at the plans every second, for a file system that does not tell of changes")
	flags.Duration(retryDelayFlag, time.Second,
		"the first wait before a task is tried again on the model that it failed on; it doubles up to a minute; 0 is none")
	flags.String("output-dir", "",
		"a folder beside the workspace from which ingest_output may read results, such as the host's temporary one")
	flags.String("tokenizer", api.Estimate,
		"how the tokens of a prompt are counted: estimate (four characters each) or o200k (with that vocabulary)")
	flags.String("max-input-tokens-worker", "4800", "the tokens that the model of a worker takes in, where compile_prompt says nothing")
	flags.String("max-input-tokens-reviewer", "4000", "the tokens that the model of a reviewer takes in")
	flags.String("max-output-tokens", "1200", "the tokens that an agent may write; the rest of its input is the budget of a prompt")
	_ = cmd.RegisterFlagCompletionFunc("tokenizer",
		cobra.FixedCompletions(api.Tokenizers(), cobra.ShellCompDirectiveNoFileComp))
	noFiles(cmd, "max-input-tokens-worker", "max-input-tokens-reviewer", "max-output-tokens")
	markSettings(cmd)
}

// serve is one conversation with one host in JSON-RPC. It ends with a.code.
func (a *app) serve(ctx context.Context, f serveFlags) error {
	framing, err := wire.ParseFraming(f.framing)
	if err != nil {
		return usageError{err}
	}
	return a.host(ctx, f.hostFlags, func(ctx context.Context, l link) (int, error) {
		return rpc.Serve(ctx, rpc.Options{
			In: l.in, Out: l.out, Framing: framing, Table: l.service.Table(), Notify: l.service.Notify, Logger: l.logger, Tally: l.tally,
		})
	})
}

// A link is what a front door needs for a conversation with the host.
type link struct {
	in      io.ReadCloser
	out     io.WriteCloser
	logger  *slog.Logger
	tally   *wire.Tally
	service *api.Service
}

// A dialogue is a conversation in the language of one front door. It gives the exit code.
type dialogue func(ctx context.Context, l link) (exitCode int, err error)

// host puts standard input and output, the log and the memory in order, and holds a dialogue.
func (a *app) host(ctx context.Context, f hostFlags, talk dialogue) error {
	at, err := f.address()
	if err != nil {
		return usageError{err}
	}
	in, out, err := wire.Stdio()
	if err != nil {
		a.code = exitStdio
		a.say("waybill: " + err.Error())
		return nil
	}
	if a.env("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	log := wire.NewLogWriter(a.Err)
	logging := newGroup()
	logging.run(func(ctx context.Context) { _ = log.Run(ctx) }) // it reports nothing
	defer logging.stop()
	l := link{in: in, out: out, logger: a.logger(log), tally: new(wire.Tally)}
	return a.converse(ctx, f, at, l, log.Dropped, talk)
}

// converse holds a dialogue, until the host or a signal ends it, and serves HTTP beside it if it is said where.
// unlogged counts the lines that the log has lost.
func (a *app) converse(ctx context.Context, f hostFlags, at *web.Address, l link, unlogged func() int64, talk dialogue) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	leaveOnSignals(l.logger, stop)
	// Here and not beside the conversation: a parent that dies right after the first answer must have
	// been known before.
	host := wire.NewParentWatch()
	if !f.noParentWatch {
		leaveWithHost(ctx, host, l.logger, stop)
	}
	b := a.servingBackend(l.logger)
	b.host = countsOfHost(l.tally, unlogged)
	service, err := api.New(api.Options{
		Version: a.version, Sources: a.sources(), Start: b.start, Host: host.Name,
		Watcher: b.status, Connection: l.tally.Status, Degraded: b.troubles,
		Settings: a.settings.partial, Changed: a.settings.changed(),
	})
	if err != nil {
		return err
	}
	l.service = service
	door := a.openHTTP(at, service, service.Table(), b)
	a.code, err = talk(ctx, l)
	door.close()
	b.abandon(lastBreath)
	return err
}

// servingBackend gives a backend that goes by the settings.
func (a *app) servingBackend(logger *slog.Logger) *backend {
	b := newBackend(a.version, a.store, true, logger)
	b.name, b.shared = a.name, a.shared
	b.poll = *a.settings.Plans.Poll
	b.retryDelay, b.keeps, b.outputDir = a.settings.retryDelay(), a.settings.keep(), a.settings.Results.OutputDir
	b.dialects, b.keepDialects = a.dialects, true
	return b
}

// leaveWithHost ends the conversation when the host is gone without having said so.
func leaveWithHost(ctx context.Context, host *wire.ParentWatch, logger *slog.Logger, stop func()) {
	go func() { // ends with ctx
		if host.Run(ctx) == nil {
			logger.Warn("the host is gone: the parent process, or the one that initialize named with process_id")
			stop()
		}
	}()
}

// leaveOnSignals ends the conversation at the first signal that asks for it. The second one finds
// nobody listening and ends the process at once.
func leaveOnSignals(logger *slog.Logger, stop func()) {
	signals := make(chan os.Signal, 1)
	leave := listen(signals) // before the first answer, or a signal right after it would kill
	go func() {              // ends with the process
		first := <-signals
		signal.Reset(leave...)
		logger.Info("leaving; a second signal ends the process at once", "signal", first)
		stop()
	}()
}

// listen has those of the signals that end a process come to the channel which are not ignored, and gives them.
func listen(to chan<- os.Signal) (heeded []os.Signal) {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as nohup wants it, and a script for what it runs beside itself
			heeded = append(heeded, s)
		}
	}
	signal.Notify(to, heeded...)
	return heeded
}
