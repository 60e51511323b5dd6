package task

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/internal/safetext"
	"waybill/schema"
)

// A shown is how one kind of thing is shown.
type shown struct {
	use, short, long string
	ids              cobra.CompletionFunc
}

// shows returns how to show the kinds of things, by noun.
func shows(a commands, of string) shown {
	return map[string]shown{
		"task": {
			"show ID", "Show a task with its attempts, its question and the replies",
			"Show a task: its status, its attempts over time, its question and the replies.", taskIDs(a, statuses...),
		},
		"run": {
			"show RUN | PLAN ITEM", "Show why a run is in its state, and the next step",
			"Show a run: the title of its item, its state, the reason, and the next step.", complete(a, runs(&schema.ListRunsParams{}).ids),
		},
		"instruction": {
			"show ID", "Show an instruction, why it is in its state, and the next step",
			"Show an instruction: its text, its state, the reason, and the next step.", complete(a, instructions(&schema.ListInstructionsParams{}).ids),
		},
		"notice": {
			"show ID", "Show a notice, and the state of its subject",
			"Show a notice: its whole text, the state of its subject, and the next step.", complete(a, notices(&schema.ListNoticesParams{}).ids),
		},
	}[of]
}

func (a commands) showCommand(of string) *cobra.Command {
	how := shows(a, of)
	most := strings.Count(how.use, "|") + 1
	return &cobra.Command{
		Use: how.use, Short: how.short, Args: cobra.RangeArgs(1, most), Long: how.long, ValidArgsFunction: how.ids,
		Example: "  waybill " + of + " show 4d5e6f7a",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.With(func(l *program.Local) (err error) {
				id := args[0]
				if len(args) == 2 {
					if id, err = program.RunID(cmd.Context(), l, args); err != nil {
						return err
					}
				}
				return a.show(cmd.Context(), l, id)
			})
		},
	}
}

// show prints the task with that id, or the task of the attempt with that id, or the explanation of any other id.
func (a commands) show(ctx context.Context, l *program.Local, id string) error {
	id, err := l.FullID(ctx, id, program.AnyID...)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(id, "tsk_") {
		var why schema.Explanation
		if err := l.Call(ctx, "explain", schema.ExplainParams{SubjectID: id}, &why); err != nil {
			return err
		}
		if !strings.HasPrefix(id, "att_") {
			return a.printExplanation(why, false)
		}
		id = why.Subject
	}
	var d schema.TaskDetail
	if err := l.Call(ctx, "get_task", schema.TaskParams{TaskID: id}, &d); err != nil {
		return err
	}
	if a.JSON {
		return a.Print(d)
	}
	p := taskSheet{drawing: drawing{width: a.Width(), now: time.Now(), style: a.Style}, next: a.nextLine(d.Task)}
	_, err = fmt.Fprint(a.Out, p.task(d))
	return err
}

func (a commands) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use: "explain ID | explain PLAN ITEM", Short: "Explain the state of something, and the next step",
		Long: `Explain the state of an instruction, a task, a run or an item of a plan: each rule behind it, the counter and its
limit, the event that caused it, and the next step.`,
		Example: "  waybill explain run_0197…\n  waybill explain specs/clock/tasks.md 2.1",
		Args:    cobra.RangeArgs(1, 2), ValidArgsFunction: taskIDs(a, statuses...),
		RunE: func(cmd *cobra.Command, args []string) error {
			about := schema.ExplainParams{SubjectID: args[0]}
			if len(args) == 2 {
				about = schema.ExplainParams{Plan: args[0], ItemID: args[1]}
			}
			return a.With(func(l *program.Local) (err error) {
				if len(args) == 1 {
					if about.SubjectID, err = l.FullID(cmd.Context(), args[0], program.AnyID...); err != nil {
						return err
					}
				}
				var why schema.Explanation
				if err := l.Call(cmd.Context(), "explain", about, &why); err != nil {
					return err
				}
				return a.printExplanation(why, true)
			})
		},
	}
}

// printExplanation prints an explanation, with rules also the names of the rules and their events.
func (a commands) printExplanation(why schema.Explanation, rules bool) error {
	if a.JSON {
		return a.Print(why)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", safetext.Printable(why.Subject), a.Style("1")(safetext.Printable(why.State)))
	for _, reason := range why.Because {
		if rules {
			b.WriteString(safetext.Printable(reason.Rule))
			if reason.EventSeq > 0 {
				fmt.Fprintf(&b, "  event %d", reason.EventSeq)
			}
			for _, id := range reason.IDs {
				if !strings.Contains(reason.Text, id) {
					b.WriteString("  " + safetext.Printable(id))
				}
			}
			b.WriteByte('\n')
		}
		b.WriteString(output.Quote(reason.Text, a.Width()))
	}
	for _, next := range why.Next {
		fmt.Fprintf(&b, "next: %s", safetext.Printable(next.Action))
		if next.Subject != why.Subject {
			b.WriteString(" of " + safetext.Printable(next.Subject))
		}
		fmt.Fprintf(&b, " (%s)\n", strings.Join(next.By, " or "))
		if len(next.Command) > 0 {
			b.WriteString("  " + a.CommandLine(next.Command) + "\n")
		}
		b.WriteString(output.Quote(next.Text, a.Width()))
	}
	_, err := fmt.Fprint(a.Out, b.String())
	return err
}

// A taskSheet is a task as a person reads it.
type taskSheet struct {
	drawing
	next string // the next step for a person, or ""
}

func (p taskSheet) task(d schema.TaskDetail) string {
	var b strings.Builder
	t := d.Task
	fmt.Fprintf(&b, "%s\n", p.style("1")(safetext.Printable(t.TaskID)))
	b.WriteString(p.facts(t))
	p.section(&b, "prompt", t.Prompt)
	if attempts := p.attempts(d.Attempts); attempts != "" {
		fmt.Fprintf(&b, "\n%s\n%s", p.style("1")("attempts"), attempts)
	}
	answered := ""
	if before := d.RepliesTotal - len(d.Replies); before > 0 {
		fmt.Fprintf(&b, "\n… %s before; get_task gives them with replies_after\n", output.Replies(before))
	}
	for _, r := range d.Replies {
		p.section(&b, "question", r.Question)
		p.section(&b, p.replyHead(r), r.Reply)
		answered = r.AttemptID
	}
	p.section(&b, "output", t.Output)
	if asked := lastAsked(d.Attempts); asked != answered {
		p.section(&b, "question", t.Question)
		p.section(&b, "options", optionList(t.Offered))
	}
	if p.next != "" {
		b.WriteString("\n" + p.next + "\n")
	}
	return b.String()
}

// optionList returns the options of a question with the numbers by which waybill task reply takes them.
func optionList(o schema.Offered) string {
	var b strings.Builder
	for i, option := range o.Options {
		fmt.Fprintf(&b, "%d. %s", i+1, option.Label)
		if option.Label == o.Default {
			b.WriteString(" (default)")
		}
		if option.Detail != "" {
			b.WriteString(": " + option.Detail)
		}
		b.WriteString("\n")
	}
	if o.DefaultAt != "" {
		fmt.Fprintf(&b, "Time takes the default at %s.\n", o.DefaultAt)
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

// standing returns the state of the task, its age and its reason.
func (p taskSheet) standing(t schema.Task) string {
	text := safetext.Printable(t.Status) + " for " + output.Span(p.now.Sub(output.Moment(t.UpdatedAt)))
	if t.Reason != "" {
		text += ": " + safetext.Printable(t.Reason)
	}
	return text
}

// facts are a line for everything that is known of the task and fits in one.
func (p taskSheet) facts(t schema.Task) string {
	var b strings.Builder
	say := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-10s%s\n", name, output.Fit(text, p.width-10))
		}
	}
	say("status", p.standing(t))
	say("about", safetext.Printable(t.Description))
	say("created", output.Ago(t.CreatedAt, p.now))
	say("role", safetext.Printable(t.Role))
	say("run", safetext.Printable(strings.TrimSpace(t.RunID+"  "+t.Proof)))
	say("for", safetext.Printable(t.ParentSessionID))
	say("session", safetext.Printable(t.SessionID))
	say("models", strings.Join(modelNames(t.Models), ", "))
	say("failures", fmt.Sprintf("%d of %d", t.Failures, t.MaxAttempts))
	for _, name := range slices.Sorted(maps.Keys(t.Labels)) {
		say("label", safetext.Printable(name)+" = "+safetext.Printable(t.Labels[name]))
	}
	for _, w := range t.WaitingFor {
		say("waits", p.waitsFor(w))
	}
	if t.CancelRequestedAt != "" {
		say("asked", "to end, "+output.Ago(t.CancelRequestedAt, p.now)+"; its worker has to report it")
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

// waitsFor returns what holds the task back.
func (p taskSheet) waitsFor(w schema.WaitingFor) string {
	switch w.Kind {
	case "depends_on":
		return "for " + safetext.Printable(w.TaskID) + ", which is " + safetext.Printable(w.Status)
	case "retry_delay":
		return output.Span(output.Moment(w.Until).Sub(p.now)) + " until the next attempt may begin"
	case "provider_cooling":
		return output.Span(output.Moment(w.Until).Sub(p.now)) + " until its model is tried again, which has failed too often"
	}
	return safetext.Printable(w.Kind)
}

// section writes a text of others under a heading.
func (p taskSheet) section(b *strings.Builder, head, text string) {
	if text != "" {
		fmt.Fprintf(b, "\n%s\n%s", p.style("1")(head), output.Quote(text, p.width))
	}
}

func (p taskSheet) replyHead(r schema.Reply) string {
	if r.ByTime {
		return output.Fit("default taken by time, "+output.Ago(r.At, p.now), p.width)
	}
	if r.By == "" {
		return output.Fit("reply, "+output.Ago(r.At, p.now), p.width)
	}
	return output.Fit("reply of "+output.Fit(safetext.Printable(r.By), p.width/3)+", "+output.Ago(r.At, p.now), p.width)
}
