package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"waybill/schema"
)

func (a *app) showCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show a task with its attempts, or why something is as it is", Args: cobra.ExactArgs(1),
		Long: `Show a task: how it stands, its attempts drawn over time, its question, and what was replied.
Of an instruction, a run or a notice: its state, why it is so, and what would move it on.`,
		ValidArgsFunction: a.taskIDs(statuses...),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(func(l *local) error { return a.show(cmd.Context(), l, args[0]) })
		},
	}
}

// show prints the task with that id, or that an attempt with that id is of, or what is known of
// anything else.
func (a *app) show(ctx context.Context, l *local, id string) error {
	if !strings.HasPrefix(id, "tsk_") {
		var why schema.Explanation
		if err := l.call(ctx, "explain", schema.ExplainParams{SubjectID: id}, &why); err != nil {
			return err
		}
		if !strings.HasPrefix(id, "att_") {
			return a.printExplanation(why, false)
		}
		id = why.Subject
	}
	var d schema.TaskDetail
	if err := l.call(ctx, "get_task", schema.TaskParams{TaskID: id}, &d); err != nil {
		return err
	}
	if a.json {
		return a.print(d)
	}
	p := taskSheet{drawing: drawing{width: a.width(), now: time.Now(), style: a.style}, next: a.nextLine(d.Task)}
	_, err := fmt.Fprint(a.Out, p.task(d))
	return err
}

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use: "explain ID | explain PLAN ITEM", Short: "Say why something is as it is, and what would move it on",
		Long: `Say why an instruction, a task, a run or an item of a plan is as it is: each rule that has a part in it,
the counter and its limit, the event by which it came to hold, and what would move it on.`,
		Example: "  waybill explain run_0197…\n  waybill explain specs/clock/tasks.md 2.1",
		Args:    cobra.RangeArgs(1, 2), ValidArgsFunction: a.taskIDs(statuses...),
		RunE: func(cmd *cobra.Command, args []string) error {
			about := schema.ExplainParams{SubjectID: args[0]}
			if len(args) == 2 {
				about = schema.ExplainParams{Plan: args[0], ItemID: args[1]}
			}
			return a.with(func(l *local) error {
				var why schema.Explanation
				if err := l.call(cmd.Context(), "explain", about, &why); err != nil {
					return err
				}
				return a.printExplanation(why, true)
			})
		},
	}
}

// printExplanation prints an explanation, and with rules also their names and the events behind them.
func (a *app) printExplanation(why schema.Explanation, rules bool) error {
	if a.json {
		return a.print(why)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", plain(why.Subject), a.style("1")(plain(why.State)))
	for _, reason := range why.Because {
		if rules {
			b.WriteString(plain(reason.Rule))
			if reason.EventSeq > 0 {
				fmt.Fprintf(&b, "  event %d", reason.EventSeq)
			}
			b.WriteByte('\n')
		}
		b.WriteString(quote(reason.Text, a.width()))
	}
	for _, next := range why.Next {
		fmt.Fprintf(&b, "next: %s\n%s", plain(next.Action), quote(next.Text, a.width()))
	}
	_, err := fmt.Fprint(a.Out, b.String())
	return err
}

// A taskSheet is a task as a person reads it.
type taskSheet struct {
	drawing
	next string // what a person can do about it, or ""
}

func (p taskSheet) task(d schema.TaskDetail) string {
	var b strings.Builder
	t := d.Task
	fmt.Fprintf(&b, "%s\n", p.style("1")(plain(t.TaskID)))
	b.WriteString(p.facts(t))
	p.section(&b, "prompt", t.Prompt)
	if attempts := p.attempts(d.Attempts); attempts != "" {
		fmt.Fprintf(&b, "\n%s\n%s", p.style("1")("attempts"), attempts)
	}
	answered := ""
	if before := d.RepliesTotal - len(d.Replies); before > 0 {
		fmt.Fprintf(&b, "\n… %s before; get_task gives them with replies_after\n", replies(before))
	}
	for _, r := range d.Replies {
		p.section(&b, "question", r.Question)
		p.section(&b, p.replyHead(r), r.Reply)
		answered = r.AttemptID
	}
	p.section(&b, "output", t.Output)
	if asked := lastAsked(d.Attempts); asked != answered {
		p.section(&b, "question", t.Question)
	}
	if p.next != "" {
		b.WriteString("\n" + p.next + "\n")
	}
	return b.String()
}

// lastAsked is the last attempt that ended with a question, or "".
func lastAsked(attempts []schema.Attempt) (id string) {
	for _, a := range attempts {
		if a.Status == "awaiting_response" {
			id = a.AttemptID
		}
	}
	return id
}

// standing is how the task stands, since when, and why.
func (p taskSheet) standing(t schema.Task) string {
	text := plain(t.Status) + " for " + span(p.now.Sub(moment(t.UpdatedAt)))
	if t.Reason != "" {
		text += ": " + plain(t.Reason)
	}
	return text
}

// facts are a line for everything that is known of the task and fits in one.
func (p taskSheet) facts(t schema.Task) string {
	var b strings.Builder
	say := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-10s%s\n", name, fit(text, p.width-10))
		}
	}
	say("status", p.standing(t))
	say("about", plain(t.Description))
	say("created", ago(t.CreatedAt, p.now))
	say("role", plain(t.Role))
	say("run", plain(t.RunID))
	say("for", plain(t.ParentSessionID))
	say("session", plain(t.SessionID))
	say("models", strings.Join(modelNames(t.Models), ", "))
	say("failures", fmt.Sprintf("%d of %d", t.Failures, t.MaxAttempts))
	for _, name := range slices.Sorted(maps.Keys(t.Labels)) {
		say("label", plain(name)+" = "+plain(t.Labels[name]))
	}
	for _, w := range t.WaitingFor {
		say("waits", p.waitsFor(w))
	}
	if t.CancelRequestedAt != "" {
		say("asked", "to end, "+ago(t.CancelRequestedAt, p.now)+"; its worker has to report it")
	}
	return b.String()
}

func modelNames(models []schema.Model) []string {
	names := make([]string, len(models))
	for i := range models {
		names[i] = modelName(&models[i])
	}
	return names
}

// waitsFor says what holds the task back.
func (p taskSheet) waitsFor(w schema.WaitingFor) string {
	switch w.Kind {
	case "depends_on":
		return "for " + plain(w.TaskID) + ", which is " + plain(w.Status)
	case "retry_delay":
		return span(moment(w.Until).Sub(p.now)) + " until the next attempt may begin"
	case "provider_cooling":
		return span(moment(w.Until).Sub(p.now)) + " until its model is tried again, which has failed too often"
	}
	return plain(w.Kind)
}

// section writes what somebody said under a heading.
func (p taskSheet) section(b *strings.Builder, head, text string) {
	if text != "" {
		fmt.Fprintf(b, "\n%s\n%s", p.style("1")(head), quote(text, p.width))
	}
}

func (p taskSheet) replyHead(r schema.Reply) string {
	if r.By == "" {
		return fit("reply, "+ago(r.At, p.now), p.width)
	}
	return fit("reply of "+fit(plain(r.By), p.width/3)+", "+ago(r.At, p.now), p.width)
}
