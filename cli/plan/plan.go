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
		Use: "plan", Short: "List plans, draw one, or set the status of an item", Args: cobra.MaximumNArgs(1),
		Long:    "Draw the only plan of the workspace, or list its plans.",
		Example: "  waybill plan show specs/clock/tasks.md", ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.AddCommand(planLsCommand(a), planShowCommand(a), a.planSetCommand(), a.planGraphCommand())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 { // an earlier spelling
			a.Say("waybill: `waybill plan " + safetext.Printable(args[0]) + "` is now `waybill plan show " + safetext.Printable(args[0]) + "`")
		}
		return a.show(cmd, args)
	}
	return cmd
}

func planLsCommand(a commands) *cobra.Command {
	return &cobra.Command{
		Use: "ls", Short: "List the plans of the workspace, open ones first", Args: cobra.NoArgs,
		Long: `List the plans of the workspace with their progress, open ones first. If there is a store, the runs of the items count too.
--json prints one object a line.`,
		Example: "  waybill plan ls",
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := a.listPlans(cmd.Context(), true)
			return err
		},
	}
}

func planShowCommand(a commands) *cobra.Command {
	return &cobra.Command{
		Use: "show [FILE | FOLDER | NAME | -]", Short: "Draw a plan: its progress, its ready items and its faults", Args: cobra.MaximumNArgs(1),
		Long: `Draw a plan: its progress, its items as a tree with their dependencies, the dialect of the file with the evidence
for it, and each fault of the file with its line and a caret. A plan is a file, or a folder with a file for each task.
Name it by its path or by its short name, usually that of its folder; - is standard input. Files and folders need no
workspace. Without a name, the command draws the only plan of the workspace or lists all plans. If there is a store,
the runs of the items count too.

  → ready          · waits   » in progress   ! blocked   ✓ done   - skipped   ▾ a group with work left

--json prints the contents of the file only. The exit code is 1 if the file has no item; the error then names the
likeliest cause. The dialects are

  ` + strings.Join(slices.Collect(output.Wrap(strings.Join(dialect.Names(), " "), output.PipeWidth-2)), "\n  "),
		Example:           "  waybill plan show specs/clock/tasks.md\n  git show HEAD~1:tasks.md | waybill plan show -",
		ValidArgsFunction: planfiles.Complete(a.App),
		RunE:              a.show,
	}
}

func (a commands) show(cmd *cobra.Command, args []string) error {
	if a.JSON {
		return a.planJSON(args)
	}
	return a.drawPlan(cmd.Context(), args)
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
	p, err := a.onePlan(first(args))
	if err != nil {
		return err
	}
	r, err := p.read()
	return errors.Join(a.Print(viewOf(r)), err)
}

func (a commands) drawPlan(ctx context.Context, args []string) error {
	if len(args) == 0 {
		if listed, err := a.listPlans(ctx, false); listed || err != nil {
			return err
		}
	}
	p, err := a.onePlan(first(args))
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
	return a.Page(s.plan(p.name, p.text, r, items, progress, note))
}

func (a commands) graphPlan(ctx context.Context, args []string, format string) error {
	p, err := a.onePlan(first(args))
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

// onePlan returns the named plan, or for "" the only plan of the workspace. If there are several, the error says to name
// one.
func (a commands) onePlan(name string) (planText, error) {
	if name != "" {
		return a.planText(name)
	}
	p, err := planfiles.Open(a.App)
	if err != nil {
		return planText{}, err
	}
	defer p.Close()
	paths, err := pathsOf(p)
	if err != nil {
		return planText{}, err
	}
	if len(paths) > 1 {
		return planText{}, output.UsageError(fmt.Errorf("there are %d plans: name one of %s", len(paths), named(paths)))
	}
	return textAt(p, paths[0])
}

// pathsOf lists the plans of the workspace. There is at least one.
func pathsOf(p planfiles.Plans) ([]string, error) {
	paths, err := p.List()
	switch {
	case len(paths) > 0:
		return paths, nil // folders that could not be searched are left out
	case err != nil:
		return nil, api.Fault(err)
	}
	return nil, schema.NewError(schema.LedgerMissing, "there is no plan in the workspace "+p.Workspace.Root).
		Hint("name the file of the plan; `waybill plan show FILE` draws any file")
}

// listPlans lists the plans: all of them, or if there are several to choose from.
func (a commands) listPlans(ctx context.Context, all bool) (listed bool, err error) {
	p, err := planfiles.Open(a.App)
	if err != nil {
		return false, err
	}
	defer p.Close()
	paths, err := pathsOf(p)
	if err != nil || len(paths) == 1 && !all {
		return false, err
	}
	runs, notes, err := a.runsOfPlans(ctx)
	if err != nil {
		return false, err
	}
	summaries, lines := make([]schema.PlanSummary, len(paths)), make([]output.PlanLine, len(paths))
	for i, rel := range paths {
		summaries[i] = summaryOf(p, rel, runs[rel])
		lines[i] = output.LineOf(summaries[i])
	}
	if a.JSON {
		return true, output.PrintEach(&a.Printer, summaries)
	}
	var b strings.Builder
	for _, line := range output.Plans(lines, a.Width(), a.LineWidth()) {
		b.WriteString(line + "\n")
	}
	for _, note := range notes {
		sheet{width: a.Width()}.paragraph(&b, "note: "+safetext.Printable(note), "")
	}
	if !all {
		b.WriteString("\nwaybill plan show NAME draws one of them\n")
	}
	return true, a.Page(b.String())
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

// summaryOf returns the progress of a plan, or why it is unknown.
func summaryOf(p planfiles.Plans, rel string, runs *schema.PlanRuns) schema.PlanSummary {
	summary := schema.PlanSummary{Plan: rel, Path: rel, Runs: runs}
	text, err := textAt(p, rel)
	if err == nil {
		var r *plan.Reading
		if r, err = text.read(); err == nil {
			summary.Dialect, summary.DiagnosticsCount = r.Dialect, len(r.Diagnostics)
			summary.Totals = schema.Totals(r.Totals)
			summary.Fingerprint = schema.Fingerprint{Size: int64(len(text.text)), Hash: plan.Hash(text.text)}
			return summary
		}
	}
	fault := api.Fault(err)
	summary.Error = &schema.PlanError{Code: fault.Data.Code, Message: fault.Message}
	if parse, ok := errors.AsType[*plan.ParseError](err); ok {
		summary.Error.Reason, summary.Error.Message = parse.Reason, parse.Cause() // a list has the name of the plan before it
	}
	return summary
}
