// Package audit shows where the results of agents differ from what others saw. core/audit has the rules; this package reads the
// log, and asks git about results whose facts have no receipt.
package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"waybill/check"
	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/core"
	"waybill/core/audit"
	"waybill/engine/workspace"
	"waybill/internal/safetext"
	"waybill/schema"
	"waybill/store"
)

// commands are the commands of this package, for one run of the program.
type commands struct{ *program.App }

// Command returns the command.
func Command(a *program.App) *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use: "audit [RUN | TASK | --all]", Short: "Show where results of agents differ from what git and the host saw",
		Long: `Compare the results of agents that say pass with the receipts of checks, with git, and with the tool calls that the
host reported: of a run, of a task, of the newest run of each item, or with --all of every run in the log. Each flag has
a rule, a sentence, and the events of the log that it rests on. It moves no run: a person judges.

  false_range       git_range is not what the result says
  no_range          a result names no commits, or nothing has changed
  files_not_there   a file in files_changed did not change
  not_tested        it says that tests ran, and no reported tool call ran them
  no_tools          no tool call was reported, although the host reports them
  instant           the attempt ended within a second
  repeated_failure  the same step failed the same way again

Exit codes: 0 if nothing is flagged; 1 if something is; 3 if the run or task does not exist.`,
		Example: "  waybill audit\n  waybill audit run_0197… --json",
		Args:    cobra.MaximumNArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if all && len(args) > 0 {
				return output.UsageError(errors.New("give either --all or a run or task, not both"))
			}
			id := strings.Join(args, "")
			return a.With(func(l *program.Local) error { return commands{a}.audit(cmd.Context(), l, id, all) })
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "every run in the log, not only the newest of each item")
	return cmd
}

// A report is the output of the command.
type report struct {
	Runs    int    `json:"runs"`
	Results int    `json:"results"` // that say pass
	Flags   []flag `json:"flags"`
	Trouble string `json:"trouble,omitempty"` // why git was not asked
}

// A flag is an audit.Flag with the work that it is about.
type flag struct {
	Flag      audit.FlagKind `json:"flag"`
	RunID     string         `json:"run_id"`
	Plan      string         `json:"plan"`
	ItemID    string         `json:"item_id"`
	Role      string         `json:"role,omitempty"`
	TaskID    string         `json:"task_id,omitempty"`
	AttemptID string         `json:"attempt_id,omitempty"`
	Text      string         `json:"text"`
	EventSeqs []int64        `json:"event_seqs"`
}

func (a commands) audit(ctx context.Context, l *program.Local, id string, all bool) error {
	if id != "" {
		var err error
		if id, err = l.FullID(ctx, id, store.RunID, store.TaskID); err != nil {
			return err
		}
		if err := l.Call(ctx, "explain", schema.ExplainParams{SubjectID: id}, new(schema.Explanation)); err != nil {
			return err // it does not exist
		}
	}
	works, err := read(ctx, l)
	if err != nil {
		return err
	}
	if id == "" && !all {
		works = newest(works)
	}
	r := report{Flags: []flag{}}
	about := func(w audit.Work, task string) bool { return id == "" || id == w.Run || id == task }
	for _, w := range works {
		before := r.Results
		for _, p := range w.Passes {
			if about(w, p.Task) {
				r.Results++
			}
		}
		if r.Results > before || id == w.Run {
			r.Runs++
			trouble, err := a.look(ctx, w)
			if r.Trouble = cmp.Or(r.Trouble, trouble); err != nil {
				return err
			}
		}
		for _, f := range audit.Flags(w) {
			if about(w, f.Task) {
				r.Flags = append(r.Flags, flag{f.Kind, w.Run, w.Plan, w.Item, f.Role, f.Task, f.Attempt, f.Text, f.Events})
			}
		}
	}
	if len(r.Flags) > 0 {
		a.Code = output.ExitFailed
	}
	return a.print(r)
}

// read returns the works in the log.
func read(ctx context.Context, l *program.Local) ([]audit.Work, error) {
	most := schema.MaxPage
	p := schema.EventsSinceParams{Cursor: "0", Limit: &most}
	for _, kind := range audit.Types() {
		p.Types = append(p.Types, string(kind))
	}
	var events []audit.Event
	for more := true; more; {
		var page schema.EventList
		if err := l.Call(ctx, "events_since", p, &page); err != nil {
			return nil, err
		}
		for _, ev := range page.Events {
			at := core.Instant(output.Moment(ev.At).UnixMicro())
			events = append(events, audit.Event{Seq: ev.Seq, At: at, Type: core.EventType(ev.Type), Subject: ev.SubjectID, Data: string(ev.Data)})
		}
		p.Cursor, more = page.Cursor, page.More
	}
	return audit.Read(events), nil
}

// newest returns the last work on each item.
func newest(works []audit.Work) (last []audit.Work) {
	seen := map[[2]string]bool{}
	for _, w := range slices.Backward(works) {
		if item := [2]string{w.Plan, w.Item}; !seen[item] {
			seen[item] = true
			last = append(last, w)
		}
	}
	slices.Reverse(last)
	return last
}

// look asks git about the passes of workers whose facts have no receipt. Without git it returns why.
func (a commands) look(ctx context.Context, w audit.Work) (trouble string, err error) {
	ws, err := workspace.Resolve(a.Sources())
	if err != nil {
		return "", schema.NewError(schema.NoWorkspace, err.Error())
	}
	for i := range w.Passes {
		p := &w.Passes[i]
		if p.Looked || p.Role != core.Worker.String() {
			continue
		}
		seen, err := check.Look(ctx, ws.Root, p.Said, w.Start)
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case errors.Is(err, check.ErrNoRepository):
			return "", nil
		case err != nil:
			return err.Error(), nil
		}
		p.Looked = true
		if p.Said.NamesCommits() { // changes that were not committed may be gone by now
			_, p.False = audit.Facts(p.Said, seen)
		}
	}
	return "", nil
}

func (a commands) print(r report) error {
	if a.JSON {
		return a.Print(r)
	}
	var b strings.Builder
	run := ""
	for _, f := range r.Flags {
		if f.RunID != run {
			run = f.RunID
			fmt.Fprintf(&b, "%s  %s %s\n", a.Style("1")(safetext.Printable(run)), safetext.Printable(f.Plan), safetext.Printable(f.ItemID))
		}
		fmt.Fprintf(&b, "  %s", f.Flag)
		for _, word := range []string{f.Role, f.TaskID} {
			if word != "" {
				b.WriteString("  " + safetext.Printable(word))
			}
		}
		fmt.Fprintf(&b, "  %s %s\n", plural(len(f.EventSeqs)), numbers(f.EventSeqs))
		b.WriteString(output.Quote(f.Text, a.Width()))
	}
	if r.Trouble != "" {
		fmt.Fprintf(&b, "git was not asked: %s\n", safetext.Printable(safetext.OneLine(r.Trouble, 400)))
	}
	fmt.Fprintf(&b, "%s on %s in %s\n", output.Count(len(r.Flags), "flag"), output.Count(r.Results, "result"), output.Count(r.Runs, "run"))
	_, err := fmt.Fprint(a.Out, b.String())
	return err
}

func plural(n int) string {
	if n == 1 {
		return "event"
	}
	return "events"
}

// mostShown bounds the events of a flag that are printed; --json has all.
const mostShown = 8

func numbers(seqs []int64) string {
	var words []string
	for i, seq := range seqs {
		if i == mostShown {
			return strings.Join(words, ", ") + ", …"
		}
		words = append(words, fmt.Sprint(seq))
	}
	return strings.Join(words, ", ")
}
