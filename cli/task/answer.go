package task

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/internal/safetext"
	"waybill/schema"
	"waybill/store"
)

func (a commands) replyCommand() *cobra.Command {
	var message string
	cmd := &cobra.Command{
		Use: "reply ID [NUMBER | -m TEXT | -]", Short: "Answer a task so that it continues", Args: cobra.RangeArgs(1, 2),
		Long: `Answer a task that waits for a person; the same task continues with the answer. NUMBER takes one of the options of
the question, which waybill task show numbers. The text comes from -m, or with - from standard input. On a terminal without any of
them, $VISUAL or $EDITOR opens with the question.`,
		Example: `  waybill task reply tsk_01a1fb5b-2d50-758b-bb47-8d13bc50a563 2
  waybill task reply tsk_01a1fb5b-2d50-758b-bb47-8d13bc50a563 -m 'Keep the old data.'
  git diff | waybill task reply tsk_01a1fb5b-2d50-758b-bb47-8d13bc50a563 -`,
		ValidArgsFunction: taskIDs(a, "AWAITING_RESPONSE", "BLOCKED", "ERROR", "CANCELLED"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id := args[0]
			given := cmd.Flags().Changed("message")
			switch {
			case len(args) == 2 && given:
				return output.UsageError(fmt.Errorf("give either -m or %s, not both", safetext.Quote(args[1], 40)))
			case len(args) == 2 && args[1] != "-":
				return a.choose(cmd.Context(), id, args[1])
			case given:
				return a.reply(cmd.Context(), schema.ReplyParams{TaskID: id, Reply: message})
			case len(args) == 2:
				return a.replyFromInput(cmd.Context(), id)
			case term.IsTerminal(int(a.In.Fd())):
				return a.replyFromEditor(cmd.Context(), id)
			}
			return output.UsageError(errors.New("there is no text: give it with -m, or - for standard input"))
		},
	}
	cmd.Flags().StringVarP(&message, "message", "m", "", "the text")
	program.NoFiles(cmd, "message")
	return cmd
}

// choose answers with the option of a number. The answer is for the question that had this option, and for no later one.
func (a commands) choose(ctx context.Context, id, number string) error {
	n, err := strconv.Atoi(number)
	if err != nil {
		return output.UsageError(fmt.Errorf("%s is not understood: give the number of an option, the text with -m, or - for standard input", safetext.Quote(number, 40)))
	}
	var d schema.TaskDetail
	err = a.With(func(l *program.Local) (err error) {
		if id, err = l.FullID(ctx, id, store.TaskID); err != nil {
			return err
		}
		return l.Call(ctx, "get_task", schema.TaskParams{TaskID: id}, &d)
	})
	switch {
	case err != nil:
		return err
	case n < 1 || n > len(d.Task.Options):
		return output.UsageError(fmt.Errorf("%s has %d options, and %d is none of them; the task was not answered", id, len(d.Task.Options), n))
	}
	return a.reply(ctx, schema.ReplyParams{TaskID: id, Option: d.Task.Options[n-1].Label, AttemptID: d.Task.CurrentAttemptID})
}

func (a commands) reply(ctx context.Context, p schema.ReplyParams) error {
	if strings.TrimSpace(p.Reply) == "" && p.Option == "" {
		return output.UsageError(errors.New("the reply is blank; the task was not answered"))
	}
	if !utf8.ValidString(p.Reply) {
		return output.UsageError(errors.New("the reply is not UTF-8 text; the task was not answered"))
	}
	return a.With(func(l *program.Local) (err error) {
		if p.TaskID, err = l.FullID(ctx, p.TaskID, store.TaskID); err != nil {
			return err
		}
		var r schema.ReplyResult
		if err := l.Call(ctx, "reply", p, &r); err != nil {
			return err
		}
		if r.NewStatus == "COMPLETE" {
			return a.Done(r, "%s is answered; the session that asked gets the answer", r.TaskID)
		}
		return a.Done(r, "%s was %s and is %s again", r.TaskID, r.OldStatus, r.NewStatus)
	})
}

// replyFromInput sends standard input as the reply, without the line ends at its end.
func (a commands) replyFromInput(ctx context.Context, id string) error {
	text, err := io.ReadAll(io.LimitReader(a.In, schema.MaxReplyBytes+1)) // one more is refused as too large
	if err != nil {
		return fmt.Errorf("read the reply: %w", err)
	}
	if len(text) <= schema.MaxReplyBytes {
		text = []byte(strings.TrimRight(string(text), "\r\n"))
	}
	return a.reply(ctx, schema.ReplyParams{TaskID: id, Reply: string(text)})
}

func (a commands) retryCommand() *cobra.Command {
	var model string
	cmd := &cobra.Command{
		Example: "  waybill task retry 4d5e6f7a --model acme/large:high",
		Use:     "retry ID", Short: "Queue a task again that ended without success", Args: cobra.ExactArgs(1),
		Long: `Queue a task again that is in ERROR, CANCELLED or BLOCKED. Without --model, its chain of models restarts. The text
behind the last colon of --model is the variant. A model name with a colon needs one more colon at the end:
ollama/llama3:8b: has no variant.`,
		ValidArgsFunction: taskIDs(a, "ERROR", "BLOCKED", "CANCELLED"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p := schema.RetryTaskParams{TaskID: args[0]}
			if cmd.Flags().Changed("model") {
				m, err := program.ParseModel(model)
				if err != nil {
					return output.UsageError(fmt.Errorf("--model: %w", err))
				}
				p.Model = &m
			}
			return a.With(func(l *program.Local) (err error) {
				if p.TaskID, err = l.FullID(cmd.Context(), p.TaskID, store.TaskID); err != nil {
					return err
				}
				var r schema.RetryTaskResult
				if err := l.Call(cmd.Context(), "retry_task", p, &r); err != nil {
					return err
				}
				return a.Done(r, "%s is %s: attempt %d%s", r.Task.TaskID, r.Task.Status, r.Attempt.AttemptNumber, on(r.Attempt.Model))
			})
		},
	}
	cmd.Flags().StringVar(&model, "model", "", "the model: provider/model[:variant]")
	program.NoFiles(cmd, "model")
	return cmd
}

func on(m *schema.Model) string {
	if m == nil {
		return ""
	}
	return " on " + modelName(m)
}

// cancelCommand returns the command that cancels things of one kind. It takes the ids of both, so that an earlier spelling
// goes on working.
func (a commands) cancelCommand(of string) *cobra.Command {
	about, ids := "an instruction. It is sent no more.", complete(a, instructions(&schema.ListInstructionsParams{}).ids)
	if of == "task" {
		about = "a task. A running one is asked to stop: its worker learns of it at the next heartbeat and reports the end."
		ids = taskIDs(a, "AWAITING_RESPONSE", "RUNNING", "QUEUED", "BLOCKED")
	}
	var reason string
	cmd := &cobra.Command{
		Use: "cancel ID", Short: "Cancel " + strings.SplitAfterN(about, of, 2)[0], Args: cobra.ExactArgs(1), Long: "Cancel " + about,
		Example:           "  waybill " + of + " cancel 4d5e6f7a --reason 'it is not needed any more'",
		ValidArgsFunction: ids,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.With(func(l *program.Local) error {
				id, err := l.FullID(cmd.Context(), args[0], store.TaskID, store.InstructionID)
				if err != nil {
					return err
				}
				if strings.HasPrefix(id, "ins_") {
					return a.cancelInstruction(cmd.Context(), l, schema.CancelInstructionParams{InstructionID: id, Reason: reason})
				}
				return a.cancelTask(cmd.Context(), l, schema.CancelTaskParams{TaskID: id, Reason: reason})
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "the reason, stored with the task or instruction")
	program.NoFiles(cmd, "reason")
	return cmd
}

func (a commands) cancelInstruction(ctx context.Context, l *program.Local, p schema.CancelInstructionParams) error {
	var r schema.CancelInstructionResult
	if err := l.Call(ctx, "cancel_instruction", p, &r); err != nil {
		return err
	}
	return a.Done(r, "%s is %s", r.Instruction.InstructionID, r.Instruction.State)
}

func (a commands) cancelTask(ctx context.Context, l *program.Local, p schema.CancelTaskParams) error {
	var r schema.TaskResult
	if err := l.Call(ctx, "cancel_task", p, &r); err != nil {
		return err
	}
	if r.Task.CancelRequestedAt != "" {
		return a.Done(r, "%s is %s and was asked to end; its worker has to report it", r.Task.TaskID, r.Task.Status)
	}
	return a.Done(r, "%s is %s", r.Task.TaskID, r.Task.Status)
}

// nextLine returns the command with which a person can help the task, or "".
func (a commands) nextLine(t schema.Task) string {
	switch t.Status {
	case "AWAITING_RESPONSE":
		return a.ReplyLine(t.TaskID)
	case "ERROR", "CANCELLED", "BLOCKED":
		return a.Pasteable("task", "retry", t.TaskID)
	}
	return ""
}
