// Package plan has the commands that draw a plan and set its items.
package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"waybill/api"
	"waybill/cli/output"
	"waybill/cli/planfiles"
	"waybill/cli/program"
	"waybill/internal/safetext"
	"waybill/plan"
	"waybill/plan/dialect"
	"waybill/schema"
)

// commands are the commands of this package, for one run of the program.
type commands struct{ *program.App }

// Command returns the command.
func Command(a *program.App) *cobra.Command { return commands{a}.planCommand() }

func (a commands) planCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "plan [FILE | FOLDER | NAME | -]", Short: "Draw a plan: its progress, its ready items and its faults", Args: cobra.MaximumNArgs(1),
		Long: `Draw a plan: its progress, its items as a tree with their dependencies, the dialect of the file with the evidence
for it, and each fault of the file with its line and a caret. A plan is a file, or a folder with a file for each task.
Name it by its path or by its short name, usually that of its folder; - is standard input. Files and folders need no
workspace. Without a name, the command draws the only plan of the workspace or lists all plans. If there is a store,
the runs of the items count too.

  → ready          · waits   » in progress   ! blocked   ✓ done   - skipped   ▾ a group with work left

--json prints the contents of the file only. The exit code is 1 if the file has no item; the error then names the
likeliest cause. The dialects are

  ` + strings.Join(slices.Collect(output.Wrap(strings.Join(dialect.Names(), " "), 110)), "\n  "),
		Example:           "  waybill plan\n  waybill plan specs/clock/tasks.md\n  git show HEAD~1:tasks.md | waybill plan -",
		ValidArgsFunction: planfiles.Complete(a.App),
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.JSON {
				return a.planJSON(args)
			}
			return a.drawPlan(cmd.Context(), args)
		},
	}
	cmd.AddCommand(a.planGraphCommand(), a.planSetCommand())
	return cmd
}

// graphFormats are the output formats of a graph.
var graphFormats = []string{"mermaid", "dot"}

func (a commands) planGraphCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use: "graph [FILE | FOLDER | NAME | -]", Short: "Write the graph of dependencies", Args: cobra.MaximumNArgs(1),
		Long: `Write the items of a plan as a graph for Mermaid or Graphviz: an arrow from each item to its dependents, a dotted
line from a group to its items, and a class for each status. Mermaid refuses
large plans by default; Graphviz does not.`,
		Example:           "  waybill plan graph tasks.md --format dot | dot -Tsvg > tasks.svg",
		ValidArgsFunction: planfiles.Complete(a.App),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(graphFormats, format) {
				return output.UsageError(fmt.Errorf("--format %s: must be one of %s", format, strings.Join(graphFormats, ", ")))
			}
			return a.graphPlan(cmd.Context(), args, format)
		},
	}
	cmd.Flags().StringVar(&format, "format", graphFormats[0], strings.Join(graphFormats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(slices.Clone(graphFormats), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// planJSON prints the reading of a plan, even of one without items.
func (a commands) planJSON(args []string) error {
	p, err := a.onePlan(first(args), "")
	if err != nil {
		return err
	}
	r, err := p.read()
	return errors.Join(a.Print(viewOf(r)), err)
}

func (a commands) drawPlan(ctx context.Context, args []string) error {
	if len(args) == 0 {
		if listed, err := a.listPlans(ctx); listed || err != nil {
			return err
		}
	}
	p, err := a.onePlan(first(args), "")
	if err != nil {
		return err
	}
	s := sheet{a.Width(), a.LineWidth(), a.Style}
	r, err := p.read()
	if err != nil {
		if len(r.Diagnostics) == 0 {
			return err
		}
		_, failed := fmt.Fprint(a.Out, s.diagnostics(p.text, r.Diagnostics))
		return errors.Join(failed, err)
	}
	items, progress, note, err := a.outlook(ctx, p, r)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(a.Out, s.plan(p.name, p.text, r, items, progress, note))
	return err
}

func (a commands) graphPlan(ctx context.Context, args []string, format string) error {
	p, err := a.onePlan(first(args), "")
	if err != nil {
		return err
	}
	r, err := p.read()
	if err != nil {
		return err
	}
	items, _, note, err := a.outlook(ctx, p, r)
	if err != nil {
		return err
	}
	if note != "" {
		a.Say("waybill: " + safetext.Printable(note))
	}
	g := newGraph(items)
	text := g.mermaid()
	if format == "dot" {
		text = g.dot()
	}
	if a.JSON {
		return a.Print(map[string]any{"format": format, "text": text})
	}
	_, err = fmt.Fprint(a.Out, text)
	return err
}

// first returns the first argument, or "".
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// onePlan returns the named plan, or for "" the only plan of the workspace. If there are several, the error names
// flag, or the argument if flag is "".
func (a commands) onePlan(name, flag string) (planText, error) {
	if name != "" {
		return a.planText(name)
	}
	p, err := planfiles.Open(a.App)
	if err != nil {
		return planText{}, err
	}
	defer p.Close()
	paths, err := pathsOf(p, flag)
	if err != nil {
		return planText{}, err
	}
	if len(paths) > 1 {
		how := "name one of "
		if flag != "" {
			how = "choose one with " + flag + " from "
		}
		return planText{}, output.UsageError(fmt.Errorf("there are %d plans: %s%s", len(paths), how, named(paths)))
	}
	return textAt(p, paths[0])
}

// pathsOf lists the plans of the workspace. There is at least one.
func pathsOf(p planfiles.Plans, flag string) ([]string, error) {
	paths, err := p.List()
	switch {
	case len(paths) > 0:
		return paths, nil // folders that could not be searched are left out
	case err != nil:
		return nil, api.Fault(err)
	}
	fault := schema.NewError(schema.LedgerMissing, "there is no plan in the workspace "+p.Workspace.Root)
	if flag != "" {
		return nil, fault.Hint("name the file of the plan with " + flag + " FILE")
	}
	return nil, fault.Hint("`waybill plan FILE` draws any file")
}

// listPlans lists the plans to choose from, if there are several.
func (a commands) listPlans(ctx context.Context) (listed bool, err error) {
	p, err := planfiles.Open(a.App)
	if err != nil {
		return false, err
	}
	defer p.Close()
	paths, err := pathsOf(p, "")
	if err != nil || len(paths) == 1 {
		return false, err
	}
	runs, notes, err := a.runsOfPlans(ctx)
	if err != nil {
		return false, err
	}
	longest := 0
	for _, rel := range paths {
		longest = max(longest, output.Columns(safetext.Printable(rel)))
	}
	var b strings.Builder
	width := a.LineWidth()
	for _, rel := range paths {
		summary := summaryOf(p, rel, runs[rel])
		line := output.Left(safetext.Printable(rel), min(longest, a.Width()/2)) + below + summary
		if output.Columns(line) <= width {
			b.WriteString(line + "\n")
			continue
		}
		b.WriteString(output.Fit(safetext.Printable(rel), width) + "\n" + below) // a long path must not cut off the numbers
		sheet{width: width}.paragraph(&b, strings.Join(strings.Fields(summary), " "), below)
	}
	for _, note := range notes {
		sheet{width: a.Width()}.paragraph(&b, "note: "+safetext.Printable(note), "")
	}
	b.WriteString("\nwaybill plan NAME draws one of them\n")
	_, err = fmt.Fprint(a.Out, b.String())
	return true, err
}

// runsOfPlans returns the run counts of each plan from the store, if there is one. The notes name missing facts.
func (a commands) runsOfPlans(ctx context.Context) (runs map[string]*schema.PlanRuns, notes []string, err error) {
	if a.Store == "" && !a.StoreExists() {
		return nil, nil, nil
	}
	var list schema.PlanList
	err = a.With(func(l *program.Local) error { return l.Call(ctx, "list_plans", schema.None{}, &list) })
	switch {
	case err != nil && a.Store != "":
		return nil, nil, err
	case err != nil:
		return nil, []string{"the runs of the plans cannot be read: " + err.Error()}, nil
	}
	runs = make(map[string]*schema.PlanRuns, len(list.Items))
	for _, p := range list.Items {
		runs[p.Path] = p.Runs
	}
	return runs, list.Problems, nil
}

// summaryOf returns the progress of a plan in a line, or why it is unknown.
func summaryOf(p planfiles.Plans, rel string, runs *schema.PlanRuns) string {
	text, err := textAt(p, rel)
	if err != nil {
		return safetext.Printable(err.Error())
	}
	r, err := text.read()
	if err != nil {
		if parse, ok := errors.AsType[*plan.ParseError](err); ok {
			return safetext.Printable(parse.Cause()) // the caller prints the name of the plan before it
		}
		return safetext.Printable(err.Error())
	}
	progress := output.ProgressOf(r.Totals.Completed, r.Totals.Total, runs)
	return fmt.Sprintf("%s %s  %s", output.Bar(progress.Completed, progress.Total, output.BarWidth), output.HowFar(progress), safetext.Printable(r.Dialect))
}
