package serve

import (
	"context"

	"github.com/spf13/cobra"

	"waybill/mcp"
)

type mcpFlags struct {
	hooks bool
	hostFlags
}

func (a commands) mcpCommand() *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve the Model Context Protocol on standard input and output", Args: cobra.NoArgs,
		Long: `Serve the Model Context Protocol on standard input and output, one message a line: tools for the model,
the ledgers and the waiting questions as resources, and prompts; see docs/mcp.md. Hosts with and without a
handshake are served, up to version 2026-07-28. Standard output carries the protocol only.

The store, the settings and other processes of the workspace are handled as in serve.

Exit codes: 0 at the end of input and after a signal; 2 for a wrong command line; 4 if standard input or output
cannot be used; 5 if the store could not be used during the whole session.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serveMCP(cmd.Context(), f) },
	}
	cmd.Flags().BoolVar(&f.hooks, "hooks", false, "hooks of the host run waybill hook: the model sees no ids of instructions")
	addHostFlags(cmd, &f.hostFlags)
	return cmd
}

// serveMCP is one conversation with one host in the Model Context Protocol. It ends with a.code.
func (a commands) serveMCP(ctx context.Context, f mcpFlags) error {
	return a.host(ctx, f.hostFlags, func(ctx context.Context, l link) (int, error) {
		return mcp.Serve(ctx, mcp.Options{
			In: l.in, Out: l.out, Table: l.service.Table(), Notify: l.service.Notify, Hooks: f.hooks, Version: a.Version, Logger: l.logger, Tally: l.tally,
		})
	})
}
