package serve

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/mcp"
	"waybill/mcp/supervise"
	"waybill/mcp/tool"
	"waybill/schema"
	"waybill/wire"
)

type mcpFlags struct {
	hooks  bool
	worker bool // this process serves for a supervisor
	hostFlags
}

func (a commands) mcpCommand() *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Example: "  waybill mcp",
		Use:     "mcp", Short: "Serve the Model Context Protocol on standard input and output", Args: cobra.NoArgs,
		Long: `Serve the Model Context Protocol on standard input and output, one message a line: tools for the model,
the ledgers and the waiting questions as resources, and prompts; see docs/mcp.md. Hosts with and without a
handshake are served, up to version 2026-07-28. Standard output carries the protocol only.

A small process keeps the conversation and starts the serving one again if that dies, because most hosts would lose
the server for the rest of their session.

The store, the settings and other processes of the workspace are handled as in serve.

Exit codes: 0 at the end of input and after a signal; 2 for a wrong command line; 4 if standard input or output
cannot be used; 1 if the serving process died again and again; 5 if the store could not be used during the whole session.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.worker || !canSupervise {
				return a.serveMCP(cmd.Context(), f)
			}
			return a.superviseMCP(cmd.Context(), f.hostFlags, workerArgs())
		},
	}
	cmd.Flags().BoolVar(&f.worker, workerFlag, false, "serve for the supervisor that has started this process")
	_ = cmd.Flags().MarkHidden(workerFlag)
	cmd.Flags().BoolVar(&f.hooks, "hooks", false, "hooks of the host run waybill hook: the model sees no ids of instructions")
	addHostFlags(cmd, &f.hostFlags)
	return cmd
}

// workerFlag is how a supervisor starts a worker.
const workerFlag = "supervised"

// workerArgs returns the arguments of a worker for the same conversation.
func workerArgs() []string {
	args := slices.Clone(os.Args[1:])
	if n := len(args); n > 0 && args[n-1] == "--" {
		args = args[:n-1]
	}
	return append(args, "--"+workerFlag)
}

// superviseMCP keeps one conversation with one host, which workers serve. It ends with a.code.
func (a commands) superviseMCP(ctx context.Context, f hostFlags, args []string) error {
	if _, err := f.address(); err != nil {
		return output.UsageError(err)
	}
	return program.WithStdio(a.App, func(s program.Stdio) error {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		leaveOnSignals(s.Logger, stop)
		if !f.noParentWatch {
			leaveWithHost(ctx, wire.NewParentWatch(), s.Logger, stop)
		}
		var err error
		a.Code, err = supervise.Run(ctx, supervise.Options{
			In: s.In, Out: s.Out, Start: func() (*supervise.Worker, error) { return startWorker(args) },
			Repeatable: tool.Repeatable, Logger: s.Logger, MaxMessageBytes: schema.MaxMessageBytes,
		})
		if errors.Is(err, supervise.ErrKeepsDying) {
			a.Say("waybill: " + err.Error() + "; its last words are above, and `waybill doctor` looks for the cause")
			return nil
		}
		return err
	})
}

// serveMCP is one conversation with one host in the Model Context Protocol. It ends with a.code.
func (a commands) serveMCP(ctx context.Context, f mcpFlags) error {
	return a.host(ctx, f.hostFlags, func(ctx context.Context, l link) (int, error) {
		out := l.out
		if f.worker {
			confirmed, err := confirmedOutput(l.out)
			if err != nil {
				return program.ExitStdio, err
			}
			out = confirmed
		}
		return mcp.Serve(ctx, mcp.Options{
			In: l.in, Out: out, Table: l.service.Table(), Notify: l.service.Notify, Hooks: f.hooks, Supervised: f.worker, Version: a.Version,
			Logger: l.logger, Tally: l.tally,
		})
	})
}
