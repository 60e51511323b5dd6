package task

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
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
		Use: "status", Short: "Say what needs attention in this workspace, and count the rest", Args: cobra.NoArgs,
		Long: `Say what needs attention, and count the contents of the store. Damaged records are left out and named as degraded;
the exit code is still 0. To check by exit code whether a store is sound, use ` + "`waybill doctor`" + `.`,
		Example: "  waybill status\n  waybill status --json | jq .counts",
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
	manyMore  bool                 // whether there are more notices than in Notices
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
	v.manyMore = notices.NextCursor != ""
	if a.JSON {
		return a.Print(v)
	}
	return a.Page(v.text(statusSheet{a.Width(), a.LineWidth(), a.Style, a.State, a.CommandLine}))
}

// A statusSheet is where and how the status is written.
type statusSheet struct {
	width     int // of a page
	lineWidth int // of a line
	style     func(code string) func(string) string
	state     func(word string) string
	command   func(words []string) string // the words of a command as one line
}

const (
	labelWidth = len("instructions  ")
	mostListed = 5 // of questions, and of notices
	mostPlans  = 10
)

// text returns the status for a person: first all that needs attention, then the counts.
func (v statusView) text(s statusSheet) string {
	var b strings.Builder
	say := func(label, text string) { b.WriteString(output.Left(label, labelWidth) + text + "\n") }
	v.attention(say, s)
	told := slices.DeleteFunc(slices.Clone(v.Notices), func(n schema.Notice) bool { // those of questions are above
		return slices.ContainsFunc(v.Awaiting, func(t schema.Awaiting) bool { return t.TaskID == n.SubjectID })
	})
	for _, n := range told[:min(mostListed, len(told))] {
		head := n.NoticeID + "  "
		say("notice", head+output.Fit(safetext.Printable(firstLine(n.Text)), max(1, s.lineWidth-labelWidth-len(head))))
	}
	if more := len(told) - mostListed; v.manyMore {
		say("", fmt.Sprintf("… more than %d more: waybill notice ls", more))
	} else if more > 0 {
		say("", fmt.Sprintf("… %d more: waybill notice ls", more))
	}
	say("workspace", safetext.Printable(v.Workspace.Root))
	say("store", fmt.Sprintf("%s (%s, %d KiB)", safetext.Printable(v.Store.Path), v.Store.Mode, v.Store.SizeBytes>>10))
	say("instructions", tally(s, v.Counts.Instructions, "armed", "queued", "sent", "delivered", "acknowledged", "failed", "cancelled"))
	say("runs", tally(s, v.Counts.Runs, "running", "blocked", "done", "failed"))
	counts := make(map[string]int, len(v.Counts.Tasks))
	for status, n := range v.Counts.Tasks {
		counts[statusWord(status)] = n
	}
	say("tasks", tally(s, counts, statusWords()...))
	b.WriteString(v.prompts())
	v.plans(say, s)
	return b.String()
}

// plans writes the open plans, and counts the finished ones.
func (v statusView) plans(say func(label, text string), s statusSheet) {
	var open []output.PlanLine
	for _, p := range v.Plans {
		p.Dialect = ""
		if line := output.LineOf(p); !line.Finished() {
			open = append(open, line)
		}
	}
	room := s.lineWidth
	if room < math.MaxInt {
		room -= labelWidth
	}
	for _, line := range output.Plans(open[:min(mostPlans, len(open))], s.width-labelWidth, room) {
		label := "plan"
		if strings.HasPrefix(line, " ") {
			label = ""
		}
		say(label, line)
	}
	if rest := max(0, len(open)-mostPlans); rest > 0 {
		say("", fmt.Sprintf("… %d more open: waybill plan ls", rest))
	}
	if finished := len(v.Plans) - len(open); finished > 0 {
		say("plans", fmt.Sprintf("%d finished: waybill plan ls", finished))
	}
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

// attention writes what needs attention, or that all is well. It lists questions one by one.
func (v statusView) attention(say func(label, text string), s statusSheet) {
	if v.Well {
		say("attention", s.style("32")("none: all is well"))
	}
	for _, c := range v.Attention {
		switch {
		case c.Kind == string(core.ConcernFault):
			say(s.style("31")("degraded")+strings.Repeat(" ", labelWidth-len("degraded")), safetext.Printable(c.Text))
		case c.Kind == string(core.ConcernQuestions) && len(v.Awaiting) > 0:
			v.questions(say, s)
		default:
			say("attention", s.style("31")(output.Fit(safetext.Printable(c.Text), s.lineWidth-labelWidth)))
			if len(c.Command) > 0 {
				say("", s.command(c.Command))
			}
		}
	}
}

// questions lists the tasks that wait for a person, each with the command that answers it.
func (v statusView) questions(say func(label, text string), s statusSheet) {
	shown := v.Awaiting[:min(mostListed, len(v.Awaiting))]
	for _, t := range shown {
		since := output.Span(time.Duration(t.WaitingMS) * time.Millisecond)
		text := safetext.Printable(t.Question)
		if t.Description != "" {
			text = safetext.Printable(t.Description) + ": " + text
		}
		say("question", s.style("33")(output.Fit("for "+since+": "+text, s.lineWidth-labelWidth)))
		say("", s.command([]string{"waybill", "task", "reply", t.TaskID, "-m", "…"}))
	}
	// Tasks that are counted and not listed may be damaged, and then no list has them.
	more := len(v.Awaiting) - len(shown)
	if v.more {
		more = max(1, v.Counts.Tasks["AWAITING_RESPONSE"]-len(shown))
	}
	if more > 0 {
		say("", fmt.Sprintf("… %d more: waybill task ls --status awaiting", more))
	}
}

// tally returns the counts that are not zero: first those in order, then the others.
func tally(s statusSheet, counts map[string]int, order ...string) string {
	rest := slices.DeleteFunc(slices.Sorted(maps.Keys(counts)), func(name string) bool { return slices.Contains(order, name) })
	var parts []string
	for _, name := range slices.Concat(order, rest) {
		if counts[name] != 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[name], s.state(name)))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "none")
}
