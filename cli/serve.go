package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"waybill/api"
	"waybill/rpc"
)

// exitStdio is the exit code of serve when standard input or output cannot be used.
const exitStdio = 4

// memoryLimit is the soft limit of the process's memory, unless GOMEMLIMIT says otherwise.
const memoryLimit = 256 << 20

// lastBreath bounds what happens after the connection has ended: what was committed is safe by then,
// so this only keeps a disk that hangs from keeping the process.
const lastBreath = 300 * time.Millisecond

type serveFlags struct {
	framing       string
	noParentWatch bool
	poll          bool
	retryDelay    time.Duration
	outputDir     string
	tokenizer     string
}

func (a *app) serveCommand() *cobra.Command {
	var f serveFlags
	var stdio bool
	cmd := &cobra.Command{
		Use: "serve", Short: "Serve JSON-RPC on standard input and output (the default with a pipe)", Args: cobra.NoArgs,
		Long: `Serve JSON-RPC 2.0 on standard input and output. Standard output carries protocol and nothing else.

The rules that --dialect or WAYBILL_DIALECT gives are kept beside the store, and all processes of the workspace
read its plans by them, until serve is given others; --dialect '' removes them.

Exit codes: 0 at the end of input, after a signal and after shutdown and exit; 1 after exit without
shutdown; 2 for a mistake on the command line; 4 if standard input or output cannot be used.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), f) },
	}
	cmd.Flags().StringVar(&f.framing, "framing", "auto", "auto, line or header")
	cmd.Flags().BoolVar(&f.noParentWatch, "no-parent-watch", false, "stay when the parent process is gone")
	cmd.Flags().BoolVar(&f.poll, "poll", false, "look at the plans every second, for a file system that does not tell of changes")
	cmd.Flags().DurationVar(&f.retryDelay, "retry-delay", time.Second,
		"the first wait before a task is tried again on the model that it failed on; it doubles up to a minute; 0 is none")
	cmd.Flags().StringVar(&f.outputDir, "output-dir", "",
		"a folder beside the workspace from which ingest_output may read results, such as the host's temporary one")
	cmd.Flags().StringVar(&f.tokenizer, "tokenizer", api.Estimate,
		"how the tokens of a prompt are counted: estimate (four characters each) or o200k (with that vocabulary)")
	cmd.Flags().BoolVar(&stdio, "stdio", true, "accepted because hosts pass it; there is no other way to serve")
	_ = cmd.Flags().MarkHidden("stdio")
	_ = cmd.RegisterFlagCompletionFunc("tokenizer",
		cobra.FixedCompletions(api.Tokenizers(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("framing",
		cobra.FixedCompletions([]string{"auto", "line", "header"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// serve is one conversation with one host. It ends with a.code.
func (a *app) serve(ctx context.Context, f serveFlags) error {
	framing, err := rpc.ParseFraming(f.framing)
	if err != nil {
		return usageError{err}
	}
	if f.retryDelay < 0 || f.retryDelay > time.Minute {
		return usageError{fmt.Errorf("--retry-delay %s: must be from 0 to 1m", f.retryDelay)}
	}
	if info, err := os.Stat(f.outputDir); f.outputDir != "" && (err != nil || !info.IsDir()) {
		return usageError{fmt.Errorf("--output-dir %s: must be a folder that exists", f.outputDir)}
	}
	if !slices.Contains(api.Tokenizers(), f.tokenizer) {
		return usageError{fmt.Errorf("--tokenizer %q: must be %s", f.tokenizer, strings.Join(api.Tokenizers(), " or "))}
	}
	in, out, err := rpc.Stdio()
	if err != nil {
		a.code = exitStdio
		a.say("waybill: " + err.Error())
		return nil
	}
	if a.env("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	log := rpc.NewLogWriter(a.Err)
	logging := newGroup()
	logging.run(func(ctx context.Context) { _ = log.Run(ctx) }) // it reports nothing
	defer logging.stop()
	return a.converse(ctx, f, rpc.Options{In: in, Out: out, Framing: framing, Logger: a.logger(log)})
}

// converse carries the conversation, until the host or a signal ends it.
func (a *app) converse(ctx context.Context, f serveFlags, o rpc.Options) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	leaveOnSignals(o.Logger, stop)
	// Here and not beside the conversation: a parent that dies right after the first answer must have
	// been known before.
	host := rpc.NewParentWatch()
	if !f.noParentWatch {
		leaveWithHost(ctx, host, o.Logger, stop)
	}
	b := newBackend(a.version, a.store, true, o.Logger)
	b.shared = a.shared
	b.poll = f.poll
	b.retryDelay = f.retryDelay
	b.outputDir = f.outputDir
	b.dialects, b.keepDialects = a.dialects, true
	o.Tally = new(rpc.Tally)
	service, err := api.New(api.Options{
		Version: a.version, Sources: a.sources(), Start: b.start, Host: host.Name,
		Watcher: b.status, Connection: o.Tally.Status, Degraded: b.troubles,
		Tokenizer: f.tokenizer,
	})
	if err != nil {
		return err
	}
	o.Table, o.Notify = service.Table(), service.Notify
	a.code, err = rpc.Serve(ctx, o)
	b.abandon(lastBreath)
	return err
}

// leaveWithHost ends the conversation when the host is gone without having said so.
func leaveWithHost(ctx context.Context, host *rpc.ParentWatch, logger *slog.Logger, stop func()) {
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
	var leave []os.Signal
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		if !signal.Ignored(sig) { // as nohup wants it
			leave = append(leave, sig)
		}
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, leave...) // before the first answer, or a signal right after it would kill
	go func() {                      // ends with the process
		first := <-signals
		signal.Reset(leave...)
		logger.Info("leaving; a second signal ends the process at once", "signal", first)
		stop()
	}()
}
