package cli

import (
	"context"

	"github.com/spf13/cobra"

	"waybill/mcp"
)

func (a *app) mcpCommand() *cobra.Command {
	var f hostFlags
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve the Model Context Protocol on standard input and output", Args: cobra.NoArgs,
		Long: `Serve the Model Context Protocol on standard input and output, one message a line: tools for the model,
the ledgers and the waiting questions as resources, and prompts; see docs/mcp.md. Hosts that shake hands and hosts
that do not are served, up to the version 2026-07-28. Standard output carries protocol and nothing else.

Everything else is as with serve: the store, the settings and the other processes of the workspace.

Exit codes: 0 at the end of input and after a signal; 2 for a mistake on the command line; 4 if standard
input or output cannot be used.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serveMCP(cmd.Context(), f) },
	}
	addHostFlags(cmd, &f)
	cmd.AddCommand(a.mcpInstallCommand())
	return cmd
}

// serveMCP is one conversation with one host in the Model Context Protocol. It ends with a.code.
func (a *app) serveMCP(ctx context.Context, f hostFlags) error {
	return a.host(ctx, f, func(ctx context.Context, l link) (int, error) {
		return mcp.Serve(ctx, mcp.Options{
			In: l.in, Out: l.out, Table: l.service.Table(), Notify: l.service.Notify, Version: a.version, Logger: l.logger, Tally: l.tally,
		})
	})
}
