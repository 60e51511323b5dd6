package cli

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"waybill/api"
	"waybill/schema"
)

func (a *app) planCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "plan [FILE | FOLDER | NAME | -]", Short: "Draw a plan: how far it is, what can be begun, and what is odd in it", Args: cobra.MaximumNArgs(1),
		Long: `Draw a plan: how far it is, its items as a tree with what each waits for, the dialect that its file was
read in and why, and every odd place of the file with the line and a caret. A plan is a file, or a folder with
a file for each task; it is named by its path, or by its short name, which is mostly that of the folder it lies
in; - is standard input. Files and folders need no workspace. Without a name it is the plan of the workspace,
or a list to choose from. Where there is a store, the runs of the items count too.

  → can be begun   · waits   » in progress   ! blocked   ✓ done   - skipped   ▾ a group with work left

With --json, what was read from the file, and nothing else is looked at. The exit code is 1 if the file has
no item; the error then names the dialects that were tried.`,
		Example:           "  waybill plan\n  waybill plan specs/clock/tasks.md\n  git show HEAD~1:tasks.md | waybill plan -",
		ValidArgsFunction: a.planNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.json {
				return a.planJSON(args)
			}
			return a.drawPlan(cmd.Context(), args)
		},
	}
	cmd.AddCommand(a.planGraphCommand(), a.planSetCommand())
	return cmd
}

// graphFormats are what a graph can be written in.
var graphFormats = []string{"mermaid", "dot"}

func (a *app) planGraphCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use: "graph [FILE | FOLDER | NAME | -]", Short: "Write the graph of what depends on what", Args: cobra.MaximumNArgs(1),
		Long: `Write the items of a plan as a graph for Mermaid or Graphviz: an arrow from each item to those that
depend on it, a dotted line from a group to what is in it, and a class for how each stands. Mermaid refuses
large plans by default; Graphviz does not.`,
		Example:           "  waybill plan graph tasks.md --format dot | dot -Tsvg > tasks.svg",
		ValidArgsFunction: a.planNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(graphFormats, format) {
				return usageError{fmt.Errorf("--format %s: must be one of %s", format, strings.Join(graphFormats, ", "))}
			}
			return a.graphPlan(cmd.Context(), args, format)
		},
	}
	cmd.Flags().StringVar(&format, "format", graphFormats[0], strings.Join(graphFormats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(slices.Clone(graphFormats), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// planJSON prints what was read from a plan, even if that is nothing.
func (a *app) planJSON(args []string) error {
	p, err := a.onePlan(first(args), "")
	if err != nil {
		return err
	}
	r, err := p.read()
	return errors.Join(a.print(viewOf(r)), err)
}

func (a *app) drawPlan(ctx context.Context, args []string) error {
	if len(args) == 0 {
		if listed, err := a.listPlans(); listed || err != nil {
			return err
		}
	}
	p, err := a.onePlan(first(args), "")
	if err != nil {
		return err
	}
	s := sheet{a.width(), a.lineWidth(), a.style}
	r, err := p.read()
	if err != nil {
		if len(r.Diagnostics) == 0 {
			return err
		}
		_, failed := fmt.Fprint(a.Out, s.diagnostics(p.text, r.Diagnostics))
		return errors.Join(failed, err)
	}
	items, note, err := a.outlook(ctx, p, r.Items())
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(a.Out, s.plan(p.name, p.text, r, items, note))
	return err
}

func (a *app) graphPlan(ctx context.Context, args []string, format string) error {
	p, err := a.onePlan(first(args), "")
	if err != nil {
		return err
	}
	r, err := p.read()
	if err != nil {
		return err
	}
	items, note, err := a.outlook(ctx, p, r.Items())
	if err != nil {
		return err
	}
	if note != "" {
		a.say("waybill: " + plain(note))
	}
	g := newGraph(items)
	text := g.mermaid()
	if format == "dot" {
		text = g.dot()
	}
	if a.json {
		return a.print(map[string]any{"format": format, "text": text})
	}
	_, err = fmt.Fprint(a.Out, text)
	return err
}

// first gives the first argument, or "" if there is none.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// onePlan gives the plan that was named, or with "" the only one of the workspace. Who did not name one is told
// to, with the flag that does it, or "" where an argument does.
func (a *app) onePlan(name, flag string) (planText, error) {
	if name != "" {
		return a.planText(name)
	}
	p, err := a.openPlans()
	if err != nil {
		return planText{}, err
	}
	defer p.close()
	paths, err := p.paths(flag)
	if err != nil {
		return planText{}, err
	}
	if len(paths) > 1 {
		how := "name one of "
		if flag != "" {
			how = "say with " + flag + "which of "
		}
		return planText{}, usageError{fmt.Errorf("there are %d plans: %s%s", len(paths), how, named(paths, func(string) bool { return true }))}
	}
	return p.text(paths[0])
}

// paths lists the plans of the workspace. There is at least one.
func (p openPlans) paths(flag string) ([]string, error) {
	paths, err := p.List()
	switch {
	case len(paths) > 0:
		return paths, nil // what could not be searched has no part in what was found
	case err != nil:
		return nil, api.Fault(err)
	}
	fault := schema.NewError(schema.LedgerMissing, "there is no plan in the workspace "+p.ws.Root)
	if flag != "" {
		return nil, fault.Hint("name the file of the plan with " + flag + "FILE")
	}
	return nil, fault.Hint("`waybill plan FILE` draws any file")
}

// listPlans lists the plans to choose from, if there are several.
func (a *app) listPlans() (listed bool, err error) {
	p, err := a.openPlans()
	if err != nil {
		return false, err
	}
	defer p.close()
	paths, err := p.paths("")
	if err != nil || len(paths) == 1 {
		return false, err
	}
	longest := 0
	for _, rel := range paths {
		longest = max(longest, columns(plain(rel)))
	}
	var b strings.Builder
	width := a.lineWidth()
	for _, rel := range paths {
		b.WriteString(fit(left(plain(rel), min(longest, a.width()/2))+"  "+p.summary(rel), width) + "\n")
	}
	b.WriteString("\nwaybill plan NAME draws one of them\n")
	_, err = fmt.Fprint(a.Out, b.String())
	return true, err
}

// summary says in a line how far a plan is, or why that is not known.
func (p openPlans) summary(rel string) string {
	text, err := p.text(rel)
	if err != nil {
		return plain(err.Error())
	}
	r, err := text.read()
	if err != nil {
		return plain(errors.Unwrap(err).Error())
	}
	return fmt.Sprintf("%s %d/%d  %s", bar(r.Totals.Completed, r.Totals.Total, barWidth), r.Totals.Completed, r.Totals.Total, plain(r.Dialect))
}

// planNames completes the path of a plan of the workspace, or the name of its folder; where none begins like
// that, the shell completes files.
func (a *app) planNames(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	p, err := a.openPlans()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	defer p.close()
	paths, _ := p.List() // who completes a line has no place for an error
	var names []string
	for _, rel := range paths {
		if plain(rel) != rel {
			continue // a shell would be given what cannot be typed
		}
		if strings.HasPrefix(rel, begun) {
			names = append(names, rel)
		}
		if folder := path.Base(path.Dir(rel)); folder != "." && begun != "" && strings.HasPrefix(folder, begun) {
			names = append(names, folder+"\t"+rel)
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}
