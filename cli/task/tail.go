package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/internal/safetext"
	"waybill/schema"
)

type tailFlags struct {
	follow bool
	last   int // how many events at the end of the log; -1 means all
	since  string
	types  []string
}

// storeCommands are the commands that show or change the store as a whole.
type storeCommands struct{ *program.App }

func (a storeCommands) tailCommand() *cobra.Command {
	var f tailFlags
	cmd := &cobra.Command{
		Use: "tail", Short: "Print the end of the event log, and follow it", Args: cobra.NoArgs,
		Long:    "Print the newest events of the log, the oldest of them first; with -f go on with what happens. With --json, one event a line.",
		Example: "  waybill tail -n 20 -f\n  waybill tail --since 0 --type task.failed",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.last < -1 {
				return output.UsageError(errors.New("-n: must not be less than -1"))
			}
			if f.since != "" && !cmd.Flags().Changed("lines") {
				f.last = -1
			}
			return a.With(func(l *program.Local) error {
				output.CatchClosedPipe()
				ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
				defer stop()
				return a.tail(ctx, l, f)
			})
		},
	}
	cmd.Flags().BoolVarP(&f.follow, "follow", "f", false, "continue with new events")
	cmd.Flags().IntVarP(&f.last, "lines", "n", 10, "how many of the newest events; -1 means all")
	cmd.Flags().StringVar(&f.since, "since", "", "all events after this seq, or with -n the newest of them")
	cmd.Flags().StringSliceVar(&f.types, "type", nil, "only events of these types")
	return cmd
}

func (a storeCommands) tail(ctx context.Context, l *program.Local, f tailFlags) error {
	wake, stop, err := l.Subscribe()
	if err != nil {
		return err
	}
	defer stop()
	cursor, err := a.begin(ctx, l, f)
	if err != nil {
		return err
	}
	for limit, begun := schema.MaxPage, false; ; {
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

// begin returns the cursor before the first event to print. It reads ever more of the end of the log until it has found as
// many events as -n wants, because those of a type can be far apart.
func (a storeCommands) begin(ctx context.Context, l *program.Local, f tailFlags) (string, error) {
	since, limit := cmp.Or(f.since, "0"), schema.MaxPage
	if f.last < 0 {
		return since, nil
	}
	var page schema.EventList
	err := l.Call(ctx, "events_since", schema.EventsSinceParams{Cursor: since, Limit: &limit, Types: f.types, Subject: "tsk_"}, &page) // no event is about that
	if err != nil || f.last == 0 {
		return page.Cursor, err
	}
	first, tip := seqOf(since), seqOf(page.Cursor)
	for window := int64(f.last); ; window *= 16 {
		p := schema.EventsSinceParams{Cursor: since, Limit: &limit, Types: f.types}
		from := max(first, tip-window)
		if from > first {
			p.Cursor = strconv.FormatInt(from, 10)
		}
		var seqs []int64
		for page.More = true; page.More; p.Cursor = page.Cursor {
			if err := l.Call(ctx, "events_since", p, &page); err != nil {
				return "", err
			}
			for _, ev := range page.Events {
				seqs = append(seqs, ev.Seq)
			}
		}
		switch {
		case len(seqs) >= f.last:
			return strconv.FormatInt(seqs[len(seqs)-f.last]-1, 10), nil
		case from == first:
			return since, nil
		}
	}
}

// seqOf returns the number in a cursor, or 0.
func seqOf(cursor string) int64 {
	number, _, _ := strings.Cut(cursor, ".")
	seq, _ := strconv.ParseInt(number, 10, 64)
	return seq
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
	if a.JSON {
		return output.PrintEach(&a.Printer, events)
	}
	var b strings.Builder
	for _, ev := range events {
		at, subject, kind := string(ev.At), safetext.Printable(ev.SubjectID), output.Left(ev.Type, 26)
		if a.Terminal() {
			when := output.Moment(ev.At).UTC()
			if at = when.Format("15:04:05Z"); time.Since(when) > 24*time.Hour {
				at = when.Format("2006-01-02")
			}
			at = output.Left(at, len("2006-01-02")) + output.Right(output.Age(time.Since(when)), 4)
			subject = output.ShortID(subject)
			if a.Width() < output.PipeWidth {
				at, kind = output.Left(when.Format("15:04"), 5), ev.Type
			}
		}
		_, state, _ := strings.Cut(ev.Type, ".")
		line := fmt.Sprintf("%6d  %s  %s %s  %s", ev.Seq, at, kind, subject, safetext.Truncate(safetext.Printable(string(ev.Data)), 160))
		line = output.Fit(line, a.LineWidth())
		b.WriteString(strings.Replace(line, ev.Type, strings.TrimSuffix(ev.Type, state)+a.State(state), 1) + "\n")
	}
	_, err := fmt.Fprint(a.Out, b.String())
	return err
}
