package cli

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

func (a *app) promptCommand() *cobra.Command {
	f := promptFlags{role: promptRoles[0]}
	cmd := &cobra.Command{
		Use: "prompt RUN | prompt PLAN ITEM", Short: "Show the prompt that would be sent now, and whose words are in it", Args: cobra.RangeArgs(1, 2),
		Long: `Show what an agent would be sent now for a run, or for the newest run of an item of a plan: block by block,
each with whose words it holds, whether they are trusted, and its tokens; then the tokens of all blocks, the
budget, what was left out and why. Nothing is counted and nothing is kept: it is not taken for a prompt that
was given. What cannot be printed is shown as U+FFFD, also in a pipe, where nothing is coloured or broken.

With --diff, what differs from the prompt that was given last for that role; the exit code is 0 either way.
Who was given that one with a cursor gives the same cursor with --since, to compare like with like.
With --raw, the bytes of the prompt and nothing else, for a pipe or a file: on a terminal it is refused,
because the words of others in it could be more than words there. With --json, what compile_prompt gives.`,
		Example:           "  waybill prompt specs/clock/tasks.md 2.1\n  waybill prompt run_0197… --role reviewer --diff\n  waybill prompt tasks.md 3 --raw > prompt.txt",
		ValidArgsFunction: a.planNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.checkPromptFlags(f); err != nil {
				return err
			}
			return a.with(func(l *local) error { return a.prompt(cmd.Context(), l, args, f.params(cmd), f) })
		},
	}
	f.add(cmd)
	return cmd
}

// add adds the flags to the command.
func (f *promptFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.role, "role", f.role, "whom it is for: "+strings.Join(promptRoles, ", "))
	flags.StringVar(&f.since, "since", "", "the cursor of the newest packet that the agent has (default: it has none)")
	flags.BoolVar(&f.diff, "diff", false, "only what differs from the prompt that was given last")
	flags.BoolVar(&f.raw, "raw", false, "only the bytes of the prompt, not on a terminal")
	flags.IntVar(&f.maxInput, "max-input-tokens", 0, "what the model takes in (default: as it is set, or what is usual for the role)")
	flags.IntVar(&f.maxOutput, "max-output-tokens", 0, "what the agent may write (default: as it is set, or 1200)")
	flags.StringVar(&f.tokenizer, "tokenizer", "", "how tokens are counted: "+strings.Join(api.Tokenizers(), ", ")+" (default: as it is set)")
	_ = cmd.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(slices.Clone(promptRoles), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("tokenizer", cobra.FixedCompletions(api.Tokenizers(), cobra.ShellCompDirectiveNoFileComp))
	noFiles(cmd, "since", "max-input-tokens", "max-output-tokens")
}

// params gives what compile_prompt is asked for, but for the run.
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

// checkPromptFlags refuses what can be seen to be a mistake before anything is looked up.
func (a *app) checkPromptFlags(f promptFlags) error {
	switch {
	case !slices.Contains(promptRoles, f.role):
		return usageError{fmt.Errorf("--role %q: must be one of %s", f.role, strings.Join(promptRoles, ", "))}
	case f.tokenizer != "" && !slices.Contains(api.Tokenizers(), f.tokenizer):
		return usageError{fmt.Errorf("--tokenizer %q: must be one of %s", f.tokenizer, strings.Join(api.Tokenizers(), ", "))}
	case f.raw && (f.diff || a.json):
		return usageError{errors.New("--raw prints the prompt and nothing else: it does not go with --diff or --json")}
	case f.raw && term.IsTerminal(int(a.Out.Fd())):
		return usageError{errors.New("--raw is for a pipe or a file; without it the prompt is shown in a way that is safe on a terminal")}
	}
	return nil
}

// prompt shows the prompt for the run that the arguments name.
func (a *app) prompt(ctx context.Context, l *local, args []string, p schema.CompilePromptParams, f promptFlags) error {
	p.RunID = args[0]
	if len(args) == 2 {
		var found schema.ResumeRunResult
		if err := l.call(ctx, "resume_run", schema.ResumeRunParams{Plan: args[0], ItemID: args[1]}, &found); err != nil {
			return err
		}
		p.RunID = found.Run.RunID
	}
	var c schema.CompilePromptResult
	if err := l.call(ctx, "compile_prompt", p, &c); err != nil {
		return err
	}
	s := promptSheet{lineWidth: a.lineWidth(), now: time.Now(), style: a.style}
	switch {
	case f.diff && a.json:
		return a.print(promptDiffOf(c))
	case a.json:
		return a.print(c)
	case f.raw:
		_, err := a.Out.WriteString(c.Prompt)
		return err
	case f.diff:
		_, err := a.Out.WriteString(s.diff(p, c))
		return err
	}
	_, err := a.Out.WriteString(s.prompt(p, c))
	return err
}
