package plan

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"waybill/api"
	"waybill/cli/output"
	"waybill/cli/planfiles"
	"waybill/cli/program"
	"waybill/engine"
	"waybill/internal/nearest"
	"waybill/internal/safetext"
	"waybill/plan"
	"waybill/plan/edit"
	"waybill/plan/lex"
	"waybill/schema"
)

// settable are the usual words for a status on the command line, those of the wire first.
var settable = []string{"pending", "in_progress", "completed", "blocked", "skipped", "done", "open", "todo"}

// statusOf reads a status as people type it: any word that plans use for one, in any case, and with hyphens or spaces
// for underscores or without.
func statusOf(word string) (plan.Status, error) {
	if status, ok := lex.WordStatus(word); ok {
		return status, nil
	}
	bare := strings.NewReplacer("-", "", "_", "", " ", "")
	said := bare.Replace(strings.ToLower(word))
	for _, w := range settable {
		if status, ok := lex.WordStatus(w); ok && bare.Replace(w) == said {
			return status, nil
		}
	}
	near := nearest.Names(word, settable)
	if len(near) == 0 && len(said) > 1 {
		near = slices.DeleteFunc(slices.Clone(settable), func(w string) bool { return !strings.HasPrefix(w, said) })
	}
	perhaps := ""
	if len(near) > 0 {
		perhaps = "perhaps " + strings.Join(near, " or ") + "; it "
	}
	return 0, output.UsageError(fmt.Errorf("status %q: %smust be one of %s", word, perhaps, strings.Join(settable, ", ")))
}

func (a commands) planSetCommand() *cobra.Command {
	var p string
	var line int
	cmd := &cobra.Command{
		Use: "set [PLAN] ITEM STATUS", Short: "Write the status of an item into its plan", Args: cobra.RangeArgs(2, 3),
		Long: `Write the status of an item into the file of its plan, as the tools of its dialect write it. No other byte changes.
The command prints the line before and after. It never overwrites a simultaneous save of another program.

STATUS is pending, in_progress, completed, blocked or skipped, if the plan has a sign for it, or another word that a
plan may use for one, such as done, open or todo. Case does not matter, nor do hyphens, spaces or nothing instead of
underscores.

If there is a store, the change is a transaction of the workspace and its hosts are notified. Otherwise only the file
changes.`,
		Example:           "  waybill plan set 2.1 done\n  waybill plan set specs/clock/tasks.md T007 skipped",
		ValidArgsFunction: a.planSetWords(&p),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 3 {
				if p != "" {
					return output.UsageError(fmt.Errorf("the plan is named twice: %q and --plan %q", args[0], p))
				}
				p, args = args[0], args[1:]
			} else if p != "" {
				a.Say("waybill: `waybill plan set --plan PLAN ITEM STATUS` is now `waybill plan set PLAN ITEM STATUS`")
			}
			status, err := statusOf(args[1])
			switch {
			case err != nil:
				return err
			case cmd.Flags().Changed("line") && line < 1:
				return output.UsageError(errors.New("--line: lines count from 1"))
			case p == "-":
				return output.UsageError(errors.New("plan -: standard input cannot be written"))
			}
			return a.setItem(cmd.Context(), p, plan.Marking{ItemID: args[0], Line: line, Status: status})
		},
	}
	cmd.Flags().StringVar(&p, "plan", "", "the plan: its file or folder, or its short name (default: the only one of the workspace)")
	_ = cmd.Flags().MarkHidden("plan") // an earlier spelling
	cmd.Flags().IntVar(&line, "line", 0, "the line of the item, if several items have its id")
	_ = cmd.RegisterFlagCompletionFunc("plan", func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return planfiles.Complete(a.App)(cmd, nil, begun)
	})
	program.NoFiles(cmd, "line")
	return cmd
}

// A planSet is the output of `waybill plan set --json`.
type planSet struct {
	Plan         string `json:"plan"`
	ItemID       string `json:"item_id"`
	Source       string `json:"source,omitzero"` // the file of the item in a plan that is a folder
	Line         int    `json:"line"`
	OldStatus    string `json:"old_status"`
	NewStatus    string `json:"new_status"`
	Before       string `json:"before"`
	After        string `json:"after"`
	ChangedBytes int    `json:"changed_bytes"`
	Hash         string `json:"hash"` // of the file as it is now
}

// mostSetTries bounds how often a plan is read again after another writer changed it. setPause is the longest pause
// before each try, so that competing writers spread out.
const (
	mostSetTries = 100
	setPause     = 20 * time.Millisecond
)

// setItem sets an item of the current plan. The caller named no version, so setItem reads the plan again if another
// writer was faster.
func (a commands) setItem(ctx context.Context, plan string, m plan.Marking) error {
	for try := 1; ; try++ {
		set, err := a.trySet(ctx, plan, m)
		if err == nil {
			return a.printSet(set)
		}
		fault, ok := errors.AsType[*schema.Error](err)
		if !ok || fault.Data.Code != schema.Conflict || try == mostSetTries {
			return err
		}
		if kept, ok := fault.Data.Details["kept"].(string); ok {
			planfiles.SayKept(a.App, kept)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(rand.N(setPause)):
		}
	}
}

func (a commands) trySet(ctx context.Context, path string, m plan.Marking) (set planSet, err error) {
	p, err := a.onePlan(path)
	if err != nil {
		return set, err
	}
	r, err := p.read()
	if err != nil {
		return set, err
	}
	m.Plan = p.name
	marked, err := edit.Set(r, m)
	if err != nil {
		return set, notSet(r, err)
	}
	was, is := lineAt(p.text, marked.Changed.Start), lineAt(marked.Text, marked.Changed.Start)
	set = planSet{
		Plan: p.name, ItemID: m.ItemID, Source: marked.Item.Source, Line: marked.Item.Line, NewStatus: m.Status.String(), Before: was, After: is,
		OldStatus: statusAt(r, marked.Item), Hash: plan.Hash(p.text),
	}
	if marked.Text != p.text {
		m.Line = marked.Item.Line
		err = a.writeStatus(ctx, p, m, &set)
	}
	return set, err
}

// statusAt returns the status that an item had in a reading.
func statusAt(r *plan.Reading, now plan.Item) string {
	for _, it := range r.Items() {
		if it.ID == now.ID && it.Line == now.Line && it.Source == now.Source {
			return it.Status.String()
		}
	}
	return ""
}

// notSet returns the error with advice, such as similar ids or the lines of an ambiguous item.
func notSet(r *plan.Reading, err error) error {
	fault := api.Fault(err)
	if unknown, ok := errors.AsType[*plan.ItemError](err); ok {
		near := nearest.Names(unknown.ItemID, slices.Collect(r.IDs()))
		fault = fault.With("did_you_mean", near)
		if len(near) == 0 {
			return fault.Hint("`waybill plan show` draws the items of a plan")
		}
		return fault.Hint("perhaps: " + strings.Join(near, ", "))
	}
	if refusal, ok := errors.AsType[*plan.MarkError](err); ok && refusal.Reason == plan.MarkAmbiguous {
		return fault.Hint("give --line " + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(refusal.Lines)), " or --line "), "[]"))
	}
	return fault
}

// writeStatus writes the status into the plan file, and records the result in set.
func (a commands) writeStatus(ctx context.Context, p planText, m plan.Marking, set *planSet) error {
	if p.rel != "" && (a.Store != "" || a.StoreExists()) {
		return a.With(func(l *program.Local) error {
			var r schema.SetItemStatusResult
			err := l.Call(ctx, "set_item_status", schema.SetItemStatusParams{
				Plan: "./" + p.rel, ItemID: m.ItemID, Status: m.Status.String(), Line: &m.Line, ExpectedHash: set.Hash,
			}, &r)
			set.ChangedBytes, set.Hash = r.ChangedBytes, r.Fingerprint.Hash
			return err
		})
	}
	plans, rel, err := a.plansOf(p)
	if err != nil {
		return err
	}
	defer plans.Close()
	m.Plan = rel
	written, err := plans.SetStatus(&engine.StatusChange{Marking: m, Hash: set.Hash})
	if err != nil {
		return api.Fault(err)
	}
	set.ChangedBytes, set.Hash = written.ChangedBytes, written.Fingerprint.Hash
	return nil
}

// plansOf returns the folder that a plan is written in, and the plan's path there. The folder is the workspace, or for
// a file elsewhere its real folder.
func (a commands) plansOf(p planText) (plans planfiles.Plans, rel string, err error) {
	if p.rel != "" {
		plans, err = planfiles.OpenWith(a.App, planfiles.OwnTurns)
		return plans, p.rel, err
	}
	root, rel, err := a.besideWorkspaces(p.name, planfiles.OwnTurns)
	if err != nil {
		return planfiles.Plans{}, "", err
	}
	return planfiles.Plans{Plans: engine.NewPlans(root, engine.PlanOptions{}), Root: root}, rel, nil
}

func (a commands) printSet(set planSet) error {
	if a.JSON {
		return a.Print(set)
	}
	place := set.Plan
	if set.Source != "" {
		place = path.Join(place, set.Source)
	}
	place = safetext.Printable(place) + ":" + strconv.Itoa(set.Line)
	if set.ChangedBytes == 0 {
		_, err := fmt.Fprintf(a.Out, "%s: %s is %s already\n", place, safetext.Printable(set.ItemID), set.NewStatus)
		return err
	}
	width := a.LineWidth()
	_, err := fmt.Fprintf(a.Out, "%s: %s was %s and is %s\n%s\n%s\n", place, safetext.Printable(set.ItemID), set.OldStatus, set.NewStatus,
		output.Fit("- "+safetext.Printable(set.Before), width), output.Fit("+ "+safetext.Printable(set.After), width))
	return err
}

// lineAt returns the line at an offset, or "" in the list of files with which the text of a folder ends.
func lineAt(text string, offset int) string {
	if files, folder := plan.SplitFiles(text); folder {
		end := len(text)
		for _, f := range slices.Backward(files) {
			if end -= len(f.Text); end <= offset {
				return lineAt(f.Text, offset-end)
			}
		}
		return "" // of the list of the files, which is no text of the plan
	}
	begin := strings.LastIndexAny(text[:offset], "\r\n") + 1
	line := strings.TrimPrefix(text[begin:], "\ufeff")
	if end := strings.IndexAny(line, "\r\n"); end >= 0 {
		line = line[:end]
	}
	return line
}

// planSetWords completes the id of an item, and then its status.
func (a commands) planSetWords(plan *string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, begun string) (words []string, _ cobra.ShellCompDirective) {
		switch len(args) {
		case 0:
			words = a.itemIDs(*plan, begun)
		case 1:
			for _, word := range settable {
				if strings.HasPrefix(word, begun) {
					words = append(words, word)
				}
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// itemIDs returns the ids of a plan with a prefix, each once, with the description for the shell.
func (a commands) itemIDs(plan, begun string) (ids []string) {
	p, err := a.onePlan(plan)
	if err != nil {
		return nil // completion cannot show an error
	}
	r, err := p.read()
	if err != nil {
		return nil
	}
	seen := map[string]bool{}
	for _, it := range r.Items() {
		if !seen[it.ID] && strings.HasPrefix(it.ID, begun) && safetext.Printable(it.ID) == it.ID {
			ids = append(ids, it.ID+"\t"+output.Fit(it.Status.String()+", "+safetext.Printable(it.Title), output.PipeWidth))
		}
		seen[it.ID] = true
	}
	return ids
}
