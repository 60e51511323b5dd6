// Package task has the commands about tasks, runs and the event log.
package task

import (
	"cmp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/internal/safetext"
	"waybill/schema"
)

// statuses lists the task statuses, the most interesting ones for a person first.
var statuses = []string{"AWAITING_RESPONSE", "RUNNING", "QUEUED", "BLOCKED", "ERROR", "CANCELLED", "COMPLETE"}

// commands are the commands of this package, for one run of the program.
type commands struct{ *program.App }

// Commands returns the commands.
func Commands(a *program.App) []*cobra.Command {
	c, s := commands{a}, storeCommands{a}
	return []*cobra.Command{
		noun("task", "List, show, answer, retry or cancel tasks", c.lsCommand(), c.showCommand("task"), c.replyCommand(), c.retryCommand(), c.cancelCommand("task")),
		noun("run", "List, show or unblock runs, which are the work on items of plans", c.runsCommand(), c.showCommand("run"), c.unblockCommand()),
		noun("instruction", "List, show or cancel the messages to agents", c.instructionsCommand(), c.showCommand("instruction"), c.cancelCommand("instruction")),
		noun("notice", "List, show or dismiss the messages to hosts and persons", c.noticesCommand(), c.showCommand("notice"), c.dismissCommand()),
		s.statusCommand(), s.tailCommand(), s.callCommand(), c.explainCommand(),
	}
}

// noun returns the command with those about one kind of thing.
func noun(name, short string, verbs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: name, Short: short, Args: cobra.NoArgs}
	cmd.AddCommand(verbs...)
	return cmd
}

// statusWord returns a status in a short form, so that the title of the task has room.
func statusWord(status string) string {
	if status == "AWAITING_RESPONSE" {
		return "awaiting"
	}
	return strings.ToLower(safetext.Printable(status))
}

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

// title returns a line about the work of a task.
func title(t schema.Task) string {
	return safetext.Printable(cmp.Or(t.Description, firstLine(t.Prompt)))
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
