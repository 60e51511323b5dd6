package cli

import "github.com/spf13/cobra"

// mcpCommand has what concerns hosts that speak MCP.
func (a *app) mcpCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "mcp", Short: "What concerns hosts that speak MCP", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.mcpInstallCommand())
	return cmd
}
