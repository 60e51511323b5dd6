package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"waybill/schema"
)

type tailFlags struct {
	follow bool
	since  string
	types  []string
}

func (a *app) tailCommand() *cobra.Command {
	var f tailFlags
	cmd := &cobra.Command{
		Use: "tail", Short: "Print the event log", Args: cobra.NoArgs,
		Long: "Print the event log, oldest first, and end at the newest event; with -f go on with what happens.\nWith --json, one event a line.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(func(l *local) error {
				mindReader()
				ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
				defer stop()
				return a.tail(ctx, l, f)
			})
		},
	}
	cmd.Flags().BoolVarP(&f.follow, "follow", "f", false, "go on with what happens")
	cmd.Flags().StringVar(&f.since, "since", "0", "the seq behind which to begin")
	cmd.Flags().StringSliceVar(&f.types, "type", nil, "only events of these types")
	return cmd
}

func (a *app) tail(ctx context.Context, l *local, f tailFlags) error {
	wake, stop, err := l.Subscribe()
	if err != nil {
		return err
	}
	defer stop()
	limit, begun := schema.MaxPage, false
	for cursor := f.since; ; {
		var page schema.EventList
		err := l.call(ctx, "events_since", schema.EventsSinceParams{Cursor: cursor, Limit: &limit, Types: f.types}, &page)
		if ctx.Err() != nil {
			return nil
		}
		if newest, ok := otherLog(err); ok && begun && f.follow {
			a.say("waybill: another event log took the place of the one before, as a restore does it; what follows is of that")
			cursor = newest
			continue
		}
		if err != nil {
			return err
		}
		begun = true
		if err := a.printEvents(page.Events); err != nil {
			return ignoreClosed(err)
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

// otherLog gives the end of the log if that is not the one which a cursor was of.
func otherLog(err error) (newest string, ok bool) {
	fault, ok := errors.AsType[*schema.Error](err)
	if !ok || fault.Data.Code != schema.CursorGone {
		return "", false
	}
	newest, ok = fault.Data.Details["newest"].(string)
	return newest, ok
}

// ignoreClosed ends quietly when the reader of our output has gone, as `| head` does.
func ignoreClosed(err error) error {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}

func (a *app) printEvents(events []schema.Event) error {
	var b strings.Builder
	for _, ev := range events {
		if a.json {
			text, err := encode(ev)
			if err != nil {
				return err
			}
			b.Write(append(text, '\n'))
			continue
		}
		fmt.Fprintf(&b, "%6d  %s  %-26s %s  %s\n", ev.Seq, ev.At, ev.Type, plain(ev.SubjectID), clip(plain(string(ev.Data)), 160))
	}
	_, err := fmt.Fprint(a.Out, b.String())
	return err
}
