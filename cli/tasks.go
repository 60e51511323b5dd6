package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"waybill/schema"
)

// statuses are those of tasks, in the order in which a person looks for them.
var statuses = []string{"AWAITING_RESPONSE", "RUNNING", "QUEUED", "BLOCKED", "ERROR", "CANCELLED", "COMPLETE"}

// taskCommands are the commands about tasks.
func (a *app) taskCommands() []*cobra.Command {
	return []*cobra.Command{a.lsCommand(), a.showCommand(), a.replyCommand(), a.retryCommand(), a.cancelCommand()}
}

func (a *app) lsCommand() *cobra.Command {
	var p schema.ListTasksParams
	cmd := &cobra.Command{
		Use: "ls", Short: "List tasks, one a line", Args: cobra.NoArgs,
		Long: `List tasks, oldest first: id, status, age, number of the attempt, and what it is about, with what
holds a queued one back and its model before that. On a terminal, lines are cut to its width; in a pipe
they are whole. With --json, one task a line.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p.Status = wireStatus(p.Status)
			return a.with(func(l *local) error { return a.ls(cmd.Context(), l, p) })
		},
	}
	cmd.Flags().StringVar(&p.Status, "status", "", "only tasks of this status")
	cmd.Flags().StringVar(&p.RunID, "run", "", "only tasks of this run")
	cmd.Flags().StringVar(&p.ParentSessionID, "session", "", "only tasks that this session has started")
	_ = cmd.RegisterFlagCompletionFunc("status", cobra.FixedCompletions(statusWords(), cobra.ShellCompDirectiveNoFileComp))
	noFiles(cmd, "run", "session")
	return cmd
}

// noFiles keeps the shell from completing the values of these flags with the names of files.
func noFiles(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions)
	}
}

// with runs fn on the service of the workspace, which lives as long as fn. It is for commands about what
// there is already: a store that was named and is not there is a mistake in its name, and is not made.
func (a *app) with(fn func(*local) error) error {
	if a.store != "" {
		if _, err := a.existingStore(nil); err != nil {
			return err
		}
	}
	l, err := a.local()
	if err != nil {
		return err
	}
	defer l.close()
	return fn(l)
}

func (a *app) ls(ctx context.Context, l *local, p schema.ListTasksParams) error {
	limit := schema.MaxPage
	p.Limit = &limit
	for {
		var page schema.TaskList
		if err := l.call(ctx, "list_tasks", p, &page); err != nil {
			return err
		}
		if err := a.printTasks(page.Items); err != nil {
			return ignoreClosed(err)
		}
		if p.Cursor = page.NextCursor; p.Cursor == "" {
			return nil
		}
	}
}

func (a *app) printTasks(tasks []schema.Task) error {
	var b strings.Builder
	width, now := a.lineWidth(), time.Now()
	for _, t := range tasks {
		if !a.json {
			b.WriteString(a.taskLine(t, width, now) + "\n")
			continue
		}
		text, err := encode(t)
		if err != nil {
			return err
		}
		b.Write(append(text, '\n'))
	}
	_, err := fmt.Fprint(a.Out, b.String())
	return err
}

// statusWord is a status in a width that leaves place for what a task is about.
func statusWord(status string) string {
	if status == "AWAITING_RESPONSE" {
		return "awaiting"
	}
	return strings.ToLower(plain(status))
}

const statusWidth = len("cancelled")

func statusWords() []string {
	words := make([]string, len(statuses))
	for i, status := range statuses {
		words[i] = statusWord(status)
	}
	return words
}

// wireStatus is the status that a person means. What is none goes on as it is, to be refused.
func wireStatus(word string) string {
	for _, status := range statuses {
		if strings.EqualFold(word, statusWord(status)) || strings.EqualFold(word, status) {
			return status
		}
	}
	return word
}

// statusColours dress the statuses that ask for attention, and those that do not.
var statusColours = map[string]string{
	"AWAITING_RESPONSE": "33", "RUNNING": "34", "BLOCKED": "31", "ERROR": "31", "CANCELLED": "2", "COMPLETE": "32",
}

// taskLine is a task in a list. What a narrow line has no place for is cut off at its end.
func (a *app) taskLine(t schema.Task, width int, now time.Time) string {
	status := statusWord(t.Status)
	head := fmt.Sprintf("%s %s %4s #%d ", plain(t.TaskID), left(status, statusWidth), age(now.Sub(moment(t.CreatedAt))), t.AttemptNumber)
	about := fit(strings.Join(facts(t, now, max(12, (width-columns(head))/3)), " · "), max(1, width-columns(head)))
	if colour, ok := statusColours[t.Status]; ok {
		head = strings.Replace(head, status, a.style(colour)(status), 1)
	}
	return strings.TrimRight(head+about, " ")
}

// facts are what is to be said about a task beside how it stands, the most urgent first.
func facts(t schema.Task, now time.Time, modelWidth int) []string {
	var known []string
	if why := waits(t.WaitingFor, now); why != "" {
		known = append(known, why)
	}
	if t.CancelRequestedAt != "" {
		known = append(known, "asked to end")
	}
	if t.Model != nil {
		known = append(known, fit(plain(t.Model.ModelID), modelWidth))
	}
	return append(known, title(t))
}

// title is what a task is about, in a line.
func title(t schema.Task) string {
	if t.Description != "" {
		return plain(t.Description)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(t.Prompt), "\n")
	return plain(first)
}

// waits says in a few words what holds a queued task back.
func waits(why []schema.WaitingFor, now time.Time) string {
	tasks := 0
	var words []string
	for _, w := range why {
		switch w.Kind {
		case "depends_on":
			tasks++
		case "retry_delay":
			words = append(words, "retry in "+span(moment(w.Until).Sub(now)))
		case "provider_cooling":
			words = append(words, "model rests "+span(moment(w.Until).Sub(now)))
		}
	}
	if tasks > 0 {
		words = append([]string{"after " + count(tasks, "task")}, words...)
	}
	return strings.Join(words, ", ")
}

// storeExists reports whether there is a store to look into. Who completes a line must not make one.
func (a *app) storeExists() bool {
	_, err := a.existingStore(nil)
	return err == nil
}

// taskIDs completes the id of a task in one of the statuses, as far as they fit on a page each.
func (a *app) taskIDs(of ...string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 || !a.storeExists() {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var ids []string
		_ = a.with(func(l *local) error { // who completes a line has no place for an error
			limit := schema.MaxPage
			for _, status := range of {
				p := schema.ListTasksParams{Status: status, Page: schema.Page{Limit: &limit}}
				var page schema.TaskList
				if err := l.call(cmd.Context(), "list_tasks", p, &page); err != nil {
					return err
				}
				for _, t := range page.Items {
					if strings.HasPrefix(t.TaskID, begun) {
						ids = append(ids, t.TaskID+"\t"+strings.ToLower(t.Status)+", "+fit(title(t), pipeWidth))
					}
				}
			}
			return nil
		})
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}
