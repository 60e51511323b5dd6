package check

import (
	"context"
	"fmt"
	"os/signal"
	"slices"
	"strings"
	"time"

	"waybill/check/config"
	"waybill/check/trust"
	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/cli/receipts"
	"waybill/core/proof"
	"waybill/internal/safetext"
	"waybill/schema"
)

// exitInterrupted is the exit code after a signal.
const exitInterrupted = 130

// shownLines bounds the lines from the end of the output of a check that failed.
const shownLines = 20

// runView is the output of `waybill check --json`.
type runView struct {
	Outcome    string            `json:"outcome"` // the worst of the checks
	Checks     []schema.CheckRun `json:"checks"`
	Run        *schema.Run       `json:"run,omitzero"`
	NextAction string            `json:"next_action,omitzero"`
}

// run runs the checks of the workspace, or those of the run that the arguments name.
func (a commands) run(ctx context.Context, args []string) error {
	ws, place, err := a.place()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, program.EndSignals()...)
	defer stop()
	c := &receipts.Checks{Dir: ws.Root, File: place, Runner: "waybill check"}
	if len(args) == 0 {
		err = a.runAll(ctx, c)
	} else {
		err = a.runOne(ctx, c, args)
	}
	if ctx.Err() != nil {
		a.Code = exitInterrupted
		return nil
	}
	return err
}

// runAll runs the checks for items, without a run.
func (a commands) runAll(ctx context.Context, c *receipts.Checks) error {
	standing := c.Look()
	if err := unready(c.File, standing); err != nil {
		return err
	}
	var v runView
	for _, name := range standing.Required(config.PerItem) {
		r, err := a.runNamed(ctx, c, schema.Run{}, name)
		if err != nil {
			return err
		}
		v.Checks = append(v.Checks, r)
	}
	if len(v.Checks) == 0 {
		return schema.NewError(schema.SubjectGone, config.Name+" declares no check for items")
	}
	return a.conclude(v)
}

// unready returns why no check of the file may run, or nil.
func unready(file trust.Place, standing trust.Standing) error {
	switch {
	case len(standing.Mistakes) > 0:
		return output.UsageError(receipts.MistakesError(file, standing.Mistakes))
	case standing.State == trust.None:
		return errNone(file)
	case standing.State != trust.Trusted:
		return schema.NewError(schema.InvalidState, standing.Why).Hint(standing.Mend)
	}
	return nil
}

// runOne runs the checks that a run requires, and records their receipts.
func (a commands) runOne(ctx context.Context, c *receipts.Checks, args []string) error {
	if err := a.RefuseAgents("an agent writes no receipts: `waybill check` without a run says how the work stands"); err != nil {
		return err
	}
	return a.With(func(l *program.Local) error {
		c.Call = l.Call
		id, err := program.RunID(ctx, l, args)
		if err != nil {
			return err
		}
		var found schema.RunList
		if err := l.Call(ctx, "list_runs", schema.ListRunsParams{RunID: id}, &found); err != nil {
			return err
		}
		run := found.Items[0]
		names, err := required(c, run)
		if err != nil {
			return err
		}
		return a.record(ctx, l, c, run, names)
	})
}

// required returns the names of the checks that run for a run.
func required(c *receipts.Checks, run schema.Run) ([]string, error) {
	if run.State == "done" || run.State == "failed" {
		return nil, schema.NewError(schema.InvalidState, "run "+run.RunID+" is "+run.State+", and no receipt changes it").
			Hint("`waybill check` runs the checks without a run")
	}
	names := slices.DeleteFunc(slices.Clone(run.Policy.RequireChecks), func(name string) bool { return name == proof.Facts })
	if len(names) == 0 {
		names = c.Look().Required(config.PerItem)
	}
	if len(names) == 0 {
		return nil, schema.NewError(schema.SubjectGone, "run "+run.RunID+" requires no check, and no trusted "+config.Name+" declares one")
	}
	for _, name := range names {
		if _, _, known := c.Command(name); !known {
			return nil, schema.NewError(schema.InvalidState, fmt.Sprintf("run %s requires check %q, which %s does not declare", run.RunID, name, config.Name)).
				Hint("declare it there, or run it with waybill work --check '" + name + "=COMMAND'")
		}
	}
	return names, nil
}

func (a commands) record(ctx context.Context, l *program.Local, c *receipts.Checks, run schema.Run, names []string) error {
	v := runView{Run: &run}
	for _, name := range names {
		r, err := a.runNamed(ctx, c, run, name)
		if err != nil {
			return err
		}
		var answer schema.ReportCheckResult
		if err := l.Call(context.WithoutCancel(ctx), "report_check", c.Params(run, r), &answer); err != nil {
			return err
		}
		v.Checks, v.Run, v.NextAction = append(v.Checks, answer.Receipt.CheckRun), &answer.Run, answer.NextAction
	}
	return a.conclude(v)
}

// runNamed runs a check and prints what happens.
func (a commands) runNamed(ctx context.Context, c *receipts.Checks, run schema.Run, name string) (schema.CheckRun, error) {
	if line, runs, _ := c.Command(name); runs && !a.JSON {
		_, _ = fmt.Fprintf(a.Out, "checking  %s — %s\n", name, safetext.Printable(line))
	}
	r, err := c.Run(ctx, run, name)
	if err != nil || a.JSON {
		return r, err
	}
	words := []string{"checked", name, r.Outcome}
	if r.DurationMS > 0 {
		words = append(words, "in "+output.Span(time.Duration(r.DurationMS)*time.Millisecond))
	}
	if why := reason(r); why != "" {
		words = append(words, "— "+safetext.Printable(why))
	}
	text := strings.Join(words, "  ") + "\n"
	if r.Outcome == proof.Red.String() {
		text += ending(r.Output)
	}
	_, err = a.Out.WriteString(text)
	return r, err
}

// reason says why a check is not green.
func reason(r schema.CheckRun) string {
	switch {
	case r.Outcome == proof.Red.String() && r.ExitCode != nil:
		return fmt.Sprintf("exit status %d", *r.ExitCode)
	case r.TreeBefore != r.TreeAfter:
		return "it changed files while it ran, so its outcome belongs to no files: have git ignore what it writes"
	}
	return r.Reason
}

// ending returns the last lines of an output, set apart.
func ending(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\r\n"), "\n")
	var b strings.Builder
	for _, line := range lines[max(0, len(lines)-shownLines):] {
		b.WriteString(strings.TrimRight(output.Gutter+safetext.Printable(strings.TrimSuffix(line, "\r")), " ") + "\n")
	}
	return b.String()
}

// conclude prints the result and sets the exit code: a red check comes before one that waits for a person.
func (a commands) conclude(v runView) error {
	v.Outcome = proof.Green.String()
	waits := ""
	for _, r := range v.Checks {
		switch {
		case r.Outcome == proof.Red.String(), r.TreeBefore != r.TreeAfter:
			v.Outcome, a.Code = proof.Red.String(), output.ExitFailed
		case r.Outcome != proof.Green.String():
			waits = r.Outcome
		}
	}
	if waits != "" && a.Code == output.ExitOK {
		v.Outcome, a.Code = waits, output.ExitConflict
	}
	if a.JSON {
		return a.Print(v)
	}
	if v.Run == nil {
		return nil
	}
	text := fmt.Sprintf("run  %s  %s  → %s\n", v.Run.RunID, v.Run.Proof.State, v.NextAction)
	if v.Run.State == "blocked" {
		text += "  " + a.Pasteable("run", "unblock", v.Run.RunID) + "\n"
	}
	_, err := a.Out.WriteString(text)
	return err
}
