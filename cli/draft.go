package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"waybill/schema"
)

// scissors is the line of a draft behind which nothing is sent. It is a line and not a mark before each
// comment, because a reply may well have lines that begin with #.
const scissors = "# ------------------------ >8 ------------------------"

// replyFromEditor lets the person write the reply beside the question. The store is not held meanwhile.
// A reply that could not be given is kept where it was written.
func (a *app) replyFromEditor(ctx context.Context, id string) error {
	var d schema.TaskDetail
	if err := a.with(func(l *local) error {
		return l.call(ctx, "get_task", schema.TaskParams{TaskID: id}, &d)
	}); err != nil {
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
		err = a.reply(ctx, id, text)
	}
	if err != nil && strings.TrimSpace(text) != "" {
		a.say("waybill: what you wrote is in " + plain(path))
		return err
	}
	return errors.Join(err, os.Remove(path))
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

// edit runs the person's editor on a file, in this terminal. The command may have arguments.
func (a *app) edit(ctx context.Context, path string) error {
	usual := "vi"
	if runtime.GOOS == "windows" {
		usual = "notepad"
	}
	words := strings.Fields(cmp.Or(a.env("VISUAL"), a.env("EDITOR"), usual))
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], path)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.In, a.Out, a.Err
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w; set EDITOR, or give the text with -m", words[0], err)
	}
	return nil
}
