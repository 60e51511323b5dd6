package cli

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
	"waybill/engine"
	"waybill/ledger"
	"waybill/schema"
)

// settable is what a status is called on the command line, the words of plans first.
var settable = []string{"pending", "in_progress", "completed", "blocked", "skipped", "done", "open", "todo"}

// statusOf reads a status as people type it, in any case, and with hyphens or spaces for underscores or without.
func statusOf(word string) (ledger.Status, error) {
	bare := strings.NewReplacer("-", "", "_", "", " ", "")
	said := bare.Replace(strings.ToLower(word))
	for _, w := range settable {
		if status, ok := ledger.WordStatus(w); ok && bare.Replace(w) == said {
			return status, nil
		}
	}
	near := schema.Nearest(word, settable)
	if len(near) == 0 && len(said) > 1 {
		near = slices.DeleteFunc(slices.Clone(settable), func(w string) bool { return !strings.HasPrefix(w, said) })
	}
	perhaps := ""
	if len(near) > 0 {
		perhaps = "perhaps " + strings.Join(near, " or ") + "; it "
	}
	return 0, usageError{fmt.Errorf("status %q: %smust be one of %s", word, perhaps, strings.Join(settable, ", "))}
}

func (a *app) planSetCommand() *cobra.Command {
	var plan string
	var line int
	cmd := &cobra.Command{
		Use: "set ITEM STATUS", Short: "Write the status of an item into its plan", Args: cobra.ExactArgs(2),
		Long: `Write the status of an item into the file of its plan: the mark of the item as the tools of its dialect write
it, and no other byte. What the line was and is gets printed. Nothing is written over what somebody else saves at
the same moment.

STATUS is pending, in_progress, completed, blocked or skipped, as far as the plan has a mark for it; done is
completed, open and todo are pending. In-Progress is understood, too.

Where there is a store, the change is a transaction of the workspace, of which its hosts hear; else only the file
is written.`,
		Example:           "  waybill plan set 2.1 done\n  waybill plan set T007 skipped --plan specs/clock/tasks.md",
		ValidArgsFunction: a.planSetWords(&plan),
		RunE: func(cmd *cobra.Command, args []string) error {
			status, err := statusOf(args[1])
			switch {
			case err != nil:
				return err
			case cmd.Flags().Changed("line") && line < 1:
				return usageError{errors.New("--line: lines count from 1")}
			case plan == "-":
				return usageError{errors.New("--plan -: standard input cannot be written")}
			}
			return a.setItem(cmd.Context(), plan, ledger.Marking{ItemID: args[0], Line: line, Status: status})
		},
	}
	cmd.Flags().StringVar(&plan, "plan", "", "the plan: its file or folder, or its short name (default: the only one of the workspace)")
	cmd.Flags().IntVar(&line, "line", 0, "the line of the item, where several have its id")
	_ = cmd.RegisterFlagCompletionFunc("plan", func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return a.planNames(cmd, nil, begun)
	})
	noFiles(cmd, "line")
	return cmd
}

// A planSet is what `waybill plan set --json` prints.
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

// mostSetTries bounds how often a plan is read again that somebody else has written meanwhile, and setPause is
// the longest pause before that, so that those who meet once do not meet again and again.
const (
	mostSetTries = 100
	setPause     = 20 * time.Millisecond
)

// setItem sets an item of the plan as it is: nobody has said which version of it is meant, so that it is read
// again if somebody else was faster.
func (a *app) setItem(ctx context.Context, plan string, m ledger.Marking) error {
	for try := 1; ; try++ {
		set, err := a.trySet(ctx, plan, m)
		if err == nil {
			return a.printSet(set)
		}
		if fault, ok := errors.AsType[*schema.Error](err); !ok || fault.Data.Code != schema.Conflict || try == mostSetTries {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(rand.N(setPause)):
		}
	}
}

func (a *app) trySet(ctx context.Context, plan string, m ledger.Marking) (set planSet, err error) {
	p, err := a.onePlan(plan, "--plan ")
	if err != nil {
		return set, err
	}
	r, err := p.read()
	if err != nil {
		return set, err
	}
	m.Plan = p.name
	marked, err := r.Marked(m)
	if err != nil {
		return set, notSet(r, err)
	}
	was, is := lineAt(p.text, marked.Changed.Start), lineAt(marked.Text, marked.Changed.Start)
	set = planSet{
		Plan: p.name, ItemID: m.ItemID, Source: marked.Item.Source, Line: marked.Item.Line, NewStatus: m.Status.String(), Before: was, After: is,
		OldStatus: statusAt(r, marked.Item), Hash: ledger.Hash([]byte(p.text)),
	}
	if marked.Text != p.text {
		m.Line = marked.Item.Line
		err = a.writeStatus(ctx, p, m, &set)
	}
	return set, err
}

// statusAt gives the status that an item had in a reading.
func statusAt(r *ledger.Reading, now ledger.Item) string {
	for _, it := range r.Items() {
		if it.ID == now.ID && it.Line == now.Line && it.Source == now.Source {
			return it.Status.String()
		}
	}
	return ""
}

// notSet says why an item is not set, and which one may have been meant.
func notSet(r *ledger.Reading, err error) error {
	fault := api.Fault(err)
	if unknown, ok := errors.AsType[*ledger.ItemError](err); ok {
		near := schema.Nearest(unknown.ItemID, slices.Collect(r.IDs()))
		fault = fault.With("did_you_mean", near)
		if len(near) == 0 {
			return fault.Hint("`waybill plan` draws the items of a plan")
		}
		return fault.Hint("perhaps: " + strings.Join(near, ", "))
	}
	if refusal, ok := errors.AsType[*ledger.MarkError](err); ok && refusal.Reason == ledger.MarkAmbiguous {
		return fault.Hint("give --line " + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(refusal.Lines)), " or --line "), "[]"))
	}
	return fault
}

// writeStatus writes the status into the plan as it was read, and notes what was written.
func (a *app) writeStatus(ctx context.Context, p planText, m ledger.Marking, set *planSet) error {
	if p.rel != "" && (a.store != "" || a.storeExists()) {
		return a.with(func(l *local) error {
			var r schema.SetItemStatusResult
			err := l.call(ctx, "set_item_status", schema.SetItemStatusParams{
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
	defer plans.close()
	m.Plan = rel
	written, err := plans.SetStatus(&engine.StatusChange{Marking: m, Hash: set.Hash})
	if err != nil {
		return api.Fault(err)
	}
	set.ChangedBytes, set.Hash = written.ChangedBytes, written.Fingerprint.Hash
	return nil
}

// plansOf gives the folder that a plan is written in, and its path there: the workspace, or for a file
// elsewhere the folder that it really lies in.
func (a *app) plansOf(p planText) (plans openPlans, rel string, err error) {
	if p.rel != "" {
		plans, err = a.plansBy(ownTurns)
		return plans, p.rel, err
	}
	root, rel, err := besideWorkspaces(p.name, ownTurns)
	if err != nil {
		return openPlans{}, "", err
	}
	return openPlans{Plans: engine.NewPlans(root, engine.PlanOptions{}), root: root}, rel, nil
}

func (a *app) printSet(set planSet) error {
	if a.json {
		return a.print(set)
	}
	place := set.Plan
	if set.Source != "" {
		place = path.Join(place, set.Source)
	}
	place = plain(place) + ":" + strconv.Itoa(set.Line)
	if set.ChangedBytes == 0 {
		_, err := fmt.Fprintf(a.Out, "%s: %s is %s already\n", place, plain(set.ItemID), set.NewStatus)
		return err
	}
	width := a.lineWidth()
	_, err := fmt.Fprintf(a.Out, "%s: %s was %s and is %s\n%s\n%s\n", place, plain(set.ItemID), set.OldStatus, set.NewStatus,
		fit("- "+plain(set.Before), width), fit("+ "+plain(set.After), width))
	return err
}

// lineAt gives the line in which an offset lies, of a folder that of the file there.
func lineAt(text string, offset int) string {
	if files, folder := ledger.SplitFiles(text); folder {
		end := len(text)
		for _, f := range slices.Backward(files) {
			if end -= len(f.Text); end <= offset {
				return lineAt(f.Text, offset-end)
			}
		}
		return "" // of the list of the files, which nobody has written
	}
	begin := strings.LastIndexAny(text[:offset], "\r\n") + 1
	line := strings.TrimPrefix(text[begin:], "\ufeff")
	if end := strings.IndexAny(line, "\r\n"); end >= 0 {
		line = line[:end]
	}
	return line
}

// planSetWords completes the id of an item, and then its status.
func (a *app) planSetWords(plan *string) cobra.CompletionFunc {
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

// itemIDs gives the ids of a plan that begin so, each once, with what a shell shows beside them.
func (a *app) itemIDs(plan, begun string) (ids []string) {
	p, err := a.onePlan(plan, "--plan ")
	if err != nil {
		return nil // who completes a line has no place for an error
	}
	r, err := p.read()
	if err != nil {
		return nil
	}
	seen := map[string]bool{}
	for _, it := range r.Items() {
		if !seen[it.ID] && strings.HasPrefix(it.ID, begun) && plain(it.ID) == it.ID {
			ids = append(ids, it.ID+"\t"+fit(it.Status.String()+", "+plain(it.Title), pipeWidth))
		}
		seen[it.ID] = true
	}
	return ids
}
