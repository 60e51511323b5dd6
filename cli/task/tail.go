package task

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/internal/safetext"
	"waybill/schema"
)

type tailFlags struct {
	follow bool
	since  string
	types  []string
}

// storeCommands are the commands that show or change the store as a whole.
type storeCommands struct{ *program.App }

func (a storeCommands) tailCommand() *cobra.Command {
	var f tailFlags
	cmd := &cobra.Command{
		Use: "tail", Short: "Print the event log", Args: cobra.NoArgs,
		Long: "Print the event log, oldest first, and end at the newest event; with -f go on with what happens.\nWith --json, one event a line.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.With(func(l *program.Local) error {
				output.CatchClosedPipe()
				ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
				defer stop()
				return a.tail(ctx, l, f)
			})
		},
	}
	cmd.Flags().BoolVarP(&f.follow, "follow", "f", false, "continue with new events")
	cmd.Flags().StringVar(&f.since, "since", "0", "start after this seq")
	cmd.Flags().StringSliceVar(&f.types, "type", nil, "only events of these types")
	return cmd
}

func (a storeCommands) tail(ctx context.Context, l *program.Local, f tailFlags) error {
	wake, stop, err := l.Subscribe()
	if err != nil {
		return err
	}
	defer stop()
	limit, begun := schema.MaxPage, false
	for cursor := f.since; ; {
		var page schema.EventList
		err := l.Call(ctx, "events_since", schema.EventsSinceParams{Cursor: cursor, Limit: &limit, Types: f.types}, &page)
		if ctx.Err() != nil {
			return nil
		}
		if newest, ok := otherLog(err); ok && begun && f.follow {
			a.Say("waybill: another event log took the place of the one before, as a restore does it; what follows is of that")
			cursor = newest
			continue
		}
		if err != nil {
			return err
		}
		begun = true
		if err := a.printEvents(page.Events); err != nil {
			return output.IgnoreClosed(err)
		}
		cursor = page.Cursor
		if page.More {
			continue
		}
		if !f.follow {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-wake:
		}
	}
}

// otherLog returns the end of the log if that is not the one which a cursor was of.
func otherLog(err error) (newest string, ok bool) {
	fault, ok := errors.AsType[*schema.Error](err)
	if !ok || fault.Data.Code != schema.CursorGone {
		return "", false
	}
	newest, ok = fault.Data.Details["newest"].(string)
	return newest, ok
}

func (a storeCommands) printEvents(events []schema.Event) error {
	var b strings.Builder
	for _, ev := range events {
		if a.JSON {
			text, err := output.Encode(ev)
			if err != nil {
				return err
			}
			b.Write(append(text, '\n'))
			continue
		}
		fmt.Fprintf(&b, "%6d  %s  %-26s %s  %s\n", ev.Seq, ev.At, ev.Type, safetext.Printable(ev.SubjectID), safetext.Truncate(safetext.Printable(string(ev.Data)), 160))
	}
	_, err := fmt.Fprint(a.Out, b.String())
	return err
}
