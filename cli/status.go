package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"waybill/schema"
)

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show what is in the store and what needs attention", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := a.local()
			if err != nil {
				return err
			}
			defer l.close()
			return a.status(cmd.Context(), l)
		},
	}
}

// statusView is what `waybill status --json` prints.
type statusView struct {
	schema.StatusResult
	Plans    []schema.PlanSummary `json:"plans"`
	Notices  []schema.Notice      `json:"notices"`
	Awaiting []schema.Awaiting    `json:"awaiting"`
}

func (a *app) status(ctx context.Context, l *local) error {
	var v statusView
	if err := l.call(ctx, "get_status", schema.None{}, &v.StatusResult); err != nil {
		return err
	}
	var plans schema.PlanList
	if err := l.call(ctx, "list_plans", schema.None{}, &plans); err != nil {
		return err
	}
	var notices schema.NoticeList
	if err := l.call(ctx, "list_notices", schema.ListNoticesParams{}, &notices); err != nil {
		return err
	}
	var awaiting schema.AwaitingList
	if err := l.call(ctx, "list_awaiting", schema.ListAwaitingParams{}, &awaiting); err != nil {
		return err
	}
	v.Plans, v.Notices, v.Awaiting = plans.Items, notices.Items, awaiting.Items
	if a.json {
		return a.print(v)
	}
	_, err := fmt.Fprint(a.Out, v.text(a.width(), a.replyLine))
	return err
}

// text is the status for a person. reply gives the command that answers a task.
func (v statusView) text(width int, reply func(id string) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "workspace     %s\n", plain(v.Workspace.Root))
	fmt.Fprintf(&b, "store         %s (%s, %d KiB)\n", plain(v.Store.Path), v.Store.Mode, v.Store.SizeBytes>>10)
	fmt.Fprintf(&b, "instructions  %s\n", tally(v.Counts.Instructions, "queued", "sent", "acknowledged", "failed", "cancelled"))
	fmt.Fprintf(&b, "runs          %s\n", tally(v.Counts.Runs, "running", "blocked", "done", "failed"))
	fmt.Fprintf(&b, "tasks         %s\n", v.tasks())
	for _, p := range v.Plans {
		if p.Error != nil {
			fmt.Fprintf(&b, "plan          %s  %s\n", plain(p.Path), plain(p.Error.Message))
			continue
		}
		fmt.Fprintf(&b, "plan          %s  %s %d/%d\n", plain(p.Path), bar(p.Totals.Completed, p.Totals.Total, 20), p.Totals.Completed, p.Totals.Total)
	}
	v.waiting(&b, width, reply)
	for _, n := range v.Notices {
		fmt.Fprintf(&b, "notice        %s  %s\n", n.NoticeID, plain(n.Text))
	}
	for _, sentence := range v.Degraded {
		fmt.Fprintf(&b, "degraded      %s\n", plain(sentence))
	}
	return b.String()
}

// tasks counts those that there are, by status.
func (v statusView) tasks() string {
	var parts []string
	for _, status := range statuses {
		if n := v.Counts.Tasks[status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, statusWord(status)))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// waiting lists the tasks that wait for a person, each with the way to answer it.
func (v statusView) waiting(b *strings.Builder, width int, reply func(id string) string) {
	for _, t := range v.Awaiting {
		since := span(time.Duration(t.WaitingMS) * time.Millisecond)
		fmt.Fprintf(b, "question      %s\n", fit("for "+since+": "+plain(t.Question), width-14))
		fmt.Fprintf(b, "              %s\n", reply(t.TaskID))
	}
	if more := v.Counts.Tasks["AWAITING_RESPONSE"] - len(v.Awaiting); more > 0 {
		fmt.Fprintf(b, "              … %d more: waybill ls --status awaiting\n", more)
	}
}

// tally writes counts in the given order, and any others behind them.
func tally(counts map[string]int, order ...string) string {
	var parts []string
	for _, name := range order {
		parts = append(parts, fmt.Sprintf("%d %s", counts[name], name))
	}
	var more []string
	for name, n := range counts {
		if !slices.Contains(order, name) {
			more = append(more, fmt.Sprintf("%d %s", n, name))
		}
	}
	slices.Sort(more)
	return strings.Join(append(parts, more...), ", ")
}

// bar draws how much of a whole is done.
func bar(done, total, width int) string {
	filled := 0
	if total > 0 {
		filled = min(width, done*width/total)
	}
	return strings.Repeat("█", filled) + strings.Repeat("░", width-filled)
}
