package task

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

	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/internal/safetext"
	"waybill/schema"
	"waybill/store"
)

// scissors is the line that ends the reply in a draft. A comment sign before each line below it would not do,
// because a reply may have lines that begin with #.
const scissors = "# ------------------------ >8 ------------------------"

// replyFromEditor opens an editor with the question and sends the text as the reply. The store is closed meanwhile.
// The text answers only the question that the editor showed; a newer question of the task refuses it. The file of a
// refused reply is kept.
func (a commands) replyFromEditor(ctx context.Context, id string) error {
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
		err = a.reply(ctx, schema.ReplyParams{TaskID: d.Task.TaskID, Reply: text, AttemptID: d.Task.CurrentAttemptID})
	}
	if err != nil && strings.TrimSpace(text) != "" {
		a.Say("waybill: what you wrote is in " + safetext.Printable(path))
		return err
	}
	return errors.Join(err, os.Remove(path))
}

// answerable returns the task if a reply to it would be taken now, before a person writes one in vain.
func (a commands) answerable(ctx context.Context, id string) (d schema.TaskDetail, err error) {
	var why schema.Explanation
	err = a.With(func(l *program.Local) (err error) {
		if id, err = l.FullID(ctx, id, store.TaskID); err != nil {
			return err
		}
		if err := l.Call(ctx, "get_task", schema.TaskParams{TaskID: id}, &d); err != nil {
			return err
		}
		return l.Call(ctx, "explain", schema.ExplainParams{SubjectID: id}, &why)
	})
	if err != nil || slices.ContainsFunc(why.Next, func(next schema.NextStep) bool { return next.Action == "reply" && next.Subject == id }) {
		return d, err
	}
	return d, schema.NewError(schema.InvalidState, fmt.Sprintf("task %s is %s and cannot be answered", id, d.Task.Status)).
		With("status", d.Task.Status).Hint("`waybill task show` tells what would move it on")
}

// writeDraft creates the file for the editor, with the task's question below the scissors.
func writeDraft(t schema.Task) (path string, err error) {
	f, err := os.CreateTemp("", "waybill-reply-*.md")
	if err != nil {
		return "", err
	}
	about := t.Question
	if about == "" {
		about = t.Output
	}
	if options := optionList(t.Offered); options != "" && t.Status == "AWAITING_RESPONSE" {
		about += "\n\n" + options + "The text of an option takes it; waybill task reply takes its number, too.\n"
	}
	_, err = fmt.Fprintf(f, "\n%s\n# Write the reply above this line. An empty one leaves the task as it is.\n# %s is %s: %s\n%s",
		scissors, t.TaskID, t.Status, title(t), output.Quote(about, output.PipeWidth))
	return f.Name(), errors.Join(err, f.Close())
}

func readDraft(path string) (string, error) {
	text, err := os.ReadFile(path)
	reply, _, _ := strings.Cut("\n"+strings.ReplaceAll(string(text), "\r\n", "\n"), "\n"+scissors)
	return strings.Trim(reply, "\n"), err
}

// edit runs the person's editor on a file in this terminal. The command may have arguments. An interrupt reaches both
// the editor and this process, which ignores it so that the editor is not orphaned.
func (a commands) edit(ctx context.Context, path string) error {
	usual := "vi"
	if runtime.GOOS == "windows" {
		usual = "notepad"
	}
	words := strings.Fields(cmp.Or(a.Env("VISUAL"), a.Env("EDITOR"), usual))
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
