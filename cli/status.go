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
		Long: `Show what is in the store and what needs attention. What is damaged is left out of the lists and named
as degraded; the exit code is 0 all the same, because the status could be told. To find out by the exit
code whether a store is sound, there is ` + "`waybill doctor`" + `.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(func(l *local) error { return a.status(cmd.Context(), l) })
		},
	}
}

// statusView is what `waybill status --json` prints.
type statusView struct {
	schema.StatusResult
	Telemetry schema.Telemetry     `json:"telemetry"`
	more      bool                 // whether more tasks wait for a person than are in Awaiting
	Plans     []schema.PlanSummary `json:"plans"`
	Notices   []schema.Notice      `json:"notices"`
	Awaiting  []schema.Awaiting    `json:"awaiting"`
}

func (a *app) status(ctx context.Context, l *local) error {
	var v statusView
	var plans schema.PlanList
	if err := l.call(ctx, "list_plans", schema.None{}, &plans); err != nil {
		return err
	}
	var notices schema.NoticeList
	if err := l.call(ctx, "list_notices", schema.ListNoticesParams{Peek: true}, &notices); err != nil {
		return err
	}
	var awaiting schema.AwaitingList
	if err := l.call(ctx, "list_awaiting", schema.ListAwaitingParams{}, &awaiting); err != nil {
		return err
	}
	if err := l.call(ctx, "get_telemetry", schema.TelemetryParams{}, &v.Telemetry); err != nil {
		return err
	}
	// Behind the lists, so that it tells what they had to leave out.
	if err := l.call(ctx, "get_status", schema.None{}, &v.StatusResult); err != nil {
		return err
	}
	v.Plans, v.Notices, v.Awaiting, v.more = plans.Items, notices.Items, awaiting.Items, awaiting.NextCursor != ""
	if a.json {
		return a.print(v)
	}
	_, err := fmt.Fprint(a.Out, v.text(a.lineWidth(), a.replyLine))
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
	b.WriteString(v.prompts())
	for _, p := range v.Plans {
		if p.Error != nil {
			fmt.Fprintf(&b, "plan          %s  %s\n", plain(p.Path), plain(p.Error.Message))
			continue
		}
		fmt.Fprintf(&b, "plan          %s  %s %d/%d\n", plain(p.Path), bar(p.Totals.Completed, p.Totals.Total, 20), p.Totals.Completed, p.Totals.Total)
	}
	v.waiting(&b, width, reply)
	for _, n := range v.Notices {
		first, _, _ := strings.Cut(n.Text, "\n") // waybill show has all of it
		head := fmt.Sprintf("notice        %s  ", n.NoticeID)
		fmt.Fprintf(&b, "%s%s\n", head, fit(plain(first), max(1, width-len(head))))
	}
	for _, sentence := range v.Degraded {
		fmt.Fprintf(&b, "degraded      %s\n", plain(sentence))
	}
	return b.String()
}

// prompts says what was compiled and what that spared, and nothing if nothing was.
func (v statusView) prompts() string {
	t := &v.Telemetry
	if t.Dispatch.Prompts == 0 {
		return ""
	}
	line := fmt.Sprintf("prompts       %d, %d of them deltas; about %d tokens sent, %d (%d %%) saved\n",
		t.Dispatch.Prompts, t.Packets.Delta, t.Tokens.Sent, t.Tokens.Saved, 100*t.Tokens.Saved/max(1, t.Tokens.Resend))
	if n := t.LedgerModes["ledger_plus_fallback"]; n > 0 {
		line += fmt.Sprintf("              %d compiled while the plan could not be read\n", n)
	}
	if n := t.Dispatch.Overflows; n > 0 {
		line += fmt.Sprintf("              %d refused because they were over their budget\n", n)
	}
	return line
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
	// Those that are counted and not listed may as well be damaged, and then no list has them.
	if v.more {
		fmt.Fprintf(b, "              … %d more: waybill ls --status awaiting\n", max(1, v.Counts.Tasks["AWAITING_RESPONSE"]-len(v.Awaiting)))
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
