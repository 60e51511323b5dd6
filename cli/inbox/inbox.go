// Package inbox has the command that lists what waits for a person in all workspaces, and that answers it.
package inbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"waybill/cli/inboxes"
	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/engine/inbox"
)

// exitWaiting is the exit code while something waits for a person.
const exitWaiting = 10

type commands struct{ *program.App }

type flags struct {
	here, watch bool
	since       time.Duration
}

// Command returns the command.
func Command(a *program.App) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use: "inbox", Short: "List what waits for you in all workspaces, and answer it", Args: cobra.NoArgs,
		Long: `List what waits for you in all workspaces of this user: questions of agents, work that a check refutes, blocked runs,
failed tasks and instructions, and reports of hosts. Then follows what has ended since your last look: items that checks
prove, and items that are only said to be done.

On a terminal the list fills the screen; ? shows the keys that answer, retry, unblock, cancel and dismiss. In a pipe each
entry has a line, its reason, and the command that moves it on. Only a look on a terminal counts as your last one.

With --store or WAYBILL_STORE, and with --here, the list is about one workspace.

Exit codes: 0 if nothing waits; 10 if something does; 1 if the workspaces could not be listed.`,
		Example: `  waybill inbox
  waybill inbox --json | jq '.entries[] | select(.kind == "question")'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.since < 0 {
				return output.UsageError(errors.New("--since: must not be negative"))
			}
			output.CatchClosedPipe()
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return commands{a}.inbox(ctx, f, cmd.Flags().Changed("since"))
		},
	}
	cmd.Flags().BoolVar(&f.here, "here", false, "only the present workspace")
	cmd.Flags().BoolVarP(&f.watch, "watch", "w", false, "without a terminal: stay, and print what comes in")
	cmd.Flags().DurationVar(&f.since, "since", 0, "list what has ended in this time, such as 12h (default: since your last look)")
	return cmd
}

func (a commands) inbox(ctx context.Context, f flags, sinceGiven bool) error {
	o := inboxes.Options{Here: f.here}
	if sinceGiven {
		o.Since = &f.since
	}
	l, err := inboxes.New(a.App, o)
	if err != nil {
		return err
	}
	if err := l.Load(ctx); err != nil {
		return err
	}
	switch {
	case a.atTerminal():
		err = a.screen(ctx, l)
	case f.watch:
		err = a.watch(ctx, l)
	default:
		err = a.print(l.Inbox())
	}
	if a.Code = output.ExitOK; l.Inbox().Waiting() > 0 {
		a.Code = exitWaiting
	}
	return output.IgnoreClosed(err)
}

// atTerminal reports whether a person sits at a terminal that can be drawn on.
func (a commands) atTerminal() bool {
	return !a.JSON && a.Env("TERM") != "dumb" && term.IsTerminal(int(a.In.Fd())) && term.IsTerminal(int(a.Out.Fd()))
}

// print prints the inbox once.
func (a commands) print(all inbox.Inbox) error {
	if a.JSON {
		return a.Print(inboxes.DocumentOf(a.App, all, time.Now()))
	}
	_, err := fmt.Fprint(a.Out, a.list(all.Entries, time.Now())+summary(all)+"\n")
	return err
}

// watch prints the inbox, and then what comes in, until ctx ends.
func (a commands) watch(ctx context.Context, l *inboxes.Reader) error {
	if err := a.print(l.Inbox()); err != nil {
		return err
	}
	look := time.NewTicker(inboxes.LookEvery)
	defer look.Stop()
	for {
		known := keysOf(l.Inbox().Entries)
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
		}
		err := l.Load(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil {
			err = a.printNew(l.Inbox(), known)
		}
		if err != nil {
			return err
		}
	}
}

// printNew prints the entries that are not known. With --json, it prints the whole inbox if entries came or went.
func (a commands) printNew(all inbox.Inbox, known map[string]bool) error {
	var fresh []inbox.Entry
	for _, e := range all.Entries {
		if !known[e.Key()] {
			fresh = append(fresh, e)
		}
	}
	if a.JSON {
		if len(fresh) == 0 && len(all.Entries) == len(known) {
			return nil
		}
		return a.print(all)
	}
	_, err := fmt.Fprint(a.Out, a.list(fresh, time.Now()))
	return err
}

func keysOf(entries []inbox.Entry) map[string]bool {
	keys := make(map[string]bool, len(entries))
	for _, e := range entries {
		keys[e.Key()] = true
	}
	return keys
}

// summary says how much waits, in one sentence.
func summary(all inbox.Inbox) string {
	counts := map[inbox.Kind]int{}
	for _, e := range all.Entries {
		counts[e.Kind]++
	}
	text := "nothing waits for you"
	if n := all.Waiting(); n == 1 {
		text = "1 thing waits for you"
	} else if n > 1 {
		text = fmt.Sprintf("%d things wait for you", n)
	}
	var ended []string
	if n := counts[inbox.Proven]; n > 0 {
		ended = append(ended, output.Count(n, "item")+" proven")
	}
	if n := counts[inbox.Said]; n > 0 {
		ended = append(ended, output.Count(n, "item")+" only said to be done")
	}
	if len(ended) > 0 {
		text += "; since your last look: " + strings.Join(ended, ", ")
	}
	if n := len(all.Gone); n > 0 {
		text += fmt.Sprintf("; %s gone, and nothing waits there", output.Count(n, "workspace folder"))
	}
	if all.Cut {
		text += "; more than this list can show: waybill status counts all of it"
	}
	return text
}
