// Package prompt has the command that shows the result of compile_prompt.
package prompt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"waybill/api"
	"waybill/cli/output"
	"waybill/cli/planfiles"
	"waybill/cli/program"
	"waybill/schema"
)

// promptRoles are whom a prompt can be for.
var promptRoles = []string{"worker", "spec-reviewer", "code-quality-reviewer", "reviewer"}

// promptFlags are the flags of `waybill prompt`.
type promptFlags struct {
	role, since, tokenizer string
	maxInput, maxOutput    int
	diff, raw              bool
}

// commands are the commands of this package, for one run of the program.
type commands struct{ *program.App }

// Command returns the command.
func Command(a *program.App) *cobra.Command { return commands{a}.promptCommand() }

func (a commands) promptCommand() *cobra.Command {
	f := promptFlags{role: promptRoles[0]}
	cmd := &cobra.Command{
		Use: "prompt RUN | prompt PLAN ITEM", Short: "Show the prompt that would be sent now, block by block", Args: cobra.RangeArgs(1, 2),
		Long: `Show the prompt that an agent would get now for a run, or for the newest run of an item: each block with its source,
its trust and its tokens; then the total, the budget, and the omitted parts with reasons. The command is a preview: it
counts and stores nothing. Unprintable characters appear as U+FFFD, also in a pipe, where nothing is coloured or broken.

--diff prints the differences from the last prompt of that role; the exit code is 0 either way. If that prompt was
compiled with a cursor, pass the same cursor with --since. --raw prints the bytes of the prompt only, for a pipe or a
file. A terminal is refused, because text of others could control it. --json prints the result of compile_prompt.`,
		Example:           "  waybill prompt specs/clock/tasks.md 2.1\n  waybill prompt run_0197… --role reviewer --diff\n  waybill prompt tasks.md 3 --raw > prompt.txt",
		ValidArgsFunction: planfiles.Complete(a.App),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.checkPromptFlags(f); err != nil {
				return err
			}
			return a.With(func(l *program.Local) error { return a.prompt(cmd.Context(), l, args, f.params(cmd), f) })
		},
	}
	f.add(cmd)
	return cmd
}

// add adds the flags to the command.
func (f *promptFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.role, "role", f.role, "the role of the agent: "+strings.Join(promptRoles, ", "))
	flags.StringVar(&f.since, "since", "", "the cursor of the newest packet that the agent has (default: it has none)")
	flags.BoolVar(&f.diff, "diff", false, "print only the differences from the last prompt")
	flags.BoolVar(&f.raw, "raw", false, "print only the bytes of the prompt; refused on a terminal")
	flags.IntVar(&f.maxInput, "max-input-tokens", 0, "input limit of the model (default: the setting, or the usual limit of the role)")
	flags.IntVar(&f.maxOutput, "max-output-tokens", 0, "output limit of the agent (default: the setting, or 1200)")
	flags.StringVar(&f.tokenizer, "tokenizer", "", "the tokenizer: "+strings.Join(api.Tokenizers(), ", ")+" (default: the setting)")
	_ = cmd.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(slices.Clone(promptRoles), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("tokenizer", cobra.FixedCompletions(api.Tokenizers(), cobra.ShellCompDirectiveNoFileComp))
	program.NoFiles(cmd, "since", "max-input-tokens", "max-output-tokens")
}

// params returns the params of compile_prompt without the run.
func (f *promptFlags) params(cmd *cobra.Command) schema.CompilePromptParams {
	p := schema.CompilePromptParams{Role: f.role, Since: f.since, Tokenizer: f.tokenizer, Blocks: true, Preview: true}
	if cmd.Flags().Changed("max-input-tokens") {
		p.MaxInputTokens = &f.maxInput
	}
	if cmd.Flags().Changed("max-output-tokens") {
		p.MaxOutputTokens = &f.maxOutput
	}
	return p
}

// checkPromptFlags refuses flags that are wrong for every run.
func (a commands) checkPromptFlags(f promptFlags) error {
	switch {
	case !slices.Contains(promptRoles, f.role):
		return output.UsageError(fmt.Errorf("--role %q: must be one of %s", f.role, strings.Join(promptRoles, ", ")))
	case f.tokenizer != "" && !slices.Contains(api.Tokenizers(), f.tokenizer):
		return output.UsageError(fmt.Errorf("--tokenizer %q: must be one of %s", f.tokenizer, strings.Join(api.Tokenizers(), ", ")))
	case f.raw && (f.diff || a.JSON):
		return output.UsageError(errors.New("--raw prints the prompt and nothing else: it does not go with --diff or --json"))
	case f.raw && term.IsTerminal(int(a.Out.Fd())):
		return output.UsageError(errors.New("--raw is for a pipe or a file; without it the prompt is shown in a way that is safe on a terminal"))
	}
	return nil
}

// limitFlags replaces parameters by flags in an error about the size of a prompt.
var limitFlags = strings.NewReplacer("max_input_tokens", "--max-input-tokens", "max_output_tokens", "--max-output-tokens")

// prompt shows the prompt for the run that the arguments name.
func (a commands) prompt(ctx context.Context, l *program.Local, args []string, p schema.CompilePromptParams, f promptFlags) error {
	run, err := program.RunID(ctx, l, args)
	if err != nil {
		return err
	}
	p.RunID = run
	var c schema.CompilePromptResult
	if err := l.Call(ctx, "compile_prompt", p, &c); err != nil {
		if fault, ok := errors.AsType[*schema.Error](err); ok {
			typed := *fault
			typed.Message = limitFlags.Replace(fault.Message)
			return &typed
		}
		return err
	}
	s := promptSheet{lineWidth: a.LineWidth(), now: time.Now(), style: a.Style}
	switch {
	case f.diff && a.JSON:
		return a.Print(promptDiffOf(c))
	case a.JSON:
		return a.Print(c)
	case f.raw:
		_, err := a.Out.WriteString(c.Prompt)
		return err
	case f.diff:
		_, err := a.Out.WriteString(s.diff(p, c))
		return err
	}
	_, err = a.Out.WriteString(s.prompt(p, c))
	return err
}
