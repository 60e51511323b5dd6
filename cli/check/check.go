// Package check has the commands about the checks of a workspace: it runs them by hand, lists them, and asks a person whether
// to trust them. It refuses to trust anything without a person at a terminal.
package check

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"waybill/check/config"
	"waybill/check/trust"
	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/engine/workspace"
	"waybill/internal/nearest"
	"waybill/schema"
)

// commands are the commands of this package, for one run of the program.
type commands struct{ *program.App }

const exitCodes = `

Exit codes: 0 if every check is green; 1 if one is red or changes files; 2 if ` + config.Name + ` has mistakes; 3 if there is no
check or no such run; 4 if a check is not trusted, or the work changed a file that it protects; 130 after an interruption.`

// Command returns the command.
func Command(a *program.App) *cobra.Command {
	c := commands{a}
	cmd := &cobra.Command{
		Use: "check [RUN | PLAN ITEM]", Short: "Run the checks of the workspace, list them, or trust them",
		Long: `Run the checks for items that ` + config.Name + ` declares, and print their outcomes. With a run, or with a plan and an item,
run the checks that the run requires and record their receipts.

Only checks that a person trusts run: see waybill check trust.` + exitCodes,
		Example: "  waybill check\n  waybill check tasks.md 2.1",
		Args:    cobra.MaximumNArgs(2), ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.AddCommand(c.trustCommand(), c.listCommand(), c.runCommand())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if near := nearest.Names(strings.Join(args, " "), []string{"trust", "list", "run"}); len(near) > 0 {
			return output.UsageError(fmt.Errorf("unknown command %q: did you mean %s?", args[0], strings.Join(near, " or ")))
		}
		return c.run(cmd.Context(), args)
	}
	return cmd
}

func (a commands) runCommand() *cobra.Command {
	return &cobra.Command{
		Use: "run [RUN | PLAN ITEM]", Short: "Run the checks of the workspace or of a run",
		Long:    "Run checks, as waybill check without a further word does." + exitCodes,
		Example: "  waybill check run tasks.md 2.1",
		Args:    cobra.MaximumNArgs(2), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error { return a.run(cmd.Context(), args) },
	}
}

// place returns the workspace and where the checks of it are declared and trusted.
func (a commands) place() (workspace.Workspace, trust.Place, error) {
	ws, err := workspace.Resolve(a.Sources())
	if err != nil {
		return ws, trust.Place{}, schema.NewError(schema.NoWorkspace, err.Error())
	}
	return ws, trust.Place{Root: ws.Root, StateDir: ws.StateDir}, nil
}

// errNone says that there is nothing that could prove anything.
func errNone(p trust.Place) error {
	return schema.NewError(schema.SubjectGone, "there is no "+config.Name+" in "+p.Root).Hint("docs/checks.md says how to declare checks")
}
