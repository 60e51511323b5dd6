package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"

	"waybill/schema"
)

// scissors is the line of a draft behind which nothing is sent. It is a line and not a mark before each
// comment, because a reply may well have lines that begin with #.
const scissors = "# ------------------------ >8 ------------------------"

// replyFromEditor lets the person write the reply beside the question. The store is not held meanwhile.
// What is written answers what was shown: if the task has gone on meanwhile, it is not given to the next
// question. A reply that could not be given is kept where it was written.
func (a *app) replyFromEditor(ctx context.Context, id string) error {
	d, err := a.answerable(ctx, id)
	if err != nil {
		return err
	}
	path, err := writeDraft(d.Task)
	if err != nil {
		return fmt.Errorf("write a draft: %w", err)
	}
	edited := a.edit(ctx, path)
	text, err := readDraft(path)
	if err != nil {
		return errors.Join(edited, fmt.Errorf("read the draft: %w", err))
	}
	if err = edited; err == nil {
		err = a.reply(ctx, schema.ReplyParams{TaskID: id, Reply: text, AttemptID: d.Task.CurrentAttemptID})
	}
	if err != nil && strings.TrimSpace(text) != "" {
		a.say("waybill: what you wrote is in " + plain(path))
		return err
	}
	return errors.Join(err, os.Remove(path))
}

// answerable gives the task if a reply to it would be taken now: nobody is to write one for nothing.
func (a *app) answerable(ctx context.Context, id string) (d schema.TaskDetail, err error) {
	var why schema.Explanation
	err = a.with(func(l *local) error {
		if err := l.call(ctx, "get_task", schema.TaskParams{TaskID: id}, &d); err != nil {
			return err
		}
		return l.call(ctx, "explain", schema.ExplainParams{SubjectID: id}, &why)
	})
	if err != nil || slices.ContainsFunc(why.Next, func(next schema.NextStep) bool { return next.Action == "reply" }) {
		return d, err
	}
	return d, schema.NewError(schema.InvalidState, fmt.Sprintf("task %s is %s and cannot be answered", id, d.Task.Status)).
		With("status", d.Task.Status).Hint("`waybill show` tells what would move it on")
}

// writeDraft makes the file to write in, with the task's question behind the scissors.
func writeDraft(t schema.Task) (path string, err error) {
	f, err := os.CreateTemp("", "waybill-reply-*.md")
	if err != nil {
		return "", err
	}
	about := t.Question
	if about == "" {
		about = t.Output
	}
	_, err = fmt.Fprintf(f, "\n%s\n# Write the reply above this line. An empty one leaves the task as it is.\n# %s is %s: %s\n%s",
		scissors, t.TaskID, t.Status, title(t), quote(about, pipeWidth))
	return f.Name(), errors.Join(err, f.Close())
}

func readDraft(path string) (string, error) {
	text, err := os.ReadFile(path)
	reply, _, _ := strings.Cut("\n"+strings.ReplaceAll(string(text), "\r\n", "\n"), "\n"+scissors)
	return strings.Trim(reply, "\n"), err
}

// edit runs the person's editor on a file, in this terminal. The command may have arguments. What the
// person interrupts meanwhile is the editor's business: it gets the signal from the terminal as we do, and
// to end with it would leave it behind. To be ignored by us alone, the signal is caught.
func (a *app) edit(ctx context.Context, path string) error {
	usual := "vi"
	if runtime.GOOS == "windows" {
		usual = "notepad"
	}
	words := strings.Fields(cmp.Or(a.env("VISUAL"), a.env("EDITOR"), usual))
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], path)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.In, a.Out, a.Err
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w; set EDITOR, or give the text with -m", words[0], err)
	}
	return nil
}
