package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"waybill/schema"
	"waybill/store/postgres"
)

func (a *app) replyCommand() *cobra.Command {
	var message string
	cmd := &cobra.Command{
		Use: "reply ID [-m TEXT | -]", Short: "Answer a task and let it go on", Args: cobra.RangeArgs(1, 2),
		Long: `Answer a task that waits for a person; the same task goes on with the answer. The text is that of
-m, or with - standard input. On a terminal, without either, $VISUAL or $EDITOR is opened with the
question.`,
		Example: `  waybill reply tsk_01a1fb5b-2d50-758b-bb47-8d13bc50a563 -m 'Keep the old data.'
  git diff | waybill reply tsk_01a1fb5b-2d50-758b-bb47-8d13bc50a563 -`,
		ValidArgsFunction: a.taskIDs("AWAITING_RESPONSE", "BLOCKED", "ERROR", "CANCELLED"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id := args[0]
			given := cmd.Flags().Changed("message")
			switch {
			case len(args) == 2 && args[1] != "-":
				return usageError{fmt.Errorf("%q is not understood: give the text with -m, or - for standard input", args[1])}
			case len(args) == 2 && given:
				return usageError{errors.New("give either -m or -, not both")}
			case given:
				return a.reply(cmd.Context(), schema.ReplyParams{TaskID: id, Reply: message})
			case len(args) == 2:
				return a.replyFromInput(cmd.Context(), id)
			case term.IsTerminal(int(a.In.Fd())):
				return a.replyFromEditor(cmd.Context(), id)
			}
			return usageError{errors.New("there is no text: give it with -m, or - for standard input")}
		},
	}
	cmd.Flags().StringVarP(&message, "message", "m", "", "the text")
	noFiles(cmd, "message")
	return cmd
}

func (a *app) reply(ctx context.Context, p schema.ReplyParams) error {
	if strings.TrimSpace(p.Reply) == "" {
		return usageError{errors.New("the reply is blank; the task was not answered")}
	}
	if !utf8.ValidString(p.Reply) {
		return usageError{errors.New("the reply is not UTF-8 text; the task was not answered")}
	}
	return a.with(func(l *local) error {
		var r schema.ReplyResult
		if err := l.call(ctx, "reply", p, &r); err != nil {
			return err
		}
		return a.done(r, "%s was %s and is %s again", r.TaskID, r.OldStatus, r.NewStatus)
	})
}

// replyFromInput takes what comes without the line ends behind it, which no person means.
func (a *app) replyFromInput(ctx context.Context, id string) error {
	text, err := io.ReadAll(io.LimitReader(a.In, schema.MaxReplyBytes+1)) // one more is refused as too large
	if err != nil {
		return fmt.Errorf("read the reply: %w", err)
	}
	if len(text) <= schema.MaxReplyBytes {
		text = []byte(strings.TrimRight(string(text), "\r\n"))
	}
	return a.reply(ctx, schema.ReplyParams{TaskID: id, Reply: string(text)})
}

// done prints what a change has come to: the result, or a sentence.
func (a *app) done(result any, format string, args ...any) error {
	if a.json {
		return a.print(result)
	}
	_, err := fmt.Fprintln(a.Out, plain(fmt.Sprintf(format, args...)))
	return err
}

func (a *app) retryCommand() *cobra.Command {
	var model string
	cmd := &cobra.Command{
		Use: "retry ID", Short: "Set a task going again that has ended without success", Args: cobra.ExactArgs(1),
		Long: `Set a task going again that is in ERROR, CANCELLED or BLOCKED. Without --model, its chain of models
begins anew. What stands behind the last colon of --model is the variant; a model whose name has a
colon in it is written with one more behind it: ollama/llama3:8b: has no variant.`,
		ValidArgsFunction: a.taskIDs("ERROR", "BLOCKED", "CANCELLED"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p := schema.RetryTaskParams{TaskID: args[0]}
			if cmd.Flags().Changed("model") {
				m, err := parseModel(model)
				if err != nil {
					return usageError{fmt.Errorf("--model: %w", err)}
				}
				p.Model = &m
			}
			return a.with(func(l *local) error {
				var r schema.RetryTaskResult
				if err := l.call(cmd.Context(), "retry_task", p, &r); err != nil {
					return err
				}
				return a.done(r, "%s is %s: attempt %d%s", r.Task.TaskID, r.Task.Status, r.Attempt.AttemptNumber, on(r.Attempt.Model))
			})
		},
	}
	cmd.Flags().StringVar(&model, "model", "", "the model for it: provider/model[:variant]")
	noFiles(cmd, "model")
	return cmd
}

func on(m *schema.Model) string {
	if m == nil {
		return ""
	}
	return " on " + modelName(m)
}

// parseModel reads provider/model[:variant]. The names of models may have slashes in them.
func parseModel(text string) (schema.Model, error) {
	provider, rest, _ := strings.Cut(text, "/")
	model, variant := rest, ""
	if i := strings.LastIndexByte(rest, ':'); i >= 0 {
		model, variant = rest[:i], rest[i+1:]
	}
	if strings.TrimSpace(provider) == "" || strings.TrimSpace(model) == "" {
		return schema.Model{}, fmt.Errorf("%q is not provider/model or provider/model:variant", text)
	}
	return schema.Model{ProviderID: provider, ModelID: model, Variant: variant}, nil
}

func (a *app) cancelCommand() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: "cancel ID", Short: "Withdraw a task or an instruction", Args: cobra.ExactArgs(1),
		Long: `Withdraw a task or an instruction. A task that runs is asked to end: its worker hears of it with the
next heartbeat and reports the end.`,
		ValidArgsFunction: a.taskIDs("AWAITING_RESPONSE", "RUNNING", "QUEUED", "BLOCKED"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(func(l *local) error {
				if strings.HasPrefix(args[0], "ins_") {
					return a.cancelInstruction(cmd.Context(), l, schema.CancelInstructionParams{InstructionID: args[0], Reason: reason})
				}
				return a.cancelTask(cmd.Context(), l, schema.CancelTaskParams{TaskID: args[0], Reason: reason})
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why; it is kept with it")
	noFiles(cmd, "reason")
	return cmd
}

func (a *app) cancelInstruction(ctx context.Context, l *local, p schema.CancelInstructionParams) error {
	var r schema.CancelInstructionResult
	if err := l.call(ctx, "cancel_instruction", p, &r); err != nil {
		return err
	}
	return a.done(r, "%s is %s", r.Instruction.InstructionID, r.Instruction.State)
}

func (a *app) cancelTask(ctx context.Context, l *local, p schema.CancelTaskParams) error {
	var r schema.TaskResult
	if err := l.call(ctx, "cancel_task", p, &r); err != nil {
		return err
	}
	if r.Task.CancelRequestedAt != "" {
		return a.done(r, "%s is %s and was asked to end; its worker has to report it", r.Task.TaskID, r.Task.Status)
	}
	return a.done(r, "%s is %s", r.Task.TaskID, r.Task.Status)
}

// replyLine is the command that answers a task of this store, ready to be pasted.
func (a *app) replyLine(id string) string { return a.pasteable("reply", id) + " -m '…'" }

// nextLine is what a person can do about a task that waits for one, or "".
func (a *app) nextLine(t schema.Task) string {
	switch t.Status {
	case "AWAITING_RESPONSE":
		return a.replyLine(t.TaskID)
	case "ERROR", "CANCELLED", "BLOCKED":
		return a.pasteable("retry", t.TaskID)
	}
	return ""
}

// pasteable is a command about a task of the workspace and the store that this command was given.
func (a *app) pasteable(verb, id string) string {
	line := "waybill " + verb + " " + plain(id)
	if a.workspace != "" {
		line += " --workspace " + shellQuoted(a.workspace)
	}
	if a.store != "" && !a.envStore {
		line += " --store " + shellQuoted(postgres.Shown(a.store))
	}
	if a.name != "" {
		line += " --workspace-name " + shellQuoted(a.name)
	}
	return line
}

// shellQuoted makes one word for a shell of a text.
func shellQuoted(text string) string {
	return "'" + strings.ReplaceAll(plain(text), "'", `'\''`) + "'"
}
