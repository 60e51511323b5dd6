package task

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/internal/safetext"
	"waybill/schema"
	"waybill/store"
)

// A listing says how the entries of a list are read and shown. Every row begins with the id and the state of its entry.
type listing[T any] struct {
	method  string
	params  any          // a pointer
	page    *schema.Page // in params
	columns []output.Column
	rows    func(ctx context.Context, l *program.Local, items []T) [][]string
}

// print prints all entries: as a table, or with --json as one object a line.
func (in listing[T]) print(ctx context.Context, a *program.App, l *program.Local) error {
	var rows [][]string
	err := program.Each(ctx, l, in.method, in.params, in.page, func(items []T) error {
		if a.JSON {
			return output.PrintEach(&a.Printer, items)
		}
		rows = append(rows, in.rows(ctx, l, items)...)
		return nil
	})
	switch {
	case err != nil:
		return output.IgnoreClosed(err)
	case a.JSON:
		return nil
	case len(rows) == 0 && a.Terminal():
		a.Say("none")
	}
	return a.Page(a.Table(in.columns, rows))
}

// ids returns the ids of the first page that begin as a word does, each with what the shell shows about it.
func (in listing[T]) ids(ctx context.Context, l *program.Local, begun string) (found []string, err error) {
	limit := schema.MaxPage
	in.page.Limit = &limit
	var got struct {
		Items []T `json:"items"`
	}
	if err := l.Call(ctx, in.method, in.params, &got); err != nil {
		return nil, err
	}
	for _, row := range in.rows(ctx, l, got.Items) {
		if strings.HasPrefix(row[0], begun) {
			found = append(found, row[0]+"\t"+output.Fit(safetext.Printable(row[1]+", "+row[len(row)-1]), output.PipeWidth))
		}
	}
	return found, nil
}

// complete returns what completes an id of one of the lists.
func complete(a commands, lists ...func(ctx context.Context, l *program.Local, begun string) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) (ids []string, _ cobra.ShellCompDirective) {
		if len(args) > 0 || !a.StoreExists() {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		_ = a.With(func(l *program.Local) error { // completion cannot show an error
			for _, list := range lists {
				some, err := list(cmd.Context(), l, begun)
				if err != nil {
					return err
				}
				ids = append(ids, some...)
			}
			return nil
		})
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}

// taskIDs completes the id of a task in one of the statuses, as far as they fit on a page each.
func taskIDs(a commands, of ...string) cobra.CompletionFunc {
	lists := make([]func(context.Context, *program.Local, string) ([]string, error), len(of))
	for i, status := range of {
		lists[i] = tasks(&schema.ListTasksParams{Status: status}).ids
	}
	return complete(a, lists...)
}

// listCommand returns the command that prints a list. prepare checks and completes its params.
func listCommand[T any](a commands, in listing[T], what, example string, prepare func(ctx context.Context, l *program.Local) error) *cobra.Command {
	return &cobra.Command{
		Use: "ls", Short: "List " + what, Args: cobra.NoArgs, Example: example,
		Long: "List " + what + `. Lines are cut to the width of a terminal and whole in a pipe. Times are ages. A terminal shows the ends
of ids, which every command takes. --json prints one object a line.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.With(func(l *program.Local) error {
				if err := prepare(cmd.Context(), l); err != nil {
					return err
				}
				return in.print(cmd.Context(), a.App, l)
			})
		},
	}
}

// stateFlag adds a flag whose value is one of some words.
func stateFlag(cmd *cobra.Command, to *string, name, about string, words ...string) {
	cmd.Flags().StringVar(to, name, "", about+": "+strings.Join(words, ", "))
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// age returns how long ago something was, for a column.
func age(t schema.Time) string { return output.Age(time.Since(output.Moment(t))) }

func tasks(p *schema.ListTasksParams) listing[schema.Task] {
	return listing[schema.Task]{
		method: "list_tasks", params: p, page: &p.Page,
		columns: []output.Column{{Head: "ID", ID: true}, {Head: "STATUS", State: true}, {Head: "AGE", Right: true}, {Head: "TRY"}, {Head: "MODEL", From: 60, Most: 16}, {Head: "TASK"}},
		rows: func(_ context.Context, _ *program.Local, items []schema.Task) (rows [][]string) {
			for _, t := range items {
				model := ""
				if t.Model != nil {
					model = t.Model.ModelID
				}
				about := title(t)
				if t.CancelRequestedAt != "" {
					about = "asked to end · " + about
				}
				if why := waits(t.WaitingFor, time.Now()); why != "" {
					about = why + " · " + about
				}
				rows = append(rows, []string{t.TaskID, statusWord(t.Status), age(t.CreatedAt), fmt.Sprintf("#%d", t.AttemptNumber), model, about})
			}
			return rows
		},
	}
}

func (a commands) lsCommand() *cobra.Command {
	var p schema.ListTasksParams
	cmd := listCommand(a, tasks(&p), "tasks, the oldest first", "  waybill task ls --status awaiting", func(ctx context.Context, l *program.Local) (err error) {
		p.Status = wireStatus(p.Status)
		if p.RunID, err = l.FullID(ctx, p.RunID, store.RunID); err != nil {
			return err
		}
		p.ParentSessionID, err = l.FullID(ctx, p.ParentSessionID, store.SessionID)
		return err
	})
	stateFlag(cmd, &p.Status, "status", "only tasks of this status", statusWords()...)
	cmd.Flags().StringVar(&p.RunID, "run", "", "only tasks of this run")
	cmd.Flags().StringVar(&p.ParentSessionID, "session", "", "only tasks that this session created")
	_ = cmd.RegisterFlagCompletionFunc("run", complete(a, runs(&schema.ListRunsParams{}).ids))
	program.NoFiles(cmd, "session")
	return cmd
}

func runs(p *schema.ListRunsParams) listing[schema.Run] {
	titles := map[string]map[string]string{} // by plan and item
	return listing[schema.Run]{
		method: "list_runs", params: p, page: &p.Page,
		columns: []output.Column{{Head: "ID", ID: true}, {Head: "STATE", State: true}, {Head: "AGE", Right: true}, {Head: "PROOF", State: true, From: 60}, {Head: "ITEM", Most: 12}, {Head: "TITLE"}},
		rows: func(ctx context.Context, l *program.Local, items []schema.Run) (rows [][]string) {
			for _, r := range items {
				if titles[r.Plan] == nil {
					titles[r.Plan] = itemTitles(ctx, l, r.Plan)
				}
				about := cmp.Or(titles[r.Plan][r.ItemID], "(not in the plan)") + " · " + r.Plan
				if r.Reason != "" {
					about = r.Reason + " · " + about
				}
				rows = append(rows, []string{r.RunID, r.State, age(r.CreatedAt), proofWord(r.Proof.State), r.ItemID, about})
			}
			return rows
		},
	}
}

// proofWord returns a short word for a state of proof.
func proofWord(state string) string {
	if state == "none_required" {
		return "said"
	}
	return state
}

// itemTitles returns the titles of the items of a plan by their ids; none if the plan cannot be read.
func itemTitles(ctx context.Context, l *program.Local, plan string) map[string]string {
	titles := map[string]string{}
	var p schema.Plan
	if l.Call(ctx, "get_plan", schema.GetPlanParams{Plan: plan}, &p) == nil {
		for _, item := range p.Items {
			titles[item.ItemID] = item.Title
		}
	}
	return titles
}

func (a commands) runsCommand() *cobra.Command {
	var p schema.ListRunsParams
	cmd := listCommand(a, runs(&p), "runs, the newest first", "  waybill run ls --state blocked", func(context.Context, *program.Local) error { return nil })
	stateFlag(cmd, &p.State, "state", "only runs in this state", "running", "blocked", "done", "failed")
	cmd.Flags().StringVar(&p.Plan, "plan", "", "only runs of this plan: its path or its short name")
	return cmd
}

func instructions(p *schema.ListInstructionsParams) listing[schema.Instruction] {
	return listing[schema.Instruction]{
		method: "list_instructions", params: p, page: &p.Page,
		columns: []output.Column{{Head: "ID", ID: true}, {Head: "STATE", State: true}, {Head: "AGE", Right: true}, {Head: "SENT"}, {Head: "SESSION", From: 60, Most: 16}, {Head: "INSTRUCTION"}},
		rows: func(_ context.Context, _ *program.Local, items []schema.Instruction) (rows [][]string) {
			for _, in := range items {
				sent := fmt.Sprintf("%d/%d", in.Sends, in.SendsMax)
				rows = append(rows, []string{in.InstructionID, in.State, age(in.CreatedAt), sent, in.SessionID, firstLine(in.Content)})
			}
			return rows
		},
	}
}

func (a commands) instructionsCommand() *cobra.Command {
	var p schema.ListInstructionsParams
	cmd := listCommand(a, instructions(&p), "instructions, the oldest first", "  waybill instruction ls --state failed", func(ctx context.Context, l *program.Local) (err error) {
		p.SessionID, err = l.FullID(ctx, p.SessionID, store.SessionID)
		return err
	})
	stateFlag(cmd, &p.State, "state", "only instructions in this state", "armed", "queued", "sent", "delivered", "acknowledged", "failed", "cancelled")
	cmd.Flags().StringVar(&p.SessionID, "session", "", "only instructions for this session")
	program.NoFiles(cmd, "session")
	return cmd
}

func notices(p *schema.ListNoticesParams) listing[schema.Notice] {
	p.Peek = true
	return listing[schema.Notice]{
		method: "list_notices", params: p, page: &p.Page,
		columns: []output.Column{{Head: "ID", ID: true}, {Head: "KIND", Most: 24}, {Head: "AGE", Right: true}, {Head: "ABOUT", ID: true, From: 60}, {Head: "NOTICE"}},
		rows: func(_ context.Context, _ *program.Local, items []schema.Notice) (rows [][]string) {
			for _, n := range items {
				rows = append(rows, []string{n.NoticeID, n.Kind, age(n.CreatedAt), n.SubjectID, firstLine(n.Text)})
			}
			return rows
		},
	}
}

func (a commands) noticesCommand() *cobra.Command {
	var p schema.ListNoticesParams
	cmd := listCommand(a, notices(&p), "open notices, the oldest first; that is no delivery", "  waybill notice ls", func(ctx context.Context, l *program.Local) (err error) {
		p.SessionID, err = l.FullID(ctx, p.SessionID, store.SessionID)
		return err
	})
	cmd.Flags().StringVar(&p.SessionID, "session", "", "only notices for this session")
	program.NoFiles(cmd, "session")
	return cmd
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
