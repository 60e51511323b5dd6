package task

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/internal/lazy"
	"waybill/schema"
)

func (a storeCommands) callCommand() *cobra.Command {
	return &cobra.Command{
		Use: "call METHOD [PARAMS]", Short: "Call one method and print its result", Args: cobra.RangeArgs(1, 2),
		Long: "Carry out one method on the store of the workspace and print its result as JSON.\nPARAMS is a JSON object, or - to read it from standard input.",
		Example: `  waybill call queue_instruction '{"content": "Prefer small commits."}'
  waybill call get_plan '{"plan": "tasks.md"}'`,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return callable(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if only := notForAgents.Get()[args[0]]; only != "" {
				if err := a.RefuseAgents(only); err != nil {
					return err
				}
			}
			params, err := a.params(args[1:])
			if err != nil {
				return err
			}
			l, err := a.Local()
			if err != nil {
				return err
			}
			defer l.Close()
			output.CatchClosedPipe()
			return a.answer(cmd.Context(), l, args[0], params)
		},
	}
}

// notForAgents has the methods that an agent must not call, and who may.
var notForAgents = lazy.Value[map[string]string]{Of: func() map[string]string {
	return map[string]string{
		"report_check": "an agent writes no receipts", "unblock_run": onlyPersons,
	}
}}

// answer calls a method and prints its result. If the output is closed, handed out work is taken back, as it is after
// the end of a host.
func (a storeCommands) answer(ctx context.Context, l *program.Local, method string, params []byte) error {
	answer, err := l.CarryOut(ctx, method, params)
	if err != nil {
		return err
	}
	if err = a.Print(answer.Result); err == nil {
		return nil
	}
	err = fmt.Errorf("print the result of %s: %w", method, err)
	if answer.Undelivered == nil {
		return err
	}
	answer.Undelivered()
	return fmt.Errorf("what it handed out is taken back and will be handed out again: %w", err)
}

// params returns the params of a call from the rest of its arguments.
func (a storeCommands) params(args []string) ([]byte, error) {
	switch {
	case len(args) == 0:
		return nil, nil
	case args[0] != "-":
		return []byte(args[0]), nil
	}
	text, err := io.ReadAll(io.LimitReader(a.In, schema.MaxMessageBytes+1))
	if err == nil && len(text) > schema.MaxMessageBytes {
		err = output.UsageError(fmt.Errorf("the params are larger than %d bytes", schema.MaxMessageBytes))
	}
	return text, err
}

// callable lists the methods that are not about a connection.
func callable() []string {
	var names []string
	for _, m := range schema.Methods {
		if m.Kind != schema.Connection {
			names = append(names, m.Name+"\t"+strings.SplitAfterN(m.Doc, ".", 2)[0])
		}
	}
	return names
}
