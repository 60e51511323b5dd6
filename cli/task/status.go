package task

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/core"
	"waybill/internal/safetext"
	"waybill/schema"
)

func (a storeCommands) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Count the contents of the store and list what needs attention", Args: cobra.NoArgs,
		Long: `Count the contents of the store and list what needs attention. Damaged records are left out and named as degraded;
the exit code is still 0. To check by exit code whether a store is sound, use ` + "`waybill doctor`" + `.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.With(func(l *program.Local) error { return a.status(cmd.Context(), l) })
		},
	}
}

// statusView is the output of `waybill status --json`.
type statusView struct {
	schema.StatusResult
	Telemetry schema.Telemetry     `json:"telemetry"`
	more      bool                 // whether more tasks wait for a person than are in Awaiting
	Plans     []schema.PlanSummary `json:"plans"`
	Notices   []schema.Notice      `json:"notices"`
	Awaiting  []schema.Awaiting    `json:"awaiting"`
}

func (a storeCommands) status(ctx context.Context, l *program.Local) error {
	var v statusView
	var plans schema.PlanList
	if err := l.Call(ctx, "list_plans", schema.None{}, &plans); err != nil {
		return err
	}
	var notices schema.NoticeList
	if err := l.Call(ctx, "list_notices", schema.ListNoticesParams{Peek: true}, &notices); err != nil {
		return err
	}
	var awaiting schema.AwaitingList
	if err := l.Call(ctx, "list_awaiting", schema.ListAwaitingParams{}, &awaiting); err != nil {
		return err
	}
	if err := l.Call(ctx, "get_telemetry", schema.TelemetryParams{}, &v.Telemetry); err != nil {
		return err
	}
	// After the lists, so that it reports what they left out.
	if err := l.Call(ctx, "get_status", schema.None{}, &v.StatusResult); err != nil {
		return err
	}
	v.Plans, v.Notices, v.Awaiting, v.more = plans.Items, notices.Items, awaiting.Items, awaiting.NextCursor != ""
	if a.JSON {
		return a.Print(v)
	}
	_, err := fmt.Fprint(a.Out, v.text(a.LineWidth(), a.CommandLine))
	return err
}

// text returns the status for a person. command writes the words of a command as one line.
func (v statusView) text(width int, command func(words []string) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "workspace     %s\n", safetext.Printable(v.Workspace.Root))
	fmt.Fprintf(&b, "store         %s (%s, %d KiB)\n", safetext.Printable(v.Store.Path), v.Store.Mode, v.Store.SizeBytes>>10)
	fmt.Fprintf(&b, "instructions  %s\n", tally(v.Counts.Instructions, "armed", "queued", "sent", "delivered", "acknowledged", "failed", "cancelled"))
	fmt.Fprintf(&b, "runs          %s\n", tally(v.Counts.Runs, "running", "blocked", "done", "failed"))
	fmt.Fprintf(&b, "tasks         %s\n", v.tasks())
	b.WriteString(v.prompts())
	for _, p := range v.Plans {
		if p.Error != nil {
			fmt.Fprintf(&b, "plan          %s  %s\n", safetext.Printable(p.Path), safetext.Printable(p.Error.Message))
			continue
		}
		far := output.ProgressOf(p.Totals.Completed, p.Totals.Total, p.Runs)
		fmt.Fprintf(&b, "plan          %s  %s %s\n", safetext.Printable(p.Path), output.Bar(far.Completed, far.Total, output.BarWidth), output.HowFar(far))
	}
	v.attention(&b, width, command)
	for _, n := range v.Notices {
		first, _, _ := strings.Cut(n.Text, "\n") // waybill show has all of it
		head := fmt.Sprintf("notice        %s  ", n.NoticeID)
		fmt.Fprintf(&b, "%s%s\n", head, output.Fit(safetext.Printable(first), max(1, width-len(head))))
	}
	return b.String()
}

// prompts returns the counts of compiled prompts and saved tokens, or "" without prompts.
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

// attention writes what needs attention, or that all is well. It lists questions one by one.
func (v statusView) attention(b *strings.Builder, width int, command func(words []string) string) {
	if v.Well {
		b.WriteString("attention     none: all is well\n")
	}
	for _, c := range v.Attention {
		switch {
		case c.Kind == string(core.ConcernFault):
			fmt.Fprintf(b, "degraded      %s\n", safetext.Printable(c.Text))
		case c.Kind == string(core.ConcernQuestions) && len(v.Awaiting) > 0:
			v.questions(b, width, command)
		default:
			fmt.Fprintf(b, "attention     %s\n", safetext.Printable(c.Text))
			if len(c.Command) > 0 {
				fmt.Fprintf(b, "              %s\n", command(c.Command))
			}
		}
	}
}

// questions lists the tasks that wait for a person, each with the command that answers it.
func (v statusView) questions(b *strings.Builder, width int, command func(words []string) string) {
	for _, t := range v.Awaiting {
		since := output.Span(time.Duration(t.WaitingMS) * time.Millisecond)
		fmt.Fprintf(b, "question      %s\n", output.Fit("for "+since+": "+safetext.Printable(t.Question), width-14))
		fmt.Fprintf(b, "              %s\n", command([]string{"waybill", "reply", t.TaskID, "-m", "…"}))
	}
	// Tasks that are counted and not listed may be damaged, and then no list has them.
	if v.more {
		fmt.Fprintf(b, "              … %d more: waybill ls --status awaiting\n", max(1, v.Counts.Tasks["AWAITING_RESPONSE"]-len(v.Awaiting)))
	}
}

// tally returns the counts that are not zero: first those in order, then the others.
func tally(counts map[string]int, order ...string) string {
	var parts []string
	for _, name := range order {
		if counts[name] != 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[name], name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if !slices.Contains(order, name) {
			parts = append(parts, fmt.Sprintf("%d %s", counts[name], name))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "none")
}
