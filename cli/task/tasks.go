// Package task has the commands about tasks, runs and the event log.
package task

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/internal/lazy"
	"waybill/internal/safetext"
	"waybill/schema"
	"waybill/store"
)

// statuses lists the task statuses, the most interesting ones for a person first.
var statuses = []string{"AWAITING_RESPONSE", "RUNNING", "QUEUED", "BLOCKED", "ERROR", "CANCELLED", "COMPLETE"}

// commands are the commands of this package, for one run of the program.
type commands struct{ *program.App }

// Commands returns the commands.
func Commands(a *program.App) []*cobra.Command {
	c, s := commands{a}, storeCommands{a}
	return []*cobra.Command{c.lsCommand(), c.showCommand(), c.replyCommand(), c.retryCommand(), c.cancelCommand(), c.unblockCommand(), c.dismissCommand(), s.statusCommand(), s.tailCommand(), s.callCommand(), c.explainCommand()}
}

func (a commands) lsCommand() *cobra.Command {
	var p schema.ListTasksParams
	cmd := &cobra.Command{
		Use: "ls", Short: "List tasks, one a line", Args: cobra.NoArgs,
		Long: `List tasks, oldest first: id, status, age, attempt number and description, preceded by the model and the reason why a
queued task waits. Lines are cut to the width of a terminal and whole in a pipe. --json prints one task a line.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p.Status = wireStatus(p.Status)
			return a.With(func(l *program.Local) (err error) {
				if p.RunID, err = l.FullID(cmd.Context(), p.RunID, store.RunID); err != nil {
					return err
				}
				if p.ParentSessionID, err = l.FullID(cmd.Context(), p.ParentSessionID, store.SessionID); err != nil {
					return err
				}
				return a.ls(cmd.Context(), l, p)
			})
		},
	}
	cmd.Flags().StringVar(&p.Status, "status", "", "only tasks of this status")
	cmd.Flags().StringVar(&p.RunID, "run", "", "only tasks of this run")
	cmd.Flags().StringVar(&p.ParentSessionID, "session", "", "only tasks that this session created")
	_ = cmd.RegisterFlagCompletionFunc("status", cobra.FixedCompletions(statusWords(), cobra.ShellCompDirectiveNoFileComp))
	program.NoFiles(cmd, "run", "session")
	return cmd
}

func (a commands) ls(ctx context.Context, l *program.Local, p schema.ListTasksParams) error {
	limit := schema.MaxPage
	p.Limit = &limit
	for {
		var page schema.TaskList
		if err := l.Call(ctx, "list_tasks", p, &page); err != nil {
			return err
		}
		if err := a.printTasks(page.Items); err != nil {
			return output.IgnoreClosed(err)
		}
		if p.Cursor = page.NextCursor; p.Cursor == "" {
			return nil
		}
	}
}

func (a commands) printTasks(tasks []schema.Task) error {
	var b strings.Builder
	width, now := a.LineWidth(), time.Now()
	for _, t := range tasks {
		if !a.JSON {
			b.WriteString(a.taskLine(t, width, now) + "\n")
			continue
		}
		text, err := output.Encode(t)
		if err != nil {
			return err
		}
		b.Write(append(text, '\n'))
	}
	_, err := fmt.Fprint(a.Out, b.String())
	return err
}

// statusWord returns a status in a short form, so that the title of the task has room.
func statusWord(status string) string {
	if status == "AWAITING_RESPONSE" {
		return "awaiting"
	}
	return strings.ToLower(safetext.Printable(status))
}

const statusWidth = len("cancelled")

func statusWords() []string {
	words := make([]string, len(statuses))
	for i, status := range statuses {
		words[i] = statusWord(status)
	}
	return words
}

// wireStatus returns the status that a person means. Other words stay as they are, to be refused.
func wireStatus(word string) string {
	for _, status := range statuses {
		if strings.EqualFold(word, statusWord(status)) || strings.EqualFold(word, status) {
			return status
		}
	}
	return word
}

// statusColours are the ANSI styles of the statuses; the others have none.
var statusColours = lazy.Value[map[string]string]{Of: func() map[string]string {
	return map[string]string{
		"AWAITING_RESPONSE": "33", "RUNNING": "34", "BLOCKED": "31", "ERROR": "31", "CANCELLED": "2", "COMPLETE": "32",
	}
}}

// taskLine is a task in a list. A long line is cut off at its end.
func (a commands) taskLine(t schema.Task, width int, now time.Time) string {
	status := statusWord(t.Status)
	head := fmt.Sprintf("%s %s %4s #%d ", safetext.Printable(t.TaskID), output.Left(status, statusWidth), output.Age(now.Sub(output.Moment(t.CreatedAt))), t.AttemptNumber)
	about := output.Fit(strings.Join(facts(t, now, max(12, (width-output.Columns(head))/3)), " · "), max(1, width-output.Columns(head)))
	if colour, ok := statusColours.Get()[t.Status]; ok {
		head = strings.Replace(head, status, a.Style(colour)(status), 1)
	}
	return strings.TrimRight(head+about, " ")
}

// facts returns the facts about a task in addition to its status, the most urgent first.
func facts(t schema.Task, now time.Time, modelWidth int) []string {
	var known []string
	if why := waits(t.WaitingFor, now); why != "" {
		known = append(known, why)
	}
	if t.CancelRequestedAt != "" {
		known = append(known, "asked to end")
	}
	if t.Model != nil {
		known = append(known, output.Fit(safetext.Printable(t.Model.ModelID), modelWidth))
	}
	return append(known, title(t))
}

// title returns a line about the work of a task.
func title(t schema.Task) string {
	if t.Description != "" {
		return safetext.Printable(t.Description)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(t.Prompt), "\n")
	return safetext.Printable(first)
}

// waits returns in a few words the reasons why a queued task waits.
func waits(why []schema.WaitingFor, now time.Time) string {
	tasks := 0
	var words []string
	for _, w := range why {
		switch w.Kind {
		case "depends_on":
			tasks++
		case "retry_delay":
			words = append(words, "retry in "+output.Span(output.Moment(w.Until).Sub(now)))
		case "provider_cooling":
			words = append(words, "model rests "+output.Span(output.Moment(w.Until).Sub(now)))
		}
	}
	if tasks > 0 {
		words = append([]string{"after " + output.Count(tasks, "task")}, words...)
	}
	return strings.Join(words, ", ")
}

// taskIDs completes the id of a task in one of the statuses, as far as they fit on a page each.
func (a commands) taskIDs(of ...string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 || !a.StoreExists() {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var ids []string
		_ = a.With(func(l *program.Local) error { // completion cannot show an error
			limit := schema.MaxPage
			for _, status := range of {
				p := schema.ListTasksParams{Status: status, Page: schema.Page{Limit: &limit}}
				var page schema.TaskList
				if err := l.Call(cmd.Context(), "list_tasks", p, &page); err != nil {
					return err
				}
				for _, t := range page.Items {
					if strings.HasPrefix(t.TaskID, begun) {
						ids = append(ids, t.TaskID+"\t"+strings.ToLower(t.Status)+", "+output.Fit(title(t), output.PipeWidth))
					}
				}
			}
			return nil
		})
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}
